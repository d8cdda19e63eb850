import Console
import Foundation
import HTTPServer
import JSON
import OpenSSL
import Model
import Reactor
import SQLite
import Store
import Testing

@Suite("Pages: signing in")
struct SignInTests {
  private static let name = "anna@example.com"

  /// A browser before the sign-in form, with its token.
  static func guest(_ scene: ConsoleScene, isSecure: Bool = false, address: String? = nil) async throws -> SceneBrowser
  {
    var browser = SceneBrowser(router: scene.router)
    (browser.isSecure, browser.address) = (isSecure, address)
    _ = try await browser.get("/session/new")
    browser.csrf = try #require(browser.formToken)
    return browser
  }

  private static func addAnna(_ scene: ConsoleScene, role: User.Role = .viewer) async throws -> User {
    let hash = try PasswordHash.make(password: ConsoleScene.password, parameters: .quickForTests).text
    return try await scene.store.write {
      try User.add($0, name: name, role: role, passwordHash: hash, language: "en", now: ConsoleScene.noon)
    }
  }

  static func attempt(
    _ browser: inout SceneBrowser, _ name: String = name, _ password: String = ConsoleScene.password
  ) async throws -> SceneAnswer {
    try await browser.post("/session", [("email", name), ("password", password)])
  }

  private static func cookie(_ answer: SceneAnswer, _ name: String) -> String? {
    answer.response.headers.values(of: "Set-Cookie").first { $0.hasPrefix(name + "=") }
  }

