import HTTPServer
import JSON
import SQLite
import Store
import Testing

@testable import Console

@Suite("Settings: people")
struct PeoplePageTests {
  private func id(_ scene: ConsoleScene, _ name: String) async throws -> Int64 {
    let found = try await scene.store.read { try User.find($0, name: name) }
    return try #require(found).id
  }

  private func state(_ scene: ConsoleScene, _ name: String) async throws -> User.State? {
    try await scene.store.read { try User.find($0, name: name)?.state }
  }

  @Test("an invitation shows its link once, the link sets a password, and both are in the activity log")
  func invitation() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let wrong = try await anna.post("/settings/people", [("name", "ben"), ("role", "operator")])
      #expect(wrong.status == 422 && ScenePage(wrong).failedFields == ["name"])
      let taken = try await anna.post("/settings/people", [("name", "ADMIN@example.com"), ("role", "viewer")])
      #expect(taken.status == 422 && ScenePage(taken).error("name").contains("already in the list"))
      let invited = try await anna.post("/settings/people", [("name", "ben@example.com"), ("role", "operator")])
      let link = try #require(ScenePage(invited).text(id: "linkcode") ?? ScenePage(invited).text(id: "link"))
      #expect(invited.status == 200 && link.hasPrefix("http://localhost:8080/session/setup?token="))
      let ben = try await id(scene, "ben@example.com")
      let shown = try await anna.get("/settings/people/\(ben)")
      #expect(shown.status == 200 && !shown.text.contains("token="))
      #expect(try await anna.get("/settings/people").text.contains("Invited"))

