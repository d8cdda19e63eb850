import Certificates
import Foundation
import HTTPServer
import JSON
import Mail
import Model
import Reminders
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

@Suite("Settings: mail, receivers, reminders")
struct SettingsPageTests {
  private static let mail = [
    "port": "", "security": "none", "user": "", "password": "", "from": "box@example.com", "from_name": "Box",
    "trust": "",
  ]

  @Test("every page of the settings has all of them as tabs, and says which one it is; so do the pages below")
  func tabs() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      func tabs(_ path: String) async throws -> [ScenePage.Tag] {
        let page = try await anna.get(path).text
        let tabs = try #require(page.components(separatedBy: "<nav class=\"tabs\"").dropFirst().first, "\(path)")
        return ScenePage(tabs.components(separatedBy: "</nav>")[0]).tags.filter { $0.name == "a" }
      }
      for section in SettingsPages.sections {
        let shown = try await tabs(section.path)
        #expect(shown.map { $0.attributes["href"] } == SettingsPages.sections.map(\.path), "\(section.path)")
        let here = shown.filter { $0.attributes["aria-current"] == "page" }
        #expect(here.map { $0.attributes["href"] } == [section.path], "\(section.path)")
      }
      for (path, parent) in [
        ("/settings/people/1", "/settings/people"), ("/settings/receivers/new?channel=email", "/settings/receivers"),
        ("/settings/webhooks/new", "/settings/webhooks"),
      ] {
        let here = try await tabs(path).filter { $0.attributes["aria-current"] == "true" }
        #expect(here.map { $0.attributes["href"] } == [parent], "\(path)")
      }
    }
  }

  @Test("receivers' addresses, and what mail servers answer, are shown to administrators alone")
  func hiddenReceivers() async throws {
    try await ConsoleScene.with { scene in
      let (address, answer) = ("lin.secret@example.com", "550 5.1.1 <lin.secret@example.com>: no such user")
      let sealer = scene.store.sealer
      let host = try await scene.store.write { database in
        try HostSamples.add(database)
        let receiver = try Receiver.add(
          database, Receiver.Details(channel: .email, name: "Lin", target: address, language: "en", appID: nil),
          Receiver.Secrets(address: address), sealer: sealer, by: "anna", now: ConsoleScene.noon)
        let host = try #require(try WatchedHost.all(database).first { $0.seen != nil })
        let reminder = try Reminder.claim(
          database, .init(key: "hosts/\(host.id)", fingerprint: host.seen?.sha256 ?? ""), step: 7, name: "mail",
          now: ConsoleScene.noon)
        try ReminderMessage.add(
          database, uid: "m1", to: receiver, reminders: [try #require(reminder)], now: ConsoleScene.noon)
        let message = try #require(try ReminderMessage.pending(database).first)
        for attempt in 0..<9 {
          let at = ConsoleScene.noon + Double(attempt) * 86_400
          let leased = try #require(try ReminderMessage.lease(database, id: message.id, now: at))
          try leased.record(database, .pending, answer: answer, now: at)
        }
        return host.id
      }
      for role in User.Role.allCases {
        var browser = try await scene.signIn(role)
        for path in ["/", "/hosts/\(host)"] {
          let page = try await browser.get(path)
          #expect(page.status == 200)
          #expect(page.text.contains("lin.secret@") == (role == .admin), "\(path) as \(role)")
          #expect(page.text.contains("Email") || role == .admin, "\(path) as \(role): the channel is no secret")
        }
        let item = try #require(try await scene.call(.get, "/api/v1/reminders", as: role).json?["items"]?.array?.first)
        #expect(item["target"] == (role == .admin ? .string(address) : .null))
        #expect(item["answer"] == (role == .admin ? .string(answer) : .null))
        #expect(item["state"] == "pending" && item["channel"] == "email")
      }
    }
  }

  @Test("a mail server is kept with its password sealed, and its answer to a test is shown")
  func mailServer() async throws {
    let server = try SMTPTestServer()
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      var fields = Self.mail
      fields["host"] = "127.0.0.1"
      fields["port"] = String(server.port)
      #expect(try await anna.post("/settings/mail", fields.map { ($0, $1) }).status == 303)
      let page = try await anna.post("/settings/mail/test", [("to", "ops@example.com")])
      #expect(page.status == 200 && page.text.contains("250 2.0.0 queued as 1"))
      #expect(try server.mails().first?.headers["subject"] == "Signalbox: test message")
      #expect(try await scene.audit("settings.mail").count == 1)
    }
  }

  @Test("a test links to where the server listens, as reminders do, unless another address was given")
  func links() async throws {
    let server = try SMTPTestServer()
    for (given, expected) in [(nil, "http://127.0.0.1:9090"), ("https://push.example.com", "https://push.example.com")]
    {
      try await ConsoleScene.with(address: given) { scene in
        scene.console.courier.link(to: "http://127.0.0.1:9090")
        var anna = try await scene.signIn(.admin)
        var fields = Self.mail
        fields["host"] = "127.0.0.1"
        fields["port"] = String(server.port)
        #expect(try await anna.post("/settings/mail", fields.map { ($0, $1) }).status == 303)
        let page = try await anna.get("/settings/mail")
        #expect(page.text.contains("Links in messages begin with \(expected)") == (given == nil))
        let receiver = [
          ("channel", "email"), ("name", "Lin"), ("address", "lin@example.com"), ("language", "en"), ("app", ""),
          ("active", "yes"),
        ]
        #expect(try await anna.post("/settings/receivers", receiver).status == 303)
        #expect(try await anna.post("/settings/receivers/1/test").status == 200)
        #expect(try server.mails().last?.text?.contains("\(expected)/certificates\n") == true)
      }
    }
  }

  @Test("what cannot be is told beside its field, with all typed text kept")
  func mistakes() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      var fields = Self.mail
      fields.merge(["host": "a b", "port": "99999", "user": "box", "from": "nobody", "trust": "x"]) { $1 }
      let page = try await anna.post("/settings/mail", fields.map { ($0, $1) })
      #expect(page.status == 422)
      #expect(page.text.contains("value=\"99999\"") && page.text.contains("value=\"nobody\""))
      for word in ["mail server", "65535", "mail address", "PEM", "password"] { #expect(page.text.contains(word)) }
      for (channel, address) in [("email", "nobody"), ("slack", "http://example.com/x")] {
        let answer = try await anna.post(
          "/settings/receivers",
          [
            ("channel", channel), ("name", ""), ("address", address), ("language", "en"), ("app", ""),
            ("active", "yes"),
          ])
        #expect(answer.status == 422 && answer.text.contains("value=\"\(address)\""))
      }
      #expect(try await scene.count("receivers") == 0)
      let days = try await anna.post("/settings/reminders", [("days", "60, 7"), ("hour", "24"), ("zone", "Mars/Base")])
      #expect(days.status == 422 && days.text.contains("30 must be included"))
    }
  }

  @Test("a kept password stays with its server: it is never sent to another one that somebody names, by page or API")
  func passwordStays() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      var fields = Self.mail
      fields.merge(["host": "mail.example.com", "security": "tls", "user": "box", "password": "topsecret"]) { $1 }
      #expect(try await anna.post("/settings/mail", fields.map { ($0, $1) }).status == 303)
      func password() async throws -> String? {
        let sealer = scene.store.sealer
        return try await scene.store.read { try MailSettings.load($0, sealer: sealer)?.server.password }
      }
      fields.merge(["password": "", "port": "466"]) { $1 }
      #expect(try await anna.post("/settings/mail", fields.map { ($0, $1) }).status == 303)
      #expect(try await password() == "topsecret")
      fields["host"] = "mail.evil.example"
      let page = try await anna.post("/settings/mail", fields.map { ($0, $1) })
      #expect(page.status == 422 && page.text.contains("The saved one is for mail.example.com"))
      #expect(page.text.contains("value=\"mail.evil.example\"") && !page.text.contains("topsecret"))
      let moved: JSONValue = ["host": "mail.evil.example", "user": "box", "from": "box@example.com"]
      let answer = try await scene.call(.put, "/api/v1/settings/mail", as: .admin, json: moved)
      #expect(answer.status == 422 && answer.codes == ["mail.password_elsewhere"] && answer.fields == ["password"])
      let same = try await scene.call(
        .put, "/api/v1/settings/mail", as: .admin, json: moved.with("host", "Mail.example.com"))
      #expect(same.status == 200 && same.json?["has_password"] == true && same.json?["port"] == 587)
      #expect(try await password() == "topsecret")
      let told = try await scene.call(.get, "/api/v1/settings/mail", as: .admin)
      #expect(told.status == 200 && !(told.text + same.text + answer.text).contains("topsecret"))
      #expect(!"\(try await scene.audit())".contains("topsecret"))
      let open = try await scene.call(
        .put, "/api/v1/settings/mail", as: .admin, json: moved.with("user", .null))
      #expect(open.json?["user"] == .null && open.json?["has_password"] == false)
      #expect(try await password() == nil)
      #expect(try await scene.call(.delete, "/api/v1/settings/mail", as: .admin).status == 204)
      #expect(try await scene.count("mail_passwords") == 0)
      let entries = try await scene.audit("settings.mail")
      #expect(entries.count == 4)
      #expect(entries.last?.detail?["before"] == .null && entries.last?.detail?["after"]?["port"] == 465)
      #expect(entries.first?.detail?["before"]?["user"] == "box" && entries.first?.detail?["after"]?["user"] == .null)
      let removed = try await scene.audit("settings.mail_remove")
      #expect(removed.map { $0.detail?["before"]?["host"] } == ["mail.evil.example"])
    }
  }

  @Test("the API sets a mail server, tests it, and says what it answered; roles below admin see nothing of it")
  func mailByAPI() async throws {
    let server = try SMTPTestServer()
    try await ConsoleScene.with { scene in
      let (path, test) = ("/api/v1/settings/mail", "/api/v1/settings/mail/test")
      let settings: JSONValue = [
        "host": "127.0.0.1", "port": .number(server.port), "security": "none", "from": "box@example.com",
      ]
      #expect(try await scene.call(.put, path, as: .admin, json: settings).status == 200)
      let answer = try await scene.call(
        .post, test, as: .admin, json: ["to": "ops@example.com", "language": "zh-Hans"])
      #expect(answer.json?["taken"] == true && answer.json?["answer"]?.string?.contains("queued as 1") == true)
      let mail = try #require(try server.mails().first)
      #expect(mail.to == ["ops@example.com"] && mail.headers["subject"] != "Signalbox: test message")
      #expect(try await scene.audit("settings.mail_test").count == 1)
      for role in [User.Role.viewer, .operator] {
        #expect(try await scene.call(.get, path, as: role).status == 403)
        #expect(try await scene.call(.get, "/api/v1/settings/reminders", as: role).status == 403)
      }
      let wrong = try await scene.call(
        .put, path, as: .admin,
        json: ["host": "a b", "port": 1, "user": "u", "from": "nobody", "trust": "x", "security": "none"])
      #expect(
        wrong.status == 422 && wrong.fields == ["host", "from", "trust", "password", "security"], "\(wrong.text)")
    }
  }

  @Test("the API changes the ladder as the page does: what is not named stays, 30 days cannot be taken out")
  func ladderByAPI() async throws {
    try await ConsoleScene.with { scene in
      let path = "/api/v1/settings/reminders"
      func put(_ json: JSONValue) async throws -> SceneAnswer {
        try await scene.call(.put, path, as: .admin, json: json)
      }
      let usual = try await scene.call(.get, path, as: .admin)
      #expect(usual.json?["days"] == [60, 30, 14, 7, 3, 1, 0] && usual.json?["hour"] == 8)
      #expect(usual.json?["zone"] == "UTC" && usual.json?["checks"] == [])
      let changed = try await put(["days": [5, 30, 90]])
      #expect(changed.json?["days"] == [90, 30, 5] && changed.json?["hour"] == 8, "\(changed.text)")
      let zone = try await put(["zone": "Asia/Shanghai", "hour": 10])
      #expect(zone.json?["days"] == [90, 30, 5] && zone.json?["zone"] == "Asia/Shanghai")
      let kept = try await scene.store.read { try ReminderSettings.load($0) }
      #expect(kept.ladder.days == [90, 30, 5] && kept.hour == 10 && kept.zone.identifier == "Asia/Shanghai")
      for (body, codes) in [
        (["days": [7]], ["reminders.promise"]), (["days": [30, 366]], ["reminders.days"]),
        (["days": [30, "7"]], ["reminders.days"]), (["days": []], ["reminders.days"]),
        (["days": "30"], ["reminders.days"]), (["zone": "Mars/Base"], ["reminders.zone"]),
      ] as [(JSONValue, [String])] {
        let refused = try await put(body)
        #expect(refused.status == 422 && refused.codes == codes, "\(body): \(refused.text)")
      }
      #expect(try await put(["hour": 24]).fields == ["hour"])
      let entries = try await scene.audit("settings.reminders")
      #expect(entries.count == 2 && entries.first?.detail?["before"]?["hour"] == 8)
      #expect(entries.first?.detail?["after"]?["hour"] == 10)
      let late = ConsoleScene.noon.addingTimeInterval(-37 * 3600)
      try await scene.store.write { try CheckRun(source: .cron, at: late, exitCode: 1).keep($0) }
      let check = try await scene.call(.get, path, as: .admin).json?["checks"]?.array?.first
      #expect(check == ["source": "cron", "at": "2026-11-18T23:00:00Z", "exit_code": 1, "late": true])
      #expect(try await scene.call(.delete, "\(path)/checks/cron", as: .admin).status == 204)
      #expect(try await scene.call(.get, "/readyz", as: nil).status == 200)
    }
  }

  @Test("a receiver is added, changed without its secret address, and removed")
  func receivers() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let address = "https://hooks.slack.com/services/T/B/secret"
      let fields = ["channel": "slack", "name": "Ops", "address": address, "language": "zh-Hans", "active": "yes"]
      #expect(try await anna.post("/settings/receivers", fields.map { ($0, $1) }).status == 303)
      let list = try await anna.get("/settings/receivers")
      #expect(list.text.contains("hooks.slack.com") && !list.text.contains("services/T/B"))
      let one = try await anna.get("/settings/receivers/1")
      #expect(!one.text.contains("services/T/B"))
      let changed = ["channel": "slack", "name": "Operations", "address": "", "language": "en"]
      #expect(try await anna.post("/settings/receivers/1", changed.map { ($0, $1) }).status == 303)
      let sealer = scene.store.sealer
      let (receiver, secrets) = try await scene.store.read {
        (try Receiver.get($0, id: 1), try Receiver.secrets($0, id: 1, sealer: sealer))
      }
      #expect(receiver.details.name == "Operations" && !receiver.details.isActive && secrets.address == address)
      #expect(try await anna.post("/settings/receivers/1/remove").status == 303)
      #expect(try await scene.count("receivers") == 0)
      #expect(
        try await scene.audit().map(\.action).filter { $0.hasPrefix("receiver") }.sorted()
          == ["receiver.create", "receiver.delete", "receiver.update"])
    }
  }

  @Test("a late cron is red on the overview and at /readyz, until it is forgotten")
  func watchman() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let late = ConsoleScene.noon.addingTimeInterval(-37 * 3600)
      try await scene.store.write { try CheckRun(source: .cron, at: late, exitCode: 0).keep($0) }
      #expect(try await anna.get("/").text.contains("The cron job last checked certificates on"))
      let ready = try await scene.call(.get, "/readyz", as: nil, from: "127.0.0.1")
      #expect(ready.status == 503 && ready.text.contains("cron"))
      let command = try await anna.get("/settings/reminders").text
      #expect(command.contains("check-certificates --notify --data &#") || command.contains("--data '/"))
      #expect(!command.contains("--data …") && !command.contains("https://…"), "it can be run as it is")
      #expect(try await anna.post("/settings/reminders/forget-cron").status == 303)
      #expect(try await scene.call(.get, "/readyz", as: nil).status == 200)
    }
  }
}
