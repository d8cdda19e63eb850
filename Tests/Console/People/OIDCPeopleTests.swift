import Foundation
import HTTPServer
import JSON
import Logging
import SQLite
import Store
import TestSupport
import Testing

@Suite("OIDC: people, roles, and passwords")
struct OIDCPeopleTests {
  @Test("people of a domain are added as viewers; others and lookalikes are not")
  func domains() async throws {
    try await OIDCTests.with({
      $0.admission = .domains; $0.domains = ["example.com"]
    }) { scene, provider in
      for (email, comesIn) in [
        ("ben@example.com", true), ("Carla@EXAMPLE.com", true), ("eve@evil-example.com", false),
        ("eve@example.com.evil.org", false), ("eve@sub.example.com", false), ("example.com@evil.org", false),
        ("a@b@example.com", false),
      ] {
        provider.change { $0.claims = ["sub": .string("id of \(email)"), "email": .string(email)] }
        let (_, answer) = try await OIDCTests.enter(scene, provider)
        #expect(answer.status == (comesIn ? 303 : 422), "\(email)")
        #expect(try await OIDCTests.user(scene, email)?.role == (comesIn ? .viewer : nil), "\(email)")
      }
      #expect(try await scene.audit("user.create").map(\.actor) == ["signalbox", "signalbox"])
    }
  }

  @Test("a disabled person is refused, before and after the first sign-in")
  func disabled() async throws {
    try await OIDCTests.with { scene, provider in
      try await OIDCTests.invite(scene)
      func disable(_ isDisabled: Bool) async throws {
        let user = try #require(try await OIDCTests.user(scene))
        _ = try await scene.store.write {
          try User.setDisabled($0, id: user.id, isDisabled, now: ConsoleScene.noon)
        }
      }
      try await disable(true)
      let (_, before) = try await OIDCTests.enter(scene, provider)
      #expect(before.status == 422 && before.text.contains("This account is disabled"))
      try await disable(false)
      var (anna, entered) = try await OIDCTests.enter(scene, provider)
      #expect(entered.status == 303)
      try await disable(true)
      #expect(try await anna.get("/devices").location?.hasPrefix("/session/new") == true)
      #expect(try await OIDCTests.enter(scene, provider).1.status == 422)
    }
  }

  @Test("the claim gives the role at each sign-in, also from the userinfo endpoint; the last admin stays")
  func roles() async throws {
    try await OIDCTests.with({
      $0.roleClaim = "groups"
      $0.roleRules = [.init(value: "box-admins", role: .admin), .init(value: "box-senders", role: .operator)]
    }) { scene, provider in
      try await OIDCTests.invite(scene, "anna@example.com", .operator)
      func role(_ groups: JSONValue) async throws -> User.Role? {
        provider.change { $0.claims["groups"] = groups }
        let (_, entered) = try await OIDCTests.enter(scene, provider)
        #expect(entered.status == 303)
        let user = try await OIDCTests.user(scene)
        return user?.role
      }
      provider.change { $0.userInfo = ["sub": "f3a1"] }
      #expect(try await role(["box-senders", "box-admins"]) == .admin)
      #expect(try await role(["staff"]) == .admin, "the only admin stays one")
      _ = try await scene.signIn(.admin)
      #expect(try await role(["staff"]) == .viewer)
      #expect(try await role(.null) == .viewer)
      provider.change { $0.userInfo = ["sub": "f3a1", "groups": "box-senders"] }
      #expect(try await role(.null) == .operator)
      let entry = try #require(try await scene.audit("user.update").first)
      #expect(entry.actor == "signalbox" && entry.detail?["after"]?["role"] == "operator")
      provider.change { $0.userInfo = ["sub": "other", "groups": "box-admins"] }
      let (_, foreign) = try await OIDCTests.enter(scene, provider)
      #expect(foreign.status == 422 && foreign.text.contains("its sub is missing or wrong"))
    }
  }

  /// How providers say that they left the values out: the claim that gives roles, and what they send.
  static let leftOut: [(claim: String, claims: [String: JSONValue])] = [
    (
      "groups",
      ["_claim_names": ["groups": "src1"], "_claim_sources": ["src1": ["endpoint": "https://graph.example/me"]]]
    ),
    ("groups", ["hasgroups": true]), ("groups", ["hasgroups": "true"]), ("roles", ["_claim_names": ["roles": "src1"]]),
    ("realm_access.roles", ["_claim_names": ["realm_access": "src1"]]),
  ]

