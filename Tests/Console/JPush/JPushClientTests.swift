import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

/// What JPush's own libraries send, byte by byte, and which phones it reaches.
@Suite("JPush API: JPush's own libraries")
struct JPushClientTests {
  /// iPhones and Android phones of both environments, and one that JPush reaches. The registration ID says which.
  private static func addPhones(_ jpush: JPushScene) async throws {
    let appID = jpush.app.id
    try await jpush.store.write { database in
      for environment in Environment.allCases {
        for provider in [ProviderKind.fcm, .jpush] {
          try Credential.bind(
            database, app: appID, provider: provider, environment: environment, certificate: nil,
            endpoint: "simulator", now: ConsoleScene.noon)
        }
      }
      let phones: [(String, Environment, Platform, ProviderKind?)] = [
        ("iphonedev", .development, .ios, nil), ("iphone", .production, .ios, nil),
        ("pixeldev", .development, .android, nil), ("pixel", .production, .android, nil),
        ("mi", .production, .android, .jpush),
      ]
      let registrations = phones.enumerated().map { index, phone in
        let (name, environment, platform, provider) = phone
        var registration = Registration(
          token: platform == .ios ? ConsoleScene.token(index) : DeviceToken(bytes: Array("\(name):APA91b".utf8)),
          environment: environment, platform: platform)
        registration.provider = provider
        registration.registrationID = .set(name)
        return registration
      }
      _ = try Device.register(database, app: appID, registrations, now: ConsoleScene.noon)
    }
  }

  private static let androids = ["mi", "pixel", "pixeldev"]

  @Test(
    "every library's default push is taken, checked and sent, to Android whatever it says of APNs",
    arguments: JPushClientRequest.all)
  func defaults(request: JPushClientRequest) async throws {
    try await JPushScene.with { jpush in
      try await Self.addPhones(jpush)
      for path in [request.paths.validate, request.paths.push] {
        let answer = try await jpush.call(
          .post, path, body: Array(request.body.utf8), type: request.contentType)
        #expect(answer.status == 200, "\(path): \(answer.text)")
        let unused = request.body.contains("ai_opportunity") ? "notification.ai_opportunity" : nil
        #expect(answer.response.headers["X-Signalbox-Unused"] == unused)
        guard path == request.paths.push else { continue }
        let push = try #require(try await jpush.finished(answer))
        let iphone = request.isProduction ? "iphone" : "iphonedev"
        #expect(try await jpush.reached(push) == [iphone] + Self.androids)
        #expect(push.environment == (request.isProduction ? .production : .development))
      }
      #expect(try await jpush.scene.count("pushes") == 1)
    }
  }

  @Test(
    "apns_production chooses among iPhones alone, whoever the audience names",
    arguments: ["all", ["registration_id": ["iphonedev", "iphone", "pixeldev", "pixel", "mi"]]] as [JSONValue])
  func environments(audience: JSONValue) async throws {
    try await JPushScene.with { jpush in
      try await Self.addPhones(jpush)
      for (isProduction, iphone) in [(true, "iphone"), (false, "iphonedev")] {
        let body: JSONValue = [
          "platform": "all", "audience": audience, "notification": ["alert": "Hi"],
          "options": ["apns_production": .bool(isProduction)],
        ]
        let push = try #require(try await jpush.finished(try await jpush.call(.post, "/v3/push", body)))
        #expect(try await jpush.reached(push) == [iphone] + Self.androids && push.target == 4)
        // Android alone.
        var android = body.object ?? [:]
        android["platform"] = ["android"]
        let other = try #require(try await jpush.finished(try await jpush.call(.post, "/v3/push", .object(android))))
        #expect(try await jpush.reached(other) == Self.androids)
      }
    }
  }

  @Test("parts for platforms that Signalbox does not have are named, and the rest is sent")
  func otherPlatforms() async throws {
    try await JPushScene.with { jpush in
      try await Self.addPhones(jpush)
      let body: JSONValue = [
        "platform": ["android", "hmos", "quickapp"], "audience": "all",
        "notification": [
          "android": ["alert": "Hi"], "hmos": ["alert": "Hi", "category": "MARKETING"],
          "quickapp": ["alert": "Hi", "title": "T", "page": "/p"], "winphone": ["alert": "Hi"],
        ],
      ]
      let answer = try await jpush.call(.post, "/v3/push", body)
      let names = [
        "platform.hmos", "platform.quickapp", "notification.hmos", "notification.quickapp", "notification.winphone",
      ]
      #expect(answer.response.headers["X-Signalbox-Unused"] == names.joined(separator: ", "), "\(answer.text)")
      let push = try #require(try await jpush.finished(answer))
      #expect(try await jpush.reached(push) == Self.androids)
      let json = try await jpush.scene.call(.get, "/api/v1/pushes/\(push.uid)", as: .viewer).json
      #expect(json?["unused"] == .array(names.map(JSONValue.string)))
      var vera = try await jpush.scene.signIn(.viewer)
      let page = ScenePage(try await vera.get("/pushes/\(push.uid)"))
      #expect(page.text.contains("Not used") && page.text.contains("notification.hmos"))
    }
  }

