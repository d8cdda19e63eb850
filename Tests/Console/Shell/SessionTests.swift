import Console
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import SQLite
import Store
import Testing

@Suite("Pages: sessions, first links and the language")
struct SessionTests {
  private static let day = 86_400.0
  private static let chosen = "another good long password"

  /// Sends the form behind a link.
  private static func choose(
    _ browser: inout SceneBrowser, _ path: String, email: String = "root@example.com", _ password: String = chosen,
    again: String? = nil
  ) async throws -> SceneAnswer {
    let token = String(path.split(separator: "=").last ?? "")
    return try await browser.post(
      "/session/setup", [("token", token), ("email", email), ("password", password), ("repeat", again ?? password)])
  }

  @Test("a session that is not used for 12 hours ends; each use keeps it, but not beyond 30 days")
  func lifetime() async throws {
    try await ConsoleScene.with { scene in
      var idle = try await scene.signIn(.viewer, name: "idle@example.com")
      var used = try await scene.signIn(.viewer, name: "used@example.com")
      scene.clock.advance(Self.day / 2 - 1)
      #expect(try await used.get("/").status == 200)
      scene.clock.advance(2)
      #expect(try await idle.get("/").status == 303, "idle for more than 12 hours")
      for half in 2...60 {
        scene.clock.advance(Self.day / 2 - 20)
        #expect(try await used.get("/").status == 200, "half a day, \(half)")
      }
      scene.clock.advance(59 * 20 - 10)
      #expect(try await used.get("/").status == 200, "just before 30 days")
      scene.clock.advance(20)
      #expect(try await used.get("/").status == 303, "30 days are over")
    }
  }

