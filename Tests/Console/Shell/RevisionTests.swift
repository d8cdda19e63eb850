import Foundation
import HTTPServer
import SQLite
import Store
import Testing

@testable import Console

/// Two people edit the same thing at once.
@Suite("Pages: what somebody else saved in the meantime")
struct RevisionTests {
  struct Edited: Sendable, CustomTestStringConvertible {
    let table: String
    /// Where its form is.
    let form: String
    /// Where the form is posted to.
    let target: String
    /// Where a new one is posted to; nil: the scene has one.
    var list: String?
    /// Apart from the name.
    let fields: [(String, String)]

    var testDescription: String { table }
  }

  static let push =
    #"{"app":"\#(ConsoleScene.bundleID)","environment":"development","audience":"all","notification":{"body":"x"}}"#
  static let edited = [
    Edited(
      table: "push_templates", form: "/templates/1", target: "/templates/1", list: "/templates",
      fields: [("title", "Hi"), ("body", "Hello")]),
    Edited(
      table: "push_templates", form: "/templates/1", target: "/templates/1", list: "/templates",
      fields: [("content", #"{"notification": {"title": "x", "badge": "{{count}}"}}"#)]),
    Edited(
      table: "segments", form: "/audiences/segments/1/edit", target: "/audiences/segments/1",
      list: "/audiences/segments", fields: [("app", ConsoleScene.bundleID), ("platforms", "ios")]),
    Edited(
      table: "smoke_tests", form: "/smoke-tests/1/edit", target: "/smoke-tests/1", list: "/smoke-tests",
      fields: [("push", push), ("others", "accepted")]),
    Edited(
      table: "apps", form: "/apps/1/edit", target: "/apps/1", fields: [("package_name", ""), ("alias_rule", "none")]),
    Edited(
      table: "webhooks", form: "/settings/webhooks/1", target: "/settings/webhooks/1", list: "/settings/webhooks",
      fields: [("url", "https://hooks.example.com/x"), ("events", "push.finished"), ("active", "yes")]),
    Edited(
      table: "receivers", form: "/settings/receivers/1", target: "/settings/receivers/1", list: "/settings/receivers",
      fields: [("channel", "email"), ("address", "ops@example.com"), ("language", "en"), ("active", "yes")]),
  ]

  @Test(
    "is not overwritten unseen: the form comes back with what was typed, and names who changed it", arguments: edited)
  func overtaken(_ edited: Edited) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var anna = try await scene.signIn(.admin, name: "anna@example.com")
      var ben = try await scene.signIn(.admin, name: "ben@example.com")
      if let list = edited.list {
        #expect(try await anna.post(list, edited.fields + [("name", "First")]).status < 400)
      }
      @Sendable func stored() async throws -> String? {
        try await scene.store.read { try $0.fetchOne("SELECT name FROM \(edited.table) WHERE id = 1") { $0.text(0) } }
      }
      let opened = try #require(ScenePage(try await anna.get(edited.form)).values("revision").first)
      let same = try #require(ScenePage(try await ben.get(edited.form)).values("revision").first)
      #expect(opened == same)

      let saved = try await ben.post(edited.target, edited.fields + [("name", "Bens"), ("revision", same)])
      #expect(saved.status == 303)
      // Twice is one change, as by a double click.
      let twice = try await ben.post(edited.target, edited.fields + [("name", "Bens"), ("revision", same)])
      #expect(twice.status == 303)

      let late = try await anna.post(edited.target, edited.fields + [("name", "Annas"), ("revision", opened)])
      let page = ScenePage(late)
      #expect(late.status == 422 && page.text.contains("ben@example.com changed this on"))
      #expect(page.values("name") == ["Annas"], "what was typed is kept")
      #expect(try await stored() == "Bens")

      let newest = try #require(page.values("revision").first)
      #expect(newest != opened)
      let again = try await anna.post(edited.target, edited.fields + [("name", "Annas"), ("revision", newest)])
      #expect(again.status == 303)
      #expect(try await stored() == "Annas")
    }
  }

  static let pages: [(path: String, fields: [(String, String)], field: String, values: [String])] = [
    (
      "/settings/retention",
      [("pushes_days", "730"), ("phone_notifications_days", "30"), ("sign_in_failures_days", "30")],
      "deliveries_days", ["100", "200"]
    ),
    ("/settings/reminders", [("days", "30, 7"), ("zone", "UTC")], "hour", ["9", "10"]),
    (
      "/settings/mail", [("host", "mail.example.com"), ("security", "starttls"), ("from", "ops@example.com")],
      "from_name", ["Bens", "Annas"]
    ),
    (
      "/settings/oidc",
      [
        ("issuer", "https://id.example.com"), ("client_id", "signalbox"), ("client_secret", "secret"),
        ("scopes", "openid email"), ("admission", "invited"), ("new_role", "viewer"), ("passwords", "yes"),
      ], "label", ["Bens", "Annas"]
    ),
  ]

  @Test("settings are not overwritten unseen either", arguments: pages.indices)
  func overtakenSettings(_ index: Int) async throws {
    let (path, fields, field, values) = Self.pages[index]
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin, name: "anna@example.com")
      var ben = try await scene.signIn(.admin, name: "ben@example.com")
      let opened = try #require(ScenePage(try await anna.get(path)).values("revision").first)
      let saved = try await ben.post(path, fields + [(field, values[0]), ("revision", opened)])
      #expect(saved.status == 303, "\(path): \(ScenePage(saved).text)")
      let late = try await anna.post(path, fields + [(field, values[1]), ("revision", opened)])
      let page = ScenePage(late)
      #expect(late.status == 422 && page.text.contains("ben@example.com changed this on"), "\(path)")
      #expect(page.values(field) == [values[1]], "what was typed is kept")
      #expect(ScenePage(try await ben.get(path)).values(field) == [values[0]])
      let newest = try #require(page.values("revision").first)
      let again = try await anna.post(path, fields + [(field, values[1]), ("revision", newest)])
      #expect(again.status == 303, "\(path)")
      #expect(ScenePage(try await ben.get(path)).values(field) == [values[1]])
    }
  }

  @Test("the other way to write a template keeps the revision that it was opened with")
  func otherWay() async throws {
    try await ConsoleScene.with { scene in
      var lin = try await scene.signIn(.operator)
      let fields = [("name", "A"), ("title", "Hi"), ("body", "x")]
      #expect(try await lin.post("/templates", fields).status == 303)
      let opened = ScenePage(try await lin.get("/templates/1")).values("revision")
      let json = ScenePage(
        try await lin.post("/templates/1", fields + [("as", "json"), ("revision", opened.first ?? "")]))
      #expect(opened.count == 1 && json.values("revision") == opened && json.values("content").count == 1)
    }
  }
}
