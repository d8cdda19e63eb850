import Simulator
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("A newcomer's path")
  struct NewcomerTests {
    @Test("an Android phone is added to the demo, a push reaches every phone, and their receipts come in")
    func path() async throws {
      try await BrowserScene.run { scene in
        let browser = scene.browser
        try await scene.open("/phones")
        try await scene.follow("Add a phone")
        try await scene.fill("name", "Robin's Android")
        try await scene.choose("platform", "android")
        try await scene.choose("environment", "development")
        try await scene.press("Add a phone")
        try await browser.wait(for: scene.phone("Robin's Android"))
        let phones = try await browser.window()
        _ = try await browser.run(script: "window.untouched = true")

        try await browser.openTab()
        let form = try await browser.window()
        try await scene.open("/pushes/new?app=com.example.shop")
        try await scene.choose("environment", "development")
        try await scene.choose("audience", "all")
        try await scene.fill("title", "Opening day")
        try await scene.fill("body", "Come in, we are open")
        try await scene.press("Review")
        try await scene.sees("7 devices (4 iOS, 3 Android) in Shop (development)")
        try await scene.fill("confirm", "Shop")
        try await scene.press("Send to 7 devices")
        try await scene.seesFinished()
        try await scene.sees(count: 7, of: "accepted")
        try await scene.sees("FCM")
        try await browser.wait(for: "//b[@data-receipt='displayed'][.='7']")

        // Each kind lights up without a reload, and a tap on each opens the app.
        try await browser.go(toWindow: phones)
        let names = ["Robin's Android", "Ada’s iPhone"]
        for name in names {
          try await scene.choosePhone(name)
          try await browser.wait(for: scene.phone(name) + "//*[contains(.,'Opening day')][contains(.,'we are open')]")
        }
        #expect(try await browser.run(script: "return window.untouched") as? Bool == true)
        for name in names {
          try await scene.choosePhone(name)
          try await browser.click(xpath: scene.phone(name) + "//button[normalize-space()='Tap']")
          try await browser.wait(for: "//section[.//*[@id='message']]//dt[.='Tapped']")
        }
        try await browser.go(toWindow: form)
        try await browser.wait(for: "//b[@data-receipt='opened'][.='2']")
        try await scene.sees("Reported by 7 of 7 devices")
        #expect(try await browser.complaints() == [])
      }
    }
  }
}
