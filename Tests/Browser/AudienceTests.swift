import Simulator
import Testing

@testable import signalbox

extension InBrowser {
  @Suite("Audiences")
  struct AudienceTests {
    private func begin(_ scene: BrowserScene, _ environment: String, _ audience: String) async throws {
      try await scene.open("/pushes/new?app=com.example.shop")
      try await scene.choose("environment", environment)
      try await scene.choose("audience", audience)
    }

    private func review(_ scene: BrowserScene, _ text: String) async throws {
      try await scene.fill("body", text)
      try await scene.press("Review")
      try await scene.heading("Review and send")
    }

    private func seesResult(_ scene: BrowserScene, accepted: Int) async throws {
      try await scene.seesFinished()
      try await scene.sees(count: accepted, of: "accepted")
      for kind in ["failed", "dead_token", "skipped", "unknown", "pending"] { try await scene.sees(count: 0, of: kind) }
    }

    /// Whose phone got a text.
    private func reached(_ scene: BrowserScene, _ text: String) throws -> Set<String> {
      let phones = try #require(scene.service.simulator?.phones.phones())
      return Set(phones.filter { $0.received.contains { $0.payload.contains(text) } }.map(\.name))
    }

    @Test("tags and aliases reach whom they name, in their environment")
    func tagsAndAliases() async throws {
      try await BrowserScene.run { scene in
        try await begin(scene, "development", "tag")
        try await scene.fill("tag", "beta, vip")
        try await scene.fill("tag_not", "staff")
        try await review(scene, "for the curious")
        try await scene.press("Send to 2 devices")
        try await seesResult(scene, accepted: 2)
        #expect(try reached(scene, "for the curious") == ["Grace’s iPhone", "小明的 iPhone"])

        try await begin(scene, "development", "alias")
        try await scene.fill("alias", "usr_linus\nusr_margaret")
        try await review(scene, "by alias")
        try await scene.press("Send to 1 device")
        try await seesResult(scene, accepted: 1)
        #expect(try reached(scene, "by alias") == ["Linus’s iPhone"])

        // Nobody: the page says so, and there is nothing to press.
        try await begin(scene, "development", "tag")
        try await scene.fill("tag", "nobody-has-this")
        try await review(scene, "for nobody")
        try await scene.sees("matches this audience")
        #expect(try await scene.browser.findAll(".send-bar button:not([formaction])").isEmpty, "no button sends")
        #expect(try reached(scene, "for nobody").isEmpty)
      }
    }

    @Test("names are suggested as one types, and chosen by keyboard")
    func picker() async throws {
      try await BrowserScene.run { scene in
        try await begin(scene, "development", "tag")
        let field = try await scene.browser.find("#tag")
        // The suggestions come with the first choice.
        try await scene.browser.wait(for: "//input[@id='tag'][@role='combobox']")
        try await field.type("be")
        let option = try await scene.browser.find("#tag + [role=listbox] [role=option]")
        let label = try await option.text()
        #expect(label.contains("beta") && label.contains("device"))
        #expect(try await field.attribute("aria-expanded") == "true")
        // Down, Enter, as WebDriver writes keys.
        try await field.type("\u{E015}")
        let id = try await option.attribute("id")
        #expect(try await field.attribute("aria-activedescendant") == id)
        try await field.type("\u{E007}")
        #expect(try await scene.value("tag") == "beta, ")
        #expect(try await field.attribute("aria-expanded") == "false")
        try await scene.choose("audience", "alias")
        let add = try await scene.browser.find("#alias-add")
        try await add.type("usr_l")
        _ = try await scene.browser.find("#alias-add + [role=listbox] [role=option]")
        try await add.type("\u{E015}\u{E007}")
        #expect(try await scene.value("alias").hasPrefix("usr_l"))
        // Escape closes the list and leaves what was typed.
        try await add.type("usr")
        _ = try await scene.browser.find("#alias-add + [role=listbox] [role=option]")
        try await add.type("\u{E00C}")
        #expect(try await add.attribute("aria-expanded") == "false")
        #expect(try await scene.value("alias-add") == "usr")
      }
    }

    @Test("a repair of the live preview leads back to the field that it changed")
    func repair() async throws {
      try await BrowserScene.run { scene in
        try await begin(scene, "development", "tag")
        try await scene.fill("tag", "betaa")
        try await scene.fill("body", "for the curious")
        try await scene.press("Set Any of these tags to “beta”")
        try await scene.browser.wait(for: "//input[@id='tag'][@value='beta']")
        try await scene.browser.wait(for: "//input[@id='tag'][@role='combobox']")
        let focused = try await scene.browser.run(script: "return document.activeElement.id") as? String
        #expect(focused == "tag")
      }
    }

    @Test("a broadcast asks for the app's name, in both environments", arguments: [true, false])
    func broadcast(javaScript: Bool) async throws {
      try await BrowserScene.run(javaScript: javaScript) { scene in
        try await begin(scene, "development", "all")
        try await review(scene, "to all who develop")
        try await scene.press("Send to 6 devices")
        try await scene.sees("Doesn’t match the app’s name. Type Shop.", beside: "confirm")
        try await scene.fill("confirm", "shop")
        try await scene.press("Send to 6 devices")
        try await scene.sees("Doesn’t match the app’s name. Type Shop.", beside: "confirm")
        #expect(try await scene.value("confirm") == "shop")
        try await scene.press("Back to edit")
        #expect(try await scene.browser.find("#body").text() == "to all who develop")
        #expect(try await scene.browser.find("input[name=audience][value=all]").isSelected())
        #expect(try reached(scene, "to all who develop").isEmpty)
        try await scene.press("Review")
        try await scene.fill("confirm", "Shop")
        try await scene.press("Send to 6 devices")
        try await seesResult(scene, accepted: 6)
        #expect(try reached(scene, "to all who develop").count == 6)

        try await begin(scene, "production", "all")
        try await review(scene, "to all the world")
        try await scene.fill("confirm", "Shop")
        try await scene.press("Send to 2 devices in production")
        try await seesResult(scene, accepted: 2)
        #expect(try reached(scene, "to all the world") == ["Margaret’s iPhone", "Alan’s iPhone"])

        // One device in production asks as well.
        try await begin(scene, "production", "alias")
        try await scene.fill("alias", "usr_alan")
        try await review(scene, "to one of the world")
        try await scene.press("Send to 1 device in production")
        try await scene.sees("Doesn’t match the app’s name. Type Shop.", beside: "confirm")
        #expect(try reached(scene, "to one of the world").isEmpty)
      }
    }
  }
}
