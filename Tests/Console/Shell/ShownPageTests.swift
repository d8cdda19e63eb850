import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@Suite("Pages that a form leads to")
struct ShownPageTests {
  /// Forms whose answer is a page, and what it says.
  static let forms: [(path: String, fields: [(String, String)], page: String, says: String)] = [
    ("/pushes/preview", SendPageTests.fields, "/pushes/new", "Send to 1 device?"),
    ("/pushes/preview", SendPageTests.fields + [("edit", "1")], "/pushes/new", "Send a push"),
    ("/pushes/preview", [("app", ConsoleScene.bundleID)], "/pushes/new", "Choose an audience."),
    ("/audiences/explanation", SendPageTests.fields, "/audiences/explanation", "Explain"),
    ("/devices/batch", [("device", "1"), ("action", "delete")], "/devices", "Delete"),
    ("/templates/new", SendPageTests.fields, "/templates/new", "Hello"),
    ("/smoke-tests/new", SendPageTests.fields, "/smoke-tests/new", "Hello"),
    ("/pushes/paste", [("pasted", "{\"aps\":{\"alert\":\"Hi\"}}")], "/pushes/new", "Hi"),
    ("/apps/1/pages/try", [("payload", "{\"aps\":{}}")], "/apps/1/pages", "aps"),
    ("/settings/tokens", [("name", "ci"), ("expires", "30d"), ("scopes", "read")], "/settings/tokens", "sbx_"),
    ("/certificates/calendar", [], "/certificates", "certificates.ics"),
    ("/apps/1/jpush-key", [], "/apps/1", "aster secret"),
    ("/settings/people", [("name", "new@example.com"), ("role", "viewer")], "/settings/people/2", "/session/setup"),
  ]

  @Test(
    "each has an address of its own: reloading it sends nothing again, and it can be read in another language",
    arguments: forms.indices)
  func address(_ index: Int) async throws {
    let form = Self.forms[index]
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      var anna = try await scene.signIn(.admin)
      let answer = try await anna.post(form.path, form.fields)
      let address = try #require(anna.lastShown, "\(form.path): \(answer.status)")
      #expect(address.hasPrefix(form.page + "?"), "\(address)")
      #expect(answer.text.contains(form.says), "\(form.path)")
      let before = try await scene.changes()
      let again = try await anna.get(address)
      #expect(again.status == answer.status && again.text.contains(form.says))
      #expect(try await scene.changes() == before, "nothing is written by looking at it")
      let page = ScenePage(again)
      #expect(page.tags.contains { $0.attributes["name"] == "lang" && $0.attributes["value"] == "zh-Hans" })
      _ = try await anna.post("/language", [("lang", "zh-Hans"), ("return", address)])
      #expect(try await anna.get(address).text.contains("<html lang=\"zh-Hans\""))
      var eve = try await scene.signIn(.admin, name: "eve@example.com")
      let others = try await eve.get(address)
      #expect(form.says.count < 4 || !others.text.contains("sbx_"), "another person gets the page in whose place it is")
      scene.clock.advance(86_400)
    }
  }

  @Test("a secret is shown again for a quarter of an hour, and to nobody else")
  func secret() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let made = try await anna.post("/settings/tokens", [("name", "ci"), ("expires", "30d"), ("scopes", "read")])
      let value = try #require(ScenePage(made).text(id: "token"))
      let address = try #require(anna.lastShown)
      #expect(try await scene.count("tokens") == User.Role.allCases.count + 1)
      #expect(try await anna.get(address).text.contains(value))
      var eve = try await scene.signIn(.admin, name: "eve@example.com")
      #expect(try await !eve.get(address).text.contains(value))
      scene.clock.advance(899)
      #expect(try await anna.get(address).text.contains(value))
      scene.clock.advance(2)
      let over = try await anna.get(address)
      #expect(over.status == 200 && !over.text.contains(value))
    }
  }

  @Test("a review that was sent says so when somebody goes back to it; sending it again is the same push")
  func twice() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let review = ScenePage(try await ben.post("/pushes/preview", SendPageTests.fields))
      let address = try #require(ben.lastShown)
      // With the cache off, the browser asks for it anew.
      let anew = ScenePage(try await ben.get(address))
      #expect(anew.values("idempotency_key") == review.values("idempotency_key"))
      let fields = SendPageTests.fields + anew.values("idempotency_key").map { ("idempotency_key", $0) }
      let sent = try #require(try await ben.post("/pushes", fields).location)
      #expect(sent.hasPrefix("/pushes/"))
      let back = try await ben.get(address)
      #expect(back.status == 409 && back.text.contains("This push was already sent"))
      #expect(ScenePage(back).links.contains(sent))
      #expect(try await ben.post("/pushes", fields).location == sent)
      #expect(try await scene.count("pushes") == 1)
      // The same from the page of a push that is sent again as it is.
      _ = try await ben.get("\(sent.replacing("/pushes/", with: "/pushes/new?from="))&review=1")
      let second = try #require(ben.lastShown)
      let (one, two) = (ScenePage(try await ben.get(second)), ScenePage(try await ben.get(second)))
      #expect(one.values("idempotency_key") == two.values("idempotency_key"))
      #expect(one.values("idempotency_key") != anew.values("idempotency_key"))
    }
  }

  @Test("a wrongly typed name comes back on the review, at its own address")
  func differs() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let all = SendPageTests.fields.filter { !["audience", "tag"].contains($0.0) } + [("audience", "all")]
      let review = ScenePage(try await ben.post("/pushes/preview", all))
      let key = review.values("idempotency_key").map { ("idempotency_key", $0) }
      let refused = try await ben.post("/pushes", all + key + [("confirm", "Sho")])
      #expect(refused.status == 422 && ScenePage(refused).error("confirm").contains("Shop"))
      #expect(ben.lastShown?.hasPrefix("/pushes/new?shown=") == true)
      #expect(ScenePage(refused).values("confirm") == ["Sho"])
      #expect(try await ben.post("/pushes", all + key + [("confirm", "Shop")]).location?.hasPrefix("/pushes/") == true)
    }
  }
}