  @Test("the cookie is out of reach for scripts and other sites, and bound to the host over https")
  func cookie() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      for isSecure in [false, true] {
        var browser = try await Self.guest(scene, isSecure: isSecure)
        let answer = try await Self.attempt(&browser)
        #expect(answer.status == 303 && answer.location == "/")
        let field = try #require(Self.cookie(answer, isSecure ? "__Host-signalbox_session" : "signalbox_session"))
        let parts = Set(field.split(separator: ";").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) })
        #expect(parts.isSuperset(of: ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"]))
        #expect(parts.contains("Secure") == isSecure)
        #expect(!field.contains("Domain"))
        let names = browser.cookies.keys
        #expect(names.allSatisfy { $0.hasPrefix("__Host-") == isSecure } && names.count >= 2, "\(names)")
        #expect(answer.response.headers["Strict-Transport-Security"]?.hasPrefix("max-age=") == (isSecure ? true : nil))
        let value = try #require(field.split(separator: ";").first?.split(separator: "=").last)
        #expect(value.utf8.count >= 32, "32 random bytes, as text")
        // What is kept is a hash: who reads the file cannot become anybody.
        let kept = try await scene.store.read {
          try $0.int("SELECT count(*) FROM sessions WHERE instr(id_hash, ?) > 0", Array(value.utf8))
        }
        #expect(kept == 0)
      }
    }
  }

  @Test("a session over https is no session over http, and the other way round")
  func schemes() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var browser = try await Self.guest(scene, isSecure: true)
      _ = try await Self.attempt(&browser)
      #expect(try await browser.get("/").status == 200)
      browser.isSecure = false
      #expect(try await browser.get("/").status == 303)
    }
  }

  /// The page but for the token of its forms, which is another one in each answer.
  private static func withoutToken(_ answer: SceneAnswer) -> String {
    answer.text.replacing(/name="csrf" value="[^"]*"/, with: "")
  }

  @Test("wrong password, unknown name, disabled account: the same answer, and a line in the audit")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      let anna = try await Self.addAnna(scene)
      var bodies: Set<String> = []
      for (name, password) in [(Self.name, "wrong"), ("nobody@example.com", "wrong"), (Self.name, "")] {
        var browser = try await Self.guest(scene)
        let answer = try await Self.attempt(&browser, name, password)
        #expect(answer.status == 422)
        #expect(ScenePage(answer).values("email") == [name], "the name stays, the password does not")
        #expect(Self.cookie(answer, "signalbox_session") == nil)
        bodies.insert(Self.withoutToken(answer).replacing(name, with: ""))
      }
      _ = try await scene.store.write { try User.setDisabled($0, id: anna.id, true, now: ConsoleScene.noon) }
      var browser = try await Self.guest(scene)
      let answer = try await Self.attempt(&browser)
      #expect(answer.status == 422)
      bodies.insert(Self.withoutToken(answer).replacing(Self.name, with: ""))
      #expect(bodies.count == 1, "nobody learns which accounts there are")
      let audit = try await scene.audit("session.refused")
      #expect(audit.count == 4)
      #expect(!audit.contains { "\($0)".contains("wrong") }, "a password must not get into the audit")
    }
  }

  @Test("names are found in any case; the throttle counts them as one")
  func nameCase() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var browser = try await Self.guest(scene)
      #expect(try await Self.attempt(&browser, "ANNA@Example.com").status == 303)
      browser = try await Self.guest(scene)
      for name in ["anna@example.com", "Anna@example.com", "ANNA@EXAMPLE.COM", "aNNa@example.com", "annA@example.com"] {
        #expect(try await Self.attempt(&browser, name, "wrong").status == 422)
      }
      #expect(try await Self.attempt(&browser, "anna@example.COM").status == 429)
    }
  }

  @Test("after five failures an account waits, longer each time, and the right password does not help")
  func throttle() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var browser = try await Self.guest(scene, address: "192.0.2.1")
      for _ in 0..<5 { #expect(try await Self.attempt(&browser, Self.name, "wrong").status == 422) }
      var last = 0
      for round in 0..<4 {
        let slow = try await Self.attempt(&browser)
        #expect(slow.status == 429, "round \(round)")
        let wait = try #require(Int(slow.response.headers["Retry-After"] ?? ""))
        #expect(wait > last)
        #expect(ScenePage(slow).text.contains("in \(wait) second"))
        last = wait
        scene.clock.advance(Double(wait) - 0.5)
        #expect(try await Self.attempt(&browser).status == 429, "half a second early")
        scene.clock.advance(0.6)
        #expect(try await Self.attempt(&browser, Self.name, "wrong").status == 422, "round \(round)")
      }
      // Somebody else is not kept out, from elsewhere neither the others of this account's owner.
      var other = try await Self.guest(scene, address: "192.0.2.2")
      #expect(try await Self.attempt(&other, "ben@example.com", "wrong").status == 422)
      #expect(try await Self.attempt(&other).status == 429, "the account waits, from wherever")
      scene.clock.advance(901)
      #expect(try await Self.attempt(&browser).status == 303)
      #expect(try await scene.count("sign_in_failures WHERE subject LIKE '%anna%'") == 0, "a success forgets them")
    }
  }

  @Test("twenty failures from one address, over many accounts, make it wait; another address does not")
  func addressThrottle() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var browser = try await Self.guest(scene, address: "192.0.2.1")
      for number in 0..<20 {
        #expect(try await Self.attempt(&browser, "user\(number)@example.com", "wrong").status == 422)
      }
      #expect(try await Self.attempt(&browser).status == 429)
      var other = try await Self.guest(scene, address: "192.0.2.2")
      #expect(try await Self.attempt(&other).status == 303)
    }
  }

  @Test("of sixty guesses at once no more are checked than one after the other would be")
  func parallelGuesses() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      let browser = try await Self.guest(scene, address: "192.0.2.1")
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<60 {
          group.addTask {
            var browser = browser
            return try await Self.attempt(&browser, Self.name, "wrong \(number)").status
          }
        }
        return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(statuses == [422: 5, 429: 55])
      #expect(try await scene.audit("session.refused").count == 6, "the refusals of the rate are one entry")
    }
  }

  @Test("a success takes its own attempt back, and leaves what the address has guessed at others")
  func takenBack() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var browser = try await Self.guest(scene, address: "192.0.2.1")
      for number in 0..<19 {
        #expect(try await Self.attempt(&browser, "user\(number)@example.com", "wrong").status == 422)
      }
      for _ in 0..<3 {
        var anna = try await Self.guest(scene, address: "192.0.2.1")
        #expect(try await Self.attempt(&anna).status == 303)
      }
      #expect(try await Self.attempt(&browser, "last@example.com", "wrong").status == 422)
      #expect(try await Self.attempt(&browser, "one.more@example.com", "wrong").status == 429)
    }
  }

  @Test("strangers lock nobody out of a browser in which the person has signed in; it has a counter of its own")
  func knownDevice() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var known = try await Self.guest(scene, address: "192.0.2.1")
      let answer = try await Self.attempt(&known)
      let field = try #require(Self.cookie(answer, "signalbox_device"))
      for part in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=15552000"] {
        #expect(field.contains(part), "\(part)")
      }
      // Eve is known too, with an account of her own.
      let eve = try await scene.signIn(.viewer, name: "eve@example.com")
      for number in 0..<40 {
        var stranger = try await Self.guest(scene, address: "198.51.100.\(number)")
        if number % 2 == 0 { stranger.cookies["signalbox_device"] = eve.cookies["signalbox_device"] }
        #expect(try await Self.attempt(&stranger, Self.name, "wrong").status == (number < 5 ? 422 : 429))
      }
      var elsewhere = try await Self.guest(scene, address: "192.0.2.2")
      #expect(try await Self.attempt(&elsewhere).status == 429, "from a browser that is new")
      let former = known.cookies["signalbox_device"]
      for _ in 0..<2 {
        known.cookies["signalbox_session"] = nil
        #expect(try await Self.attempt(&known).status == 303, "from her own")
      }
      #expect(known.cookies["signalbox_device"] != former, "a new cookie each time")
      known.cookies["signalbox_session"] = nil
      for _ in 0..<5 { #expect(try await Self.attempt(&known, Self.name, "wrong").status == 422) }
      #expect(try await Self.attempt(&known).status == 429, "whoever has the browser guesses no faster")
      scene.clock.advance(181 * 86_400)
      for _ in 0..<5 { #expect(try await Self.attempt(&elsewhere, Self.name, "wrong").status == 422) }
      #expect(try await Self.attempt(&known).status == 429, "a stranger again after half a year")
    }
  }

  @Test("over https the cookie of a known browser is bound to the host; two people can share a browser")
  func sharedBrowser() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      _ = try await scene.signIn(.viewer, name: "ben@example.com")
      var browser = try await Self.guest(scene, isSecure: true, address: "192.0.2.1")
      for name in [Self.name, "ben@example.com"] {
        let answer = try await Self.attempt(&browser, name)
        #expect(answer.status == 303 && Self.cookie(answer, "__Host-signalbox_device")?.contains("Secure") == true)
        browser.cookies["__Host-signalbox_session"] = nil
      }
      for name in [Self.name, "ben@example.com"] {
        for number in 0..<5 {
          var stranger = try await Self.guest(scene, address: "198.51.100.\(number)")
          #expect(try await Self.attempt(&stranger, name, "wrong").status == 422)
        }
        #expect(try await Self.attempt(&browser, name).status == 303)
        browser.cookies["__Host-signalbox_session"] = nil
      }
    }
  }

  @Test("of IPv6 a customer's network counts as one address, and a provider's as some")
  func networks() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var number = 0
      func guess(_ address: String) async throws -> Int {
        number += 1
        var browser = try await Self.guest(scene, address: address)
        return try await Self.attempt(&browser, "user\(number)@example.com", "wrong").status
      }
      for host in 1...24 {
        #expect(try await guess("2001:db8:0:1::\(String(host, radix: 16))") == (host <= 20 ? 422 : 429), "host \(host)")
      }
      for network in 2...5 {
        for host in 1...20 { #expect(try await guess("2001:db8:0:\(network):\(host)::1") == 422) }
      }
      #expect(try await guess("2001:db8:0:6::1") == 429, "a hundred of one /48")
      #expect(try await guess("2001:db8:1:1::1") == 422)
      for _ in 1...20 { _ = try await guess("::ffff:192.0.2.7") }
      #expect(try await guess("192.0.2.7") == 429, "the same address, however it is written")
    }
  }

  /// Holds both threads for passwords, and fills the queue before them as far as strangers may.
  private static func hold(_ scene: ConsoleScene) async -> DispatchSemaphore {
    let gate = DispatchSemaphore(value: 0)
    for _ in 0..<2 {
      await withCheckedContinuation { (held: CheckedContinuation<Void, Never>) in
        _ = scene.pools.hashes.execute {
          held.resume()
          // Where somebody waits behind it who should not, the test ends, and fails.
          _ = gate.wait(timeout: .now() + 20)
        }
      }
    }
    for _ in 0..<8 { _ = scene.pools.hashes.execute {} }
    return gate
  }

  @Test("a full queue of passwords is said at once, is no failure, and holds neither pages nor known browsers up")
  func crowded() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var known = try await Self.guest(scene, address: "192.0.2.1")
      #expect(try await Self.attempt(&known).status == 303)
      known.cookies["signalbox_session"] = nil
      let gate = await Self.hold(scene)
      defer { for _ in 0..<2 { gate.signal() } }
      for _ in 0..<7 {
        var stranger = try await Self.guest(scene, address: "192.0.2.2")
        let answer = try await Self.attempt(&stranger)
        #expect(answer.status == 503 && answer.response.headers["Retry-After"] == "5")
        #expect(ScenePage(answer).text.contains("Too many people are signing in"))
        #expect(ScenePage(answer).values("email") == [Self.name])
      }
      #expect(try await scene.count("sign_in_failures") == 0, "what was not checked has not failed")
      #expect(try await scene.call(.get, "/css/signalbox.css", as: nil).status == 200)
      #expect(try await scene.call(.get, "/session/new", as: nil).status == 200)
      let waiting = known
      let task = Task {
        var browser = waiting
        return try await Self.attempt(&browser).status
      }
      for _ in 0..<2 { gate.signal() }
      #expect(try await task.value == 303, "there is room for those who are known")
    }
  }

  @Test("a password is not checked for a client that has gone, and it is no failure")
  func abandoned() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var known = try await Self.guest(scene, address: "192.0.2.1")
      #expect(try await Self.attempt(&known).status == 303)
      known.cookies["signalbox_session"] = nil
      let sessions = try await scene.count("sessions")
      let gate = await Self.hold(scene)
      let browser = known
      let task = Task {
        var browser = browser
        return try await Self.attempt(&browser).status
      }
      task.cancel()
      #expect(try await task.value != 303, "it ends though the threads are held")
      for _ in 0..<2 { gate.signal() }
      try await scene.pools.hashes.run {}
      #expect(try await scene.count("sessions") == sessions)
      #expect(try await scene.count("sign_in_failures") == 0)
    }
  }

  @Test("a session that the browser had before is not taken over")
  func fixation() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      // Eve's own session, put into Anna's browser.
      let eve = try await scene.signIn(.viewer, name: "eve@example.com")
      var anna = try await Self.guest(scene)
      let planted = try #require(eve.cookies["signalbox_session"])
      anna.cookies["signalbox_session"] = planted
      anna.csrf = eve.csrf
      #expect(try await Self.attempt(&anna).status == 303)
      #expect(anna.cookies["signalbox_session"] != planted)
      #expect(try await anna.get("/account").text.contains(Self.name))
      var stale = eve
      #expect(try await stale.get("/").status == 303, "the old session has ended")
      // A cookie that nobody gave out opens nothing, and is replaced.
      var made = try await Self.guest(scene)
      made.cookies["signalbox_session"] = "chosen-by-eve-chosen-by-eve-chosen-by-eve"
      #expect(try await Self.attempt(&made).status == 303)
      #expect(made.cookies["signalbox_session"] != "chosen-by-eve-chosen-by-eve-chosen-by-eve")
    }
  }

  @Test(
    "after the sign-in one stays on this site",
    arguments: [
      ("/pushes?q=a", "/pushes?q=a"), ("/", "/"), ("", "/"), ("//evil.example", "/"), ("/\\evil.example", "/"),
      ("https://evil.example/", "/"), ("https:evil.example", "/"), ("javascript:alert(1)", "/"), ("pushes", "/"),
      ("/\t/evil.example", "/"), ("/\n/evil.example", "/"), (" //evil.example", "/"), ("/a\\b", "/"),
      ("/\u{2028}", "/"), ("/ü", "/"), ("\\\\evil.example", "/"), ("/a\r\nSet-Cookie: x=1", "/"),
    ])
  func staysHere(wanted: String, expected: String) async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addAnna(scene)
      var browser = try await Self.guest(scene)
      let page = ScenePage(try await browser.get("/session/new?return=\(SceneBrowser.escaped(wanted))"))
      #expect(page.values("return").first == expected)
      let language = try await browser.post("/language", [("lang", "en"), ("return", wanted)])
      #expect(language.location == expected)
      let answer = try await browser.post(
        "/session", [("email", Self.name), ("password", ConsoleScene.password), ("return", wanted)])
      #expect(answer.location == expected)
      #expect(try await browser.get("/session/new?return=//evil.example").location == "/")
    }
  }
}