      var guest = try await SignInTests.guest(scene)
      let path = link.replacing("http://localhost:8080", with: "")
      #expect(try await guest.get(path).text.contains("ben@example.com"))
      let token = path.replacing("/session/setup?token=", with: "")
      for (password, reason) in [
        ("iloveyouforever", "most used passwords"), ("ben-example-2026", "the name “example”"),
        ("Password!!1234", "the well-known “password”"),
      ] {
        let weak = try await guest.post(
          "/session/setup", [("token", token), ("password", password), ("repeat", password)])
        #expect(weak.status == 422 && ScenePage(weak).error("password").contains(reason), "\(password)")
      }
      let chosen = "a brand new long sentence"
      let entered = try await guest.post(
        "/session/setup", [("token", token), ("password", chosen), ("repeat", chosen)])
      #expect(entered.status == 303 && entered.location == "/")
      #expect(try await state(scene, "ben@example.com") == .active)
      let entry = try #require(try await scene.audit("user.create").first)
      #expect(entry.actor == "admin@example.com" && entry.subject == "user ben@example.com")
      #expect(entry.detail?["after"]?["role"] == "operator" && entry.detail?["before"] == .null)
    }
  }

  @Test("behind a public address, the link of an invitation leaves no token in the logs of proxies")
  func fragment() async throws {
    try await ConsoleScene.with(address: "https://push.example.com") { scene in
      var anna = try await scene.signIn(.admin)
      let invited = try await anna.post("/settings/people", [("name", "ben@example.com"), ("role", "operator")])
      #expect(invited.text.contains("https://push.example.com/session/setup#token="))
      #expect(!invited.text.contains("?token="))
      let called = try await scene.call(
        .post, "/api/v1/people", as: .admin, json: ["name": "kim@example.com", "role": "viewer"])
      #expect(called.status == 201, "\(called.text)")
      #expect(called.json?["link"]?.string?.hasPrefix("https://push.example.com/session/setup#token=") == true)
    }
  }

  @Test("a disabled person's sessions and tokens stop at the next request")
  func disabling() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      let id = try await id(scene, "ben@example.com")
      try await scene.store.write { database in
        _ = try APIToken.add(
          database, name: "own", hash: Secret.hash("sbx_own"), scopes: ["viewer"], user: id, now: ConsoleScene.noon)
      }
      let token = ["Authorization": "Bearer sbx_own"]
      #expect(try await scene.call(.get, "/api/v1/apps", as: nil, headers: token).status == 200)
      #expect(try await ben.get("/pushes").status == 200)
      #expect(try await anna.post("/settings/people/\(id)/disable").status == 303)
      #expect(try await ben.get("/pushes").location?.hasPrefix("/session/new") == true)
      #expect(try await scene.call(.get, "/api/v1/apps", as: nil, headers: token).status == 401)
      var guest = try await SignInTests.guest(scene)
      let sent = [("email", "ben@example.com"), ("password", ConsoleScene.password)]
      #expect(try await guest.post("/session", sent).status == 422)
      #expect(try await anna.post("/settings/people/\(id)/link").status == 422, "no link for a disabled person")
      #expect(try await anna.post("/settings/people/\(id)/enable").status == 303)
      #expect(try await guest.post("/session", sent).status == 303)
      #expect(
        try await scene.call(.get, "/api/v1/apps", as: nil, headers: token).status == 401, "revoked stays revoked")
      let entry = try #require(try await scene.audit("user.disable").first)
      #expect(entry.detail?["before"]?["state"] == "active" && entry.detail?["after"]?["state"] == "disabled")
    }
  }

  @Test("nobody disables themselves, and the last admin stays an admin")
  func lastAdmin() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let own = try await id(scene, "admin@example.com")
      for path in ["disable", "remove", "sessions/end"] {
        let answer = try await anna.post("/settings/people/\(own)/\(path)")
        #expect(answer.status == 422 && answer.text.contains("your own account"), "\(path)")
      }
      let demoted = try await anna.post("/settings/people/\(own)", [("role", "viewer")])
      #expect(demoted.status == 422 && demoted.text.contains("the only admin"))
      let call = try await scene.call(.patch, "/api/v1/people/\(own)", as: .admin, json: ["disabled": true])
      #expect(call.status == 422 && call.codes == ["person.last_admin"] || call.text.contains("the only admin"))
      #expect(try await scene.call(.delete, "/api/v1/people/\(own)", as: .admin).status == 422)
      #expect(try await anna.get("/settings/people").status == 200)

      _ = try await scene.signIn(.admin, name: "ben@example.com")
      let left = try await anna.post("/settings/people/\(own)", [("role", "viewer")])
      #expect(left.status == 303 && left.location == "/", "the person's page would answer 403")
      #expect(try await anna.get("/settings/people").status == 403, "the new role counts at once")
    }
  }

  @Test("an admin ends somebody's sessions, resets the password by a link, and deletes the account")
  func others() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      var ben = try await scene.signIn(.viewer, name: "ben@example.com")
      let id = try await id(scene, "ben@example.com")
      #expect(try await anna.get("/settings/people/\(id)").text.contains("Sign out everywhere"))
      #expect(try await anna.post("/settings/people/\(id)/sessions/end").status == 303)
      #expect(try await ben.get("/").status == 303)
      let ended = try #require(try await scene.audit("user.end_sessions").first)
      #expect(ended.detail?["before"]?["sessions"] == 1 && ended.detail?["after"]?["sessions"] == 0)
      let link = try await anna.post("/settings/people/\(id)/link")
      #expect(link.status == 200 && link.text.contains("/session/setup?token="))
      #expect(try await anna.get("/settings/people/\(id)/remove").text.contains("Delete ben@example.com?"))
      #expect(try await anna.post("/settings/people/\(id)/remove").location == "/settings/people")
      #expect(try await anna.get("/settings/people/\(id)").status == 404)
      #expect(try await scene.audit("user.delete").first?.detail?["after"] == .null)
    }
  }

  @Test("the page of somebody who cannot send still offers the admin to send")
  func navigation() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      for role in [User.Role.viewer, .operator] {
        _ = try await scene.signIn(role)
        let id = try await id(scene, "\(role.rawValue)@example.com")
        let page = ScenePage(try await anna.get("/settings/people/\(id)"))
        #expect(page.links.contains("/pushes/new"), "\(role)")
        #expect(page.text.contains("may send to production") == (role == .operator), "\(role)")
      }
    }
  }

  @Test("whoever chooses a language while an admin changes their role keeps the new role")
  func languageAndRole() async throws {
    try await ConsoleScene.with { scene in
      _ = try await scene.signIn(.admin)
      let (anna, session) = try await scene.store.read { database in
        let anna = try #require(try User.find(database, name: "admin@example.com"))
        return (anna, try #require(try Session.all(database, user: anna.id).first))
      }
      let page = PageContext(
        console: scene.console, request: try Request(.post, "/language"), principal: .user(anna, session),
        texts: scene.console.locales["en"], csrf: session.csrf, form: Form([("lang", "zh-Hans")]), now: scene.now)
      try await scene.store.write { _ = try User.update($0, id: anna.id, role: .viewer, language: nil) }
      _ = try await LanguagePages.choosing(page) { _ in .redirect(to: "/") }
      let changed = try await scene.store.read { try User.get($0, id: anna.id) }
      #expect(changed.role == .viewer && changed.language == "zh-Hans")
    }
  }
}