  @Test("whose groups the provider left out keeps the role; page, log and activity log say so", arguments: leftOut)
  func valuesLeftOut(_ claim: String, _ claims: [String: JSONValue]) async throws {
    try await OIDCTests.with({
      $0.roleClaim = claim
      $0.roleRules = [.init(value: "box-admins", role: .admin)]
    }) { scene, provider in
      _ = try await scene.signIn(.admin)
      try await OIDCTests.invite(scene, "anna@example.com", .admin)
      provider.change { $0.claims.merge(claims) { $1 } }
      var (anna, entered) = try await OIDCTests.enter(scene, provider)
      #expect(entered.status == 303)
      #expect(try await OIDCTests.user(scene)?.role == .admin)
      #expect(try await anna.get("/devices").text.contains("The provider left out your groups"))
      let entry = try #require(try await scene.audit("session.open").first)
      #expect(entry.detail?["reason"] == "claim left out" && entry.detail?["claim"] == .string(claim))
      let page = ScenePage(try await anna.get("/activity"))
      #expect(page.text.contains("the provider left the claim out"))
      #expect(scene.log.entries.contains { $0.message.contains("groups assigned to the application") })
      // What it says elsewhere decides; and without such a word, no value is an answer.
      provider.change {
        $0.userInfo = claim == "realm_access.roles" ? nil : ["sub": "f3a1", claim: ["staff"]]
        if claim == "realm_access.roles" { for name in claims.keys { $0.claims[name] = nil } }
      }
      #expect(try await OIDCTests.enter(scene, provider).1.status == 303)
      #expect(try await OIDCTests.user(scene)?.role == .viewer)
    }
  }

  @Test("a provider that sends no email address gets advice that helps", arguments: [true, false])
  func noEmail(_ isAsked: Bool) async throws {
    try await OIDCTests.with({ if !isAsked { $0.scopes = ["openid", "profile"] } }) { scene, provider in
      try await OIDCTests.invite(scene)
      provider.change { $0.claims = ["sub": "f3a1", "preferred_username": "anna@example.com"] }
      let (_, answer) = try await OIDCTests.enter(scene, provider)
      #expect(answer.status == 422)
      #expect(answer.text.contains("add the optional claim email under Token configuration") == isAsked)
      #expect(answer.text.contains("Ask an admin to add the scope email") != isAsked)
    }
  }

