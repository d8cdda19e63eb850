import Console
import Foundation
import HTTPServer
import Model
import Store
import Testing

/// What the pages' HTML promises about passwords, and what no answer says.
@Suite("Fields of passwords, and headers that no answer has")
struct PasswordFieldTests {
  @Test("every field of a password is masked, takes what is pasted, and tells password managers what it is")
  func masked() async throws {
    try await ConsoleScene.with { scene in
      let path = try #require(try await scene.console.firstStartLink())
      var stranger = SceneBrowser(router: scene.router)
      // The link of the first start ends with the first administrator.
      var pages = [try await stranger.get("/session/new"), try await stranger.get(path)]
      var anna = try await scene.signIn(.admin)
      pages.append(try await anna.get("/account"))
      let names = ["password", "repeat", "current", "proof"]
      let fields = pages.map(ScenePage.init).flatMap { page in
        page.tags.filter { $0.name == "input" && names.contains($0.attributes["name"] ?? "") }
      }
      #expect(fields.count >= 5)
      for field in fields {
        #expect(field.attributes["type"] == "password", "\(field)")
        #expect(field.attributes["autocomplete"]?.hasSuffix("-password") == true, "\(field)")
        #expect(!field.attributes.keys.contains { $0.hasPrefix("on") || $0 == "maxlength" }, "\(field)")
        #expect(field.attributes["value"]?.isEmpty != false, "\(field)")
      }
      let asked = pages.map(ScenePage.init).flatMap(\.tags).compactMap { $0.attributes["name"] }
      #expect(!asked.contains { name in ["hint", "question", "answer"].contains { name.contains($0) } }, "no hints")
    }
  }

  @Test("a password has no end: ten years later it opens a session, and nothing asks for another one")
  func endless() async throws {
    try await ConsoleScene.with { scene in
      _ = try await scene.signIn(.viewer, name: "lin@example.com")
      scene.clock.advance(10 * 365 * 86_400)
      var browser = SceneBrowser(router: scene.router)
      _ = try await browser.get("/session/new")
      browser.csrf = try #require(browser.formToken)
      let typed = [("email", "lin@example.com"), ("password", ConsoleScene.password)]
      #expect(try await browser.post("/session", typed).location == "/")
      #expect(try await browser.get("/").status == 200)
    }
  }

  @Test("recovery codes have over 112 bits, so that a plain hash is enough")
  func recovery() async throws {
    try await ConsoleScene.with { scene in
      let codes = try await scene.store.write { database in
        let user = try User.add(database, name: "anna@example.com", role: .viewer, now: ConsoleScene.noon)
        return try RecoveryCode.renew(database, user: user.id)
      }
      #expect(Set(codes).count == 10)
      let letters = codes.map { $0.filter { $0 != "-" } }
      let alphabet = Set(letters.joined())
      // 280 letters of 31: those that are missing by chance are very few.
      #expect(letters.allSatisfy { Double($0.count) * log2(Double(alphabet.count)) >= 112 }, "\(alphabet.count)")
    }
  }

  @Test("no answer opens itself to scripts of other sites")
  func origins() async throws {
    try await ConsoleScene.with { scene in
      for route in scene.router.routes where route.method == .get && !route.pattern.contains(":") {
        guard !route.pattern.hasSuffix("/events"), !route.pattern.contains("*") else { continue }
        for role in [nil, User.Role.admin] {
          let answer = try await scene.call(
            .get, route.pattern, as: role, headers: ["Origin": "https://other.example"])
          let opened = answer.response.headers.fields.filter { $0.name.lowercased().hasPrefix("access-control-") }
          #expect(opened.isEmpty, "\(route.pattern)")
        }
      }
    }
  }
}
