import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

@Suite("Settings: about, and the support bundle")
struct SupportBundleTests {
  /// Every text of the database that must not leave it.
  private static func planted(_ database: Database) throws -> [String] {
    let queries = [
      "SELECT lower(hex(token)) FROM devices", "SELECT CAST(token AS TEXT) FROM devices WHERE provider > 1",
      "SELECT alias FROM devices WHERE alias IS NOT NULL",
      "SELECT registration_id FROM devices WHERE registration_id IS NOT NULL",
      "SELECT name FROM devices WHERE name IS NOT NULL", "SELECT name FROM tags", "SELECT title FROM pushes",
      "SELECT body FROM pushes", "SELECT name FROM users", "SELECT name FROM receivers", "SELECT name FROM webhooks",
      "SELECT lower(hex(sealed)) FROM receivers", "SELECT lower(hex(sealed)) FROM webhooks",
      "SELECT lower(hex(sealed)) FROM certificates", "SELECT password_hash FROM users", "SELECT name FROM certificates",
      "SELECT file_name FROM certificates", "SELECT remark FROM incidents",
    ]
    return try queries.flatMap { sql in try database.fetchAll(sql) { $0.optionalText(0) } }
      .compactMap { $0 }.filter { !$0.isEmpty }
  }

  @Test("the bundle has version, settings, counts and pushes, and no secret, token, alias, name or content")
  func bundle() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await SceneWorld.demo.fill(scene)
      let sealer = scene.store.sealer
      try await scene.store.write { database in
        _ = try Webhook.add(
          database, Webhook.Details(name: "Billing server", target: "example.com"),
          address: "https://example.com/events?key=letmein-please", sealer: sealer, by: "anna", now: ConsoleScene.noon)
        var new = try NewPush(
          uid: "secretpush", seed: 7, appID: #require(try App.all(database).first).id, environment: .production,
          draftJSON: #"{"notification":{"title":"Your PIN is 4711"}}"#, source: .api, createdBy: "anna")
        new.title = "Your PIN is 4711"
        _ = try Push.create(database, new, now: ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.admin)
      let page = try await anna.get("/settings/about")
      #expect(page.status == 200 && page.text.contains("Signalbox "))
      #expect(page.text.contains("<code>doctor.json</code>"), "the page names every file")
      let answer = try await anna.post("/settings/about/bundle")
      #expect(try await scene.audit("database.bundle").map(\.actor) == ["admin@example.com"])
      #expect(answer.status == 200 && answer.type == "application/gzip")
      let folder = try temporaryFolder()
      defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
      let file = folder.appendingPathComponent("bundle.tar.gz")
      try Data(answer.bytes).write(to: file)
      // A stranger reads the archive.
      let listed = try await OtherProgram.run("/usr/bin/tar", ["-tzf", file.path])
      let names = listed.output.split(separator: "\n").map { String($0.split(separator: "/").last ?? "") }
      let wanted = [
        "about.json", "doctor.json", "schema.json", "counts.json", "settings.json", "activity.json", "incidents.json",
        "pushes.json",
      ]
      #expect(listed.status == 0 && names == wanted, "\(listed.output)")
      let text = try await OtherProgram.run("/usr/bin/tar", ["-xzOf", file.path]).output
      #expect(text.contains("secretpush") && text.contains("\"token\"") && text.contains("\"action\""))
      #expect(text.contains(ConsoleScene.bundleID) && text.contains("2026-11-22 first release"))
      let planted = try await scene.store.read { try Self.planted($0) }
      #expect(planted.count > 20)
      let others =
        ["letmein-please", "4711", "access_token", "whsec_", "SEC\""] + ["PRIVATE KEY", "$argon2", "scrypt"]
      for secret in planted + others {
        // A tag or a name of one letter is part of every text.
        let isThere = secret.utf8.count > 3 && text.lowercased().contains(secret.lowercased())
        #expect(!isThere, "\(secret)")
      }
      var vera = try await scene.signIn(.operator)
      #expect(try await vera.post("/settings/about/bundle").status == 403)
    }
  }
}