  @Test("a page knows when its session ends, asking about it is no use, and the sign-in page says why it is shown")
  func left() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer)
      func left(_ browser: inout SceneBrowser) async throws -> Int64? {
        try await browser.get("/session/left").json?["seconds"]?.integer
      }
      let body = ScenePage(try await anna.get("/devices")).tags.first { $0.name == "body" }
      #expect(body?.attributes["data-session"] == "43200")
      #expect(try await anna.get("/session/new?return=/devices").location == "/devices", "still signed in")
      scene.clock.advance(40_000)
      #expect(try await left(&anna) == 3200)
      scene.clock.advance(3199)
      #expect(try await left(&anna) == 1)
      scene.clock.advance(1)
      #expect(try await left(&anna) == 0)
      #expect(try await anna.get("/devices").status == 303)
      var stranger = SceneBrowser(router: scene.router)
      #expect(try await left(&stranger) == 0)
      let page = try await stranger.get("/session/new?why=ended&return=/devices")
      #expect(
        page.text.contains("Your session has ended.") && ScenePage(page).values("return").first == "/devices")
      #expect(!page.text.contains("data-session"))
      #expect(try await stranger.get("/session/new?why=out").text.contains("You signed out in another tab."))
      #expect(try await stranger.get("/session/new?why=%3Cb%3E").text.contains("<b>") == false)
    }
  }

  @Test("where nothing can be written, people, programs and calendars go on reading")
  func readOnly() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: try await scene.addApp())
      var anna = try await scene.signIn(.admin)
      let made = try await anna.post("/certificates/calendar")
      let key = try #require(made.text.firstMatch(of: /certificates\.ics\?key=([A-Za-z0-9_-]+)/)).1
      // More than what is noted once in a minute, or once in an hour.
      scene.clock.advance(4000)
      try await scene.store.write { _ = try $0.run("PRAGMA query_only = 1") }
      await #expect(throws: SQLiteError.self) { try await scene.store.write { try Session.endAll($0, user: 1) } }
      for path in [
        "/", "/pushes", "/pushes/new", "/schedules", "/devices", "/devices/1", "/apps", "/apps/1", "/certificates",
        "/account", "/settings", "/settings/receivers", "/settings/reminders", "/settings/retention",
        "/settings/tokens",
      ] {
        #expect(try await anna.get(path).status == 200, "\(path)")
      }
      for path in ["apps", "devices", "pushes", "reminders"] {
        #expect(try await scene.call(.get, "/api/v1/\(path)", as: .admin).status == 200, "\(path)")
      }
      #expect(try await scene.call(.get, "/certificates.ics?key=\(key)", as: nil).status == 200)
      #expect(try await scene.call(.get, "/metrics", as: .viewer).status == 200)
    }
  }

  @Test("being in use is written down once in a minute, not with every page")
  func touch() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer)
      _ = try await anna.get("/")
      let before = try await scene.changes()
      scene.clock.advance(59)
      _ = try await anna.get("/")
      #expect(try await scene.changes() == before)
      scene.clock.advance(2)
      _ = try await anna.get("/")
      #expect(try await scene.changes() == before + 1)
    }
  }

  @Test("signing out ends the session on the server, too")
  func signOut() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer)
      var copy = anna
      let answer = try await anna.post("/session/end")
      #expect(answer.status == 303 && answer.location == "/session/new")
      #expect(answer.response.headers["Clear-Site-Data"] == "\"storage\"")
      #expect(anna.cookies["signalbox_session"] == nil)
      #expect(try await copy.get("/").location?.hasPrefix("/session/new") == true, "a copied cookie is worth nothing")
      #expect(try await scene.count("sessions") == 0)
    }
  }

  @Test("a person who is disabled is out at once")
  func disabled() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      _ = try await scene.store.write { try User.setDisabled($0, id: 1, true, now: ConsoleScene.noon) }
      #expect(try await anna.get("/").status == 303)
      #expect(try await anna.post("/apps").status == 303)
    }
  }

  @Test("the first link makes the first administrator, once, within a day")
  func firstStart() async throws {
    try await ConsoleScene.with { scene in
      let former = try #require(try await scene.console.firstStartLink())
      let path = try #require(try await scene.console.firstStartLink())
      var browser = SceneBrowser(router: scene.router)
      #expect(try await browser.get(former).status == 410, "a second start ends the link of the first")
      let page = try await browser.get(path)
      #expect(page.status == 200)
      #expect(page.response.headers.values(of: "Referrer-Policy") == ["no-referrer"])
      browser.csrf = try #require(browser.formToken)
      let answer = try await Self.choose(&browser, path)
      #expect(answer.status == 303 && answer.location == "/")
      #expect(try await browser.get("/").status == 200, "and is signed in")
      let user = try await scene.store.read { try User.find($0, name: "root@example.com") }
      #expect(user?.role == .admin)
      #expect(try await scene.console.firstStartLink() == nil, "nobody needs another one")

      var second = SceneBrowser(router: scene.router)
      #expect(try await second.get(path).status == 410)
      second.csrf = try #require(second.formToken)
      #expect(try await Self.choose(&second, path, email: "eve@example.com").status == 410)
      #expect(try await scene.count("users") == 1)
    }
  }

  @Test("a link is too old after a day; the page says how to get another")
  func linkExpires() async throws {
    try await ConsoleScene.with { scene in
      let path = try #require(try await scene.console.firstStartLink())
      var browser = SceneBrowser(router: scene.router)
      scene.clock.advance(Self.day - 1)
      #expect(try await browser.get(path).status == 200)
      browser.csrf = try #require(browser.formToken)
      scene.clock.advance(2)
      let answer = try await Self.choose(&browser, path)
      #expect(answer.status == 410)
      let text = ScenePage(answer).text
      #expect(text.contains("Ask an admin for a new link") && text.contains("signalbox users link"))
      #expect(try await scene.count("users") == 0)
    }
  }

  @Test("what is wrong with a first password is said beside its field, and the link stays good")
  func passwords() async throws {
    try await ConsoleScene.with { scene in
      let path = try #require(try await scene.console.firstStartLink())
      var browser = SceneBrowser(router: scene.router)
      _ = try await browser.get(path)
      browser.csrf = try #require(browser.formToken)
      let long = String(repeating: "x", count: 1025)
      let cases: [(String, String, String, Set<String>)] = [
        ("root@example.com", "elevenchars", "elevenchars", ["password"]),
        ("root@example.com", "", "", ["password"]), ("root@example.com", long, long, ["password"]),
        ("root@example.com", Self.chosen, Self.chosen + " ", ["repeat"]),
        ("", Self.chosen, Self.chosen, ["email"]), ("root", Self.chosen, Self.chosen, ["email"]),
        ("a@b@c", Self.chosen, Self.chosen, ["email"]), ("a b@c", Self.chosen, Self.chosen, ["email"]),
        ("@c", Self.chosen, Self.chosen, ["email"]), ("root@", "short", "other", ["email", "password", "repeat"]),
      ]
      for (email, password, again, fields) in cases {
        let answer = try await Self.choose(&browser, path, email: email, password, again: again)
        #expect(answer.status == 422, "\(email) \(password.prefix(20))")
        let page = ScenePage(answer)
        #expect(page.failedFields == fields, "\(email) \(password.prefix(20))")
        #expect(page.values("email") == [email], "what was typed stays")
        #expect(password.isEmpty || !answer.text.contains("value=\"\(password)\""), "a password is never sent back")
      }
      #expect(try await scene.count("users") == 0)
      #expect(try await Self.choose(&browser, path, "twelve chars").status == 303)
    }
  }

  @Test("a link whose token only the browser sees asks for it, and goes on from there")
  func fragment() async throws {
    try await ConsoleScene.with(address: "https://push.example.com") { scene in
      let path = try #require(try await scene.console.firstStartLink())
      let token = try #require(path.split(separator: "=").last)
      var browser = SceneBrowser(router: scene.router)
      // What is behind `#` does not arrive.
      let asks = ScenePage(try await browser.get("/session/setup"))
      #expect(asks.values("token") == [""] && asks.values("password").isEmpty)
      browser.csrf = try #require(browser.formToken)
      #expect(try await browser.post("/session/link", [("token", "wrong")]).status == 410)
      let page = try await browser.post("/session/link", [("token", " \(token)\n")])
      #expect(page.status == 200 && ScenePage(page).values("token") == ["\(token)"])
      #expect(ScenePage(page).failedFields.isEmpty, "nothing is wrong before something was typed")
      #expect(try await Self.choose(&browser, path).status == 303)
      var second = SceneBrowser(router: scene.router)
      _ = try await second.get("/session/setup")
      second.csrf = try #require(second.formToken)
      #expect(try await second.post("/session/link", [("token", "\(token)")]).status == 410)
    }
  }

  @Test(
    "the token of a link stands in the fragment, unless the link leads to this machine",
    arguments: [
      ("https://push.example.com", "#"), ("http://192.0.2.7:8080", "#"), ("https://[2001:db8::7]", "#"),
      ("http://localhost:8080", "?"), ("http://127.0.0.1:8080", "?"), ("http://[::1]:8080", "?"),
    ])
  func linkForm(address: String, mark: String) {
    #expect(SetupLink.url("abc", at: address) == "\(address)/session/setup\(mark)token=abc")
  }

  @Test("a link for a forgotten password keeps the name, and ends the old password and sessions")
  func reset() async throws {
    try await ConsoleScene.with { scene in
      var old = try await scene.signIn(.operator, name: "ben@example.com")
      try await scene.store.write { database in
        try SignInLink.add(
          database, hash: Secret.hash("a-token"), purpose: .reset, user: 1, lifetime: 3600, now: ConsoleScene.noon)
      }
      var browser = SceneBrowser(router: scene.router)
      let page = ScenePage(try await browser.get("/session/setup?token=a-token"))
      #expect(page.values("email") == ["ben@example.com"])
      #expect(page.tags.contains { $0.attributes["id"] == "email" && $0.attributes["readonly"] != nil })
      browser.csrf = try #require(browser.formToken)
      let answer = try await Self.choose(&browser, "=a-token", email: "eve@example.com")
      #expect(answer.status == 303)
      #expect(try await browser.get("/account").text.contains("ben@example.com"), "not the name that was sent along")
      #expect(try await scene.count("users") == 1)
      #expect(try await old.get("/").status == 303, "sessions from before have ended")
      var again = try await SignInTests.guest(scene)
      let former = try await again.post(
        "/session", [("email", "ben@example.com"), ("password", ConsoleScene.password)])
      #expect(former.status == 422, "the old password is good for nothing")
    }
  }

  @Test("the language is kept for the person and for the browser; an unknown one changes nothing")
  func language() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.viewer)
      let unknown = try await anna.post("/language", [("lang", "tlh"), ("return", "/account")])
      #expect(unknown.status == 303 && anna.cookies["signalbox_language"] == nil)
      let known = try await anna.post("/language", [("lang", "en"), ("return", "/account")])
      #expect(known.location == "/account" && anna.cookies["signalbox_language"] == "en")
      #expect(try await scene.store.read { try User.get($0, id: 1).language } == "en")
      anna.cookies["signalbox_language"] = "<script>"
      #expect(try await anna.get("/").text.contains("lang=\"en\""))
    }
  }
}
