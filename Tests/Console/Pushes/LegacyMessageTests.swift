import Foundation
import HTTPServer
import JSON
import Logging
import Model
import Providers
import Reactor
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

/// `/fcm/send` of the console, for programs of the time of GCM.
@Suite("Legacy FCM: /fcm/send", .timeLimit(.minutes(2)))
struct LegacyMessageTests {
  private static let legacyPython = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_FCM_LEGACY"]

  private static func send(
    _ jpush: JPushScene, _ json: JSONValue, key: String? = nil, path: String = "/fcm/send"
  ) async throws -> SceneAnswer {
    try await jpush.call(.post, path, json, authorization: "key=" + (key ?? "\(jpush.appKey):\(jpush.secret)"))
  }

  /// Two devices, the second of which is gone.
  private static func addDevices(_ jpush: JPushScene) async throws -> [Device] {
    let devices = try await jpush.addDevices([], [])
    let gone = devices[1].id
    jpush.scene.provider.answer {
      $0.id == gone
        ? .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: ConsoleScene.noon))
        : .outcome(.accepted)
    }
    return devices
  }

  private static func words(_ answer: SceneAnswer) -> [String?] {
    (answer.json?["results"]?.array ?? []).map { $0["error"]?.string }
  }

  @Test("results come in the order of the tokens, with the protocol's words, and one push stands behind them")
  func results() async throws {
    try await JPushScene.with { jpush in
      let devices = try await Self.addDevices(jpush)
      let ids = [devices[1].tokenText, "nonsense", "", devices[0].tokenText, devices[0].tokenText]
      let answer = try await Self.send(
        jpush,
        [
          "registration_ids": .array(ids.map(JSONValue.string)), "priority": "high", "time_to_live": 60,
          "notification": ["title": "Hello, world!", "body": "a", "badge": 3, "sound": "default"], "data": ["n": 1],
          "collapse_key": "k", "delay_while_idle": true,
        ])
      #expect(answer.status == 200, "\(answer.text)")
      #expect(Self.words(answer) == ["NotRegistered", "InvalidRegistration", "MissingRegistration", nil, nil])
      #expect(answer.json?["success"] == 2 && answer.json?["failure"] == 3 && answer.json?["canonical_ids"] == 0)
      #expect((answer.json?["multicast_id"]?.integer ?? 0) > 0)
      #expect(answer.json?["signalbox"]?["pending"] == 0)
      #expect(answer.response.headers["X-Signalbox-Unused"] == "delay_while_idle")
      #expect(answer.response.headers["Retry-After"] == nil)
      let uid = try #require(answer.json?["signalbox"]?["pushes"]?.array?.first?.string)
      let push = try await jpush.scene.finished(uid)
      #expect(push.source == .legacy && push.environment == .production && push.target == 2)
      let draft = try #require(push.draft)
      #expect(draft.notification.badge == 3 && draft.options.priority == .high && draft.options.timeToLive == 60)
      #expect(draft.notification.extras == ["n": "1"] && draft.options.collapseID == "k")
      // The dead one is not sent to again, and told again.
      let again = try await Self.send(jpush, ["to": .string(devices[1].tokenText), "data": ["a": "b"]])
      #expect(Self.words(again) == ["NotRegistered"])
    }
  }

  @Test("GCM's plain-text form is read, and answered in lines")
  func plainText() async throws {
    try await JPushScene.with { jpush in
      let devices = try await Self.addDevices(jpush)
      func send(_ form: String) async throws -> SceneAnswer {
        try await jpush.call(
          .post, "/gcm/send", body: Array(form.utf8), type: "application/x-www-form-urlencoded;charset=UTF-8",
          authorization: "key=\(jpush.appKey):\(jpush.secret)")
      }
      let token = devices[0].tokenText
      let answer = try await send(
        "registration_id=\(token)&collapse_key=k&time_to_live=60&delay_while_idle=1&data.n=1&data.text=a+b%26c")
      #expect(answer.status == 200 && answer.type == "text/plain", "\(answer.text)")
      #expect(answer.text.hasPrefix("id=0:") && answer.text.hasSuffix("%\(devices[0].id)\n"), "\(answer.text)")
      #expect(answer.response.headers["X-Signalbox-Unused"] == "delay_while_idle")
      let id = try #require(Int64(answer.text.dropFirst(5).prefix { $0 != "%" }))
      let push = try await jpush.scene.finished(try await jpush.store.read { try Push.get($0, id: id).uid })
      let draft = try #require(push.draft)
      #expect(draft.notification.extras == ["n": "1", "text": "a b&c"] && draft.options.collapseID == "k")
      #expect(draft.options.timeToLive == 60 && push.source == .legacy)
      for (form, text) in [
        ("registration_id=\(devices[1].tokenText)&data.a=b", "Error=NotRegistered\n"),
        ("registration_id=nonsense&data.a=b", "Error=InvalidRegistration\n"),
        ("data.a=b", "Error=MissingRegistration\n"),
        ("registration_id=\(token)&data.from=b", "Error=InvalidDataKey\n"),
        ("registration_id=\(token)&time_to_live=-1", "Error=InvalidTtl\n"),
        ("registration_id=\(token)&dry_run=1&data.a=b", "id=fake_message_id\n"),
      ] {
        let answer = try await send(form)
        #expect(answer.status == 200 && answer.text == text, "\(form): \(answer.text)")
      }
      #expect(try await send("registration_id=%").status == 400)
    }
  }

  @Test("what is not known in time is taken, and counted as pending")
  func pending() async throws {
    try await ConsoleScene.with(streamPause: {}) { scene in
      let app = try await scene.addApp()
      let issued = try await scene.store.write { try JPushKey.issue($0, app: app, by: "x", now: ConsoleScene.noon) }
      let jpush = JPushScene(scene: scene, app: app, appKey: issued.key.appKey, secret: issued.secret)
      let device = try await jpush.addDevices([])[0]
      scene.provider.answer { _ in nil }
      let answer = try await Self.send(jpush, ["to": .string(device.tokenText), "notification": ["body": "x"]])
      #expect(answer.json?["success"] == 1 && answer.json?["signalbox"]?["pending"] == 1, "\(answer.text)")
      let uid = try #require(answer.json?["signalbox"]?["pushes"]?.array?.first?.string)
      scene.provider.answer { _ in .outcome(.accepted) }
      #expect(try await scene.finished(uid).counts.accepted == 1)
    }
  }

  @Test("a new token is registered, a dry run sends nothing, and tokens of two environments are two pushes")
  func environments() async throws {
    try await JPushScene.with { jpush in
      let known = try await jpush.scene.addDevices(1, of: jpush.app, environment: .development)[0]
      let new = "fWx9:APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfGkc8vSsdtQ"
      let ids: JSONValue = ["registration_ids": [.string(known.tokenText), .string(new)], "data": ["a": "b"]]
      let dry = try await Self.send(jpush, ids.with("dry_run", true))
      #expect(dry.json?["success"] == 2 && dry.text.contains("fake_message_id"))
      #expect(try await jpush.scene.count("pushes") == 0 && jpush.scene.provider.sent.isEmpty)
      let first = try await Self.send(jpush, ids)
      #expect(first.json?["success"] == 2 && first.json?["signalbox"]?["pushes"]?.array?.count == 1)
      let found = try await jpush.store.read { try Device.list($0, DeviceFilter(), limit: 10).items }
      #expect(found.first { $0.platform == .android }?.environment == .development)
      try await jpush.addDevices([])
      let production = ConsoleScene.token(0).hexadecimal
      let both = try await Self.send(
        jpush, ["registration_ids": [.string(known.tokenText), .string(production)], "data": ["a": "b"]])
      #expect(both.json?["signalbox"]?["pushes"]?.array?.count == (known.tokenText == production ? 1 : 2))
    }
  }

  @Test("whatever stands in the names of a request, what was sent is answered as sent")
  func strangeNames() async throws {
    try await JPushScene.with { jpush in
      let device = try await jpush.addDevices([])[0]
      let request: JSONValue = ["to": .string(device.tokenText), "notification": ["body": "x"]]
      let split = try await Self.send(jpush, request.with("a\r\nSet-Cookie: b=c", 1).with("ключ", 1))
      #expect(split.status == 200 && split.json?["success"] == 1, "\(split.text)")
      #expect(split.response.headers["X-Signalbox-Unused"] == "a  Set-Cookie: b=c, ключ")
      let many = Dictionary(uniqueKeysWithValues: (10_000..<70_000).map { ("k\($0)", JSONValue.integer(1)) })
      let long = try await Self.send(jpush, .object((request.object ?? [:]).merging(many) { $1 }))
      #expect(long.status == 200 && long.json?["success"] == 1)
      let unused = try #require(long.response.headers["X-Signalbox-Unused"])
      #expect(unused.hasPrefix("k10000, k10001, ") && unused.hasSuffix(" more") && unused.utf8.count < 1100)
      #expect(jpush.scene.provider.sent == [device.id, device.id])
    }
  }

  @Test("a token that the app replaced reaches its device, and the answer names the new one")
  func canonical() async throws {
    try await JPushScene.with { jpush in
      let devices = try await jpush.addDevices([], [])
      let (old, new) = (devices[0].token, ConsoleScene.token(77))
      var registration = Registration(token: new, environment: .production, platform: .ios)
      registration.alias = .set("anna")
      var input = AppRegistration(app: jpush.app.id, registration)
      input.previousToken = old
      let moved = input
      _ = try await jpush.store.write { try AppRegistration.register($0, [moved], now: ConsoleScene.noon) }
      let ids: JSONValue = ["registration_ids": [.string(old.text), .string(devices[1].tokenText)]]
      for isDry in [true, false] {
        let answer = try await Self.send(jpush, ids.with("data", ["a": "b"]).with("dry_run", .bool(isDry)))
        #expect(answer.json?["success"] == 2 && answer.json?["canonical_ids"] == 1, "\(answer.text)")
        let results = answer.json?["results"]?.array ?? []
        #expect(results.map { $0["registration_id"]?.string } == [new.text, nil])
      }
      #expect(jpush.scene.provider.sent.sorted() == devices.map(\.id))
      #expect(try await jpush.scene.count("devices") == 2, "the old token is no device without a user")
      let plain = try await jpush.call(
        .post, "/gcm/send", body: Array("registration_id=\(old.text)&data.a=b".utf8),
        type: "application/x-www-form-urlencoded", authorization: "key=\(jpush.appKey):\(jpush.secret)")
      #expect(plain.text.hasSuffix("\nregistration_id=\(new.text)\n"), "\(plain.text)")
      // The same by Signalbox's own API.
      let push = try await jpush.scene.send([
        "app": .string(jpush.app.bundleID), "environment": "production", "platforms": ["ios"],
        "audience": ["device_token": [.string(old.text)]], "notification": ["body": "x"],
      ])
      #expect(try await jpush.scene.finished(push).counts.accepted == 1)
      #expect(jpush.scene.provider.sent.last == devices[0].id)
    }
  }

  @Test(
    "the limits of each token's own service decide: what APNs refuses, an Android device gets",
    arguments: [3998, 3999, 4096])
  func limits(bytes: Int) async throws {
    try await JPushScene.with { jpush in
      let iPhone = try await jpush.addDevices([])[0].tokenText
      let android = "fWx9:APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfGkc8vSsdtQ"
      // The key takes one byte.
      let data: JSONValue = ["k": .string(String(repeating: "x", count: bytes - 1))]
      let alone = try await Self.send(jpush, ["to": .string(android), "data": data])
      #expect(alone.json?["success"] == 1 && alone.json?["signalbox"]?["pushes"]?.array?.count == 1, "\(alone.text)")
      let both = try await Self.send(
        jpush, ["registration_ids": [.string(iPhone), .string(android), "x"], "data": data])
      #expect(Self.words(both) == [bytes > 3998 ? "MessageTooBig" : nil, nil, "InvalidRegistration"], "\(both.text)")
      #expect(both.json?["signalbox"]?["pushes"]?.array?.count == 1)
      let over = try await Self.send(
        jpush, ["to": .string(android), "data": ["k": .string(String(repeating: "x", count: 4096))]])
      #expect(Self.words(over) == ["MessageTooBig"])
    }
  }

  @Test("an iPhone that is registered with FCM is sent to through FCM")
  func iPhoneOfFCM() async throws {
    try await JPushScene.with { jpush in
      let text = "fWx9:APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfGkc8vSsdtQ"
      var phone = Registration(
        token: DeviceToken(bytes: Array(text.utf8)), environment: .production, platform: .ios)
      phone.provider = .fcm
      let registration = phone
      _ = try await jpush.store.write { [app = jpush.app] database in
        _ = try Credential.bind(
          database, app: app.id, provider: .fcm, environment: .production, certificate: nil, endpoint: "simulator",
          now: ConsoleScene.noon)
        return try Device.register(database, app: app.id, [registration], now: ConsoleScene.noon)
      }
      let answer = try await Self.send(
        jpush, ["to": .string(text), "notification": ["title": "t"], "priority": "high"])
      #expect(answer.json?["success"] == 1 && answer.json?["signalbox"]?["pending"] == 0, "\(answer.text)")
      let uid = try #require(answer.json?["signalbox"]?["pushes"]?.array?.first?.string)
      let push = try await jpush.scene.finished(uid)
      #expect(push.draft?.platforms == [.ios] && push.counts.accepted == 1)
      let targets = try await jpush.store.read { try Push.targets($0, id: push.id) }
      #expect(targets == [Reach(.ios, .fcm): 1])
    }
  }

  @Test(
    "topics are tags: a topic, a condition, and what no tag rule says",
    arguments: [
      ("/topics/a", ["r1", "r2"]), ("'a' in topics && !('b' in topics)", ["r2"]),
      ("'a' in topics && !'b' in topics", ["r2"]),
      ("'a' in topics && ('b' in topics || 'c' in topics)", ["r1"]), ("'b' in topics || 'c' in topics", ["r1", "r3"]),
      ("('a' in topics && 'b' in topics) || 'c' in topics", nil), ("nonsense", nil),
    ] as [(String, [String]?)])
  func topics(text: String, reached: [String]?) async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a", "b"], ["a"], ["c"])
      let name = text.hasPrefix("/") ? "to" : "condition"
      let answer = try await Self.send(jpush, .object([name: .string(text), "notification": ["body": "x"]]))
      #expect(answer.status == 200)
      guard let reached else {
        #expect(answer.json?["error"] == "InvalidParameters", "\(answer.text)")
        return
      }
      let id = try #require(answer.json?["message_id"]?.integer)
      let push = try await jpush.scene.finished(try await jpush.store.read { try Push.get($0, id: id).uid })
      #expect(try await jpush.reached(push) == reached)
    }
  }

  @Test(
    "what no device is tagged with is FCM's own topic, if the app sends through FCM",
    arguments: [
      ("to", "/topics/news", .topic("news")), ("condition", "'news' in topics", .condition("'news' in topics")),
      (
        "condition", "('x' in topics && 'y' in topics) || 'z' in topics",
        .condition("('x' in topics && 'y' in topics) || 'z' in topics")
      ),
      ("to", "/topics/a", nil),
    ] as [(String, String, Audience?)])
  func realTopics(name: String, text: String, audience: Audience?) async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a"])
      _ = try await jpush.store.write { [app = jpush.app] database in
        try Credential.bind(
          database, app: app.id, provider: .fcm, environment: .production, certificate: nil, endpoint: "simulator",
          now: ConsoleScene.noon)
      }
      let answer = try await Self.send(jpush, .object([name: .string(text), "notification": ["body": "x"]]))
      let id = try #require(answer.json?["message_id"]?.integer, "\(answer.text)")
      let push = try await jpush.store.read { try Push.get($0, id: id) }
      let draft = try PushDraft(json: try JSONValue(parsing: Data(push.draftJSON.utf8)))
      guard let audience else {
        #expect(draft.audience.topicTarget == nil, "the app's devices have this tag")
        return
      }
      #expect(draft.audience == audience && draft.platforms == [.android])
      #expect(try await jpush.scene.finished(push.uid).counts.accepted == 1)
    }
  }

  @Test("wrong keys, wrong bodies and wrong messages are refused as the old service did")
  func refused() async throws {
    try await JPushScene.with { jpush in
      let device = try await jpush.addDevices([])[0].tokenText
      let routes = jpush.scene.router.routes.filter { $0.name == "legacy" }
      #expect(routes.map { "\($0.method) \($0.pattern)" } == ["POST /fcm/send", "POST /gcm/send"])
      for route in routes {
        for key in ["", "x", "\(jpush.appKey):wrong", jpush.appKey] {
          let answer = try await Self.send(jpush, ["to": "x"], key: key, path: route.pattern)
          #expect(answer.status == 401, "\(route.pattern) with \(key)")
        }
      }
      let ids = JSONValue.array(Array(repeating: .string(device), count: 1001))
      for body in [[:], ["to": "x", "condition": "y"], ["registration_ids": []], ["registration_ids": ids]]
        as [JSONValue]
      {
        #expect(try await Self.send(jpush, body).status == 400, "\(body.text().prefix(60))")
      }
      for (change, word) in [
        (["time_to_live": 2_419_201], "InvalidTtl"), (["data": ["google.x": "y"]], "InvalidDataKey"),
        (["data": "x"], "InvalidParameters"), (["priority": "urgent"], "InvalidParameters"),
        (["notification": ["body": .string(String(repeating: "x", count: 5000))]], "MessageTooBig"),
      ] as [([String: JSONValue], String)] {
        let body = change.merging(["registration_ids": [.string(device), .string(device)]]) { $1 }
        let answer = try await Self.send(jpush, .object(body), path: "/gcm/send")
        #expect(answer.status == 200 && Self.words(answer) == [word, word], "\(answer.text)")
        #expect(answer.json?["failure"] == 2)
      }
      jpush.scene.clock.advance(61)
      for _ in 0..<10 { _ = try await Self.send(jpush, ["to": "x"], key: "\(jpush.appKey):wrong") }
      jpush.scene.clock.advance(20)
      let tooOften = try await Self.send(jpush, ["to": .string(device)])
      #expect(tooOften.status == 429 && tooOften.response.headers["Retry-After"] == "40", "\(tooOften.text)")
      #expect(try await jpush.scene.count("pushes") == 0)
    }
  }

  @Test(
    "pyfcm 1.5.4 sends through the console after a change of the address",
    .enabled(if: legacyPython != nil, "SIGNALBOX_TEST_FCM_LEGACY is not set: script/test sets it"),
    arguments: [true, false])
  func client(isTagged: Bool) async throws {
    let script = ConsoleScene.root.appendingPathComponent("Tests/Console/Fixtures/fcm_legacy.py").path
    try await JPushScene.with { jpush in
      let devices = try await jpush.addDevices(isTagged ? ["news"] : [], [])
      if !isTagged {
        _ = try await jpush.store.write { [app = jpush.app] database in
          try Credential.bind(
            database, app: app.id, provider: .fcm, environment: .production, certificate: nil, endpoint: "simulator",
            now: ConsoleScene.noon)
        }
      }
      let gone = devices[1].id
      jpush.scene.provider.answer {
        $0.id == gone
          ? .outcome(.rejected(status: 404, reason: "UNREGISTERED", tokenInvalidSince: nil)) : .outcome(.accepted)
      }
      try await WebTestServer.with(jpush.scene.router) { address in
        let (good, dead) = (devices[0].tokenText, devices[1].tokenText)
        let (status, output) = try await OtherProgram.run(
          try #require(Self.legacyPython),
          [script, "http://\(address)", good, dead, good, "\(jpush.appKey):\(jpush.secret)"],
          environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        try #require(status == 0, "\(output)")
        let results = try JSONValue(parsing: Data((output.split(separator: "\n").last ?? "").utf8))
        let expected: [String: JSONValue] = [
          "single": [1, 0, 0, ["ok"], true], "single_data": [1, 0, 0, ["ok"], true],
          "multiple": [1, 2, 0, ["ok", "NotRegistered", "InvalidRegistration"], true],
          "multiple_data": [1, 1, 0, ["ok", "NotRegistered"], true], "replaced": [1, 0, 0, ["ok"], true],
          "dry_run": [1, 0, 0, ["ok"], true], "topic": true, "condition": true, "topic_data": true,
          "reserved": [0, 1, 0, ["InvalidDataKey"], true], "life": [1, 0, 0, ["ok"], true],
          "package": [1, 0, 0, ["ok"], true], "over_1000": 1,
        ]
        for (name, value) in expected.sorted(by: { $0.key < $1.key }) { #expect(results[name] == value, "\(name)") }
      }
      let drafts = try await jpush.store.read { try $0.fetchAll("SELECT draft FROM pushes") { $0.text(0) } }
      let toTopics = drafts.count { $0.contains(#""topic":"news""#) || $0.contains(#""condition":"#) }
      #expect(toTopics == (isTagged ? 0 : 3))
      #expect(jpush.scene.log.entries.filter { $0.level >= .error }.map { "\($0)" } == [])
    }
  }
}
