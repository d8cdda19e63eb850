import Certificates
import Foundation
import Reminders
import Store
import TestSupport
import Testing

/// 400 days with a moved clock: every step exactly once.
@Suite("400 days of reminders")
struct LadderSimulationTests {
  private static let all = [60, 30, 14, 7, 3, 1, 0, -1]

  @Test(
    "each step exactly once, at eight in the morning there, with two stores on one file, restarts and a clock that wavers",
    arguments: ["UTC", "Asia/Shanghai", "America/New_York"])
  func ladder(zone: String) async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await scene.use(server)
      try await scene.settings(zone: zone)
      try await scene.receiver("ops@example.com")
      var generator = SplitMix(seed: 7)
      var ends: [Acknowledgement.Subject: Date] = [:]
      for number in 0..<12 {
        let until = ReminderScene.noon.addingTimeInterval(Double(65 + number * 27) * 86_400 + Double(number * 7321))
        ends[try await scene.keep("item \(number)", until: until)] = until
      }
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = try #require(TimeZone(identifier: zone))
      var other = try scene.another()
      var told: [String: Date] = [:]
      for hour in 0..<(400 * 24) {
        if hour % 500 == 499 {
          other.close()
          other = try scene.another()
        }
        // The clock goes back by up to six hours, and forth again.
        let exact = ReminderScene.noon.addingTimeInterval(Double(hour) * 3600)
        let wavering = hour % 5 == 0 ? [exact.addingTimeInterval(-Double(generator.next() % 21_600)), exact] : [exact]
        // Around eight, every hour counts; that nothing is due at other times, a look at every fourth shows.
        let isNear = (5...12).contains(calendar.component(.hour, from: exact))
        for now in isNear || hour % 4 == 0 ? wavering : [] {
          let plan = try await scene.store.read { try ReminderPlan($0, now: now, ignoringHour: false) }
          guard !plan.isEmpty || hour % 480 == 0 else { continue }
          // Both at once: one claims, one sends, or the other.
          let (one, two) = (scene.worker(.serve), scene.worker(.serve, other))
          async let first = one.look(now: now)
          async let second = two.look(now: now)
          _ = try await (first, second)
          for (subject, steps) in try await scene.steps() {
            for step in steps where told["\(subject.key) \(step)"] == nil { told["\(subject.key) \(step)"] = now }
          }
        }
      }
      other.close()
      let steps = try await scene.steps()
      #expect(steps.count == 12)
      for (subject, end) in ends {
        #expect(steps[subject]?.sorted(by: >) == Self.all, "\(subject)")
        for step in Self.all where step >= 0 {
          let at = try #require(told["\(subject.key) \(step)"])
          #expect(Expiry.daysLeft(notAfter: end, now: at) == step, "\(subject) \(step) at \(at)")
          #expect((7...11).contains(calendar.component(.hour, from: at)), "\(subject) \(step) at \(at)")
        }
      }
      let messages = try await scene.messages()
      #expect(messages.allSatisfy { $0.state == .sent && $0.attempts == 1 })
      let mails = try server.mails()
      #expect(mails.count == messages.count)
      #expect(Set(mails.compactMap { $0.headers["message-id"] }).count == mails.count, "nothing came twice")
      let named = mails.reduce(0) { sum, mail in sum + (mail.text ?? "").components(separatedBy: "\n== ").count - 1 }
      #expect(named == 12 * Self.all.count, "every step of every item was told in exactly one mail")
    }
  }

  @Test("a jump over several steps sends the last of them alone, and going back sends nothing again")
  func jumps() async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await scene.use(server)
      try await scene.receiver("ops@example.com")
      let end = ReminderScene.noon.addingTimeInterval(100 * 86_400)
      let subject = try await scene.keep("Shop", until: end)
      for days in [100.0, 35, 5, 80, 29, 6, 0.5, 50, -2, 40, -300] {
        _ = try await scene.worker(.cron).look(now: end.addingTimeInterval(-days * 86_400))
      }
      #expect(try await scene.steps()[subject]?.sorted(by: >) == [60, 7, 0, -1])
      #expect(try server.mails().count == 4)
    }
  }

  @Test("of files that come late, the server and the cron command tell one step each, and never both")
  func late() async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await scene.use(server)
      try await scene.settings(hour: 8)
      try await scene.receiver("ops@example.com")
      let seven = ReminderScene.noon.addingTimeInterval(-5 * 3600)
      var expected: [Acknowledgement.Subject: [Int]] = [:]
      for (days, step) in [(0.5, 0), (7.5, 7), (30.5, 30)] {
        expected[try await scene.keep("\(days) days", until: seven.addingTimeInterval(days * 86_400))] = [step]
      }
      _ = try await scene.worker(.serve).look(now: seven)
      #expect(try await scene.steps().isEmpty, "their hour has not come")
      _ = try await scene.worker(.cron).look(now: seven.addingTimeInterval(6))
      #expect(try await scene.steps() == expected)
      for hours in [1.0, 2] { _ = try await scene.worker(.serve).look(now: seven.addingTimeInterval(hours * 3600)) }
      #expect(try await scene.steps() == expected)
      #expect(try server.mails().count == 1)
    }
  }

  /// A small generator, the same in each run.
  private struct SplitMix {
    var seed: UInt64
    mutating func next() -> UInt64 {
      seed &+= 0x9e37_79b9_7f4a_7c15
      var z = seed
      z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      return z ^ (z >> 31)
    }
  }
}
