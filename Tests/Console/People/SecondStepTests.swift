import Foundation
import HTTPServer
import JSON
import OpenSSL
import SQLite
import Store
import Testing

@Suite("Two-step verification")
struct SecondStepTests {
  private func user(_ scene: ConsoleScene, _ name: String = "anna@example.com") async throws -> User {
    let found = try await scene.store.read { try User.find($0, name: name) }
    return try #require(found)
  }

  private func secret(_ scene: ConsoleScene, _ user: User) async throws -> [UInt8] {
    let sealer = scene.store.sealer
    let found = try await scene.store.read { try Authenticator.find($0, user: user.id)?.secret($0, sealer: sealer) }
    return try #require(found)
  }

  private func code(_ scene: ConsoleScene, _ secret: [UInt8], shift: Int64 = 0) -> String {
    OneTimeCode.code(secret, step: OneTimeCode.step(at: scene.clock.now) + shift)
  }

  /// A person whose authenticator app is set up through the page, with the recovery codes.
  private func setUp(_ scene: ConsoleScene) async throws -> (SceneBrowser, User, secret: [UInt8], codes: [String]) {
    var anna = try await scene.signIn(.operator, name: "anna@example.com")
    let user = try await user(scene)
    #expect(try await anna.get("/account/second-step").text.contains("Set up"))
    #expect(try await anna.post("/account/second-step/begin").location == "/account/second-step")
    let secret = try await secret(scene, user)
    let page = try await anna.get("/account/second-step")
    let typed = Base32.encode(secret)
    #expect(page.text.contains("class=\"qr\"") && page.text.contains(String(typed.prefix(4))))
    #expect(try await anna.post("/account/second-step", [("code", "000000")]).status == 422)
    let done = try await anna.post("/account/second-step", [("code", code(scene, secret))])
    let block = ScenePage(done).text(id: "recoverycode") ?? ScenePage(done).text(id: "recovery") ?? ""
    let codes = block.split(whereSeparator: \.isWhitespace).map(String.init).filter { $0.contains("-") }
    #expect(done.status == 200 && codes.count == 10 && Set(codes).count == 10)
    return (anna, user, secret, codes)
  }

  private static func change(code: String) -> [(String, String)] {
    let chosen = "a brand new long sentence"
    return [("current", ConsoleScene.password), ("password", chosen), ("repeat", chosen), ("code", code)]
  }

  private func passwordRight(_ scene: ConsoleScene) async throws -> (SceneBrowser, ticket: String) {
    var guest = try await SignInTests.guest(scene)
    let answer = try await guest.post("/session", [("email", "anna@example.com"), ("password", ConsoleScene.password)])
    #expect(answer.status == 200 && guest.cookies["signalbox_session"] == nil, "the password alone is not enough")
    return (guest, try #require(ScenePage(answer).values("ticket").first))
  }

  @Test("a code lets in once, and only a person whose password was right in the last minutes")
  func codes() async throws {
    try await ConsoleScene.with { scene in
      let (_, user, secret, _) = try await setUp(scene)
      scene.clock.advance(30)
      var (guest, ticket) = try await passwordRight(scene)
      let code = code(scene, secret)
      #expect(try await guest.post("/session/code", [("ticket", "1.x"), ("code", code)]).status == 422)
      let wrong = try await guest.post("/session/code", [("ticket", ticket), ("code", "12345")])
      #expect(wrong.status == 422 && ScenePage(wrong).error("code").contains("Wrong code"))
      let button = try #require(ScenePage(wrong).tags.first { $0.attributes["name"] == "lang" })
      #expect(button.attributes["form"] == "enter-code" && button.attributes["formaction"] == "/session/code")
      #expect(ScenePage(wrong).forms.contains { $0.attributes["id"] == "enter-code" })
      let chinese = try await guest.post("/session/code", [("ticket", ticket), ("code", "12345"), ("lang", "zh-Hans")])
      #expect(chinese.status == 200 && chinese.response.headers["Content-Language"] == "zh-Hans")
      #expect(Set(ScenePage(chinese).values("ticket")) == [ticket], "not a moment longer")
      #expect(ScenePage(chinese).error("code").isEmpty, "no code was looked at")
      let stranger = try await guest.post("/session/code", [("ticket", "1.x"), ("lang", "en")])
      #expect(stranger.status == 422 && stranger.text.contains("more than 5 minutes"))
      let old = self.code(scene, secret, shift: -1)
      #expect(
        try await guest.post("/session/code", [("ticket", ticket), ("code", old)]).status == 422, "set up with it")
      let entered = try await guest.post("/session/code", [("ticket", ticket), ("code", code), ("return", "/pushes")])
      #expect(entered.status == 303 && entered.location == "/pushes")
      #expect(try await guest.get("/").status == 200)
      #expect(try await scene.audit("session.open").first?.detail?["with"] == "code")
      var (second, later) = try await passwordRight(scene)
      #expect(try await second.post("/session/code", [("ticket", later), ("code", code)]).status == 422, "used")
      scene.clock.advance(301)
      let late = try await second.post("/session/code", [("ticket", later), ("code", self.code(scene, secret))])
      #expect(late.status == 422 && late.text.contains("more than 5 minutes"))
      let sealed = try await scene.store.read { database in
        try database.fetchOne("SELECT sealed FROM authenticators WHERE user_id = ?", user.id) { $0.blob(0) }
      }
      #expect(sealed?.count ?? 0 > secret.count && Data(sealed ?? []).range(of: Data(secret)) == nil)
    }
  }

