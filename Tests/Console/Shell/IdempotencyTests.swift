import Foundation
import HTTPServer
import JSON
import Model
import Providers
import SQLite
import Simulator
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

  @Test("a repeated call without a body makes no second secret, link, delivery or retry")
  func withoutBody() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(2, of: app)
      let hook: JSONValue = ["name": "Billing", "url": "https://example.com/x", "events": ["push.finished"]]
      let webhook = try await scene.call(.post, "/api/v1/webhooks", as: .admin, json: hook)
      let person = try await scene.call(
        .post, "/api/v1/people", as: .admin, json: ["name": "mei@example.com", "role": "viewer"])
      let (hookID, personID) = (webhook.json?["id"]?.integer ?? 0, person.json?["id"]?.integer ?? 0)
      scene.provider.answer { _ in .retry(RetryCause(status: 503, reason: "ServiceUnavailable")) }
      let draft: JSONValue = [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
        "notification": ["body": "x"],
      ]
      let parent = try await scene.finished(scene.send(draft))
      scene.provider.answer { _ in .outcome(.accepted) }
      let told = try await scene.call(.get, "/api/v1/webhooks/\(hookID)/deliveries", as: .admin)
      let event = try #require(told.json?["items"]?.array?.first?["id"]?.string)
      for (path, status) in [
        ("/webhooks/\(hookID)/secret", 200), ("/webhooks/\(hookID)/deliveries/\(event)/redeliver", 202),
        ("/people/\(personID)/link", 200), ("/pushes/\(parent.uid)/retry", 202),
      ] {
        let before = try await scene.audit().count
        let key = ["Idempotency-Key": "once"]
        let first = try await scene.call(.post, "/api/v1" + path, as: .admin, headers: key)
        #expect(first.status == status, "\(path): \(first.text)")
        let second = try await scene.call(.post, "/api/v1" + path, as: .admin, headers: key)
        #expect(second.status == status && second.bytes == first.bytes, "\(path): \(second.text)")
        #expect(second.response.headers["Location"] == first.response.headers["Location"])
        #expect(try await scene.audit().count == before + 1, "\(path)")
        _ = try await scene.store.write { try $0.run("DELETE FROM idempotency") }
      }
      #expect(try await scene.count("pushes") == 2)
    }
  }

  @Test("a repeated call adds one simulated phone; the same key with another body, or of another token, is another")
  func phones() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phones = try #require(scene.simulator).phones
      let input: JSONValue = ["app": "com.example.shop", "environment": "production", "name": "Ada"]
      let (path, key) = ("/simulator/v1/phones", ["Idempotency-Key": "once"])
      let first = try await scene.call(.post, path, as: .operator, json: input, headers: key)
      let second = try await scene.call(.post, path, as: .operator, json: input, headers: key)
      #expect(first.status == 201 && second.status == 201 && second.bytes == first.bytes)
      #expect(second.response.headers["Location"] == first.response.headers["Location"] && phones.phones().count == 1)
      let other = try await scene.call(.post, path, as: .operator, json: input.with("name", "Ben"), headers: key)
      #expect(other.status == 409 && other.fields == ["Idempotency-Key"], "\(other.text)")
      #expect(try await scene.call(.post, path, as: .admin, json: input, headers: key).status == 201)
      #expect(phones.phones().count == 2)
      scene.clock.advance(86_401)
      #expect(try await scene.call(.post, path, as: .operator, json: input, headers: key).bytes != first.bytes)
    }
  }
}
