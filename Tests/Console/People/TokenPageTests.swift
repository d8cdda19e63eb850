import Foundation
import Logging
import HTTPServer
import JSON
import Model
import SQLite
import Store
import TestSupport
import Testing

@Suite("Pages: API tokens")
struct TokenPageTests {
  @Test("a token is shown once, works as far as it may, and is refused after it was revoked or has expired")
  func tokens() async throws {
    try await ConsoleScene.with { scene in
      let (shop, _) = (try await scene.addApp(), try await scene.addApp("com.example.other", name: "Other"))
      var anna = try await scene.signIn(.admin)
      let made = try await anna.post(
        "/settings/tokens",
        [
          ("name", "nightly <b>"), ("expires", "30d"), ("scopes", "read"), ("scopes", "devices"), ("reach", "some"),
          ("apps", ConsoleScene.bundleID), ("addresses", "192.0.2.0/24 2001:db8::1"),
        ])
      #expect(made.status == 200)
      let value = try #require(ScenePage(made).text(id: "token"))
      #expect(value.hasPrefix("sbx_") && value.utf8.count > 40)
      let again = try await anna.get("/settings/tokens")
      #expect(!again.text.contains(value) && again.text.contains("nightly &lt;b&gt;"))
      let page = ScenePage(again).text
      #expect(page.contains("Only com.example.shop") && page.contains("192.0.2.0/24"))
      #expect(page.contains("Scripts that use it stop working immediately."), "said before it is revoked")
      let token = try await scene.store.read { try APIToken.all($0).first { $0.name == "nightly <b>" } }
      #expect(token?.apps == [shop.id] && token?.scopes == [.read, .devices])
      func call(_ method: String, _ target: String) async throws -> Int {
        try await scene.call(
          .init(rawValue: method), target, as: nil, headers: ["Authorization": "Bearer \(value)"], from: "192.0.2.7"
        ).status
      }
      #expect(try await call("GET", "/api/v1/apps") == 200)
      #expect(try await call("DELETE", "/api/v1/apps/com.example.shop") == 403)
      scene.clock.advance(30 * 86_400 - 1)
      #expect(try await call("GET", "/api/v1/apps") == 200)
      scene.clock.advance(2)
      #expect(try await call("GET", "/api/v1/apps") == 401)
      scene.clock.advance(-30 * 86_400)
      let revoked = try await anna.post("/settings/tokens/\(try #require(token?.id))/revoke")
      #expect(revoked.location == "/settings/tokens")
      #expect(try await call("GET", "/api/v1/apps") == 401)
      let words = (try await scene.audit()).map { "\($0)" } + scene.log.entries.map { "\($0)" }
      #expect(!words.contains { $0.contains(value) }, "a token must get into no log")
    }
  }

