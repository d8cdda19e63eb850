import Foundation
import HTTPServer
import JSON
import Reactor
import SQLite
import Store
import Testing

@testable import Console

@Suite("Settings: single sign-on")
struct OIDCSettingsTests {
  private static let form = [
    ("issuer", "https://id.example.com"), ("client_id", "box"), ("client_secret", "top secret"),
    ("label", "Example ID"),
    ("scopes", "openid email"), ("admission", "domains"), ("domains", "example.com, Example.org"),
    ("new_role", "operator"), ("role_claim", "groups"), ("role_rules", "a=b = admin\nbox = viewer"), ("on", "yes"),
    ("passwords", "yes"),
  ]

  private static func changed(_ changes: (String, String)...) -> [(String, String)] {
    form.map { field in changes.first { $0.0 == field.0 } ?? field }
  }

  private static func stored(_ scene: ConsoleScene) async throws -> OIDCSettings? {
    let sealer = scene.store.sealer
    return try await scene.store.read { try OIDCSettings.load($0, sealer: sealer) }
  }

  @Test("what was entered is stored, the secret sealed, and shown again without it")
  func saved() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let empty = try await anna.get("/settings/oidc")
      #expect(empty.status == 200 && empty.text.contains("http://localhost:8080/session/oidc/callback"))
      #expect(try await anna.post("/settings/oidc", Self.form).status == 303)
      let settings = try #require(try await Self.stored(scene))
      #expect(settings.clientSecret == "top secret" && settings.domains == ["example.com", "example.org"])
      #expect(settings.newRole == .operator && settings.allowsPasswords && settings.isOn)
      #expect(settings.roleRules == [.init(value: "a=b", role: .admin), .init(value: "box", role: .viewer)])
      let page = try await anna.get("/settings/oidc")
      #expect(!page.text.contains("top secret") && ScenePage(page).values("issuer") == ["https://id.example.com"])
      let sealed = try await scene.store.read { try $0.fetchOne("SELECT sealed FROM oidc_secrets") { $0.blob(0) } }
      #expect(!String(decoding: try #require(sealed), as: UTF8.self).contains("top secret"))
      let entry = try #require(try await scene.audit("settings.oidc").first)
      #expect(entry.detail?["after"]?["has_secret"] == true && entry.detail?.text().contains("top secret") == false)

