import Foundation
import HTTPServer
import JSON
import Providers
import Model
import Store
import Testing

@Suite("API: pushes")
struct APIPushesTests {
  private static let draft: JSONValue = [
    "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"],
    "audience": ["tag": ["odd"]], "notification": ["title": "Hello", "body": "World"],
  ]

  private func pushes(_ scene: ConsoleScene) async throws -> [Push] {
    try await scene.store.read { try Push.list($0, PushFilter(), limit: 100).items }
  }

  @Test("a push goes to its audience, and tells of it; the audit says who asked")
  func sent() async throws {
    try await ConsoleScene.with { scene in
      let devices = try await scene.addDevices(4, of: try await scene.addApp())
      let created = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: Self.draft)
      #expect(created.status == 202)
      let uid = try #require(created.json?["id"]?.string)
      #expect(created.response.headers["Location"] == "/api/v1/pushes/\(uid)")
      _ = try await scene.finished(uid)
      #expect(scene.provider.sent == [devices[1].id, devices[3].id])

      let push = try await scene.call(.get, "/api/v1/pushes/\(uid)", as: .viewer).json
      #expect(push?["state"] == "finished" && push?["source"] == "api" && push?["created_by"] == "token operator")
      #expect(push?["counts"]?["target"] == 2 && push?["counts"]?["accepted"] == 2)
      #expect(push?["draft"] == Self.draft)
      let list = try await scene.call(.get, "/api/v1/pushes/\(uid)/deliveries", as: .viewer).json
      let rows = try #require(list?["items"]?.array)
      #expect(rows.map { $0["token"]?.string } == [devices[1], devices[3]].map { $0.token.hexadecimal })
      let seed = try await scene.store.read { try Push.find($0, uid: uid)?.seed }
      let id = APNsID(seed: try #require(seed), device: devices[1].id).description
      #expect(rows.first?["apns_id"]?.string == id)
      #expect(try await scene.audit("push.create").map(\.subject) == ["push \(uid)"])
    }
  }

  @Test("a push is found by the msg_id that JPush's clients got for it, and by those that JPush gave its messages")
  func messageIDs() async throws {
    try await JPushScene.with { jpush in
      let scene = jpush.scene
      try await jpush.addDevices([])
      let sent = try await jpush.call(.post, "/v3/push", JPushScene.push)
      let id = try #require(sent.json?["msg_id"]?.string, "\(sent.text)")
      let other = try await scene.store.read { try Push.list($0, PushFilter(), limit: 1).items[0] }
      let mine = try await scene.send(
        Self.draft.with("audience", "all").with("environment", "production").with("app", .string(jpush.app.bundleID)))
      let push = try await scene.store.read { try #require(try Push.find($0, uid: mine)) }
      try await scene.store.write { database in
        for message in ["18100287", "18100288"] {
          try SentJPushMessage.add(
            database,
            SentJPushMessage(
              push: push.id, id: message, firstDevice: 1, lastDevice: 1, devices: 1, sentAt: ConsoleScene.noon))
        }
      }
      func found(_ id: String) async throws -> [String?] {
        let answer = try await scene.call(.get, "/api/v1/pushes?msg_id=\(id)", as: .viewer)
        #expect(answer.status == 200, "\(answer.text)")
        return (answer.json?["items"]?.array ?? []).map { $0["id"]?.string }
      }
      #expect(try await found(id) == [other.uid])
      #expect(try await found("18100288") == [mine])
      // The row ID of a push that JPush's clients know nothing of is no msg_id.
      for text in ["\(push.id)", "x", "0\(id)"] { #expect(try await found(text) == [], "\(text)") }
      let one = try await scene.call(.get, "/api/v1/pushes/\(other.uid)", as: .viewer)
      #expect(one.json?["msg_id"] == .string(id))
      #expect(try await scene.call(.get, "/api/v1/pushes/\(mine)", as: .viewer).json?["msg_id"] == .null)
      var viewer = try await scene.signIn(.viewer)
      for text in [id, "18100287"] {
        let uid = text == id ? other.uid : mine
        let answer = try await viewer.get("/search?q=\(text)")
        // What is found by its ID alone is gone to.
        #expect((answer.location ?? answer.text).contains("/pushes/\(uid)"), "\(text)")
      }
    }
  }

  @Test("what the checks find stands in the answer and on the push's page; a later answer has the push alone")
  func findings() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: try await scene.addApp())
      let draft = Self.draft.with("notification", ["title": "Hello", "body": #"{"alert": "World"}"#])
      let created = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: draft)
      let uid = try #require(created.json?["id"]?.string)
      let found = try #require(created.json?["findings"]?.array)
      #expect(found.map { $0["code"]?.string } == ["lint.json_as_text"] && found[0]["severity"] == "warning")
      _ = try await scene.finished(uid)
      #expect(try await scene.call(.get, "/api/v1/pushes/\(uid)", as: .viewer).json?["findings"] == nil)
      var viewer = try await scene.signIn(.viewer)
      #expect(try await viewer.get("/pushes/\(uid)").text.contains("This text is JSON and would be shown"))

      let other = try await scene.send(Self.draft.with("audience", ["tag": ["odd", "oddd"]]))
      _ = try await scene.finished(other)
      #expect(try await viewer.get("/pushes/\(other)").text.contains("the tag “oddd”. Did you mean “odd”?"))

      let later = try await scene.call(
        .post, "/api/v1/pushes", as: .operator,
        json: draft.with("repeat", ["every": "day", "at": "09:00", "time_zone": "UTC"]))
      #expect(later.json?["findings"]?.array?.isEmpty == false, "\(later.text)")
    }
  }

  @Test("the same key and body is one push and one answer; another body is refused; another client's key is its own")
  func idempotent() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: try await scene.addApp())
      let key = ["Idempotency-Key": "deploy-42"]
      let path = "/api/v1/pushes"
      let first = try await scene.call(.post, path, as: .operator, json: Self.draft, headers: key)
      #expect(first.status == 202)
      _ = try await scene.finished(try #require(first.json?["id"]?.string))
      let second = try await scene.call(.post, path, as: .operator, json: Self.draft, headers: key)
      #expect(second.status == 202 && second.bytes == first.bytes)
      #expect(second.response.headers["Location"] == first.response.headers["Location"])
      #expect(try await pushes(scene).count == 1 && scene.provider.sent.count == 1)

      let other = try await scene.call(
        .post, path, as: .operator, json: Self.draft.with("audience", "all"), headers: key)
      #expect(other.status == 409 && other.fields == ["Idempotency-Key"])
      let elsewhere = try await scene.call(
        .post, "/api/v1/apps", as: .operator, json: ["bundle_id": "com.example.x", "name": "X"], headers: key)
      #expect(elsewhere.status == 409, "one key is for one call")
      let client = try await scene.call(.post, path, as: .admin, json: Self.draft, headers: key)
      #expect(client.status == 202)
      #expect(try await pushes(scene).count == 2)
      let long = ["Idempotency-Key": String(repeating: "k", count: 256)]
      let refused = try await scene.call(.post, path, as: .operator, json: Self.draft, headers: long)
      #expect(refused.status == 422 && refused.fields == ["Idempotency-Key"])
    }
  }

  @Test("the same key many times at once is one push")
  func simultaneous() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: try await scene.addApp())
      let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
        for _ in 0..<8 {
          group.addTask {
            try await scene.call(
              .post, "/api/v1/pushes", as: .operator, json: Self.draft, headers: ["Idempotency-Key": "once"]
            ).bytes
          }
        }
        return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
      }
      #expect(bodies.count == 1)
      #expect(try await pushes(scene).count == 1)
    }
  }

  @Test("a request that was refused keeps no key: put right, it goes through")
  func refusedKeepsNothing() async throws {
    try await ConsoleScene.with { scene in
      let key = ["Idempotency-Key": "k"]
      let early = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: Self.draft, headers: key)
      #expect(early.status == 404 && early.fields == ["app"])
      let app = try await scene.addApp()
      let empty = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: Self.draft, headers: key)
      #expect(empty.status == 422 && empty.codes == ["push.nobody", "lint.no_tag"], "\(empty.text)")
      try await scene.addDevices(2, of: app)
      let later = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: Self.draft, headers: key)
      #expect(later.status == 202)
    }
  }

  @Test(
    "what is wrong is said with its path, and nothing is kept",
    arguments: [
      (["titel": "x"], ["titel"]),
      (["send_at": "tomorrow"], ["send_at"]),
      (["options": ["rate": 0]], ["options.rate"]),
      (["options": ["colour": "blue"]], ["options.colour"]),
      (["audience": [:]], ["audience"]),
      (["audience": ["tag": ["ok", 7]]], ["audience.tag[1]"]),
      (["environment": "staging", "platforms": ["windows"]], ["environment", "platforms[0]"]),
      (["notification": ["body": "x", "extras": ["aps": 1]]], ["notification.extras.aps"]),
      (["audience": ["alias": ["user-1"]]], ["audience.alias[0]"]),
    ] as [(JSONValue, [String])])
  func wrong(change: JSONValue, fields: [String]) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp(aliasRule: "jpush")
      let body = JSONValue.object((Self.draft.object ?? [:]).merging(change.object ?? [:]) { $1 })
      let answer = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: body)
      #expect(answer.status == 422)
      #expect(answer.fields == fields, "\(answer.text)")
      #expect(try await pushes(scene).isEmpty)
      #expect(try await scene.audit("push.create").isEmpty)
    }
  }

  @Test("a dry run counts and shows, and sends and keeps nothing")
  func dryRun() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: try await scene.addApp())
      let body = Self.draft.with("options", ["dry_run": true, "time_to_live": 60])
      let answer = try await scene.call(
        .post, "/api/v1/pushes", as: .operator, json: body, headers: ["Idempotency-Key": "dry"])
      #expect(answer.status == 200)
      #expect(answer.json?["reachable"] == 2 && answer.json?["unreachable"] == 0)
      #expect(answer.json?["payload"]?["aps"]?["alert"]?["title"] == "Hello")
      #expect(answer.json?["headers"]?["apns-topic"]?.string == ConsoleScene.bundleID)
      let payload = try #require(answer.json?["payload"])
      #expect(answer.json?["payload_bytes"]?.integer == Int64(payload.data().count))
      let situations = try #require(answer.json?["callbacks"]?.array)
      #expect(situations.count == 18)
      let open = situations.first { $0["ios"] == "10+" && $0["state"] == "foreground" && $0["background_mode"] == true }
      #expect(
        open?["on_arrival"]?.array?.first?["method"] == "userNotificationCenter(_:willPresent:withCompletionHandler:)"
          && open?["banner"] == "app_decides" && open?["on_tap"]?.array?.first?["condition"] == "if_shown")
      #expect(open?["calls"] == ["least": 1, "most": 2] && open?["sources"] == ["developer_guides"])
      #expect(open?["disagreements"] == ["C6", "C10", "C4"], "\(answer.text)")
      #expect(try await pushes(scene).isEmpty && scene.provider.sent.isEmpty)
      let real = try await scene.call(
        .post, "/api/v1/pushes", as: .operator, json: Self.draft, headers: ["Idempotency-Key": "dry"])
      #expect(real.status == 409, "the key belongs to the dry run")
    }
  }

  @Test("a dry run of a push to Android alone shows FCM's message in place of a payload of APNs")
  func androidDryRun() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let body = Self.draft.with("platforms", ["android"])
        .with("options", ["dry_run": true, "allow_empty_audience": true])
      let answer = try await scene.call(.post, "/api/v1/pushes", as: .operator, json: body)
      let payload = answer.json?["payload"]
      #expect(payload?["notification"]?["title"] == "Hello" && payload?["aps"] == nil, "\(answer.text)")
      #expect(payload?["android"]?["priority"] == "HIGH" && answer.json?["headers"] == [:])
    }
  }

  @Test("a push under way is cancelled: what was not sent is skipped, and the audit says who did it")
  func cancelled() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: try await scene.addApp())
      scene.provider.answer { _ in nil }
      let uid = try await scene.send(Self.draft)
      #expect(try await scene.call(.post, "/api/v1/pushes/\(uid)/cancel", as: .operator).status == 200)
      #expect(try await scene.finished(uid).state == .cancelled)
      let again = try await scene.call(.post, "/api/v1/pushes/\(uid)/cancel", as: .operator)
      #expect(again.status == 409 && again.text.contains("already ended"), "it did not finish: \(again.text)")
      #expect(try await scene.audit("push.cancel").map(\.actor) == ["token operator"])
    }
  }

  @Test("lists are read page by page, filtered, without gaps or repeats")
  func pages() async throws {
    try await ConsoleScene.with { scene in
      let devices = try await scene.addDevices(7, of: try await scene.addApp())
      scene.provider.answer { member in
        member.id == devices[2].id
          ? .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)) : .outcome(.accepted)
      }
      var uids: [String] = []
      for number in 0..<5 {
        let body = Self.draft.with("audience", "all").with("notification", ["body": .string("number \(number)")])
        let uid = try await scene.send(body)
        _ = try await scene.finished(uid)
        uids.insert(uid, at: 0)
      }
      #expect(try await all(scene, "/api/v1/pushes?limit=2").compactMap { $0["id"]?.string } == uids)
      let found = try await all(scene, "/api/v1/pushes?q=number%203")
      #expect(found.compactMap { $0["id"]?.string } == [uids[1]])
      let first = uids[4]
      let deliveries = try await all(scene, "/api/v1/pushes/\(first)/deliveries?limit=3")
      #expect(deliveries.compactMap { $0["device"]?.integer } == devices.map(\.id))
      let failed = try await all(scene, "/api/v1/pushes/\(first)/deliveries?outcome=failed&reason=BadDeviceToken")
      #expect(failed.compactMap { $0["device"]?.integer } == [devices[2].id])
      let reasons = try await scene.call(.get, "/api/v1/pushes/\(first)", as: .viewer).json?["reasons"]?.array
      #expect(reasons?.map { $0["reason"]?.string } == ["BadDeviceToken"])
      #expect(reasons?.first?["remedy"]?.string?.isEmpty == false)
    }
  }

  /// Every item of a list, by its cursors.
  private func all(_ scene: ConsoleScene, _ target: String) async throws -> [JSONValue] {
    var items: [JSONValue] = []
    var cursor = ""
    repeat {
      let page = try await scene.call(.get, target + cursor, as: .viewer).json
      items += try #require(page?["items"]?.array)
      cursor = page?["next"]?.string.map { (target.contains("?") ? "&" : "?") + "cursor=\($0)" } ?? ""
    } while !cursor.isEmpty && items.count < 100
    return items
  }
}