  @Test("what only JPush knows is not used for other devices: the answer, the API and the page say so")
  func forJPushAlone() async throws {
    try await JPushScene.with { jpush in
      try await Self.addPhones(jpush)
      let options: JSONValue = ["classification": 1, "third_party_channel": ["vivo": ["distribution": "jpush"]]]
      let android: JSONValue = [
        "alert": "Hi", "style": 1, "big_text": "long", "category": "msg", "intent": ["url": "intent:#Intent;end"],
      ]
      func body(_ ids: [JSONValue], _ platform: JSONValue = "all") -> JSONValue {
        [
          "platform": platform, "audience": ["registration_id": .array(ids)],
          "notification": ["ios": ["alert": "Hi"], "android": android], "options": options,
          "callback": ["url": "https://example.com/r"],
        ]
      }
      var vera = try await jpush.scene.signIn(.viewer)
      let drawn = ["big_text", "category", "intent", "style"].map { "notification.android.\($0)" }
      let whole = ["options.classification", "options.third_party_channel", "callback"]
      for (ids, names) in [
        (["iphone", "pixel", "mi"], drawn + whole), (["mi"], []), (["iphone", "mi"], whole),
      ] as [([JSONValue], [String])] {
        let checked = try await jpush.call(.post, "/v3/push/validate", body(ids))
        let answer = try await jpush.call(.post, "/v3/push", body(ids))
        let expected = names.isEmpty ? nil : names.joined(separator: ", ")
        #expect(answer.response.headers["X-Signalbox-Unused"] == expected, "\(ids): \(answer.text)")
        #expect(checked.response.headers["X-Signalbox-Unused"] == expected)
        let push = try #require(try await jpush.finished(answer))
        let json = try await jpush.scene.call(.get, "/api/v1/pushes/\(push.uid)", as: .viewer).json
        #expect(json?["unused"] == .array(names.map(JSONValue.string)), "\(ids)")
        #expect(json?["draft"]?["jpush"]?["android"]?["style"] == 1)
        let page = ScenePage(try await vera.get("/pushes/\(push.uid)"))
        #expect(page.text.contains("Not used") == !names.isEmpty)
      }
    }
  }

  @Test("an iPhone's part that differs from Android's has the push's ID and signature, too")
  func receipts() async throws {
    try await JPushScene.with { jpush in
      try await Self.addPhones(jpush)
      let body: JSONValue = [
        "platform": "all", "audience": "all",
        "notification": [
          "ios": ["alert": ["loc-key": "K"], "badge": "+1"], "android": ["alert": "Hi", "title": "T"],
        ],
      ]
      let push = try #require(try await jpush.finished(try await jpush.call(.post, "/v3/push", body)))
      let draft = try #require(push.draft)
      let payload = APNsPayload(draft, uid: push.uid, signature: push.signature).json
      #expect(payload["sbid"] == .string(push.uid) && payload["sbsig"]?.string == push.signature)
      #expect(payload["aps"]?["alert"]?["loc-key"] == "K")
      let message = JPushMessage(draft, uid: push.uid, signature: push.signature)
      #expect(message.ios["extras"]?["sbid"] == .string(push.uid))
    }
  }

  @Test("the msg_id finds its push in our own API, and is a member of it")
  func messageID() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      let answer = try await jpush.call(.post, "/v3/push", JPushScene.push)
      let id = try #require(answer.json?["msg_id"]?.string)
      let push = try #require(try await jpush.finished(answer))
      let made = try await jpush.scene.call(
        .post, "/api/v1/pushes", as: .operator, json: ConsoleScene.draftJSON)
      let found = try await jpush.scene.call(.get, "/api/v1/pushes?msg_id=\(id)", as: .viewer)
      let items = try #require(found.json?["items"]?.array)
      #expect(items.count == 1 && items.first?["id"] == .string(push.uid) && items.first?["msg_id"] == .string(id))
      let single = try await jpush.scene.call(.get, "/api/v1/pushes/\(push.uid)", as: .viewer)
      #expect(single.json?["msg_id"] == .string(id), "\(made.status)")
      // One that came another way has none.
      for other in ["999", "\(push.id + 1)", "x"] {
        let none = try await jpush.scene.call(.get, "/api/v1/pushes?msg_id=\(other)", as: .viewer)
        #expect(none.json?["items"] == [], "\(none.text)")
      }
    }
  }

  @Test("a page of another site cannot use a signed-in browser to push: it must name JSON")
  func foreignPages() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      for (name, value) in [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")] {
        for type in ["text/plain", "application/x-www-form-urlencoded", ""] {
          let headers: Headers = ["Authorization": jpush.authorization, "Content-Type": type, name: value]
          let request = try Request(.post, "/v3/push", headers: headers, body: Array(JPushScene.push.data()))
          let answer = SceneAnswer(response: await jpush.scene.router.respond(to: request))
          #expect(answer.status == 400 && answer.jpushCode == 1003, "\(name) \(type)")
        }
      }
      #expect(try await jpush.scene.count("pushes") == 0)
    }
  }

  @Test(
    "a path with several slashes is the address with one, for every part of the server",
    arguments: [
      ("/v3//received?msg_ids=1", 200), ("//v3/push/cid", 200), ("/v3///tags//", 200), ("//healthz", 200),
      ("//api//v1//pushes", 401), ("//pushes", 303), ("/v3//nothing", 404),
    ])
  func slashes(target: String, status: Int) async throws {
    try await JPushScene.with { jpush in
      let answer = try await jpush.call(.get, target, authorization: target.contains("v3") ? nil : "")
      #expect(answer.status == status, "\(answer.text)")
      if target.contains("api") { #expect(answer.type == "application/problem+json") }
      if target.contains("v3") { #expect(answer.type == "application/json") }
      // A page that leads back to where somebody came from leads to this server.
      #expect(answer.location?.contains("//") != true && answer.location?.contains("%2F%2F") != true)
    }
  }
}