  @Test("guessed codes are slowed down, whatever browser they come from")
  func guesses() async throws {
    try await ConsoleScene.with { scene in
      let (_, _, secret, _) = try await setUp(scene)
      scene.clock.advance(60)
      for _ in 0..<5 {
        var (guest, ticket) = try await passwordRight(scene)
        _ = try await guest.post("/session/code", [("ticket", ticket), ("code", "999999")])
      }
      var (guest, ticket) = try await passwordRight(scene)
      let slow = try await guest.post("/session/code", [("ticket", ticket), ("code", code(scene, secret))])
      #expect(slow.status == 429 && ScenePage(slow).error("code").contains("Too many attempts"))
      #expect(slow.response.headers["Retry-After"] == "1")
      for _ in 0..<50 { _ = try await guest.post("/session/code", [("ticket", ticket), ("code", "999999")]) }
      let refused = try await scene.audit("session.refused")
      #expect(refused.count { $0.detail?["step"] == "code" } == 5)
      let counted = refused.filter { $0.detail?["status"] == 429 }
      #expect(counted.map(\.subject) == ["user anna@example.com"], "a flood is counted, and fills no log")
      scene.clock.advance(2)
      #expect(try await guest.post("/session/code", [("ticket", ticket), ("code", code(scene, secret))]).status == 303)
      guest.csrf = ScenePage(try await guest.get("/account")).values("csrf").first ?? ""
      var again = try await guest.post("/account/password", Self.change(code: "999999"))
      for _ in 0..<5 { again = try await guest.post("/account/password", Self.change(code: "999999")) }
      #expect(again.status == 429 && again.response.headers["Retry-After"] == "1")
      #expect(ScenePage(again).error("code").contains("Too many attempts"))
    }
  }

  @Test("a recovery code lets in once; new ones replace the rest")
  func recovery() async throws {
    try await ConsoleScene.with { scene in
      let (session, user, _, codes) = try await setUp(scene)
      var anna = session
      for (typed, status) in [(codes[0].uppercased(), 303), (codes[0], 422), (codes[1].replacing("-", with: " "), 303)]
      {
        var (guest, ticket) = try await passwordRight(scene)
        #expect(try await guest.post("/session/code", [("ticket", ticket), ("recovery", typed)]).status == status)
      }
      #expect(try await scene.store.read { try RecoveryCode.left($0, user: user.id) } == 8)
      #expect(try await anna.get("/account/second-step").text.contains("8 recovery codes are left."))
      let kept = try await scene.store.read { database in
        try database.fetchAll("SELECT hash FROM recovery_codes") { $0.blob(0) }
      }
      #expect(kept.allSatisfy { $0.count == 32 })
      #expect(try await anna.post("/account/second-step/codes").status == 200)
      var (guest, ticket) = try await passwordRight(scene)
      let used = ScenePage(try await guest.post("/session/code", [("ticket", ticket), ("recovery", codes[2])]))
      #expect(used.error("recovery").contains("Wrong recovery code") && used.error("code").isEmpty)
      #expect(used.tags.contains { $0.name == "details" && $0.attributes["open"] != nil }, "the field is in sight")
    }
  }

  @Test("a reset link does not go around the second step; turning it off and an admin's reset do away with it")
  func reset() async throws {
    try await ConsoleScene.with { scene in
      let (session, user, _, _) = try await setUp(scene)
      var anna = session
      var admin = try await scene.signIn(.admin)
      let link = try await admin.post("/settings/people/\(user.id)/link")
      let token = try #require(link.text.firstMatch(of: #/setup\?token=([\w-]+)/#)).1
      var guest = try await SignInTests.guest(scene)
      let chosen = "a brand new long sentence"
      let set = try await guest.post(
        "/session/setup", [("token", String(token)), ("password", chosen), ("repeat", chosen)])
      #expect(set.status == 200 && set.text.contains("Enter the code") && guest.cookies["signalbox_session"] == nil)
      #expect(try await anna.get("/account").status == 303, "the new password ended the session")
      #expect(try await admin.get("/settings/people").text.contains("Authenticator app"))
      #expect(try await admin.post("/settings/people/\(user.id)/second-step/reset").status == 303)
      let entered = try await guest.post("/session", [("email", "anna@example.com"), ("password", chosen)])
      #expect(entered.status == 303)
      let entry = try #require(try await scene.audit("user.reset_second_step").first)
      #expect(entry.detail?["before"]?["authenticator"] == true && entry.detail?["after"]?["authenticator"] == false)
    }
  }

  @Test("it is turned on and off only shortly after a proof, with an entry each, and other sessions end")
  func proof() async throws {
    try await ConsoleScene.with { scene in
      let (session, user, secret, _) = try await setUp(scene)
      var anna = session
      #expect(try await scene.audit("user.second_step").count == 1)
      scene.clock.advance(900)
      #expect(try await anna.get("/account/second-step").text.contains("Confirm it’s you"))
      #expect(try await anna.post("/account/second-step/remove").status == 403)
      #expect(try await scene.store.read { try Authenticator.isOn($0, user: user.id) })
      let removed = try await anna.post(
        "/account/second-step/remove", [("proof", ConsoleScene.password), ("proof_code", code(scene, secret))])
      #expect(removed.status == 303)
      #expect(try await scene.store.read { try Authenticator.find($0, user: user.id) } == nil)
      #expect(try await scene.store.read { try RecoveryCode.left($0, user: user.id) } == 0)
      #expect(try await scene.audit("user.second_step").count == 2)
    }
  }
}
