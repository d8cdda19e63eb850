import Console
import OpenSSL
import Store
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("Passkeys and two-step verification")
  struct PasskeyTests {
    /// The console by its name: passkeys need one.
    private func open(_ scene: BrowserScene, _ path: String) async throws {
      try await scene.browser.open(scene.service.url.replacing("127.0.0.1", with: "localhost") + path)
    }

    @Test("a passkey of the browser's own authenticator is added, confirms, and signs in without a password")
    func passkey() async throws {
      let clock = StandingClock()
      try await BrowserScene.run(clock: { clock.now }) { scene in
        try await scene.browser.post(
          "webauthn/authenticator",
          [
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
            "isUserConsenting": true, "isUserVerified": true,
          ])
        try await open(scene, "/session/new")
        try await scene.fill("email", BrowserScene.name)
        try await scene.fill("password", BrowserScene.password)
        try await scene.press("Sign in")
        try await scene.heading("Overview")
        try await open(scene, "/account")
        try await scene.fill("passkey-name", "Virtual key")
        try await scene.press("Add a passkey")
        try await scene.sees("Passkey added.")
        try await scene.sees("Virtual key")
        try await scene.audit("the account with a passkey")

        clock.advance(900)
        try await open(scene, "/settings/tokens")
        try await scene.fill("name", "nightly import")
        try await scene.choose("scopes", "read")
        try await scene.press("Create API token")
        try await scene.heading("Confirm it’s you")
        try await scene.audit("the page that asks for a proof")
        try await scene.press("Use a passkey")
        try await scene.sees("Copy this token now.")
        try await scene.sees("nightly import")

        try await scene.press("Sign out")
        try await scene.heading("Sign in")
        try await scene.audit("signing in with a passkey")
        try await scene.press("Sign in with a passkey")
        try await scene.heading("Overview")
      }
    }

    @Test("at an IP address, which no passkey can belong to, none is offered, and the account says why")
    func nowhere() async throws {
      try await BrowserScene.run { scene in
        try await scene.open("/account")
        try await scene.browser.wait(for: "//p[@data-passkey-nowhere][not(@hidden)]")
        let offered = "[data-passkey-part]:not([hidden])"
        let atAccount = try await scene.browser.findAll(offered)
        #expect(atAccount.isEmpty)
        try await scene.press("Sign out")
        try await scene.heading("Sign in")
        try await scene.open("/session/new")
        let atSignIn = try await scene.browser.findAll(offered)
        #expect(atSignIn.isEmpty)
        try await open(scene, "/session/new")
        try await scene.browser.wait(for: "//div[@data-passkey-part][not(@hidden)]")
      }
    }

    @Test("an authenticator app is set up by its QR code, and asked for after the password", arguments: [true, false])
    func authenticator(javaScript: Bool) async throws {
      let clock = StandingClock()
      try await BrowserScene.run(javaScript: javaScript, clock: { clock.now }) { scene in
        func code() async throws -> String {
          let sealer = scene.service.store.sealer
          let secret = try await scene.service.store.read { database in
            let user = try #require(try User.find(database, name: BrowserScene.name))
            return try #require(try Authenticator.find(database, user: user.id)).secret(database, sealer: sealer)
          }
          return OneTimeCode.code(secret, step: OneTimeCode.step(at: clock.now))
        }
        try await scene.open("/account")
        try await scene.follow("Set up")
        try await scene.press("Set up")
        try await scene.sees("Scan this with your authenticator app")
        if javaScript { try await scene.audit("setting up an authenticator app") }
        try await scene.fill("code", "000000")
        try await scene.press("Turn on")
        try await scene.sees("Wrong code", beside: "code")
        try await scene.fill("code", try await code())
        try await scene.press("Turn on")
        try await scene.sees("Save these recovery codes now.")
        if javaScript { try await scene.audit("recovery codes") }
        clock.advance(60)
        try await scene.press("Sign out")
        try await scene.fill("email", BrowserScene.name)
        try await scene.fill("password", BrowserScene.password)
        try await scene.press("Sign in")
        try await scene.heading("Enter the code")
        if javaScript { try await scene.audit("the page that asks for a code") }
        try await scene.fill("code", try await code())
        try await scene.press("Sign in")
        try await scene.heading("Overview")
      }
    }
  }
}
