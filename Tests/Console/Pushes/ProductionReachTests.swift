import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

/// What reaches phones of production without naming it.
@Suite("Pages and API: the right to send to production follows the phones that are reached")
struct ProductionReachTests {
  private static func forbid(_ scene: ConsoleScene) async throws {
    let id = try #require(try await scene.store.read { try User.find($0, name: "ben@example.com")?.id })
    let changed = try await scene.call(
      .patch, "/api/v1/people/\(id)", as: .admin, json: ["sends_to_production": false])
    #expect(changed.status == 200)
  }

  // MARK: FCM and JPush, which have no environments

  /// The same simulator in both environments, with a phone of JPush in development.
  private static func share(_ scene: ConsoleScene) async throws {
    _ = try await scene.store.write { database in
      for (provider, environment) in [ProviderKind.fcm, .jpush].flatMap({ kind in
        Environment.allCases.map { (kind, $0) }
      }) {
        try Credential.bind(
          database, app: 1, provider: provider, environment: environment, certificate: nil, endpoint: "simulator",
          now: ConsoleScene.noon)
      }
      var phone = Registration(
        token: DeviceToken(bytes: Array("1a0018970a9f2e7c6d1".utf8)), environment: .development, platform: .android)
      (phone.provider, phone.tags) = (.jpush, .set(["odd"]))
      _ = try Device.register(database, app: 1, [phone], now: ConsoleScene.noon)
    }
  }

  /// Audiences in development that reach phones of production.
  static let shared: [JSONValue] = [["topic": "news"], ["condition": "'news' in topics"]]

  private static func draft(_ audience: JSONValue) -> JSONValue {
    [
      "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["android"],
      "audience": audience, "notification": ["body": "hello"],
    ]
  }

