import Calendar
import Certificates
import Foundation
import JSON
import Mail
import Model
import Reminders
import SQLite
import Store
import TestSupport
import Testing

@Suite("Reminders: receivers and failures")
struct ReminderWorkerTests {
  private static let noon = ReminderScene.noon
  private static func days(_ count: Double) -> TimeInterval { count * 86_400 }

  @Test("what falls on one day is one mail, the worst first, in the receiver's language")
  func digest() async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await scene.use(server)
      let app = try await scene.store.write {
        try App.add($0, bundleID: "com.example.shop", name: "Shop", now: Self.noon)
      }
      try await scene.receiver("lin@example.com", language: "zh-Hans")
      try await scene.receiver("shop@example.com", app: app.id)
      try await scene.keep("Later", until: Self.noon.addingTimeInterval(Self.days(20)))
      try await scene.keep("Sooner", until: Self.noon.addingTimeInterval(Self.days(2)), app: app.id)
      try await scene.keep("Over", until: Self.noon.addingTimeInterval(Self.days(-2)))
      try await scene.keep("Fine", until: Self.noon.addingTimeInterval(Self.days(200)))
      let look = try await scene.worker(.cron).look(now: Self.noon)
      #expect(look.sent == 2 && look.failures == [] && look.report.exitCode == 2)
      let mails = try server.mails()
      let lin = try #require(mails.first { $0.to == ["lin@example.com"] })
      #expect(lin.headers["subject"] == "3 个证书需要更换，最紧急的是 Over，已过期")
      let text = try #require(lin.text)
      let places = ["== Over", "== Sooner", "== Later"].compactMap { text.firstRange(of: $0)?.lowerBound }
      #expect(places.count == 3 && places == places.sorted() && !text.contains("Fine"))
      #expect(text.contains("还剩 20 天") && text.contains("序列号：0A1B2C"))
      #expect(text.contains("https://push.example.com/certificates/1"))
      let html = try #require(lin.html)
      #expect(html.contains("lang=\"zh-Hans\"") && html.contains("已过期"))
      let shop = try #require(mails.first { $0.to == ["shop@example.com"] })
      #expect(shop.headers["subject"] == "Sooner: 2 days left")
      #expect(shop.text?.contains("Production") == false && shop.text?.contains("production") == true)
      // Again, as cron does every day: nothing.
      #expect(try await scene.worker(.cron).look(now: Self.noon).sent == 0)
    }
  }

  @Test("a reminder says which pushes fall after the end, once and again and again")
  func forecast() async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await scene.use(server)
      try await scene.receiver("lin@example.com")
      try await scene.keep("Sooner", until: Self.noon.addingTimeInterval(Self.days(2)))
      try await scene.store.write { database in
        let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: Self.noon)
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .production, certificate: 1, endpoint: "apple",
          now: Self.noon)
        var draft = PushDraft(
          app: app.bundleID, environment: .production, platforms: [.ios], audience: .all,
          notification: PushNotification())
        draft.notification.body = "x"
        for days in [1.0, 3] {
          draft.sendAt = Self.noon + Self.days(days)
          var push = NewPush(
            uid: "p\(days)", seed: 1, appID: app.id, environment: .production, draftJSON: draft.json.text(),
            source: .api, createdBy: "lin")
          push.sendAt = draft.sendAt
          try Push.create(database, push, now: Self.noon)
        }
        draft.sendAt = nil
        draft.recurrence = RepeatRule(.daily, minute: 540, zone: .utc)
        try Schedule.create(
          database, NewSchedule(uid: "s", appID: app.id, draft: draft, source: .web, createdBy: "lin"), now: Self.noon)
      }
      #expect(try await scene.worker(.cron).look(now: Self.noon).sent == 1)
      let text = try #require(try server.mails().first?.text)
      #expect(text.contains("Scheduled after expiry: 1 push, on 23 Nov 2026, 12:00 (UTC)"), "\(text)")
      #expect(text.contains("Repeating after expiry: 1 push, first failure on 23 Nov 2026, 09:00 (UTC)"), "\(text)")
    }
  }

  @Test("a worker that is stopped ends the mail on its way, and leaves the others as they are")
  func stopped() async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await scene.use(server)
      for name in ["lin", "ops", "shop"] { try await scene.receiver("\(name)@example.com") }
      try await scene.keep("Shop", until: Self.noon.addingTimeInterval(Self.days(20)))
      let worker = scene.worker(.serve)
      let look = Task {
        // Asked for the time of the first success, the task is cancelled.
        try await worker.look(clock: {
          if (try? server.mails().count) == 1 { withUnsafeCurrentTask { $0?.cancel() } }
          return Self.noon
        })
      }
      let result = try await look.value
      #expect(result.sent == 1 && result.failures == [])
      let messages = try await scene.messages()
      #expect(messages.map(\.state) == [.sent, .pending, .pending])
      #expect(messages.map(\.attempts) == [1, 0, 0], "\(messages.map(\.answer))")
    }
  }

  @Test("a server that refuses is tried again later and later, and the mail comes once, under the same id")
  func retry() async throws {
    var mode = SMTPTestServer.Mode()
    mode.failures = 2
    let server = try SMTPTestServer(mode)
    try await ReminderScene.with { scene in
      try await scene.use(server)
      try await scene.receiver("ops@example.com")
      try await scene.keep("Shop", until: Self.noon.addingTimeInterval(Self.days(20)))
      let first = try await scene.worker(.cron).look(now: Self.noon)
      #expect(first.sent == 0 && first.failures.first?.contains("451 4.3.0 come back later") == true)
      func attempts() async throws -> Int { try await scene.messages().map(\.attempts).reduce(0, +) }
      let early = try await scene.worker(.cron).look(now: Self.noon.addingTimeInterval(59))
      #expect(early.failures.first?.contains("come back later; retried after 2026-11-20T12:01:00Z") == true)
      #expect(try await attempts() == 1, "it only says so")
      #expect(try await scene.worker(.cron).look(now: Self.noon.addingTimeInterval(61)).failures.count == 1)
      #expect(try await scene.worker(.cron).look(now: Self.noon.addingTimeInterval(100)).failures.count == 1)
      #expect(try await attempts() == 2)
      #expect(try await scene.worker(.serve).look(now: Self.noon.addingTimeInterval(200)).sent == 1)
      let message = try #require(try await scene.messages().first)
      #expect(message.state == .sent && message.attempts == 3 && message.answer?.hasPrefix("250 ") == true)
      #expect(try server.mails().first?.headers["message-id"] == "<\(message.uid)@example.com>")
    }
  }

  @Test("a lease keeps other processes away, but not forever, and not after a clock error")
  func lease() async throws {
    try await ReminderScene.with { scene in
      try await scene.receiver("ops@example.com")
      try await scene.keep("Shop", until: Self.noon.addingTimeInterval(Self.days(20)))
      _ = try await scene.store.write {
        try ReminderPlan($0, now: Self.noon, ignoringHour: true).claim($0, now: Self.noon)
      }
      let id = try #require(try await scene.messages().first?.id)
      func lease(_ seconds: TimeInterval) async throws -> Bool {
        try await scene.store.write {
          try ReminderMessage.lease($0, id: id, now: Self.noon.addingTimeInterval(seconds)) != nil
        }
      }
      #expect(try await lease(0))
      #expect(try await !lease(1))
      #expect(try await !lease(-1), "who looked at the clock earlier and came later takes nothing away")
      #expect(try await !lease(-3600), "nor after the clock was put back")
      let rerun = try await scene.worker(.cron).look(now: Self.noon.addingTimeInterval(60))
      #expect(rerun.failures == [] && rerun.elsewhere.count == 1)
      #expect(rerun.elsewhere.first?.hasSuffix("it is retried after 2026-11-20T12:05:00Z") == true)
      #expect(try await lease(301))
      #expect(try await lease(-90_000))
    }
  }

  @Test("a sent message stays sent, whichever process held it meanwhile")
  func recorded() async throws {
    try await ReminderScene.with { scene in
      try await scene.receiver("ops@example.com")
      try await scene.keep("Shop", until: Self.noon.addingTimeInterval(Self.days(20)))
      let (first, second) = try await scene.store.write { database in
        try ReminderPlan(database, now: Self.noon, ignoringHour: true).claim(database, now: Self.noon)
        let id = try #require(try ReminderMessage.pending(database).first?.id)
        // The first one slept through its time.
        return (
          try #require(try ReminderMessage.lease(database, id: id, now: Self.noon)),
          try #require(try ReminderMessage.lease(database, id: id, now: Self.noon + 301))
        )
      }
      func record(_ message: ReminderMessage, _ state: ReminderMessage.State) async throws -> ReminderMessage? {
        try await scene.store.write { try message.record($0, state, answer: "\(state)", now: Self.noon + 302) }
        return try await scene.messages().first
      }
      #expect(try await record(first, .pending)?.isLeased(Self.noon + 302) == true, "the second one still has it")
      #expect(try await record(first, .sent)?.state == .sent)
      #expect(try await record(second, .pending)?.state == .sent)
    }
  }

  @Test("a name turns no direction in a mail, and is never quiet on the last day")
  func names() async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await scene.use(server)
      try await scene.receiver("lin@example.com")
      let end = Self.noon.addingTimeInterval(Self.days(2))
      let subject = try await scene.keep("Shop\u{202E}21p\r\nX: y", until: end)
      // As a former version kept it, or with a longer life before.
      try await scene.store.write {
        try Acknowledgement.set($0, subject, by: "lin", until: end.addingTimeInterval(Self.days(9)), now: Self.noon)
      }
      #expect(try await scene.worker(.cron).look(now: Self.noon).sent == 0)
      #expect(try await scene.worker(.cron).look(now: end.addingTimeInterval(Self.days(-1) - 1)).sent == 0)
      #expect(try await scene.worker(.cron).look(now: end.addingTimeInterval(Self.days(-1))).sent == 1)
      let mail = try #require(try server.mails().first)
      #expect(mail.headers["subject"]?.hasPrefix("Shop[U+202E]21p  X: y: ") == true)
      for text in [mail.text, mail.html] {
        #expect(text?.contains("Shop[U+202E]21p  X: y") == true && text?.contains("\u{202E}") == false)
      }
    }
  }

  @Test("no receiver: the step stays open; acknowledged: quiet until the day; renewed: restarts")
  func quiet() async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await scene.use(server)
      let end = Self.noon.addingTimeInterval(Self.days(29))
      let subject = try await scene.keep("Shop", until: end)
      #expect(try await scene.worker(.cron).look(now: Self.noon).sent == 0)
      #expect(try await scene.steps().isEmpty)
      try await scene.receiver("ops@example.com")
      let until = Self.noon.addingTimeInterval(Self.days(25))
      try await scene.store.write {
        try Acknowledgement.set($0, subject, by: "lin", until: until, now: Self.noon)
      }
      for day in 0..<25 {
        #expect(try await scene.worker(.cron).look(now: Self.noon.addingTimeInterval(Self.days(Double(day)))).sent == 0)
      }
      #expect(try await scene.worker(.cron).look(now: until).sent == 1)
      #expect(try await scene.steps()[subject] == [7])
      // The same row with another file: everything begins anew for it.
      _ = try await scene.store.write { database in
        try database.run("UPDATE certificates SET sha256 = 'new', not_after = ?", end.addingTimeInterval(Self.days(30)))
      }
      #expect(try await scene.worker(.cron).look(now: until).sent == 1)
      #expect(try await scene.steps().count == 2)
      #expect(try server.mails().count == 2)
    }
  }

  @Test("items renewed before a message is sent are left out")
  func renewedMeanwhile() async throws {
    try await ReminderScene.with { scene in
      try await scene.receiver("ops@example.com")
      try await scene.keep("Shop", until: Self.noon.addingTimeInterval(Self.days(20)))
      #expect(try await scene.worker(.cron).look(now: Self.noon).failures.first?.contains("no mail server") == true)
      _ = try await scene.store.write { try $0.run("DELETE FROM certificates") }
      let later = Self.noon.addingTimeInterval(3600)
      #expect(try await scene.worker(.cron).look(now: later).failures == [])
      #expect(try await scene.messages().map(\.state) == [.dropped])
    }
  }

  @Test("the password and the addresses of webhooks do not stand in the file")
  func sealed() async throws {
    try await ReminderScene.with { scene in
      let sealer = scene.key
      try await scene.receiver("https://hooks.example.com/topsecret", .slack, secret: "signing-secret")
      try await scene.store.write { database in
        let from = try #require(MailAddress("box@example.com"))
        let server = SMTPServer(host: "mail.example.com", user: "box", password: "mail-password")
        try MailSettings.save(
          MailSettings(server: server, from: from), database, sealer: sealer, now: Date(timeIntervalSince1970: 0))
        #expect(try MailSettings.load(database, sealer: sealer)?.server == server)
      }
      try await scene.store.write { database in
        let text = try database.fetchAll("SELECT value FROM settings UNION ALL SELECT target FROM receivers") {
          $0.text(0)
        }
        .joined()
        #expect(!text.contains("mail-password"))
        let sealed = try database.fetchAll("SELECT sealed FROM receivers") {
          String(decoding: $0.blob(0), as: UTF8.self)
        }
        #expect(!sealed.joined().contains("topsecret") && !sealed.joined().contains("signing-secret"))
      }
    }
  }

  @Test(
    "the watchman",
    arguments: [(CheckRun.Source.cron, 35.9, false), (.cron, 36.1, true), (.serve, 0.9, false), (.serve, 1.1, true)])
  func watchman(source: CheckRun.Source, hours: Double, isLate: Bool) {
    let run = CheckRun(source: source, at: Self.noon.addingTimeInterval(-hours * 3600), exitCode: 0)
    #expect(Watchman.late([run], now: Self.noon).isEmpty != isLate)
  }

  @Test(
    "pauses grow, and heed what is asked for",
    arguments: [
      (1, nil, 60.0), (2, nil, 120), (5, nil, 960), (20, nil, 21_600), (1, 600, 600), (1, 1_000_000, 86_400),
      (0, nil, 60),
    ]
      as [(Int, Int?, Double)])
  func pauses(attempt: Int, asked: Int?, seconds: Double) {
    #expect(RetryPause.seconds(afterAttempt: attempt, asked: asked) == seconds)
  }
}
