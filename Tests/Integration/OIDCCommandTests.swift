import Foundation
import JSON
import Model
import OpenSSL
import Store
import Testing

@testable import signalbox

@Suite("signalbox oidc")
struct OIDCCommandTests {
  /// Sets up sign-in with a provider alone.
  private static func set(_ box: CommandRunner) async throws {
    #expect(await box.run("users", "add", "anna@example.com", "--role", "admin").code == 0)
    let key = try #require(try SealingKey.load(path: box.data + "/secret.key"))
    let store = try Store.open(path: box.data + "/signalbox.sqlite", sealer: key, now: CommandRunner.noon)
    defer { store.close() }
    var settings = OIDCSettings()
    (settings.issuer, settings.clientID, settings.clientSecret) = ("https://id.example.com", "box", "top secret")
    (settings.label, settings.allowsPasswords) = ("Example ID", false)
    settings.roleClaim = "groups"
    settings.roleRules = [.init(value: "ops", role: .admin)]
    let chosen = settings
    try store.writeSync { try chosen.save($0, sealer: key, now: CommandRunner.noon) }
  }

  @Test("the way back: passwords are allowed again, and the provider is switched off, with an entry for each")
  func wayBack() async throws {
    try await CommandRunner.with { box in
      try await Self.set(box)
      let shown = await box.run("oidc", "show")
      #expect(
        shown.code == 0 && shown.output.contains("https://id.example.com") && shown.output.contains("ops = admin"))
      let before = await box.run("oidc", "show", "--json")
      #expect(before.json?["passwords"] == false && before.json?["has_secret"] == true)
      #expect(!shown.output.contains("top secret") && !before.output.contains("top secret"))
      #expect(await box.run("oidc", "allow-passwords").output == "People can sign in with passwords.\n")
      #expect(await box.run("oidc", "allow-passwords").code == 0, "idempotent")
      #expect(await box.run("oidc", "off").code == 0)
      let after = await box.run("oidc", "show", "--json")
      #expect(after.json?["passwords"] == true && after.json?["on"] == false && after.json?["has_secret"] == true)
      #expect(await box.run("oidc", "on").code == 0)
      let key = try #require(try SealingKey.load(path: box.data + "/secret.key"))
      let store = try Store.open(path: box.data + "/signalbox.sqlite", sealer: key, now: CommandRunner.noon)
      defer { store.close() }
      let entries = try store.readSync { try AuditEntry.list($0, .init(action: "settings.oidc"), limit: 9).items }
      #expect(entries.count == 3 && entries.allSatisfy { $0.entry.actor.hasPrefix("cli") })
      #expect(entries.last?.entry.detail?["before"]?["passwords"] == false)
      let kept = try store.readSync { try OIDCSettings.load($0, sealer: key) }
      #expect(kept?.clientSecret == "top secret")
    }
  }

  @Test("without settings there is nothing to switch")
  func none() async throws {
    try await CommandRunner.with { box in
      #expect(await box.run("users", "add", "anna@example.com", "--role", "admin").code == 0)
      for word in ["show", "off", "on", "allow-passwords"] {
        let result = await box.run("oidc", word)
        #expect(result.code == 1 && result.errors.contains("is not set up"), "\(word)")
      }
    }
  }
}
