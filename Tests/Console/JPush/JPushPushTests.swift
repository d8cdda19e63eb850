import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@testable import Console

@Suite("JPush API: pushes")
struct JPushPushTests {
  @Test("a push goes to production, its answer has strings, and the console shows where it came from")
  func send() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([], [])
      var body = JPushScene.push.object ?? [:]
      body["options"] = ["sendno": 18]
      for target in ["/v3/push", "/v3/push/"] {
        let answer = try await jpush.call(.post, target, .object(body))
        #expect(answer.status == 200 && answer.json?["sendno"] == "18", "\(answer.text)")
        let push = try #require(try await jpush.finished(answer))
        #expect(push.environment == .production && push.counts.accepted == 2)
        #expect(push.source == .jpush && push.createdBy == "jpush \(jpush.appKey)")
      }
      #expect(try await jpush.scene.audit("push.create").first?.address == "192.0.2.1")
      let all = try await jpush.scene.call(.get, "/api/v1/pushes", as: .viewer)
      #expect(all.json?["items"]?.array?.first?["source"] == "jpush")
    }
  }

  @Test(
    "the kinds of an audience are ANDed",
    arguments: [
      (["tag": ["a", "b"]], ["r1", "r2", "r3"]), (["tag_and": ["a", "b"]], ["r1"]),
      (["tag": ["a", "b"], "tag_not": ["c"]], ["r1", "r2"]), (["tag_not": ["a"]], ["r3", "r4"]),
      (["tag": ["a"], "alias": ["anna"]], ["r1"]), (["tag": ["b"], "registration_id": ["r2", "r3"]], ["r3"]),
      (
        ["tag": ["a", "b"], "tag_and": ["b"], "tag_not": ["a"], "registration_id": ["r1", "r3"], "alias": []], ["r3"]
      ),
    ] as [([String: [String]], [String])])
  func audience(kinds: [String: [String]], expected: [String]) async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a", "b"], ["a"], ["b", "c"], [])
      var body = JPushScene.push.object ?? [:]
      body["audience"] = .object(kinds.mapValues { .array($0.map(JSONValue.string)) })
      let push = try #require(try await jpush.finished(try await jpush.call(.post, "/v3/push", .object(body))))
      #expect(try await jpush.reached(push) == expected)
    }
  }

  @Test("an audience without a device is 1011 with a number, and nothing is stored")
  func nobody() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      var body = JPushScene.push.object ?? [:]
      for change in [
        ["audience": ["tag": ["none"]]], ["audience": ["alias": ["nobody"]]], ["options": ["apns_production": false]],
        ["platform": "android"],
      ] as [[String: JSONValue]] {
        body = (JPushScene.push.object ?? [:]).merging(change) { $1 }
        let answer = try await jpush.call(.post, "/v3/push", .object(body))
        #expect(answer.status == 400 && answer.jpushCode == 1011, "\(answer.text)")
        #expect(try #require(answer.json?["msg_id"]?.integer) > 1 << 40)
      }
      #expect(try await jpush.scene.count("pushes") == 0)
    }
  }

  @Test("the msg_id leads to the push, whose page shows it; the list names the API before the key")
  func messageID() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      let answer = try await jpush.call(.post, "/v3/push", JPushScene.push)
      let id = try #require(answer.json?["msg_id"]?.string)
      let push = try #require(try await jpush.finished(answer))
      var vera = try await jpush.scene.signIn(.viewer)
      let found = try await vera.get("/search?q=\(id)")
      let href = "/pushes/\(push.uid)"
      #expect(found.location == href || ScenePage(found).links.contains(href))
      let (page, list) = (try await vera.get(href), ScenePage(try await vera.get("/pushes")))
      #expect(page.text.contains("msg_id") && list.text.contains("JPush API · \(jpush.appKey)"))
    }
  }

  @Test("a push is canceled by its msg_id until it is over, and only with the key that sent it")
  func cancel() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([], [])
      var body = JPushScene.push.object ?? [:]
      body["options"] = ["big_push_duration": 1400]
      let sent = try await jpush.call(.post, "/v3/push", .object(body))
      let path = "/v3/push/\(try #require(sent.json?["msg_id"]?.string))"
      let other = try await jpush.scene.addApp("com.example.other", name: "Other")
      let issued = try await jpush.store.write { try JPushKey.issue($0, app: other, by: "eve", now: ConsoleScene.noon) }
      let eve = JPushScene(scene: jpush.scene, app: other, appKey: issued.key.appKey, secret: issued.secret)
      #expect(try await eve.call(.delete, path).jpushCode == 1003)
      let done = try await jpush.call(.delete, path)
      #expect(done.status == 200 && done.bytes.isEmpty, "\(done.text)")
      let push = try #require(try await jpush.finished(sent))
      #expect(push.state == .cancelled)
      #expect(try await jpush.scene.audit("push.cancel").map(\.actor) == ["jpush \(jpush.appKey)"])
      for path in [path, "/v3/push/999", "/v3/push/x", "/v3/push/99999999999999999999"] {
        let refused = try await jpush.call(.delete, path)
        #expect(refused.status == 400 && refused.jpushCode == 1003, "\(path): \(refused.text)")
      }
    }
  }

  @Test("a custom message is listed by its text, although it shows none")
  func customMessage() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      let body: JSONValue = ["platform": "all", "audience": "all", "message": ["msg_content": "Cart changed"]]
      let push = try #require(try await jpush.finished(try await jpush.call(.post, "/v3/push", body)))
      #expect(push.body == "Cart changed" && push.pushType == .background)
    }
  }

  @Test("validate checks as a push does, and sends nothing")
  func validate() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      var body = JPushScene.push.object ?? [:]
      body["cid"] = "c1"
      let answer = try await jpush.call(.post, "/v3/push/validate", .object(body))
      #expect(answer.status == 200 && answer.json?["sendno"] == "0" && answer.json?["msg_id"]?.string != nil)
      body["audience"] = ["tag": ["none"]]
      #expect(try await jpush.call(.post, "/v3/push/validate", .object(body)).jpushCode == 1011)
      #expect(try await jpush.scene.count("pushes") == 0)
      #expect(try await jpush.scene.count("idempotency") == 0)
    }
  }

  @Test("a cid sends once, whatever the second body says; a refused push does not use it up")
  func cid() async throws {
    try await JPushScene.with { jpush in
      let list = try await jpush.call(.get, "/v3/push/cid?count=3&type=push")
      let cids = try #require(list.json?["cidlist"]?.array).compactMap(\.string)
      #expect(Set(cids).count == 3)
      #expect(cids.allSatisfy { $0.hasPrefix(jpush.appKey + "-") && $0.utf8.count == 61 })
      for (query, count) in [("", 1), ("?count=1&type=push", 1), ("?count=1000&type=schedule", 1000)] {
        let answer = try await jpush.call(.get, "/v3/push/cid" + query)
        #expect(answer.json?["cidlist"]?.array?.count == count)
      }
      for query in ["?count=0", "?count=-1", "?count=1001", "?count=x", "?count=1&type=else"] {
        let refused = try await jpush.call(.get, "/v3/push/cid" + query)
        #expect(refused.status == 400 && refused.jpushCode == 1003, "\(query)")
      }
      var body = JPushScene.push.object ?? [:]
      body["cid"] = .string(cids[0])
      #expect(try await jpush.call(.post, "/v3/push", .object(body)).jpushCode == 1011)
      try await jpush.addDevices([])
      body["options"] = ["sendno": 1]
      let first = try await jpush.call(.post, "/v3/push", .object(body))
      body["options"] = ["sendno": 2]
      body["notification"] = ["alert": "Another"]
      let second = try await jpush.call(.post, "/v3/push", .object(body))
      #expect(first.status == 200 && first.text == second.text, "\(second.text)")
      #expect(try await jpush.scene.count("pushes") == 1)
      _ = try await jpush.finished(first)
    }
  }

  @Test("a batch answers for each of its pushes, and its cids are the same as elsewhere")
  func batch() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([], [])
      func push(_ target: String, _ more: [String: JSONValue] = [:]) -> JSONValue {
        .object(["platform": "ios", "target": .string(target), "notification": ["alert": "Hi"]].merging(more) { $1 })
      }
      let list: JSONValue = [
        "pushlist": [
          "c1": push("r1"), "c2": push("r2"), "c3": push("r9"), "c4": push("r1", ["audience": "all"]),
          "not a cid": push("r1"),
        ]
      ]
      let answer = try await jpush.call(.post, "/v3/push/batch/regid/single", list)
      #expect(answer.status == 200)
      let first = try #require(answer.json?["c1"]?["msg_id"]?.integer)
      let second = try #require(answer.json?["c2"]?["msg_id"]?.integer)
      #expect(first != second)
      #expect(answer.json?["c3"]?["error"]?["code"] == 1011 && answer.json?["c3"]?["msg_id"]?.integer != nil)
      #expect(answer.json?["c4"]?["error"]?["code"] == 1009)
      #expect(answer.json?["not a cid"]?["error"]?["code"] == 1003)
      let again = try await jpush.call(.post, "/v3/push/batch/regid/single", ["pushlist": ["c1": push("r1")]])
      #expect(again.json?["c1"]?["msg_id"]?.integer == first)
      let alias = try await jpush.call(.post, "/v3/push/batch/alias/single", ["pushlist": ["c5": push("anna")]])
      let third = try #require(alias.json?["c5"]?["msg_id"]?.integer)
      for (id, device) in [(first, "r1"), (second, "r2"), (third, "r1")] {
        let push = try await jpush.scene.finished(try await jpush.store.read { try Push.get($0, id: id).uid })
        #expect(try await jpush.reached(push) == [device])
      }
      for (body, code) in [
        (["list": [:]], 1002), (["pushlist": .null], 1002), (["pushlist": []], 1003),
        (["pushlist": [:], "options": [:]], 1009),
      ] as [(JSONValue, Int64)] {
        let refused = try await jpush.call(.post, "/v3/push/batch/regid/single", body)
        #expect(refused.status == 400 && refused.jpushCode == code, "\(refused.text)")
      }
    }
  }

  @Test(
    "a push that is too large with the data that Signalbox adds is 1005, whatever service it is too large for",
    arguments: [
      Problem("notification", PayloadMessage.tooLarge), Problem("notification", FCMMessageProblem.tooLarge),
      Problem("notification", JPushMessageProblem.tooLarge),
    ])
  func tooLarge(problem: Problem) {
    #expect(JPushPushesAPI.error(of: Problems([problem])).code == .tooLarge, "\(problem.code)")
  }

  @Test("what the shared checks refuse is named by the key of the request")
  func namesOfKeys() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      let trigger: JSONValue = ["single": ["time": "2026-11-21 20:00:00"]]
      let push: JSONValue = [
        "platform": "ios", "audience": "all", "notification": ["ios": ["alert": "Hi", "extras": ["aps": "x"]]],
      ]
      let batch: JSONValue = [
        "pushlist": ["c1": ["platform": "ios", "target": "r1", "notification": push["notification"] ?? .null]]
      ]
      for (target, body) in [
        ("/v3/push", push), ("/v3/push/validate", push), ("/v3/push/batch/regid/single", batch),
        ("/v3/schedules", ["name": "a", "enabled": true, "trigger": trigger, "push": push]),
      ] as [(String, JSONValue)] {
        let answer = try await jpush.call(.post, target, body)
        let error = answer.json?["error"] ?? answer.json?["c1"]?["error"]
        let message = error?["message"]?.string ?? ""
        #expect(message.hasPrefix("notification.ios.extras.aps: "), "\(target): \(answer.text)")
      }
    }
  }

  @Test("keys without effect are named in a header")
  func unused() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      let answer = try await jpush.call(
        .post, "/v3/push",
        ["platform": "all", "audience": "all", "notification": ["ios": ["alert": "Hi", "badge": "auto"]]])
      #expect(answer.response.headers["X-Signalbox-Unused"] == "notification.ios.badge")
      _ = try await jpush.finished(answer)
    }
  }

  @Test("override_msg_id replaces only a push of this app")
  func overriding() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      var body = JPushScene.push.object ?? [:]
      body["options"] = ["apns_collapse_id": "k"]
      let first = try await jpush.call(.post, "/v3/push", .object(body))
      let id = try #require(first.json?["msg_id"])
      _ = try await jpush.finished(first)
      body["options"] = ["override_msg_id": id]
      let second = try #require(try await jpush.finished(try await jpush.call(.post, "/v3/push", .object(body))))
      #expect(try JSONValue(parsing: Data(second.draftJSON.utf8))["options"]?["collapse_id"] == "k")
      body["options"] = ["override_msg_id": 999]
      #expect(try await jpush.call(.post, "/v3/push", .object(body)).jpushCode == 1003)
      jpush.scene.clock.advance(86_401)
      body["options"] = ["override_msg_id": id]
      #expect(try await jpush.call(.post, "/v3/push", .object(body)).jpushCode == 1003)
    }
  }
}
