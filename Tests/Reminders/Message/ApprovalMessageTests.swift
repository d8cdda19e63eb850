import Foundation
import Mail
import Model
import Reminders
import SQLite
import Store
import TestSupport
import Testing

@Suite("Mails about requests for approval")
struct ApprovalMessageTests {
  private static let noon = ReminderScene.noon

  /// People who may decide, or may not, and an app.
  private static func prepare(_ scene: ReminderScene) async throws {
    try await scene.store.write { database in
      _ = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      for (name, role, language) in [
        ("anna@example.com", .operator, "en"), ("ben@example.com", .operator, "zh-Hans"),
        ("cleo@example.com", .admin, "en"), ("vera@example.com", .viewer, "en"), ("root", .admin, "en"),
      ] as [(String, User.Role, String)] {
        try User.add(database, name: name, role: role, passwordHash: "x", language: language, now: noon)
      }
    }
  }

  /// A push that anna asks for.
  private static func ask(_ scene: ReminderScene, _ uid: String) async throws -> Push {
    try await scene.store.write { database in
      let app = try #require(try App.all(database).first)
      let anna = try #require(try User.find(database, name: "anna@example.com"))
      var new = NewPush(
        uid: uid, seed: 1, appID: app.id, environment: .production, draftJSON: "{}", source: .web, createdBy: anna.name)
      new.title = "Sale\nnow"
      new.approval = NewApproval(asker: ApprovalRule.Actor(anna.name, person: anna.id), reach: 12)
      return try Push.create(database, new, now: noon)
    }
  }

  @Test("whoever may decide gets one mail in their language, the asker none, and nobody one of what is decided")
  func mails() async throws {
    let server = try SMTPTestServer()
    try await ReminderScene.with { scene in
      try await Self.prepare(scene)
      _ = try await Self.ask(scene, "before")
      let none = try await scene.messages()
      #expect(none.isEmpty, "no mail server is set up")

      try await scene.use(server)
      _ = try await Self.ask(scene, "p1")
      let decided = try await Self.ask(scene, "p2")
      try await scene.store.write { database in
        let root = ApprovalRule.Actor("cli root", person: nil, isCommandLine: true)
        try Approval.decide(database, .push(decided.id), isApproved: false, by: root, now: Self.noon)
      }
      let look = try await scene.worker(.cron).look(now: Self.noon)
      #expect(look.sent == 2 && look.failures == [])
      let mails = try server.mails()
      #expect(mails.flatMap(\.to).sorted() == ["ben@example.com", "cleo@example.com"])
      let cleo = try #require(mails.first { $0.to == ["cleo@example.com"] })
      #expect(cleo.headers["subject"] == "Shop: a push needs your approval")
      let text = try #require(cleo.text)
      for part in [
        "anna@example.com asked to send to production", "== Sale now", "Devices: 12", "21 Nov 2026, 12:00",
        "https://push.example.com/pushes/p1",
      ] { #expect(text.contains(part), "\(text)") }
      let ben = try #require(mails.first { $0.to == ["ben@example.com"] })
      #expect(ben.headers["subject"] == "Shop：有推送等待你审批" && ben.html?.contains("设备数") == true)
      let again = try await scene.worker(.cron).look(now: Self.noon)
      #expect(again.sent == 0)
    }
  }
}