      // An empty field keeps the secret, but not for another provider.
      #expect(try await anna.post("/settings/oidc", Self.changed(("client_secret", ""))).status == 303)
      #expect(try await Self.stored(scene)?.clientSecret == "top secret")
      let moved = try await anna.post(
        "/settings/oidc", Self.changed(("client_secret", ""), ("issuer", "https://evil.example")))
      #expect(moved.status == 422 && ScenePage(moved).error("client_secret").contains("https://id.example.com"))
      scene.clock.advance(900)
      #expect(try await anna.post("/settings/oidc", Self.form).text.contains("Confirm it’s you"))
    }
  }

  @Test("a saved secret that the key cannot open stays until another one is entered")
  func closed() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      #expect(try await anna.post("/settings/oidc", Self.form).status == 303)
      _ = try await scene.store.write { try $0.run("UPDATE oidc_secrets SET sealed = x'0102'") }
      func sealed() async throws -> [UInt8]? {
        try await scene.store.read { try $0.fetchOne("SELECT sealed FROM oidc_secrets") { $0.blob(0) } }
      }
      #expect(try await anna.get("/settings/oidc").text.contains("The saved secret cannot be read"))
      let without = Self.changed(("client_secret", ""), ("label", "Another name"))
      #expect(try await anna.post("/settings/oidc", without).status == 303)
      #expect(try await sealed() == [1, 2])
      let moved = Self.changed(("client_secret", ""), ("issuer", "https://evil.example"))
      #expect(ScenePage(try await anna.post("/settings/oidc", moved)).failedFields == ["client_secret"])
      let path = "/api/v1/settings/oidc"
      #expect(try await scene.call(.get, path, as: .admin).json?["has_secret"] == true)
      let changed = try await scene.call(
        .put, path, as: .admin, json: ["issuer": "https://id.example.com", "client_id": "box", "label": "ID"])
      #expect(changed.status == 200 && changed.json?["has_secret"] == true)
      #expect(try await sealed() == [1, 2])
      #expect(try await anna.post("/settings/oidc", Self.form).status == 303)
      #expect(try await Self.stored(scene)?.clientSecret == "top secret")
    }
  }

  @Test(
    "each field that is wrong is named",
    arguments: [
      ("issuer", "http://id.example.com"), ("issuer", "https://id.example.com?a=b"), ("issuer", "id.example.com"),
      ("client_id", ""), ("label", ""), ("label", String(repeating: "a", count: 41)), ("scopes", "email"),
      ("domains", ""), ("domains", "a@example.com"), ("domains", "localhost"), ("new_role", "admin"),
      ("role_rules", "box = owner"), ("role_rules", ""), ("role_claim", ""),
    ])
  func refused(_ field: String, _ value: String) async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let answer = try await anna.post("/settings/oidc", Self.changed((field, value)))
      #expect(answer.status == 422 && ScenePage(answer).failedFields == [field], "\(ScenePage(answer).failedFields)")
      #expect(try await Self.stored(scene) == nil)
    }
  }

  @Test("passwords stay allowed until an admin has signed in with the provider")
  func lockOut() async throws {
    try await OIDCTests.with { scene, provider in
      var ben = try await scene.signIn(.admin, name: "ben@example.com")
      let form =
        Self.changed(("issuer", provider.issuer), ("client_id", OIDCTestProvider.client)).filter { $0.0 != "passwords" }
      let early = try await ben.post("/settings/oidc", form)
      #expect(early.status == 422 && early.text.contains("until an admin has signed in with this provider once"))
      try await OIDCTests.invite(scene, "anna@example.com", .admin)
      #expect(try await OIDCTests.enter(scene, provider).1.status == 303)
      #expect(try await ben.post("/settings/oidc", form).status == 303)
      #expect(try await Self.stored(scene)?.allowsPasswords == false)
    }
  }

  @Test("the test reads the documents, and says clearly what is wrong")
  func tested() async throws {
    try await OIDCTests.with { scene, provider in
      var anna = try await scene.signIn(.admin)
      func told() async throws -> String { try await anna.post("/settings/oidc/test").text }
      #expect(try await told().contains("The provider responds correctly"))
      provider.change { $0.discovery["issuer"] = "https://other.example.com" }
      #expect(try await told().contains("calls itself https://other.example.com"))
      provider.change { $0.discovery = ["jwks_uri": .string($0.issuer + "/missing")] }
      #expect(try await told().contains("answered with status 404"))
      provider.change { $0.discovery = ["token_endpoint": "http://id.example.com/token"] }
      #expect(try await told().contains("token_endpoint in the discovery document is not an https address"))
      provider.change { ($0.discovery, $0.keys) = ([:], []) }
      #expect(try await told().contains("has no key"))
      #expect(try await scene.audit("settings.oidc_test").count == 5)
    }
  }

  @Test("while too many wait for the provider, a test by the API is told when to try again")
  func crowded() async throws {
    try await ConsoleScene.with { scene in
      var settings = OIDCSettings()
      (settings.issuer, settings.clientID, settings.label) = ("https://id.example.com", "box", "ID")
      try await OIDCTests.save(settings, scene)
      let gate = DispatchSemaphore(value: 0)
      // More than the queue takes, beside those at work.
      let held = 40
      defer { for _ in 0..<held { gate.signal() } }
      for _ in 0..<held { #expect(scene.pools.providers.execute { gate.wait() }) }
      let answer = try await scene.call(.post, "/api/v1/settings/oidc/test", as: .admin)
      #expect(answer.status == 503 && answer.response.headers["Retry-After"] == "5")
    }
  }

  @Test("the API sets, shows, tests and removes them, and never returns the secret")
  func api() async throws {
    try await OIDCTestProvider.with { provider in
      try await ConsoleScene.with { scene in
        let (path, test) = ("/api/v1/settings/oidc", "/api/v1/settings/oidc/test")
        #expect(try await scene.call(.get, path, as: .admin).status == 404)
        #expect(try await scene.call(.post, test, as: .admin).status == 409)
        let body: JSONValue = [
          "issuer": .string(provider.issuer), "client_id": "box", "client_secret": "top secret", "label": "ID",
          "role_claim": "groups", "role_rules": ["a = admin"],
        ]
        let made = try await scene.call(.put, path, as: .admin, json: body)
        #expect(made.status == 200 && made.json?["has_secret"] == true && !made.text.contains("top secret"))
        #expect(made.json?["redirect_uri"] == "http://localhost:8080/session/oidc/callback")
        #expect(made.json?["new_role"] == "viewer" && made.json?["scopes"] == ["openid", "email", "profile"])
        #expect(try await scene.call(.get, path, as: .admin).json == made.json)
        #expect(try await scene.call(.post, test, as: .admin).json?["taken"] == true)
        let wrong = try await scene.call(
          .put, path, as: .admin, json: ["issuer": "x", "client_id": "box", "label": "ID", "new_role": "admin"])
        #expect(wrong.status == 422 && Set(wrong.fields) == ["issuer", "client_secret", "new_role"])
        let locked = try await scene.call(.put, path, as: .admin, json: body.with("passwords", false))
        #expect(locked.status == 422 && locked.codes == ["oidc.lock_out"])
        #expect(try await scene.call(.delete, path, as: .admin).status == 204)
        #expect(try await scene.count("oidc_secrets") == 0)
      }
    }
  }
}
