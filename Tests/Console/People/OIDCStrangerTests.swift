import Foundation
import HTTPServer
import JSON
import SQLite
import Store
import TestSupport
import Testing

/// A provider that others wrote, from PyPI: oidc-provider-mock, whose tokens, codes and PKCE are Authlib's.
@Suite("OIDC: a provider of others", .timeLimit(.minutes(2)))
struct OIDCStrangerTests {
  private static let python = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_OIDC"]

  /// Signs in at the provider, and returns where it sends the browser.
  private static func consent(_ location: String?) async throws -> String {
    let url = try #require(location)
    let (status, output) = try await OtherProgram.run(
      "/usr/bin/env", ["curl", "-s", "-o", "/dev/null", "-w", "%{redirect_url}", "-d", "sub=f3a1", url])
    let path = try #require(URLComponents(string: output)?.path)
    try #require(status == 0 && path == "/session/oidc/callback", "\(output)")
    return output.replacing("http://localhost:8080", with: "")
  }

  /// Runs the provider for as long as the body needs it.
  private static func with(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
    let python = try #require(python)
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: file) }  // a left-over file fails no test
    let script = ConsoleScene.root.appending(path: "Tests/Console/Fixtures/oidc_provider.py").path
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let (status, output) = try await OtherProgram.run(
          python, [script, file], environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        try #require(status == 0, "\(output)")
      }
      try await waitUntil("the provider listens") { FileManager.default.fileExists(atPath: file) }
      let issuer = try String(contentsOfFile: file, encoding: .utf8)
      let result: Result<Void, any Error>
      do { result = .success(try await body(issuer)) } catch { result = .failure(error) }
      _ = try await OtherProgram.run("/usr/bin/env", ["curl", "-s", "-X", "POST", "\(issuer)/stop"])
      try await group.waitForAll()
      try result.get()
    }
  }

  @Test(
    "discovery, PKCE, the ID token, roles, and a confirmation with Authlib's provider",
    .enabled(if: python != nil, "SIGNALBOX_TEST_OIDC is not set: script/test sets it"))
  func signIn() async throws {
    try await Self.with { issuer in
      try await ConsoleScene.with { scene in
        // The provider's clock is the machine's.
        scene.clock.advance(Date().timeIntervalSince(ConsoleScene.noon))
        var settings = OIDCSettings()
        (settings.issuer, settings.clientID, settings.clientSecret) = (issuer, "box", "secret")
        (settings.label, settings.roleClaim) = ("Mock", "groups")
        settings.roleRules = [.init(value: "ops", role: .admin)]
        try await OIDCTests.save(settings, scene)
        let tested = try await scene.call(.post, "/api/v1/settings/oidc/test", as: .admin)
        #expect(tested.json == ["taken": true, "answer": .string(issuer + "/oauth2/authorize")])

        var anna = SceneBrowser(router: scene.router)
        let begun = try await anna.get("/session/oidc?return=/devices").location
        let stranger = try await anna.get(try await Self.consent(begun))
        #expect(stranger.status == 422 && stranger.text.contains("anna@example.com has no access yet"))

        try await OIDCTests.invite(scene)
        let again = try await anna.get("/session/oidc?return=/devices").location
        let callback = try await Self.consent(again)
        let entered = try await anna.get(callback)
        #expect(entered.status == 303 && entered.location == "/devices", "\(ScenePage(entered).text)")
        let user = try #require(try await OIDCTests.user(scene))
        #expect(user.role == .admin && user.isLinked)

        // The provider holds the code against PKCE's challenge: it is worthless in another browser.
        var thief = SceneBrowser(router: scene.router)
        let mine = try await Self.consent(try await thief.get("/session/oidc").location)
        var other = SceneBrowser(router: scene.router)
        let stolen = try await Self.consent(try await other.get("/session/oidc").location)
        let code = try #require(stolen.firstMatch(of: #/code=([^&]+)/#)).1
        let refused = try await thief.get(mine.replacing(#/code=[^&]+/#, with: "code=\(code)"))
        #expect(refused.status == 422 && refused.text.contains("invalid_grant: Code challenge failed"))

        scene.clock.advance(Date().timeIntervalSince(scene.clock.now))
        let confirm = try await anna.get("/session/oidc/confirm?return=/account").location
        let confirmed = try await anna.get(try await Self.consent(confirm))
        #expect(confirmed.status == 303 && confirmed.location == "/account")
        #expect(try await scene.audit("session.confirm").count == 1)
      }
    }
  }
}
