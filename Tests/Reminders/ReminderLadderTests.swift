import Certificates
@testable import Reminders
import Foundation
import Testing

@Suite("The ladder of reminders")
struct ReminderLadderTests {
  private static let end = Date(timeIntervalSince1970: 1_800_000_000)
  private static let ladder = ReminderLadder.usual

  private static func at(_ days: Double) -> Date { end.addingTimeInterval(-days * 86_400) }
  private static func step(_ days: Double, sent: [Int] = []) -> Int? {
    ladder.step(notAfter: end, now: at(days), sent: sent.map(ReminderLadder.Step.init))?.rawValue
  }

  @Test("thirty days and the end are always in it", arguments: [[], [60], [-5, 400, 7], [30, 30]])
  func promise(days: [Int]) {
    let ladder = ReminderLadder(days: days)
    #expect(ladder.steps.contains(.days(30)) && ladder.steps.last == .expired)
    #expect(ladder.days.allSatisfy { (0...365).contains($0) } && ladder.days == ladder.days.sorted(by: >))
  }

  @Test(
    "only the last step that has passed is sent, and none before one that was",
    arguments: [
      (61.0, [], nil), (60.9, [], 60), (60.0, [60], nil), (31.0, [60], nil), (30.99, [60], 30), (30, [], 30),
      (20, [60, 30], nil), (5, [], 7), (5, [60, 30, 14], 7), (0.5, [], 0), (0, [7, 3, 1], 0), (-0.001, [], -1),
      (-300, [60], -1), (-300, [-1], nil), (20, [7], nil), (50, [-1], nil), (1.5, [3], 1),
    ] as [(Double, [Int], Int?)])
  func steps(days: Double, sent: [Int], expected: Int?) { #expect(Self.step(days, sent: sent) == expected) }

  @Test(
    "of something that came late, the step whose hour has not come waits for it, and no older one is sent in its place",
    arguments: [
      (0.5, 7, nil, 0), (0.5, 9, 0, 0), (7.5, 7, nil, 7), (7.5, 9, 7, 7), (30.5, 7, nil, 30), (30.5, 9, 30, 30),
    ] as [(Double, Int, Int?, Int)])
  func late(days: Double, hour: Int, served: Int?, cron: Int) {
    // Midnight UTC.
    let now = Date(timeIntervalSince1970: 1_795_132_800 + Double(hour) * 3600)
    let end = now.addingTimeInterval(days * 86_400)
    let atItsHour = Self.ladder.step(notAfter: end, now: now, sent: []) { step in
      ReminderLadder.isTime(step, notAfter: end, now: now, hour: 8, zone: .gmt)
    }
    #expect(atItsHour?.rawValue == served)
    #expect(Self.ladder.step(notAfter: end, now: now, sent: [])?.rawValue == cron)
  }

  @Test("a reminder of N days leaves at least N whole days", arguments: [60, 30, 14, 7, 3, 1, 0])
  func wholeDays(days: Int) {
    let due = ReminderLadder.due(.days(days), notAfter: Self.end)
    #expect(Expiry.daysLeft(notAfter: Self.end, now: due) == days)
    #expect(Expiry.daysLeft(notAfter: Self.end, now: due.addingTimeInterval(-1)) == days + 1)
  }

  @Test("what never ends has no step")
  func never() {
    #expect(Self.ladder.step(notAfter: nil, now: Self.end, sent: []) == nil)
    let never = Date(timeIntervalSince1970: 253_402_300_799)
    #expect(Self.ladder.step(notAfter: never, now: never, sent: []) == nil)
    #expect(Self.ladder.next(notAfter: nil, now: Self.end, sent: []) == nil)
  }

  @Test("the hour is the wall's: eight in the morning, and never a day late when a day has 25 hours")
  func hour() throws {
    for name in ["UTC", "Asia/Shanghai", "America/New_York", "Australia/Lord_Howe"] {
      let zone = try #require(TimeZone(identifier: name))
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = zone
      var odd = 0
      for hour in 0..<(400 * 24) {
        let end = Self.end.addingTimeInterval(Double(hour) * 3600)
        let due = ReminderLadder.due(.days(1), notAfter: end)
        let time = ReminderLadder.firstTime(.days(1), notAfter: end, hour: 8, zone: zone)
        #expect(time >= due && time.timeIntervalSince(due) < 86_400, "\(name) \(end)")
        if calendar.component(.hour, from: time) != 8 { odd += 1 }
      }
      #expect(odd <= 4, "\(name): \(odd)")
    }
  }

  @Test("the next step comes with its day")
  func next() {
    let next = Self.ladder.next(notAfter: Self.end, now: Self.at(20), sent: [.days(60), .days(30)])
    #expect(next?.step == .days(14))
    #expect(next.map { Expiry.daysLeft(notAfter: Self.end, now: $0.due) } == 14)
    #expect(Self.ladder.next(notAfter: Self.end, now: Self.at(-3), sent: [.expired]) == nil)
  }
}
