import Model
import Store
import Testing

@testable import Console

@Suite("Pages: app callbacks")
struct CallbacksPageTests {
  private static func page(_ scene: ConsoleScene, _ language: String) async throws -> ScenePage {
    var vera = try await scene.signIn(.viewer)
    _ = try await vera.post("/language", [("lang", language), ("return", "/")])
    return ScenePage(try await vera.get("/docs/callbacks"))
  }

  @Test("every disagreement and every note stands there under its name", arguments: ["en", "zh-Hans"])
  func remarks(language: String) async throws {
    try await ConsoleScene.with { scene in
      let page = try await Self.page(scene, language)
      let texts = scene.console.locales[language]
      // Letters alone: quotes are escaped.
      let letters = page.text.filter(\.isLetter)
      let ids = Set(page.tags.compactMap { $0.attributes["id"] })
      let remarks =
        CallbackContradiction.allCases.map { ($0.name, texts.text(Problem("", $0))) }
        + CallbackNote.allCases.map { ($0.name, texts.text(Problem("", $0))) }
      #expect(remarks.count == 21)
      for (name, text) in remarks {
        #expect(ids.contains(name), "\(name)")
        #expect(letters.contains(text.filter(\.isLetter)), "\(name)")
      }
      for method in CallbackTable.Method.allCases {
        #expect(page.text.contains(method.swiftName), "\(method)")
        #expect(method.jpushName.map(page.text.contains) ?? true, "\(method)")
        #expect(letters.contains(texts("callbacks.methods.\(method.rawValue)").filter(\.isLetter)), "\(method)")
      }
    }
  }

  @Test("every rule stands there with its conditions, its effect and its source, and links lead to what they name")
  func rules() async throws {
    try await ConsoleScene.with { scene in
      let page = try await Self.page(scene, "en")
      let ids = Set(page.tags.compactMap { $0.attributes["id"] })
      for number in 1...19 { #expect(ids.contains("rule-\(number)"), "\(number)") }
      #expect(ids.isSuperset(of: ["rule-13-2", "rule-19-2", "rule-19-3"]))
      for row in [
        "18. Not running iOS 10+ Source: Apple’s documentation, 1 developer guide; sources disagree (C5) ; C8 ; note (N5)",
        "; N9 ; N11 yes yes application(didFinishLaunching) not after a force quit",
        "application(didFinishLaunching) only after a force quit; launch options contain the push",
        "opened from its icon: no further call; after a force quit, the push is lost 2–3",
        "9. Not running iOS 7–9 Source: 2 developer guides; note (N3) ; N9 ; N10 not both not both a banner is shown",
        "11. Foreground iOS 10+ Source: 3 developer guides; sources disagree (C4) ; C6 ; C10",
        "16. Background iOS 10+ Source: 1 developer guide; note (N11) no either a banner is shown",
        "19. Background iOS 7–9, 10+ Source: Apple’s documentation; note (N5) ; N6 yes yes silent push application(",
        "13. Foreground iOS 10+ Source: 2 developer guides; sources disagree (C7) no yes silent push",
      ] {
        #expect(page.text.contains(row), "\(row)")
      }
      // The third rule of row 19 is the one that C5 is about.
      #expect(page.links.contains("#rule-19-3") && page.links.contains("/docs/callbacks#C10"))
      let anchors = page.links.compactMap { link in
        link.firstMatch(of: /^(?:\/docs\/callbacks)?#(.+)$/).map { String($0.1) }
      }
      #expect(Set(anchors).count > 30 && Set(anchors).subtracting(ids) == [])
    }
  }

  @Test("the reference and the send form lead to the page")
  func links() async throws {
    try await ConsoleScene.with { scene in
      _ = try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      for target in ["/docs", "/pushes/new"] {
        #expect(ScenePage(try await ben.get(target)).links.contains("/docs/callbacks"), "\(target)")
      }
    }
  }
}