  @Test("the email address may come from the userinfo endpoint; its secret may be posted")
  func userInfo() async throws {
    try await OIDCTests.with { scene, provider in
      try await OIDCTests.invite(scene)
      provider.change {
        $0.claims["email"] = .null
        $0.userInfo = ["sub": "f3a1", "email": "anna@example.com", "email_verified": false]
        $0.discovery["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
      }
      #expect(try await OIDCTests.enter(scene, provider).1.text.contains("is not verified"))
      provider.change { $0.userInfo = ["sub": "f3a1", "email": "anna@example.com"] }
      #expect(try await OIDCTests.enter(scene, provider).1.status == 303)
      #expect(provider.asked("/me") == 2)
    }
  }

  @Test("unlinked, a person is found by the email address again; the only admin without a password stays linked")
  func unlinked() async throws {
    try await OIDCTests.with { scene, provider in
      try await OIDCTests.invite(scene, "anna@example.com", .admin)
      #expect(try await OIDCTests.enter(scene, provider).1.status == 303)
      let id = try #require(try await OIDCTests.user(scene)).id
      let last = try await scene.call(.delete, "/api/v1/people/\(id)/identities", as: .admin)
      #expect(last.status == 422)
      var ben = try await scene.signIn(.admin, name: "ben@example.com")
      provider.change { $0.claims["sub"] = "moved" }
      #expect(try await OIDCTests.enter(scene, provider).1.status == 422)
      #expect(try await ben.get("/settings/people/\(id)").text.contains("/settings/people/\(id)/unlink"))
      #expect(try await ben.post("/settings/people/\(id)/unlink").status == 303)
      #expect(try await OIDCTests.user(scene)?.state == .invited)
      #expect(try await OIDCTests.enter(scene, provider).1.status == 303)
      let entry = try #require(try await scene.audit("user.unlink").first)
      #expect(entry.detail?["before"]?["linked"] == true && entry.detail?["after"]?["linked"] == false)
      #expect(try await scene.call(.get, "/api/v1/people/\(id)", as: .admin).json?["linked"] == true)
    }
  }

  @Test("without passwords, neither a password nor a link opens a session, and the provider still does")
  func withoutPasswords() async throws {
    try await OIDCTests.with { scene, provider in
      var ben = try await scene.signIn(.admin, name: "ben@example.com")
      try await OIDCTests.invite(scene, "anna@example.com", .admin)
      let user = try #require(try await OIDCTests.user(scene))
      let link = try await ben.post("/settings/people/\(user.id)/link")
      let path = try #require(link.text.firstMatch(of: #/\/session\/setup\?token=[\w-]+/#)).0
      #expect(try await OIDCTests.enter(scene, provider).1.status == 303)
      var settings = provider.settings
      settings.allowsPasswords = false
      try await OIDCTests.save(settings, scene)
      var guest = try await SignInTests.guest(scene)
      let page = try await guest.get("/session/new")
      #expect(!page.text.contains("name=\"password\"") && page.text.contains("signalbox oidc allow-passwords"))
      let refused = try await guest.post(
        "/session", [("email", "ben@example.com"), ("password", ConsoleScene.password)])
      #expect(refused.status == 422 && refused.text.contains("Password sign-in is off"))
      #expect(try await guest.get(String(path)).status == 422)
      let chosen = "a brand new long sentence"
      let token = String(path.split(separator: "=").last ?? "")
      let set = try await guest.post("/session/setup", [("token", token), ("password", chosen), ("repeat", chosen)])
      #expect(set.status == 422 && guest.cookies["signalbox_session"] == nil)
      // A password no longer confirms, either.
      scene.clock.advance(900)
      let confirm = try await ben.post("/session/confirm", [("proof", ConsoleScene.password)])
      #expect(confirm.status == 422 && confirm.text.contains("Password sign-in is off"))
      let account = try await ben.get("/account")
      #expect(!account.text.contains("/account/password"))
      provider.change { $0.now += 900 }
      #expect(try await OIDCTests.enter(scene, provider).1.status == 303)
      // Off with the provider means passwords again.
      settings.isOn = false
      try await OIDCTests.save(settings, scene)
      let entered = try await guest.post(
        "/session", [("email", "ben@example.com"), ("password", ConsoleScene.password)])
      #expect(entered.status == 303)
    }
  }

  @Test("who has no password confirms at the provider, who must have asked just now")
  func confirmation() async throws {
    try await OIDCTests.with { scene, provider in
      try await OIDCTests.invite(scene, "anna@example.com", .admin)
      var (anna, _) = try await OIDCTests.enter(scene, provider)
      let cookie = try #require(anna.cookies["signalbox_session"])
      let found = try await scene.store.read {
        try Session.find($0, idHash: Secret.hash(cookie), idle: 1e6, now: ConsoleScene.noon)
      }
      anna.csrf = try #require(found).session.csrf
      scene.clock.advance(900)
      provider.change { $0.now += 900 }
      let now = Int64(scene.clock.now.timeIntervalSince1970)
      let invitation = [("name", "ben@example.com"), ("role", "viewer")]
      let asked = try await anna.post("/settings/people", invitation)
      #expect(asked.status == 403 && !asked.text.contains("type=\"password\""))
      #expect(asked.text.contains("Confirm with Example ID") && ScenePage(asked).values("name") == ["ben@example.com"])
      #expect(try await anna.post("/settings/people", invitation + [("proof", "")]).status == 422)

      func confirm(_ claims: [String: JSONValue]) async throws -> SceneAnswer {
        let begun = try await anna.get("/session/oidc/confirm?return=/account")
        let location = try #require(begun.location)
        #expect(location.contains("prompt=login") && location.contains("max_age=0"))
        provider.change { $0.claims.merge(claims) { $1 } }
        return try await anna.get(try provider.authorize(location))
      }
      for claims: [String: JSONValue] in [[:], ["auth_time": .integer(now - 900)]] {
        let old = try await confirm(claims)
        #expect(old.text.contains("does not say that you have just signed in"))
      }
      let other = try await confirm(["auth_time": .integer(now), "sub": "ben"])
      #expect(other.text.contains("signed in as someone else"))
      #expect(try await anna.post("/settings/people", invitation).status == 403)
      // A plain sign-in's answer confirms nothing: the cookie says what was begun.
      let done = try await confirm(["auth_time": .integer(now), "sub": "f3a1"])
      #expect(done.status == 303 && done.location == "/account")
      #expect(try await scene.audit("session.confirm").first?.detail?["with"] == "OIDC")
      #expect(try await anna.post("/settings/people", invitation).status == 200)
    }
  }
}