  @Test(
    "what is wrong with a token is said at its field",
    arguments: [
      ([("name", ""), ("expires", "30d"), ("scopes", "read")], ["name"]),
      ([("name", String(repeating: "x", count: 101)), ("expires", "never"), ("scopes", "read")], ["name"]),
      ([("name", "x"), ("expires", "4000d"), ("scopes", "read")], ["expires"]),
      ([("name", "x"), ("expires", ""), ("scopes", "read")], ["expires"]),
      ([("name", "x"), ("expires", "30d")], ["scopes"]),
      ([("name", "x"), ("expires", "30d"), ("scopes", "root")], ["scopes"]),
      ([("name", "x"), ("expires", "30d"), ("scopes", "read"), ("addresses", "10.0.0.0/33")], ["addresses"]),
      ([("name", "x"), ("expires", "30d"), ("scopes", "read"), ("reach", "some")], ["apps"]),
      ([], ["name", "scopes", "expires"]),
    ] as [([(String, String)], Set<String>)])
  func badToken(fields: [(String, String)], places: Set<String>) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var anna = try await scene.signIn(.admin)
      let before = try await scene.changes()
      let answer = try await anna.post("/settings/tokens", fields)
      #expect(answer.status == 422)
      #expect(ScenePage(answer).failedFields == places)
      #expect(try await scene.changes() == before)
    }
  }

  @Test(
    "the call to try is one that the token may make; a token that can only change things is offered none",
    arguments: [
      (["read"], "GET /api/v1/apps"), (["read", "devices"], "GET /api/v1/apps"), (["admin"], "GET /api/v1/apps"),
      (["send-development"], "POST /api/v1/pushes"),
      (["send-production"], "POST /api/v1/pushes"), (["devices"], nil), (["certificates", "devices"], nil),
    ] as [([String], String?)])
  func attempt(scopes: [String], expected: String?) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var anna = try await scene.signIn(.admin)
      let made = try await anna.post(
        "/settings/tokens",
        [("name", "ci"), ("expires", "30d")] + scopes.map { ("scopes", $0) })
      let shown = ScenePage(made).text(id: "token-curl")
      guard let expected else {
        #expect(shown == nil, "\(shown ?? "")")
        return
      }
      let command = try #require(shown, "\(made.text)")
      let value = try #require(ScenePage(made).text(id: "token"))
      let address = try #require(command.firstMatch(of: /'(http[^']+)'/)).1
      let path = String(address.dropFirst("http://localhost:8080".count))
      let body = command.firstMatch(of: /--json '([^']+)'/).map { String($0.1) }
      #expect("\(body == nil ? "GET" : "POST") \(path)" == expected)
      let answer = try await scene.call(
        body == nil ? .get : .post, path, as: nil,
        json: body.flatMap { try? JSONValue(parsing: Data($0.utf8)) },
        headers: ["Authorization": "Bearer \(value)"])
      #expect(answer.status == 200, "\(command): \(answer.text)")
      #expect(try await scene.count("pushes") == 0, "nothing is sent")
    }
  }

  @Test("the API creates, lists, shows and revokes tokens; they last 90 days unless something else is said")
  func api() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let made = try await scene.call(
        .post, "/api/v1/tokens", as: .admin, json: ["name": "ci", "scopes": ["read"], "apps": ["com.example.shop"]])
      #expect(made.status == 201 && made.json?["token"]?.string?.hasPrefix("sbx_") == true, "\(made.text)")
      #expect(made.json?["expires_at"] == "2027-02-18T12:00:00Z")
      let id = try #require(made.json?["id"]?.integer)
      let never = try await scene.call(
        .post, "/api/v1/tokens", as: .admin, json: ["name": "cron", "scopes": ["viewer"], "expires": "never"])
      #expect(never.json?["expires_at"] == .null && never.json?["apps"] == .null)
      let list = try await scene.call(.get, "/api/v1/tokens", as: .admin)
      #expect(list.json?["items"]?.array?.contains { $0["name"] == "ci" && $0["token"] == nil } == true)
      for (json, field) in [
        (["name": "x", "scopes": ["read", "viewer"]], "scopes"), (["name": "x", "scopes": []], "scopes"),
        (["name": "x", "scopes": ["read"], "apps": []], "apps"),
        (["name": "x", "scopes": ["read"], "apps": ["com.example.none"]], "apps"),
        (["name": "x", "scopes": ["read"], "expires": "1y"], "expires"),
        (["name": "x", "scopes": ["read"], "addresses": ["here"]], "addresses"),
      ] as [(JSONValue, String)] {
        let answer = try await scene.call(.post, "/api/v1/tokens", as: .admin, json: json)
        #expect(answer.status == 422 && answer.fields == [field], "\(json): \(answer.text)")
      }
      #expect(try await scene.call(.delete, "/api/v1/tokens/\(id)", as: .admin).status == 204)
      #expect(try await scene.call(.delete, "/api/v1/tokens/\(id)", as: .admin).status == 409)
      let revoked = try await scene.call(.get, "/api/v1/tokens/\(id)", as: .admin)
      #expect(revoked.json?["state"] == "revoked")
      #expect(try await scene.audit().map(\.action).prefix(3) == ["token.revoke", "token.create", "token.create"])
    }
  }
}
