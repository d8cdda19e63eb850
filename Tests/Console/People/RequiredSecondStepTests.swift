import Foundation
import HTTPServer
import JSON
import OpenSSL
import SQLite
import Store
import Testing

@testable import Console

@Suite("A required second step")
struct RequiredSecondStepTests {
  private static let gate = "/session/second-step"

  /// A session's ID is never kept: what the cookie says now.
  private func cookie(_ browser: SceneBrowser) -> String { browser.cookies["signalbox_session"] ?? "" }

  private func code(_ scene: ConsoleScene, _ name: String) async throws -> String {
    let sealer = scene.store.sealer
    let secret = try await scene.store.read { database -> [UInt8]? in
      guard let user = try User.find(database, name: name) else { return nil }
      return try Authenticator.find(database, user: user.id)?.secret(database, sealer: sealer)
    }
    return OneTimeCode.code(try #require(secret), step: OneTimeCode.step(at: scene.clock.now))
  }

  /// Sets up an authenticator app; a browser that is held back may do so.
  private func setUp(_ scene: ConsoleScene, _ browser: inout SceneBrowser, _ name: String) async throws -> SceneAnswer {
    #expect(try await browser.post("/account/second-step/begin").location == "/account/second-step")
    let page = try await browser.get("/account/second-step")
    #expect(page.status == 200 && page.text.contains("class=\"qr\""))
    return try await browser.post("/account/second-step", [("code", try await code(scene, name))])
  }

  @Test("an admin sets it on the page; who has none is held back in sessions that are open, until it is set up")
  func settingUp() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin, name: "anna@example.com")
      var ben = try await scene.signIn(.viewer, name: "ben@example.com")
      #expect(ScenePage(try await anna.get("/settings/people")).values("required").contains("nobody"))
      let set = try await anna.post("/settings/people/second-step", [("required", "everybody"), ("provider", "yes")])
      #expect(set.status == 303)
      let entry = try #require(try await scene.audit("settings.second_step").first)
      #expect(entry.detail?["before"]?["required"] == "nobody" && entry.detail?["after"]?["required"] == "everybody")
      #expect(entry.detail?["after"]?["provider"] == false, "the form does not ask where there is no provider")

      // The admin who set it is no exception, and nobody is locked out.
      let held = try await anna.get("/settings/people?a=b")
      #expect(held.status == 303 && held.location == Self.gate + "?return=/settings/people%3Fa%3Db")
      let asked = try await ben.get(Self.gate)
      #expect(asked.status == 200 && asked.text.contains("Two-step verification is required"))
      #expect(asked.text.contains("/session/end") && asked.text.contains("/language"))
      #expect(!asked.text.contains("href=\"/devices\""), "the navigation would lead nowhere")
      let chinese = try await ben.post("/language", [("lang", "zh-Hans"), ("return", Self.gate)])
      #expect(chinese.status == 303)
      #expect(try await ben.get(Self.gate).text.contains("必须使用两步验证"))
      #expect(try await ben.get("/nothing/here").text.contains("ben@example.com") == false)

      let done = try await setUp(scene, &ben, "ben@example.com")
      #expect(done.status == 200 && done.text.contains("href=\"/devices\""), "the page has its navigation again")
      #expect(try await ben.get("/devices").status == 200)
      #expect(try await ben.get(Self.gate + "?return=/devices").location == "/devices")

      #expect(try await ben.post("/account/second-step/remove").status == 303)
      #expect(try await ben.get("/devices").location == Self.gate + "?return=/devices", "the last one was removed")
      #expect(try await ben.post("/session/end").location == "/session/new")
    }
  }

  @Test("with admins alone, the role decides, from the next request on")
  func admins() async throws {
    try await ConsoleScene.with { scene in
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      try await scene.requireSecondStep(.admins)
      #expect(try await ben.get("/devices").status == 200)
      _ = try await scene.store.write { database in
        let user = try User.find(database, name: "ben@example.com")
        _ = try User.update(database, id: user?.id ?? 0, role: .admin, language: "en")
      }
      #expect(try await ben.get("/devices").location == Self.gate + "?return=/devices")
    }
  }

  @Test("a password and a code go on; who has a code cannot add another step with the password alone")
  func signingIn() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer, name: "anna@example.com")
      #expect(try await setUp(scene, &anna, "anna@example.com").status == 200)
      // As a session of before the setting was there.
      _ = try await scene.store.write { try $0.run("UPDATE sessions SET second_step = NULL") }
      try await scene.requireSecondStep(.everybody)
      let page = try await anna.get(Self.gate)
      #expect(page.text.contains("name=\"proof_code\"") && !page.text.contains("/account/passkeys"))
      for path in ["/account/second-step", "/session/confirm"] {
        #expect(try await anna.get(path).location?.hasPrefix(Self.gate) == true, "\(path)")
      }
      #expect(try await anna.post("/account/passkeys").location?.hasPrefix(Self.gate) == true)
      let wrong = try await anna.post(Self.gate, [("proof_code", "000000")])
      #expect(wrong.status == 422 && ScenePage(wrong).error("proof_code").contains("Wrong code"))
      let none = try await anna.post(Self.gate)
      #expect(none.status == 422)

      scene.clock.advance(30)
      let former = cookie(anna)
      let good = [("proof_code", try await code(scene, "anna@example.com")), ("return", "/pushes")]
      #expect(try await anna.post(Self.gate, good).location == "/pushes")
      #expect(try await anna.get("/pushes").status == 200 && cookie(anna) != former)

      scene.clock.advance(30)
      var guest = try await SignInTests.guest(scene)
      let typed = [("email", "anna@example.com"), ("password", ConsoleScene.password)]
      let ticket = try #require(ScenePage(try await guest.post("/session", typed)).values("ticket").first)
      let next = [("ticket", ticket), ("code", try await code(scene, "anna@example.com"))]
      #expect(try await guest.post("/session/code", next).status == 303)
      #expect(try await guest.get("/pushes").status == 200)
    }
  }

  @Test("the provider's sign-in is enough only where the setting says so")
  func provider() async throws {
    try await OIDCTests.with { scene, provider in
      try await OIDCTests.invite(scene)
      try await scene.requireSecondStep(.everybody, trustsProvider: true)
      var (anna, _) = try await OIDCTests.enter(scene, provider)
      #expect(try await anna.get("/devices").status == 200)
      try await scene.requireSecondStep(.everybody)
      #expect(try await anna.get("/devices").location == Self.gate + "?return=/devices")
      #expect(try await OIDCTests.enter(scene, provider).0.cookies["signalbox_session"] != nil)
    }
  }

  @Test("streams end, and API tokens keep working")
  func others() async throws {
    try await ConsoleScene.with { scene in
      let anna = try await scene.signIn(.admin)
      let value = cookie(anna)
      let found = try await scene.store.session(idHash: Secret.hash(value), idle: 3600, now: scene.now)
      let (session, user) = try #require(found)
      let authentication = scene.console.authentication
      #expect(try await authentication.isGood(.user(user, session), now: scene.now))
      let answer = try await scene.call(
        .put, "/api/v1/settings/second-step", as: .admin, json: ["required": "admins", "provider": true])
      #expect(answer.status == 200 && answer.json?["required"] == "admins")
      #expect(try await !authentication.isGood(.user(user, session), now: scene.now))
      #expect(try await scene.call(.get, "/api/v1/settings/second-step", as: .admin).json?["provider"] == true)
      let wrong = try await scene.call(
        .put, "/api/v1/settings/second-step", as: .admin, json: ["required": "some"])
      #expect(wrong.status == 422)
    }
  }
}
