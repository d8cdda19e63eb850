import Dispatch
import Foundation
import HTTPServer
import JSON
import Reactor
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

@Suite("Settings: backup and integrity", .timeLimit(.minutes(2)))
struct AboutPageTests {
  /// Sends a form as curl does, and keeps the answer in a file.
  private static func post(
    _ server: SocketAddress, _ path: String, _ browser: SceneBrowser, to file: String
  ) async throws -> String {
    let cookie = browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    let answer = try await OtherProgram.run(
      "curl",
      [
        "-sS", "--max-time", "60", "-o", file, "-D", "-", "-H", "Cookie: \(cookie)", "--data-urlencode",
        "csrf=\(browser.csrf)", "http://\(server)\(path)",
      ])
    return answer.output
  }

  @Test("a backup is a whole database without the key, is recorded, and leaves nothing behind")
  func backup() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2000, of: try await scene.addApp())
      let anna = try await scene.signIn(.admin)
      let folder = try temporaryFolder().path
      defer { try? FileManager.default.removeItem(atPath: folder) }  // a left-over folder fails no test
      let file = folder + "/copy.sqlite"
      let place = (scene.store.pool.path as NSString).deletingLastPathComponent
      let before = try FileManager.default.contentsOfDirectory(atPath: place).sorted()
      try await WebTestServer.with(scene.router) { server in
        let head = try await Self.post(server, "/settings/about/backup", anna, to: file)
        #expect(head.hasPrefix("HTTP/1.1 200"), "\(head)")
        #expect(head.contains("filename=\"signalbox-20261120T120000Z.sqlite\""), "\(head)")
      }
      let copy = try Database(path: file, mode: .reader)
      defer { copy.close() }
      #expect(try copy.int("SELECT count(*) FROM devices") == 2000 && copy.integrityCheck().isEmpty)
      #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == before)
      let entry = try #require(try await scene.audit("database.backup").first)
      let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
      #expect(entry.subject == "file signalbox-20261120T120000Z.sqlite" && entry.actor == "admin@example.com")
      #expect(entry.detail?["bytes"]?.integer == size.map { Int64($0) })
    }
  }

  @Test("a backup asks who is there once the last proof is old, and is for admins")
  func proof() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      scene.clock.advance(3600)
      let asked = try await anna.post("/settings/about/backup")
      #expect(asked.status == 403 && ScenePage(asked).values("proof").count == 1)
      #expect(try await scene.audit("database.backup").isEmpty)
      var olga = try await scene.signIn(.operator)
      for path in ["/settings/about/backup", "/settings/about/check"] {
        #expect(try await olga.post(path).status == 403)
      }
      let page = ScenePage(try await anna.get("/settings/about")).text
      #expect(page.contains("does not contain secret.key") && page.contains("signalbox backup --to"))
    }
  }

  @Test("a check says in words what it found, when, by whom and how long it took; damage is named")
  func check() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: try await scene.addApp())
      var anna = try await scene.signIn(.admin)
      #expect(!ScenePage(try await anna.get("/settings/about")).text.contains("No errors found in the database"))
      #expect(try await anna.post("/settings/about/check").location == "/settings/about#check")
      let sound = ScenePage(try await anna.get("/settings/about")).text
      for text in ["No errors found in the database", "No errors in structure, indexes,", "took ", "admin@"] {
        #expect(sound.contains(text), "\(text)")
      }
      let entry = try #require(try await scene.audit("database.check").first)
      #expect(entry.detail?["faults"] == 0 && entry.detail?["log_faults"] == 0)
      try await scene.store.write { database in
        try database.execute("DROP TRIGGER audit_is_never_deleted")
        try database.execute("DELETE FROM audit WHERE id = 2")
      }
      let raw = try Database(path: scene.store.pool.path)
      try raw.execute("PRAGMA foreign_keys = OFF")
      try raw.execute("DELETE FROM apps")
      raw.close()
      _ = try await anna.post("/settings/about/check")
      let page = ScenePage(try await anna.get("/settings/about"))
      for text in ["The check found errors", "SQLite found", "no such row in apps", "The activity log has"] {
        #expect(page.text.contains(text), "\(text)")
      }
      #expect(page.links.contains("/activity?check=1"))
    }
  }

  @Test("while a check runs, requests are answered and no second one begins")
  func beside() async throws {
    // Nobody waits for the result.
    try await ConsoleScene.with(streamPause: {}) { scene in
      var anna = try await scene.signIn(.admin)
      let gate = DispatchSemaphore(value: 0)
      let (begun, begin) = AsyncStream<Void>.makeStream()
      async let held: Void = scene.pools.checks.run {
        begin.finish()
        gate.wait()
      }
      for await _ in begun {}
      #expect(try await anna.post("/settings/about/check").status == 303)
      #expect(try await anna.post("/settings/about/check").status == 303)
      let page = ScenePage(try await anna.get("/settings/about")).text
      #expect(page.contains("A check is running") && scene.console.integrity.since != nil)
      gate.signal()
      try await held
      while scene.console.integrity.since != nil { await Task.yield() }
      #expect(try await scene.audit("database.check").count == 1)
    }
  }
}
