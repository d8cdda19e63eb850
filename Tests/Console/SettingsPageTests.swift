import Foundation
import HTTPServer
import Mail
import Push
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
      #expect(try server.mails().first?.headers["subject"] == "Signalbox: a test message")
      #expect(try await scene.audit("settings.mail").count == 1)
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
      #expect(days.status == 422 && days.text.contains("30 days is the promise"))
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
      #expect(try await anna.get("/").text.contains("The cron job that checks certificates last ran on"))
      let ready = try await scene.call(.get, "/readyz", as: nil)
      #expect(ready.status == 503 && ready.text.contains("cron"))
      #expect(try await anna.post("/settings/reminders/forget-cron").status == 303)
      #expect(try await scene.call(.get, "/readyz", as: nil).status == 200)
    }
  }
}
