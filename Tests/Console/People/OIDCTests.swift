import Foundation
import HTTPServer
import JSON
import OpenSSL
import SQLite
import Store
import Testing

@Suite("OIDC: signing in")
struct OIDCTests {
  static func with(
    _ change: @escaping @Sendable (inout OIDCSettings) -> Void = { _ in },
    _ body: @escaping @Sendable (ConsoleScene, OIDCTestProvider) async throws -> Void
  ) async throws {
    try await OIDCTestProvider.with { provider in
      try await ConsoleScene.with { scene in
        var settings = provider.settings
        change(&settings)
        try await save(settings, scene)
        try await body(scene, provider)
      }
    }
  }

  static func save(_ settings: OIDCSettings, _ scene: ConsoleScene) async throws {
    let sealer = scene.store.sealer
    try await scene.store.write { try settings.save($0, sealer: sealer, now: ConsoleScene.noon) }
  }

  static func invite(_ scene: ConsoleScene, _ name: String = "anna@example.com", _ role: User.Role = .operator)
    async throws
  {
    _ = try await scene.store.write {
      try User.add($0, name: name, role: role, language: "en", now: ConsoleScene.noon)
    }
  }

  /// A browser that comes back from the provider.
  static func enter(
    _ scene: ConsoleScene, _ provider: OIDCTestProvider, returnTo: String = "/devices"
  ) async throws -> (SceneBrowser, SceneAnswer) {
    var browser = SceneBrowser(router: scene.router)
    let begun = try await browser.get("/session/oidc?return=\(returnTo)")
    #expect(begun.status == 303)
    let answer = try await browser.get(try provider.authorize(begun.location))
    return (browser, answer)
  }

  static func user(_ scene: ConsoleScene, _ name: String = "anna@example.com") async throws -> User? {
    try await scene.store.read { try User.find($0, name: name) }
  }

  @Test("an invited person signs in without a password, and is known by the provider's name for her from then on")
  func signIn() async throws {
    try await Self.with { scene, provider in
      try await Self.invite(scene)
      var guest = SceneBrowser(router: scene.router)
      let page = try await guest.get("/session/new?return=/devices")
      #expect(page.text.contains("Sign in with Example ID") && page.text.contains("/session/oidc?return=/devices"))
      var (anna, entered) = try await Self.enter(scene, provider)
      #expect(entered.status == 303 && entered.location == "/devices")
      #expect(anna.cookies["signalbox_session"] != nil && anna.cookies["signalbox_oidc"] == nil)
      #expect(try await anna.get("/devices").status == 200)
      let user = try #require(try await Self.user(scene))
      #expect(user.state == .active && user.role == .operator && user.passwordHash == nil)
      #expect(try await scene.audit("session.open").first?.detail?["with"] == "OIDC")
      #expect(try await scene.audit("user.link_identity").first?.detail?["after"]?["subject"] == "f3a1")
      #expect(try await anna.get("/account").text.contains(provider.issuer))

      // Another address at the provider, and somebody who gets the former one.
      provider.change { $0.claims["email"] = "anna.li@example.com" }
      #expect(try await Self.enter(scene, provider).1.status == 303)
      provider.change { $0.claims = ["sub": "other", "email": "ANNA@example.com"] }
      let (_, thief) = try await Self.enter(scene, provider)
      #expect(thief.status == 422 && thief.text.contains("belongs to another account of the provider"))
      #expect(try await scene.count("users") == 1)
      // The documents are kept.
      #expect(provider.asked("/keys") == 1 && provider.asked("/.well-known/openid-configuration") == 1)
    }
  }

  /// What the ID token and the userinfo endpoint say of the address, and whether it lets in.
  static let verdicts: [(token: JSONValue, userInfo: JSONValue, isIn: Bool)] = [
    (.null, ["email_verified": false], false), (.null, ["email_verified": "false"], false),
    (true, ["email_verified": false], false), (true, ["email": "anna@example.com", "email_verified": false], false),
    (.null, ["email": "other@example.com", "email_verified": false], false), (false, ["email_verified": true], false),
    (.null, ["email_verified": true], true), (.null, [:], true), (true, [:], true),
  ]