  @Test("a topic and a condition in development need the right of production", arguments: shared)
  func topics(_ audience: JSONValue) async throws {
    try await ConsoleScene.with { scene in
      try await ApprovalPageTests.prepare(scene, needsApproval: false)
      try await Self.share(scene)
      var anna = try await scene.signIn(.admin)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      let bens = try await ApprovalPageTests.token(scene, of: "ben@example.com", ["read", "send-development"])
      let development = try await ApprovalPageTests.token(scene, of: nil, ["read", "send-development"])
      let both = try await ApprovalPageTests.token(scene, of: nil, ["send-development", "send-production"])
      try await Self.forbid(scene)
      func send(_ headers: [String: String]) async throws -> SceneAnswer {
        try await scene.call(.post, "/api/v1/pushes", as: nil, json: Self.draft(audience), headers: headers)
      }
      #expect(try await send(bens).status == 403)
      #expect(try await send(development).text.contains("lacks the scope send-production"))
      let sent = try await send(both)
      #expect(sent.status == 202, "\(sent.text)")
      #expect(sent.text.contains("production.counts"), "the answer says why")
      let uid = try #require(sent.json?["id"]?.string)
      _ = try await scene.finished(uid)
      for headers in [bens, development] {
        #expect(try await scene.call(.post, "/api/v1/pushes/\(uid)/retry", as: nil, headers: headers).status == 403)
      }
      // The pages: the review asks for the name, and who may not send to production is refused.
      if audience["topic"] != nil {
        let fields = [
          ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "android"),
          ("audience", "topic"),
          ("topic", "news"), ("body", "hello"),
        ]
        let review = try await anna.post("/pushes/preview", fields)
        #expect(
          review.text.contains("counts as production") && ScenePage(review).text.contains("Type the app’s name, Shop"))
        #expect(try await anna.post("/pushes", fields).status == 422, "without the name")
        #expect(try await anna.post("/pushes", fields + [("confirm", "Shop")]).status == 303)
        let refused = try await ben.post("/pushes/preview", fields)
        #expect(refused.status == 422 && ScenePage(refused).error("environment").contains("may not send to production"))
        #expect(try await ben.post("/pushes", fields + [("confirm", "Shop")]).status == 403)
      }
      let push = Self.draft(audience).text()
      let test = [("name", "Shared"), ("others", "accepted"), ("devices", ""), ("push", push)]
      #expect(try await ben.post("/smoke-tests", test).status == 403)
    }
  }

  @Test("with a second person's approval, they wait for it, whichever door they come through", arguments: shared)
  func approvals(_ audience: JSONValue) async throws {
    try await ConsoleScene.with { scene in
      try await ApprovalPageTests.prepare(scene)
      try await Self.share(scene)
      let sent = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: Self.draft(audience))
      #expect(sent.json?["state"] == "needs_approval", "\(sent.text)")
      let daily = Self.draft(audience).with("repeat", ["every": "day", "at": "09:00", "time_zone": "UTC"])
      let schedule = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: daily)
      #expect(schedule.json?["state"] == "needs_approval", "\(schedule.text)")
      let named = try await scene.call(
        .post, "/api/v1/pushes", as: .operator, json: Self.draft(["registration_id": ["1a0018970a9f2e7c6d1"]]))
      #expect(named.json?["state"] != "needs_approval", "a device that is registered in development: \(named.text)")
    }
  }

  @Test("a credential that serves development alone needs nothing more")
  func developmentOnly() async throws {
    try await ConsoleScene.with { scene in
      try await ApprovalPageTests.prepare(scene)
      _ = try await scene.store.write { database in
        try Credential.bind(
          database, app: 1, provider: .fcm, environment: .development, certificate: nil, endpoint: "simulator",
          now: ConsoleScene.noon)
      }
      let headers = try await ApprovalPageTests.token(scene, of: nil, ["send-development"])
      let sent = try await scene.call(
        .post, "/api/v1/pushes", as: nil, json: Self.draft(["topic": "news"]), headers: headers)
      #expect(sent.status == 202 && sent.json?["state"] != "needs_approval", "\(sent.text)")
      #expect(!sent.text.contains("production.counts"))
    }
  }

  @Test("Android devices of production are reached by JPush's API whatever apns_production says, and wait for approval")
  func jpush() async throws {
    try await JPushScene.with { jpush in
      let (scene, app) = (jpush.scene, jpush.app)
      try await scene.store.write { database in
        for provider in [ProviderKind.fcm, .jpush] {
          try Credential.bind(
            database, app: app.id, provider: provider, environment: .production, certificate: nil,
            endpoint: "simulator", now: ConsoleScene.noon)
        }
        let token = DeviceToken(bytes: Array("phone:APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfGkc8".utf8))
        _ = try Device.register(
          database, app: app.id, [Registration(token: token, environment: .production, platform: .android)],
          now: ConsoleScene.noon)
        let entry = NewAuditEntry(actor: "anna", action: "", subject: "")
        _ = try App.setApproval(database, id: app.id, true, by: entry, now: ConsoleScene.noon)
      }
      let options: JSONValue = ["apns_production": false]
      let sent = try await jpush.call(
        .post, "/v3/push", JPushScene.push.with("platform", ["android"]).with("options", options))
      let id = try #require(sent.json?["msg_id"]?.string.flatMap { Int64($0) }, "\(sent.text)")
      #expect(try await scene.store.read { try Push.get($0, id: id).state } == .needsApproval)
      let development = try await ApprovalPageTests.token(scene, of: nil, ["send-development"])
      let draft = Self.draft("all").with("options", ["any_android": true])
      let answer = try await scene.call(.post, "/api/v1/pushes", as: nil, json: draft, headers: development)
      #expect(answer.status == 403, "\(answer.text)")
    }
  }

  // MARK: Leaving production

  @Test("whoever may not send to production takes no device out of it, through any door; into it, everybody may")
  func leaving() async throws {
    try await ConsoleScene.with { scene in
      try await ApprovalPageTests.prepare(scene, devices: 1, needsApproval: false)
      var anna = try await scene.signIn(.admin)
      var ben = try await scene.signIn(.operator, name: "ben@example.com")
      let bens = try await ApprovalPageTests.token(scene, of: "ben@example.com", ["devices", "send-production"])
      let devices = try await ApprovalPageTests.token(scene, of: nil, ["devices", "send-development"])
      let full = try await ApprovalPageTests.token(scene, of: nil, ["devices", "send-production"])
      try await Self.forbid(scene)
      let device = try #require(try await scene.store.read { try Device.find($0, id: 1) })
      let body: JSONValue = [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "platform": "ios",
        "token": .string(device.tokenText),
      ]
      func environment() async throws -> Model.Environment? {
        try await scene.store.read { try Device.find($0, id: 1)?.environment }
      }
      for headers in [bens, devices] {
        let calls: [(HTTPServer.Method, String, JSONValue)] = [
          (.patch, "/api/v1/devices/1", ["environment": "development"]), (.put, "/api/v1/devices", body),
          (.post, "/api/v1/devices/batch", ["action": "to_development", "devices": [1]]),
        ]
        for (method, path, json) in calls {
          let answer = try await scene.call(method, path, as: nil, json: json, headers: headers)
          #expect(answer.status == 403 && answer.text.contains("Taking a device out of production"), "\(answer.text)")
        }
        let line = try await scene.call(
          .post, "/api/v1/devices/import", as: nil,
          headers: headers.merging(["Content-Type": "application/x-ndjson"]) { $1 },
          body: Array((body.text() + "\n").utf8))
        #expect(line.json?["rejected"] == 1 && line.text.contains("Taking a device out of production"), "\(line.text)")
      }
      let form = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("platform", "ios"),
        ("token", device.tokenText),
      ]
      let again = try await ben.post("/devices", form)
      #expect(again.status == 422 && ScenePage(again).error("environment").contains("Taking a device out"))
      let batch = [("action", "to_development"), ("device", "1"), ("confirmed", "1")]
      let move = try await ben.post("/devices/batch", batch)
      #expect(move.status == 403 && move.text.contains("may not take devices out of production"))
      #expect(try await ben.post("/devices/1/release", [("environment", "development")]).status == 403)
      #expect(try await environment() == .production)
      #expect(try await scene.audit("device.move").isEmpty)

      #expect(
        try await scene.call(
          .patch, "/api/v1/devices/1", as: nil, json: ["environment": "development"], headers: full
        ).status == 200)
      #expect(try await environment() == .development)
      let back = try await scene.call(
        .patch, "/api/v1/devices/1", as: nil, json: ["environment": "production"], headers: devices)
      #expect(back.status == 200, "\(back.text)")
      #expect(try await anna.post("/devices/batch", batch).status == 303)
      #expect(try await environment() == .development)
    }
  }
}
