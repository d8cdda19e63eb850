import Model
import Simulator
import Testing

@testable import signalbox

extension InBrowser {
  @Suite("Sending in several languages")
  struct LanguageSendingTests {
    private func part(_ row: Int, _ name: String) -> String { "localization\\.\(row)\\.\(name)" }

    /// A push to everyone in development, with a text for Chinese.
    private func fillForm(_ scene: BrowserScene) async throws {
      try await scene.open("/pushes/new?app=com.example.shop")
      try await scene.heading("Send a push")
      try await scene.choose("environment", "development")
      try await scene.choose("audience", "all")
      try await scene.fill("title", "Your order")
      try await scene.fill("body", "On its way")
      try await scene.browser.click(xpath: "//summary[.='Other languages']")
      try await scene.press("Add a language")
      try await scene.fill(part(1, "language"), "Chinese")
      try await scene.fill(part(1, "body"), "已发货")
    }

    private func send(_ scene: BrowserScene) async throws {
      try await scene.press("Review")
      try await scene.heading("Review and send")
      try await scene.sees("Default text: 4")
      try await scene.press("zh-Hans: 2")
      try await scene.sees("已发货", in: "//*[@data-show='body']")
      try await scene.fill("confirm", "Shop")
      try await scene.press("Send to 6 devices")
      try await scene.seesFinished()
      try await scene.sees(count: 6, of: "accepted")
      let phones = scene.service.simulator?.phones.phones().filter { $0.environment == .development } ?? []
      let shown = phones.map { "\($0.name): \($0.received.first?.alert.body ?? "nothing")" }
      #expect(shown.count { $0.hasSuffix(": On its way") } == 4, "\(shown)")
      #expect(Set(shown).isSuperset(of: ["小明的 iPhone: 已发货", "李雷的小米: 已发货"]), "\(shown)")
      try await scene.sees("usr_xiaoming · zh-Hans", in: "//table")
      try await scene.follow("小明的 iPhone")
      try await scene.sees("已发货", in: "//pre")
    }

    @Test("with scripts: rows come and go at once, survive the tab, and the preview changes its language")
    func live() async throws {
      try await BrowserScene.run { scene in
        let browser = scene.browser
        try await fillForm(scene)
        try await scene.sees("Did you mean “zh-Hans”?", beside: "localization.1.language")
        try await scene.fill(part(1, "language"), "zh-Hans")
        try await browser.wait(for: "//*[@data-preview-languages]//label[contains(.,'zh-Hans: 2')]")
        try await scene.choose("preview_language", "zh-Hans")
        try await browser.wait(for: "//*[@data-show='body'][.='已发货']")
        try await scene.press("Add a language")
        try await scene.fill(part(2, "language"), "de")
        try await scene.fill(part(2, "body"), "Unterwegs")
        // Left, and come back to.
        try await scene.open("/devices")
        try await scene.open("/pushes/new")
        try await browser.wait(for: "//fieldset[@data-language='2']")
        #expect(try await scene.value("localization.2.body") == "Unterwegs")
        #expect(try await scene.value("localization.1.language") == "zh-Hans")
        try await browser.click(xpath: "//fieldset[@data-language='2']//button")
        try await browser.wait(for: "//form[not(.//fieldset[@data-language='2'])]")
        try await send(scene)
        #expect(try await browser.complaints() == [])
      }
    }

    @Test("without scripts: the same by forms alone")
    func forms() async throws {
      try await BrowserScene.run(javaScript: false) { scene in
        try await fillForm(scene)
        try await scene.press("Add a language")
        try await scene.browser.wait(for: "//fieldset[@data-language='2']")
        #expect(try await scene.browser.find("#\(part(1, "body"))").text() == "已发货")
        try await scene.browser.click(xpath: "//fieldset[@data-language='2']//button")
        try await scene.browser.wait(for: "//form[not(.//fieldset[@data-language='2'])]")
        try await scene.press("Review")
        try await scene.sees("Did you mean “zh-Hans”?", beside: "localization.1.language")
        try await scene.fill(part(1, "language"), "zh-Hans")
        // Enter reviews, and adds no language.
        try await scene.browser.find("#title").type("\u{E007}")
        try await scene.heading("Review and send")
        try await scene.press("Back to edit")
        try await scene.heading("Send a push")
        try await send(scene)
      }
    }
  }
}
