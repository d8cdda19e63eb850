import Delivery
import HTTPServer
import JSON
import Model
import SQLite
import Store
import TestSupport
import Testing

@Suite("Readiness")
struct ReadinessTests {
  @Test("ready while delivery runs; when it does not, /readyz says so, and /healthz does not care")
  func delivery() async throws {
    try await ConsoleScene.with { scene in
      #expect(try await scene.call(.get, "/readyz", as: nil).status == 200)
      scene.engine.stop()
      try await waitUntil("the engine has ended") { scene.engine.trouble != nil }
      let answer = try await scene.call(.get, "/readyz", as: nil, from: "127.0.0.1")
      #expect(answer.status == 503 && answer.text.contains("delivery is not running"))
      let far = try await scene.call(.get, "/readyz", as: nil, from: "192.0.2.7")
      #expect(far.status == 503 && far.text == "not ready\n", "strangers learn yes or no alone")
      let proxied = try await scene.call(
        .get, "/readyz", as: nil, headers: ["X-Forwarded-For": "192.0.2.7"], from: "127.0.0.1")
      #expect(proxied.status == 503 && proxied.text == "not ready\n")
      #expect(try await scene.call(.get, "/healthz", as: nil).status == 200)
    }
  }

  @Test("a disk that takes nothing: not ready, and what would be kept is refused in its name")
  func readOnly() async throws {
    try await ConsoleScene.with { scene in
      try await scene.store.write { try $0.script("PRAGMA query_only = ON") }
      // What was written a moment ago stands for a second.
      try await waitUntil("the disk is found out") {
        let ready = try await scene.call(.get, "/readyz", as: nil, from: "::1")
        return ready.status == 503 && ready.text.contains("is not writable")
      }
      let answer = try await scene.call(
        .post, "/api/v1/apps", as: .admin, json: ["bundle_id": "com.example.new", "name": "New"])
      #expect(answer.status == 503 && answer.json?["detail"]?.string?.contains("is not writable") == true)
      #expect(try await scene.call(.get, "/api/v1/apps", as: .viewer).status == 200)
      #expect(try await scene.call(.get, "/healthz", as: nil).status == 200)
    }
  }

  @Test("a full disk: 507, and the disk is named; when it has room again, all is well")
  func full() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let limit: @Sendable (Int64) async throws -> Void = { pages in
        try await scene.store.write { database in
          let present = try database.fetchOne("PRAGMA page_count") { $0.int64(0) } ?? 0
          try database.forEach("PRAGMA max_page_count = \(pages == 0 ? present : pages)") { _ in .continue }
        }
      }
      try await limit(0)
      let long = String(repeating: "x", count: 3000)
      let draft: JSONValue = [
        "app": .string(app.bundleID), "environment": "development", "audience": ["alias": ["nobody"]],
        "notification": ["body": .string(long)], "options": ["allow_empty_audience": true],
      ]
      var answer = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: draft)
      for _ in 0..<20 where answer.status == 202 {
        answer = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: draft)
      }
      #expect(answer.status == 507 && answer.json?["title"]?.string == "Insufficient Storage")
      #expect(answer.json?["detail"]?.string?.hasPrefix("The database disk is full.") == true)
      try await limit(4_294_967_294)
      #expect(try await scene.call(.post, "/api/v1/pushes", as: .operator, json: draft).status == 202)
      #expect(try await scene.call(.get, "/readyz", as: nil).status == 200)
    }
  }
}
