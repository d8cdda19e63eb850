import Foundation
import HTTPServer
import JSON
import SQLite
import Store
import Testing

@Suite("API: repetitions of what is secret or not ours alone")
struct IdempotencyTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let path: String
    var body: JSONValue?
    /// The member of the answer that must not be readable in the database; none: the answer has no secret.
    var secret: String?
    /// The table that a second effect would have a second row in.
    let table: String

    var testDescription: String { path }
  }

  private static let cases = [
    Case(path: "/tokens", body: ["name": "CI", "scopes": ["read"]], secret: "token", table: "tokens"),
    Case(path: "/people", body: ["name": "mei@example.com", "role": "viewer"], secret: "link", table: "users"),
    Case(
      path: "/webhooks", body: ["name": "Billing", "url": "https://example.com/x", "events": ["push.finished"]],
      secret: "secret", table: "webhooks"),
    Case(path: "/apps/com.example.shop/jpush-key", secret: "master_secret", table: "jpush_keys"),
    Case(
      path: "/apps/com.example.shop/channels/production", body: ["storage": "latest", "name": "Final"],
      table: "channels"),
  ]

  @Test("the same key is one effect and one answer, and what is kept of a secret is encrypted", arguments: cases)
  func repeated(one: Case) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let before = try await scene.count(one.table)
      let (path, key) = ("/api/v1" + one.path, ["Idempotency-Key": "once"])
      let first = try await scene.call(.post, path, as: .admin, json: one.body, headers: key)
      #expect(first.status == 201, "\(first.text)")
      let second = try await scene.call(.post, path, as: .admin, json: one.body, headers: key)
      #expect(second.status == 201 && second.bytes == first.bytes)
      #expect(second.response.headers["Location"] == first.response.headers["Location"])
      #expect(try await scene.count(one.table) == before + 1)
      if let body = one.body {
        let other = try await scene.call(.post, path, as: .admin, json: body.with("name", "Other"), headers: key)
        #expect(other.status == 409 && other.fields == ["Idempotency-Key"], "\(other.text)")
      }
      let kept = try await scene.store.read { database in
        try database.fetchAll("SELECT body FROM idempotency") { $0.blob(0) }
      }
      #expect(kept.count == 1)
      #expect((kept == [first.bytes]) == (one.secret == nil))
      guard let name = one.secret else { return }
      let secret = try #require(first.json?[name]?.string)
      let isReadable = kept.contains { String(decoding: $0, as: UTF8.self).contains(secret) }
      #expect(!isReadable)
    }
  }
}