  @Test(
    "the ID token and the userinfo endpoint are both asked whether the address is verified; no wins",
    arguments: verdicts)
  func verified(_ token: JSONValue, _ userInfo: JSONValue, _ isIn: Bool) async throws {
    try await Self.with { scene, provider in
      try await Self.invite(scene)
      provider.change {
        $0.claims["email_verified"] = token
        $0.userInfo = userInfo.with("sub", "f3a1")
      }
      let (_, answer) = try await Self.enter(scene, provider)
      #expect(answer.status == (isIn ? 303 : 422) && answer.text.contains("is not verified") == !isIn)
      #expect(provider.asked("/me") == 1)
    }
  }

  @Test("without an answer of the userinfo endpoint, an ID token goes that says all of it, and no other")
  func silentUserInfo() async throws {
    try await Self.with { scene, provider in
      try await Self.invite(scene)
      provider.change { $0.discovery["userinfo_endpoint"] = .string($0.issuer + "/none") }
      #expect(try await Self.enter(scene, provider).1.status == 303)
      provider.change { $0.claims["email_verified"] = .null }
      #expect(try await Self.enter(scene, provider).1.status == 422)
    }
  }

  /// Claims of the provider, and what the sign-in page says.
  static let refusals: [(change: [String: JSONValue], says: String)] = [
    (["email": "ben@example.com"], "ben@example.com has no access yet"), (["email": .null], "did not send your email"),
    (["email": "nonsense"], "did not send your email"), (["email_verified": false], "is not verified"),
    (["email_verified": "false"], "is not verified"), (["nonce": "other"], "its nonce is missing or wrong"),
    (["aud": "other"], "its aud is missing or wrong"), (["iss": "https://evil.example"], "its iss is missing or wrong"),
    (["exp": 1], "has expired"), (["iat": 4_000_000_000], "is from the future"),
    (["at_hash": "AAAA"], "its at_hash is missing or wrong"), (["sub": .null], "its sub is missing or wrong"),
  ]

  @Test("what the provider says decides, and each refusal is told and noted", arguments: refusals)
  func refused(_ change: [String: JSONValue], _ says: String) async throws {
    try await Self.with { scene, provider in
      try await Self.invite(scene)
      provider.change { $0.claims.merge(change) { $1 } }
      let (browser, answer) = try await Self.enter(scene, provider)
      #expect(answer.status == 422 && answer.text.contains(says))
      #expect(browser.cookies["signalbox_session"] == nil && browser.cookies["signalbox_oidc"] == nil)
      let entry = try #require(try await scene.audit("session.refused").first)
      #expect(entry.detail?["step"] == "OIDC" && entry.detail?["reason"]?.string?.hasPrefix("oidc.") == true)
      let (identities, sessions) = (try await scene.count("identities"), try await scene.count("sessions"))
      #expect(identities == 0 && sessions == 0)
    }
  }

  @Test("an ID token without a signature, with HMAC, or with a key that is not listed lets nobody in")
  func forged() async throws {
    try await Self.with { scene, provider in
      try await Self.invite(scene)
      let (key, other) = (provider.look { $0.signer }, try OIDCTestKey("ES256", id: "two"))
      let pem = Array(key.publicPEM.utf8)
      let forgeries: [(says: String, make: @Sendable (JSONValue) throws -> String)] = [
        ("signed with none", { OIDCTestKey.unsigned($0, ["alg": "none"]) + "." }),
        (
          "signed with HS256",
          { claims in
            let signed = OIDCTestKey.unsigned(claims, ["alg": "HS256", "kid": .string(key.id)])
            return "\(signed).\(Base64URL.encode(HMAC.sha256(key: pem, Array(signed.utf8))))"
          }
        ),
        ("signature of the provider’s ID token is wrong", { try other.token($0, header: ["kid": .string(key.id)]) }),
        ("a key that the provider does not list", { try other.token($0) }), ("cannot be read", { _ in "nonsense" }),
      ]
      for (says, make) in forgeries {
        provider.change { $0.forge = make }
        let (_, answer) = try await Self.enter(scene, provider)
        #expect(answer.status == 422 && answer.text.contains(says), "\(says)")
      }
      #expect(try await scene.count("sessions") == 0)
    }
  }

