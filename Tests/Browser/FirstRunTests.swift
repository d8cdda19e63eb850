import Model
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("First steps")
  struct FirstRunTests {
    @Test("from signing in to a push on the phone, and to why the second failed: two clicks", arguments: [true, false])
    func steps(javaScript: Bool) async throws {
      try await BrowserScene.run(javaScript: javaScript) { scene in
        try await scene.open("/")
        try await scene.audit("the first steps")
        try await scene.press("Send test push")
        try await scene.sees("Ada’s iPhone got the push. Now make one fail.", in: "//h1")
        try await scene.sees("Hello", in: "//div[@class='handset']//div[@data-arrival]")
        try await scene.press("Uninstall and send again")
        try await scene.sees("410 Unregistered")
        try await scene.sees("You have seen one push arrive and one fail", in: "//h1")
        try await scene.audit("the last step")
        try await scene.follow("See every step", in: "//li[.//button[@value='uninstall']]")
        try await scene.sees("HTTP/2 410", in: "//pre")
        try await scene.open("/")
        try await scene.press("Hide these steps")
        try await scene.sees("Recent pushes")
      }
    }

    @Test("without the demo, the first steps and the page of a new app lead to the upload, with the app chosen")
    func setUp() async throws {
      try await BrowserScene.run(demo: false) { scene in
        try await scene.open("/")
        try await scene.sees("Set up your first push", in: "//h1")
        try await scene.audit("the steps without the demo")
        try await scene.follow("Add an app")
        try await scene.fill("name", "Mine")
        try await scene.fill("bundle_id", "com.example.mine")
        try await scene.press("Add an app")
        try await scene.sees("Mine has no credential", in: "//h1")
        try await scene.audit("an app without a credential")
        try await scene.follow("Upload a key or certificate")
        try await scene.heading("Certificates")
        try await scene.browser.wait(for: "//form[@data-upload]//select[@name='app']/option[@selected][.='Mine']")
        try await scene.open("/")
        try await scene.sees("Mine, com.example.mine")
        try await scene.open("/devices")
        try await scene.sees("signalbox serve --demo")
        #expect(try await scene.browser.complaints() == [])
      }
    }
  }
}
