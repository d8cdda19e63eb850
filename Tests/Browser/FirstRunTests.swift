import Model
import Testing

@testable import signalbox

extension InBrowser {
  @Suite("First steps")
  struct FirstRunTests {
    @Test("from signing in to a push on the phone, and to why the second failed: two clicks", arguments: [true, false])
    func steps(javaScript: Bool) async throws {
      try await BrowserScene.run(javaScript: javaScript) { scene in
        try await scene.open("/")
        try await scene.audit("the first steps")
        try await scene.press("Send hello")
        try await scene.sees("Ada’s iPhone said hello. Now break it.", in: "//h1")
        try await scene.sees("Hello", in: "//div[@class='handset']//div[@data-arrival]")
        try await scene.press("Uninstall and send again")
        try await scene.sees("410 Unregistered")
        try await scene.sees("You have seen a push arrive, and one fail", in: "//h1")
        try await scene.audit("the last step")
        try await scene.follow("See every step", in: "//li[.//button[@value='uninstall']]")
        try await scene.sees("HTTP/2 410", in: "//pre")
        try await scene.open("/")
        try await scene.press("Hide these steps")
        try await scene.sees("Recent pushes")
      }
    }
  }
}