  @Test("a new key of the provider is asked for, but not more often than once a minute")
  func rotation() async throws {
    try await Self.with { scene, provider in
      try await Self.invite(scene)
      #expect(try await Self.enter(scene, provider).1.status == 303)
      let key = try OIDCTestKey("RS256", id: "two")
      provider.change { $0.signer = key }
      for _ in 0..<3 { #expect(try await Self.enter(scene, provider).1.status == 422) }
      #expect(provider.asked("/keys") == 1)
      scene.clock.advance(61)
      provider.change { $0.now += 61 }
      for _ in 0..<3 { #expect(try await Self.enter(scene, provider).1.status == 422) }
      #expect(provider.asked("/keys") == 2)
      provider.change { $0.keys.append(key) }
      #expect(try await Self.enter(scene, provider).1.status == 422)
      scene.clock.advance(60)
      provider.change { $0.now += 60 }
      #expect(try await Self.enter(scene, provider).1.status == 303)
      #expect(provider.asked("/keys") == 3)
    }
  }

  @Test("an answer that this browser did not ask for, that comes late or twice, is refused before anything is sent on")
  func state() async throws {
    try await Self.with { scene, provider in
      try await Self.invite(scene)
      func begun() async throws -> (SceneBrowser, String) {
        var browser = SceneBrowser(router: scene.router)
        let location = try await browser.get("/session/oidc").location
        return (browser, try provider.authorize(location))
      }
      func isRefused(_ browser: SceneBrowser, _ target: String) async throws -> Bool {
        var browser = browser
        let answer = try await browser.get(target)
        return answer.status == 422 && answer.text.contains("was not started in this browser")
          && browser.cookies["signalbox_session"] == nil
      }
      let (one, target) = try await begun()
      let (two, other) = try await begun()
      // The code of one in the browser of the other: a sign-in under a stranger's name.
      #expect(try await isRefused(two, target))
      #expect(try await isRefused(SceneBrowser(router: scene.router), target))
      #expect(try await isRefused(one, target.replacing("state=", with: "state=A")))
      #expect(try await isRefused(one, target.replacing(#/&state=.*/#, with: "")))
      var changed = one
      changed.cookies["signalbox_oidc"]?.append("A")
      #expect(try await isRefused(changed, target))
      #expect(provider.asked("/token") == 0)

      var browser = one
      #expect(try await browser.get(target).status == 303)
      // The browser that kept its cookie, or somebody who saw both.
      #expect(try await isRefused(one, target))
      // A state that was not used, with a code that was.
      let code = try #require(target.firstMatch(of: #/code=([^&]+)/#)).1
      var thief = two
      let stolen = try await thief.get(other.replacing(#/code=[^&]+/#, with: "code=\(code)"))
      #expect(stolen.status == 422 && stolen.text.contains("invalid_grant"))

      let (late, third) = try await begun()
      scene.clock.advance(601)
      #expect(try await isRefused(late, third))
    }
  }

  @Test("an answer of another provider is not exchanged, and the way back leads nowhere else")
  func mixUp() async throws {
    try await Self.with { scene, provider in
      try await Self.invite(scene)
      provider.change { $0.discovery["authorization_response_iss_parameter_supported"] = true }
      func answer(_ more: String) async throws -> SceneAnswer {
        var browser = SceneBrowser(router: scene.router)
        let location = try await browser.get("/session/oidc?return=//evil.example/x").location
        return try await browser.get(try provider.authorize(location, adding: more))
      }
      for more in ["", "&iss=https://evil.example"] {
        let refused = try await answer(more)
        #expect(refused.status == 422 && refused.text.contains("came from a different provider"), "\(more)")
      }
      #expect(provider.asked("/token") == 0)
      #expect(try await answer("&iss=\(provider.issuer)").location == "/")
    }
  }

  @Test("errors of the provider are told in plain words, on one line")
  func providerErrors() async throws {
    try await Self.with { scene, provider in
      func answer(_ query: String) async throws -> SceneAnswer {
        var browser = SceneBrowser(router: scene.router)
        let target = try provider.authorize(try await browser.get("/session/oidc").location)
        return try await browser.get(target.replacing(#/code=[^&]+/#, with: query))
      }
      let denied = try await answer("error=access_denied")
      #expect(denied.status == 422 && denied.text.contains("did not let you in, or you canceled"))
      let strange = try await answer("error=server_error&error_description=a%0Ab%3Cscript%3E")
      #expect(strange.text.contains("The provider refused: server_error: a b&lt;script&gt;"))
      #expect(try await answer("code=").status == 422)
      var settings = provider.settings
      settings.clientSecret = "outdated"
      try await Self.save(settings, scene)
      try await Self.invite(scene)
      let (_, wrong) = try await Self.enter(scene, provider)
      #expect(wrong.status == 422 && wrong.text.contains("does not accept the client ID or the client secret"))
      settings = provider.settings
      settings.issuer = "http://127.0.0.1:1"
      try await Self.save(settings, scene)
      var browser = SceneBrowser(router: scene.router)
      let away = try await browser.get("/session/oidc")
      #expect(away.status == 422 && away.text.contains("cannot be reached"))
      settings.isOn = false
      try await Self.save(settings, scene)
      #expect(try await browser.get("/session/oidc").text.contains("Single sign-on is off"))
      let page = try await browser.get("/session/new")
      #expect(!page.text.contains("Example ID"))
    }
  }

  @Test("failed sign-ins from one address are slowed down")
  func throttled() async throws {
    try await Self.with { scene, provider in
      func fail() async throws -> SceneAnswer {
        var browser = SceneBrowser(router: scene.router)
        browser.address = "192.0.2.7"
        return try await browser.get(try provider.authorize(try await browser.get("/session/oidc").location))
      }
      for _ in 0..<20 { #expect(try await fail().text.contains("has no access yet")) }
      let slow = try await fail()
      #expect(slow.status == 429 && slow.text.contains("Too many attempts"))
      #expect(slow.response.headers["Retry-After"] == "1")
      for _ in 0..<20 { _ = try await fail() }
      #expect(try await scene.audit("session.refused").count == 21, "what is not looked at is counted in one entry")
    }
  }

  @Test(
    "an answer with a state that is not ours counts for nobody, fills no log, and ends no sign-in",
    arguments: [true, false])
  func strangersState(_ isOn: Bool) async throws {
    try await Self.with({ $0.isOn = isOn }) { scene, provider in
      _ = try await scene.signIn(.admin)
      try await Self.invite(scene)
      var browser = SceneBrowser(router: scene.router)
      browser.address = "192.0.2.7"
      let begun = isOn ? try await browser.get("/session/oidc").location : nil
      for state in ["?state=x", "?code=a&state=b", "", "?error=access_denied"] {
        for _ in 0..<10 {
          #expect(try await browser.get("/session/oidc/callback" + state).status == 422)
        }
      }
      #expect(try await scene.count("sign_in_failures") == 0)
      #expect(try await scene.audit("session.refused").count == 1)
      var person = try await SignInTests.guest(scene, address: "192.0.2.7")
      #expect(try await SignInTests.attempt(&person, "admin@example.com").status == 303)
      guard let begun else { return }
      #expect(try await browser.get(try provider.authorize(begun)).status == 303, "its own sign-in goes on")
    }
  }

  @Test("neither a sign-in nor a failure of the console counts as a failed attempt")
  func notCounted() async throws {
    try await Self.with { scene, provider in
      try await Self.invite(scene)
      #expect(try await Self.enter(scene, provider).1.status == 303)
      #expect(try await scene.count("sign_in_failures") == 0)
      _ = try await scene.store.write { try $0.run("ALTER TABLE identities RENAME TO moved") }
      #expect(try await Self.enter(scene, provider).1.status == 500)
      #expect(try await scene.count("sign_in_failures") == 0)
    }
  }
}
