import Console
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import Store
import TestSupport
import Testing

@testable import signalbox

/// The form, the API and the command line, with one server: the same push gets the same answer.
@Suite("A push at every door", .timeLimit(.minutes(3)))
struct PushDoorTests {
  private static let app = "com.example.shop"
  private static let cookie = "a-cookie-that-is-long-enough"

  /// One push, as each door is told it.
  struct Asked: Sendable, CustomTestStringConvertible {
    var tag = "beta"
    /// Contradicts the visible text.
    var isBackground = false
    var repeats = false
    /// Part of the sentence that refuses it; nil: it is kept.
    var refusal: String?

    var testDescription: String { "\(tag)\(isBackground ? ", background" : "")\(repeats ? ", repeating" : "")" }

    var json: JSONValue {
      var json: [String: JSONValue] = [
        "app": .string(PushDoorTests.app), "environment": "development", "platforms": ["ios"],
        "audience": ["tag": [.string(tag)]], "notification": ["body": "hello"],
        "options": isBackground ? ["push_type": "background"] : [:],
      ]
      if repeats { json["repeat"] = ["every": "day", "at": "09:00", "time_zone": "Europe/Berlin"] }
      return .object(json)
    }

    var form: [(String, String)] {
      var form = [
        ("app", PushDoorTests.app), ("environment", "development"), ("platforms", "ios"), ("audience", "tag"),
        ("tag", tag), ("body", "hello"), ("push_type", isBackground ? "background" : ""), ("csrf", "csrf"),
      ]
      if repeats { form += [("when", "repeat"), ("every", "day"), ("at", "09:00"), ("time_zone", "Europe/Berlin")] }
      return form
    }

    var words: [String] {
      ["send", "--app", PushDoorTests.app, "--environment", "development", "--platform", "ios", "--tag", tag, "--body"]
        + ["hello"] + (isBackground ? ["--push-type", "background"] : [])
        + (repeats ? ["--every", "day", "--time", "09:00", "--time-zone", "Europe/Berlin"] : [])
    }
  }

  @Test(
    "kept or refused, with the same sentence, at each of them",
    arguments: [
      Asked(), Asked(repeats: true),
      Asked(tag: "none", refusal: "No active device of com.example.shop in development matches this audience."),
      Asked(
        tag: "none", repeats: true,
        refusal: "No active device of com.example.shop in development matches this audience."),
      Asked(isBackground: true, refusal: "background"),
    ])
  func same(asked: Asked) async throws {
    try await Self.withService { box, service, token in
      // What is kept stays as it was kept: where the credential leads, nothing listens.
      service.engine.stop()
      let router = service.console.router()
      func answer(_ path: String, _ headers: [String: String], _ body: [UInt8]) async throws -> (Int, String, String?) {
        var fields = Headers()
        for (name, value) in headers { fields.append(name, value) }
        let response = await router.respond(to: try Request(.post, path, headers: fields, body: body))
        return (
          response.status.code, String(decoding: response.body.bytes ?? [], as: UTF8.self), response.headers["Location"]
        )
      }
      let api = try await answer(
        "/api/v1/pushes", ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
        Array(asked.json.data()))
      let form = asked.form.map { name, value in
        "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
      }.joined(separator: "&")
      let web = try await answer(
        "/pushes",
        [
          "Cookie": "signalbox_session=\(Self.cookie)", "Content-Type": "application/x-www-form-urlencoded",
          "Content-Length": "\(form.utf8.count)",
        ], Array(form.utf8))
      let line = await box.run(asked.words, now: Date())

      let kept = try await service.store.read { database in
        (
          try Push.list(database, PushFilter(), limit: 10).items.map { "\($0.source) \($0.draftJSON)" },
          try Schedule.list(database, limit: 10).items.map { "\($0.source) \($0.draftJSON)" }
        )
      }
      guard let refusal = asked.refusal else {
        #expect(api.0 == 202 && web.0 == 303 && line.code == 0, "\(api.1) \(line)")
        let (rows, others) = asked.repeats ? (kept.1, kept.0) : (kept.0, kept.1)
        #expect(Set(rows.map { $0.prefix { $0 != " " } }) == ["api", "web", "cli"] && others.isEmpty)
        #expect(Set(rows.map { $0.drop { $0 != " " } }).count == 1, "\(rows)")
        return
      }
      // The form leads to an address of its own, which says why.
      let place = try #require(web.2)
      let said = await router.respond(
        to: try Request(.get, place, headers: ["Cookie": "signalbox_session=\(Self.cookie)"]))
      #expect(api.0 == 422 && web.0 == 303 && said.status.code == 422 && line.code == 1)
      for text in [api.1, String(decoding: said.body.bytes ?? [], as: UTF8.self), line.errors] {
        #expect(text.contains(refusal), "\(text)")
      }
      #expect(kept.0.isEmpty && kept.1.isEmpty)
    }
  }

  @Test("a service whose delivery ends says so, and can still be stopped")
  func deliveryEnds() async throws {
    try await Self.withService { _, service, _ in
      service.engine.stop()
      let failure = await service.wait(for: WorkerGroupTests.forever)
      #expect(failure?.worker == "delivery")
    }
  }

  /// A server with an app, a device tagged `beta`, a person who is signed in, and a token.
  private static func withService(_ body: (CommandRunner, Service, String) async throws -> Void) async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", app, "--name", "Shop")
      let device =
        #"{"app":"\#(app)","environment":"development","platform":"ios","tags":["beta"],"token":"\#(String(repeating: "ab", count: 32))"}"#
      await box.run("devices", "import", "-", "--format", "ndjson", input: device)
      let token = await box.run("tokens", "add", "ci", "--role", "operator", now: Date()).output
        .trimmingCharacters(in: .whitespacesAndNewlines)
      await box.run("users", "add", "anna@example.com", "--role", "operator", now: Date())
      let store = try DataDirectory(box.data, environment: [:]).open(now: Date())
      try await store.write { database in
        let user = try #require(try User.find(database, name: "anna@example.com"))
        try Session.open(
          database, idHash: Secret.hash(cookie), user: user.id, csrf: "csrf", lifetime: 86_400, now: Date())
        let shop = try #require(try App.find(database, bundleID: app))
        try Credential.bind(
          database, app: shop.id, provider: .apns, environment: .development, certificate: nil, endpoint: "simulator",
          now: Date())
      }
      store.close()
      try await Service.with(.test(box.data)) { service in try await body(box, service, token) }
    }
  }
}
