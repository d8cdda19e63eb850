import Console
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("Signing in")
  struct SignInTests {
    private func signIn(_ scene: BrowserScene, _ password: String) async throws {
      try await scene.fill("email", BrowserScene.name)
      try await scene.fill("password", password)
      try await scene.press("Sign in")
    }

    @Test("the first start's link makes an account; it signs out and in again", arguments: [true, false])
    func firstStart(javaScript: Bool) async throws {
      try await BrowserScene.run(javaScript: javaScript, signedIn: false) { scene in
        let link = try #require(try await scene.service.console.firstStartLink())
        try await scene.open("/pushes")
        try await scene.heading("Sign in")

        // As a console behind a proxy makes it: the token never leaves the browser with an address.
        try await scene.open(link.replacing("?", with: "#"))
        if !javaScript {
          try await scene.fill("token", String(link.split(separator: "=").last ?? ""))
          try await scene.press("Continue")
        }
        try await scene.fill("email", BrowserScene.name)
        try await scene.fill("password", "long enough, but")
        try await scene.fill("repeat", "not the same")
        try await scene.press("Set password and sign in")
        try await scene.sees("The passwords don’t match.", beside: "repeat")
        #expect(try await scene.value("email") == BrowserScene.name)
        try await scene.fill("password", BrowserScene.password)
        try await scene.fill("repeat", BrowserScene.password)
        try await scene.press("Set password and sign in")
        try await scene.heading("Overview")

        try await scene.press("Sign out")
        try await scene.heading("Sign in")
        try await scene.open(link)
        try await scene.sees("This link was already used or has expired.")
        try await scene.open("/devices")
        try await scene.heading("Sign in")
        try await signIn(scene, BrowserScene.password)
        try await scene.heading("Devices")
        #expect(try await scene.service.console.firstStartLink() == nil)
      }
    }

    @Test("a wrong password is said, and five of them slow the next one down")
    func wrongPasswords() async throws {
      let clock = StandingClock()
      try await BrowserScene.run(clock: { clock.now }) { scene in
        try await scene.press("Sign out")
        for attempt in 1...5 {
          try await scene.heading("Sign in")
          try await signIn(scene, "wrong for the \(attempt). time")
          try await scene.sees("Wrong email or password.")
          #expect(try await scene.value("email") == BrowserScene.name)
          #expect(try await scene.value("password") == "")
          let focused = try await scene.browser.run(script: "return document.activeElement.id") as? String
          #expect(focused == "password")
          try await scene.open("/session/new")
        }
        // The right one too: a guesser learns nothing.
        try await signIn(scene, BrowserScene.password)
        try await scene.sees("Too many attempts. Try again in 1 second.")
        clock.advance(1)
        try await signIn(scene, BrowserScene.password)
        try await scene.heading("Overview")
      }
    }
  }
}
