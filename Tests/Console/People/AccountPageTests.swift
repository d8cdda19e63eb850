import Foundation
import HTTPServer
import JSON
import Logging
import OpenSSL
import Model
import SQLite
import Store
import Testing

@Suite("Pages: one's own account")
struct AccountPageTests {
  private static let chosen = "a brand new long password"

  private static func change(
    _ browser: inout SceneBrowser, _ current: String, _ password: String = chosen, again: String? = nil
  ) async throws -> SceneAnswer {
    try await browser.post(
      "/account/password", [("current", current), ("password", password), ("repeat", again ?? password)])
  }

  /// Another browser of the same person.
  private static func another(_ scene: ConsoleScene, _ name: String, agent: String = "Firefox/130.0 Linux") async throws
    -> SceneBrowser
  {
    var browser = try await SignInTests.guest(scene, address: "192.0.2.9")
    let answer = try await browser.post(
      "/session", [("email", name), ("password", ConsoleScene.password)], headers: ["User-Agent": agent])
    #expect(answer.status == 303)
    return browser
  }

  @Test("a new password ends all other sessions; the old one is good for nothing")
  func password() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer, name: "anna@example.com")
      var other = try await Self.another(scene, "anna@example.com")
      var ben = try await scene.signIn(.viewer, name: "ben@example.com")
      #expect(try await Self.change(&anna, ConsoleScene.password).location == "/account")
      #expect(try await anna.get("/account").text.contains("Password changed."))
      #expect(try await other.get("/").status == 303, "another browser is out")
      #expect(try await ben.get("/").status == 200, "another person is not")
      var guest = try await SignInTests.guest(scene)
      let former = try await guest.post(
        "/session", [("email", "anna@example.com"), ("password", ConsoleScene.password)])
      #expect(former.status == 422)
      let now = try await guest.post("/session", [("email", "anna@example.com"), ("password", Self.chosen)])
      #expect(now.status == 303)
      #expect(try await scene.audit("user.password").map(\.actor) == ["anna@example.com"])
      #expect(!(try await scene.audit()).contains { "\($0)".contains(Self.chosen) })
    }
  }

  @Test("a new password ends the links that would set another one; strangers who guess do not keep it from being set")
  func passwordEndsLinks() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer, name: "anna@example.com")
      try await scene.store.write { database in
        let user = try #require(try User.find(database, name: "anna@example.com"))
        for purpose in [SignInLink.Purpose.reset, .invitation] {
          try SignInLink.add(
            database, hash: Secret.hash("link-\(purpose)"), purpose: purpose, user: user.id, lifetime: 600,
            now: ConsoleScene.noon)
        }
      }
      var guest = try await SignInTests.guest(scene, address: "192.0.2.66")
      #expect(try await guest.get("/session/setup?token=link-reset").status == 200)
      for _ in 0..<6 { _ = try await guest.post("/session", [("email", "anna@example.com"), ("password", "wrong")]) }
      #expect(try await Self.change(&anna, ConsoleScene.password).location == "/account")
      for purpose in ["reset", "invitation"] {
        #expect(try await guest.get("/session/setup?token=link-\(purpose)").status == 410)
        let answer = try await guest.post(
          "/session/setup",
          [("token", "link-\(purpose)"), ("password", "planted long password"), ("repeat", "planted long password")])
        #expect(answer.status == 410)
      }
      #expect(try await anna.get("/").status == 200)
    }
  }

  @Test("what is wrong is said at its field; guessing the current password is slowed down")
  func mistakes() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer)
      let long = String(repeating: "x", count: 1025)
      let table: [(String, String, String, Set<String>)] = [
        ("wrong", Self.chosen, Self.chosen, ["current"]), (ConsoleScene.password, "short", "short", ["password"]),
        (ConsoleScene.password, long, long, ["password"]), (ConsoleScene.password, Self.chosen, "x", ["repeat"]),
        ("", "", "x", ["current", "password", "repeat"]),
      ]
      for (current, password, again, fields) in table {
        let answer = try await Self.change(&anna, current, password, again: again)
        #expect(answer.status == 422)
        #expect(ScenePage(answer).failedFields == fields, "\(fields)")
        #expect(!answer.text.contains(Self.chosen) && !answer.text.contains(ConsoleScene.password))
      }
      let refused = try await scene.store.read { database in
        try AuditEntry.list(database, limit: 50).items.map(\.entry).filter { $0.action == "session.refused" }
      }
      #expect(refused.count == 2 && refused.allSatisfy { $0.detail?["step"] == "password" })
      for _ in 0..<4 { _ = try await Self.change(&anna, "wrong") }
      let slow = try await Self.change(&anna, ConsoleScene.password)
      #expect(slow.status == 429 && ScenePage(slow).error("current").contains("Too many attempts"))
      #expect(slow.response.headers["Retry-After"] == "1")
      let both = try await Self.change(&anna, ConsoleScene.password, "short")
      #expect(both.status == 429 && ScenePage(both).failedFields.isSuperset(of: ["current", "password"]))
      scene.clock.advance(2)
      #expect(try await Self.change(&anna, ConsoleScene.password).status == 303)
    }
  }

  @Test("one's sessions are listed without their secrets, and end one by one or all others at once")
  func sessions() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer, name: "anna@example.com")
      var one = try await Self.another(scene, "anna@example.com")
      var two = try await Self.another(scene, "anna@example.com", agent: "<script>alert(1)</script>")
      let three = try await Self.another(scene, "anna@example.com", agent: "")
      var ben = try await scene.signIn(.viewer, name: "ben@example.com")
      let answer = try await anna.get("/account")
      let page = ScenePage(answer)
      #expect(page.text.contains("Firefox, Linux") && page.text.contains("192.0.2.9"))
      let ids = page.tags.filter { $0.attributes["name"] == "session" && $0.name == "button" }
        .compactMap { $0.attributes["value"] }.filter { $0 != "others" }
      #expect(Set(ids).count == 4)
      for cookie in [anna, one, two, three].compactMap({ $0.cookies["signalbox_session"] }) {
        #expect(!answer.text.contains(cookie))
      }
      let bensID = ScenePage(try await ben.get("/account")).tags.filter { $0.attributes["name"] == "session" }
        .compactMap { $0.attributes["value"] }.first { $0 != "others" }
      _ = try await anna.post("/account/sessions/end", [("session", try #require(bensID))])
      #expect(try await ben.get("/").status == 200, "nobody ends the session of somebody else")
      let mine = page.tags.first { $0.attributes["aria-label"]?.contains("Firefox") == true }?.attributes["value"]
      _ = try await anna.post("/account/sessions/end", [("session", try #require(mine))])
      #expect(try await one.get("/").status == 303)
      #expect(try await two.get("/").status == 200)
      _ = try await anna.post("/account/sessions/end", [("session", "")])
      #expect(try await two.get("/").status == 200, "no id is nobody's")
      _ = try await anna.post("/account/sessions/end", [("session", "others")])
      for var gone in [two, three] { #expect(try await gone.get("/").status == 303) }
      #expect(try await anna.get("/").status == 200)
      #expect(try await ben.get("/").status == 200)
    }
  }
}
