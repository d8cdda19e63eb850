import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

@testable import Console

@Suite("Pages: drafts, the own device, and repairs")
struct DraftPageTests {
  private static let filled = [
    ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios"), ("audience", "tag"),
    ("tag", "odd"), ("title", "Half done"),
  ]

  @Test("a draft survives signing out, is resumed with every field, is its owner's alone, and goes when it is sent")
  func kept() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      var lin = try await scene.signIn(.operator)
      // Incomplete, and kept all the same.
      #expect(try await lin.post("/pushes/drafts", [("title", "Only a title")]).location == "/pushes/drafts")
      _ = try await lin.post("/pushes/drafts", Self.filled)
      _ = try await lin.post("/session/end")
      #expect(try await lin.get("/pushes/drafts").status == 303)
      var again = try await scene.signIn(.operator, name: "second@example.com")
      #expect(!ScenePage(try await again.get("/pushes/drafts")).text.contains("Half done"))
      #expect(try await again.get("/pushes/new?draft=2").status == 404)
      #expect(try await again.post("/pushes/drafts/2/remove").status == 404)
      lin.csrf = try #require(ScenePage(try await lin.get("/session/new")).values("csrf").first)
      let answer = try await lin.post(
        "/session", [("email", "operator@example.com"), ("password", ConsoleScene.password)])
      #expect(answer.status == 303)
      let list = ScenePage(try await lin.get("/pushes/drafts"))
      #expect(list.text.contains("Half done") && list.text.contains("Only a title"))
      let form = ScenePage(try await lin.get("/pushes/new?draft=2"))
      for (name, value) in Self.filled { #expect(form.values(name) == [value], "\(name)") }
      #expect(form.values("draft") == ["2"])
      lin.csrf = try #require(form.values("csrf").first)
      // Saved again it stays one; sent, it is done.
      _ = try await lin.post("/pushes/drafts", Self.filled + [("body", "More"), ("draft", "2")])
      #expect(try await scene.count("drafts") == 2)
      let sent = try await lin.post("/pushes", Self.filled + [("body", "More"), ("draft", "2")])
      #expect(sent.status == 303 && sent.location?.hasPrefix("/pushes/") == true)
      #expect(try await scene.count("drafts") == 1)
      _ = try await lin.post("/pushes/drafts/1/remove")
      #expect(try await scene.count("drafts") == 0)
    }
  }

  @Test("drafts can be taken away as CSV and JSON, by their owner alone")
  func exported() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var lin = try await scene.signIn(.operator)
      #expect(!ScenePage(try await lin.get("/pushes/drafts")).links.contains("/pushes/drafts.csv"))
      _ = try await lin.post("/pushes/drafts", Self.filled)
      let links = ScenePage(try await lin.get("/pushes/drafts")).links
      #expect(Set(links).isSuperset(of: ["/pushes/drafts.csv", "/pushes/drafts.json"]))
      try await scene.served(to: lin) { served in
        let text = DeviceListExportTests.body(try await served.get("/pushes/drafts.json"))
        let draft = try #require(try JSONValue(parsing: Data(text.utf8)).array?.first)
        #expect(draft["id"] == 1 && draft["app"] == .string(ConsoleScene.bundleID))
        let fields = draft["fields"]?.array ?? []
        for (name, value) in Self.filled {
          #expect(fields.contains(["name": .string(name), "value": .string(value)]), "\(name)")
        }
        let csv = DeviceListExportTests.body(try await served.get("/pushes/drafts.csv"))
        #expect(csv.hasPrefix("\u{FEFF}id,title,app,changed_at,fields\r\n1,Half done,com.example.shop,"))
      }
      #expect(try await scene.audit("push.export_drafts").count == 2)
      try await scene.served(to: try await scene.signIn(.operator, name: "second@example.com")) { served in
        let others = try await served.get("/pushes/drafts.json")
        #expect(!DeviceListExportTests.body(others).contains("Half done"))
      }
    }
  }

  @Test("to my device first: the very draft, in the device's environment, with a way back to the draft")
  func ownDevice() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let devices = try await scene.addDevices(3, of: app)
      var lin = try await scene.signIn(.operator)
      let without = try await lin.post("/pushes/own", Self.filled)
      #expect(without.status == 422 && ScenePage(without).error("app").contains("This is my device"))
      #expect(!ScenePage(try await lin.get("/pushes/new")).text.contains("Send to my device first"))
      let page = ScenePage(try await lin.get("/devices/\(devices[2].id)"))
      #expect(page.text.contains("This is my device"))
      _ = try await lin.post("/devices/\(devices[2].id)/own", [("own", "1")])
      #expect(ScenePage(try await lin.get("/devices/\(devices[2].id)")).text.contains("Not my device"))
      #expect(ScenePage(try await lin.get("/pushes/new")).text.contains("Send to my device first"))
      // For everyone in production, tomorrow: the try-out goes to one device in development, now.
      let draft = [
        ("app", ConsoleScene.bundleID), ("environment", "production"), ("platforms", "ios"), ("audience", "all"),
        ("title", "Grand opening"), ("when", "at"), ("send_at", "2026-12-01T09:00"), ("time_zone", "UTC"),
      ]
      let sent = try await lin.post("/pushes/own", draft)
      let path = try #require(sent.location)
      let push = try await scene.finished(String(path.dropFirst("/pushes/".count)))
      #expect(push.environment == .development && push.target == 1 && push.title == "Grand opening")
      #expect(push.sendAt == nil && push.counts.accepted == 1)
      let delivery = try await scene.store.read { try Delivery.find($0, push: push.id, device: devices[2].id) }
      #expect(delivery != nil)
      let result = ScenePage(try await lin.get(path))
      let back = try #require(result.links.first { $0.hasPrefix("/pushes/new?draft=") })
      let form = ScenePage(try await lin.get(back))
      for (name, value) in draft { #expect(form.values(name) == [value], "\(name)") }
      #expect(try await lin.post("/devices/999/own", [("own", "1")]).status == 404)
    }
  }

  @Test("a finding that knows its repair has a button, and the review comes back with it; without a script")
  func repaired() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp(aliasRule: "jpush")
      try await scene.addDevices(4, of: app)
      _ = try await scene.store.write {
        try Device.update($0, id: 1, alias: .set("usr_ada"), by: "test", now: ConsoleScene.noon)
      }
      var lin = try await scene.signIn(.operator)
      let base = [("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios")]
      func fix(_ fields: [(String, String)], _ code: String) async throws -> ScenePage {
        let review = ScenePage(try await lin.post("/pushes/preview", fields))
        let button = review.tags.first { $0.name == "button" && $0.attributes["value"]?.hasPrefix(code) == true }
        let value = try #require(button?.attributes["value"], "\(code): \(review.text)")
        #expect(button?.attributes["form"] == "repair" && review.tags.contains { $0.attributes["id"] == "repair" })
        let answer = try await lin.post("/pushes/preview", fields + [("review", "1"), ("fix", value)])
        #expect(answer.status == 200, "\(code)")
        return ScenePage(answer)
      }
      let alias = try await fix(
        base + [("audience", "alias"), ("alias", "user-ada"), ("body", "x"), ("draft", "7")], "lint.alias_form")
      #expect(alias.values("alias").first == "usr_ada" && alias.values("draft").first == "7")
      let tag = try await fix(base + [("audience", "tag"), ("tag", "ood"), ("body", "x")], "lint.no_tag_similar")
      #expect(tag.values("tag").first == "odd")
      let key = try await fix(
        base + [
          ("audience", "tag"), ("tag", "odd"), ("payload", #"{"aps": {"alert": "x", "content_available": 1}}"#),
        ], "lint.misspelt_key")
      #expect(key.values("payload").first?.contains("\"content-available\"") == true)
      let silent = base + [("audience", "tag"), ("tag", "odd"), ("content_available", "1"), ("priority", "high")]
      let priority = try await fix(silent, "lint.background_priority")
      #expect(priority.values("priority").first == "normal" && !priority.text.contains("Using priority 10"))
      // From the form itself, as its script sends it, the form comes back.
      let form = ScenePage(
        try await lin.post("/pushes/preview", silent + [("fix", "lint.background_priority options.priority")]))
      #expect(form.values("priority") == ["normal"] && form.tags.contains { $0.attributes["data-preview"] != nil })
    }
  }
}
