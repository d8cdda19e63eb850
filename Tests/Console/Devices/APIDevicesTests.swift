import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@Suite("API: apps, devices, audiences")
struct APIDevicesTests {
  private func device(_ number: Int, _ change: JSONValue = [:]) -> JSONValue {
    let device: JSONValue = [
      "app": .string(ConsoleScene.bundleID), "environment": "development", "platform": "ios",
      "token": .string(ConsoleScene.token(number).hexadecimal),
    ]
    return .object((device.object ?? [:]).merging(change.object ?? [:]) { $1 })
  }

  @Test("registering again changes what is said and keeps the rest; null removes")
  func registered() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      func put(_ change: JSONValue) async throws -> SceneAnswer {
        try await scene.call(.put, "/api/v1/devices", as: .operator, json: device(1, change))
      }
      let first = try await put(["alias": "anna", "tags": ["b", "a"], "name": "Anna's phone"])
      #expect(first.status == 201 && first.json?["tags"] == ["a", "b"])
      let id = try #require(first.json?["id"]?.integer)
      #expect(first.response.headers["Location"] == "/api/v1/devices/\(id)")
      let second = try await put(["tags": ["c"]])
      #expect(second.status == 200 && second.json?["tags"] == ["c"] && second.json?["alias"] == "anna")
      let spaced = device(1)["token"]?.string?.uppercased() ?? ""
      let third = try await put(["alias": .null, "token": .string("<\(spaced)>")])
      #expect(third.json?["id"]?.integer == id && third.json?["alias"] == .null && third.json?["tags"] == ["c"])
      #expect(try await scene.audit("device.register").count == 3)
    }
  }

  @Test("an iPhone with a Firebase token is FCM's, by API and by import, unless APNs is asked for")
  func appleByFCM() async throws {
    let token: JSONValue = "fWx9:APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfGkc8vSsdtQ"
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      func put(_ change: JSONValue) async throws -> SceneAnswer {
        try await scene.call(.put, "/api/v1/devices", as: .operator, json: device(1, change).with("token", token))
      }
      let added = try await put([:])
      #expect(added.status == 201 && added.json?["provider"] == "fcm" && added.json?["platform"] == "ios")
      #expect(added.json?["token"] == token)
      #expect(try await put(["provider": "fcm"]).status == 200)
      let wrong = try await put(["provider": "apns"])
      #expect(wrong.status == 422 && wrong.codes == ["token.looks_like_fcm"], "\(wrong.text)")
      let found = try await scene.call(
        .get, "/api/v1/devices?provider=fcm&platform=ios&token=\(token.string ?? "")", as: .viewer)
      #expect(found.json?["items"]?.array?.count == 1, "\(found.text)")
      let line = device(2).with("token", "dXyz:APA91bHun4MxP5egoKMwt2KZFBaFUH").text()
      let csv = "app,environment,platform,token\n\(ConsoleScene.bundleID),development,ios,eXyz:APA91bHun4MxP5egoKMwt\n"
      for (type, body) in [("application/x-ndjson", line), ("text/csv", csv)] {
        let answer = try await scene.call(
          .post, "/api/v1/devices/import", as: .operator, headers: ["Content-Type": type], body: Array(body.utf8))
        #expect(answer.status == 200, "\(answer.text)")
      }
      let all = try await scene.store.read { try Device.list($0, DeviceFilter(), limit: 9).items }
      #expect(all.map(\.provider) == [.fcm, .fcm, .fcm] && all.allSatisfy { $0.platform == .ios })
    }
  }

  @Test(
    "an address whose ID is no number says so",
    arguments: ["devices/abc", "certificates/1.5", "incidents/x", "devices/01"])
  func notANumber(path: String) async throws {
    try await ConsoleScene.with { scene in
      let answer = try await scene.call(.get, "/api/v1/\(path)", as: .admin)
      let word = path.split(separator: "/").last.map(String.init) ?? ""
      #expect(answer.status == 404)
      #expect(answer.json?["detail"]?.string == "“\(word)” is not an ID here: it must be a number.", "\(answer.text)")
    }
  }

  @Test("a device is changed, moved and set free; a dead one is not")
  func patched() async throws {
    try await ConsoleScene.with { scene in
      let devices = try await scene.addDevices(3, of: try await scene.addApp(aliasRule: "jpush"))
      let path = "/api/v1/devices/\(devices[0].id)"
      let moved = try await scene.call(
        .patch, path, as: .operator, json: ["environment": "production", "tags": ["x"], "name": "One"])
      #expect(moved.json?["environment"] == "production" && moved.json?["tags"] == ["x"])
      #expect(moved.json?["alias"] == "anna" && moved.json?["name"] == "One")
      for (value, language) in [("zh-Hans", "zh-Hans"), (.null, .null)] as [(JSONValue, JSONValue)] {
        let told = try await scene.call(.patch, path, as: .operator, json: ["language": value])
        #expect(told.json?["language"] == language && told.json?["name"] == "One")
      }
      for zone in ["Asia/Shanghai", "UTC", "GMT+8", "GMT+08:00"] {
        let told = try await scene.call(.patch, path, as: .operator, json: ["time_zone": .string(zone)])
        #expect(told.json?["time_zone"] == .string(zone), "\(told.text)")
      }
      for (body, field) in [
        (["alias": "user-1"], "alias"), (["tags": ["a-b"]], "tags[0]"), (["alias": ""], "alias"),
        (["language": "Klingon"], "language"), (["time_zone": ""], "time_zone"),
        (["time_zone": "Mars/Phobos"], "time_zone"), (["time_zone": "GMT+8 o’clock"], "time_zone"),
        (["token": "x"], "token"),
        (["environment": .null], "environment"), (["state": "dead"], "state"),
      ] as [(JSONValue, String)] {
        let answer = try await scene.call(.patch, path, as: .operator, json: body)
        #expect(answer.status == 422 && answer.fields == [field], "\(body.text()): \(answer.text)")
      }
      try await scene.store.write { database in
        for (device, state) in [(devices[1].id, DeviceState.quarantined), (devices[2].id, .dead)] {
          let verdict = TokenVerdict(
            deviceID: device, state: state, reason: "BadDeviceToken", since: ConsoleScene.noon + 1, push: nil)
          try TokenVerdict.carryOut(database, [verdict], now: ConsoleScene.noon + 1)
        }
      }
      let free = try await scene.call(
        .patch, "/api/v1/devices/\(devices[1].id)", as: .operator, json: ["state": "active"])
      #expect(free.status == 200 && free.json?["state"] == "active")
      let dead = try await scene.call(
        .patch, "/api/v1/devices/\(devices[2].id)", as: .operator, json: ["state": "active"])
      #expect(dead.status == 422 && dead.codes == ["device.dead"])
      #expect(try await scene.audit("device.update").count == 8)
    }
  }

  @Test("a list is narrowed down by each filter, and read page by page")
  func listed() async throws {
    try await ConsoleScene.with { scene in
      let shop = try await scene.addApp()
      let devices = try await scene.addDevices(5, of: shop)
      try await scene.addDevices(2, of: shop, environment: .production, tag: "live")
      try await scene.addDevices(2, of: try await scene.addApp("com.example.other", name: "Other"))
      func ids(_ query: String) async throws -> [Int64] {
        let answer = try await scene.call(.get, "/api/v1/devices" + query, as: .viewer)
        return try #require(answer.json?["items"]?.array, "\(answer.text)").compactMap { $0["id"]?.integer }
      }
      #expect(try await ids("").count == 9)
      #expect(try await ids("?app=com.example.other").count == 2)
      #expect(try await ids("?environment=production") == [7, 6])
      #expect(try await ids("?tag=live") == [7])
      #expect(try await ids("?alias=anna&app=\(ConsoleScene.bundleID)&environment=development") == [1])
      #expect(try await ids("?token=\(devices[3].token.hexadecimal.uppercased())") == [devices[3].id])
      #expect(try await ids("?state=dead").isEmpty)
      #expect(try await ids("?platform=android").isEmpty)
      let first = try await scene.call(.get, "/api/v1/devices?limit=4", as: .viewer)
      let next = try #require(first.json?["next"]?.string)
      let rest = try await ids("?limit=500&cursor=\(next)")
      #expect(rest == [5, 4, 3, 2, 1])
      for query in ["?limit=501", "?limit=x", "?alias=", "?token=zz", "?state=asleep", "?cursor=-1"] {
        let answer = try await scene.call(.get, "/api/v1/devices" + query, as: .viewer)
        let name = String(query.dropFirst().prefix { $0 != "=" })
        #expect(answer.status == 422 && answer.fields == [name], "\(query): \(answer.text)")
      }
    }
  }

  @Test("apps are read page by page; a name may change, the bundle id may not")
  func apps() async throws {
    try await ConsoleScene.with { scene in
      for number in 1...5 { try await scene.addApp("com.example.a\(number)", name: "Z\(9 - number)") }
      var found: [String] = []
      var query = "?limit=2"
      while !query.isEmpty {
        let page = try await scene.call(.get, "/api/v1/apps" + query, as: .viewer).json
        found += page?["items"]?.array?.compactMap { $0["bundle_id"]?.string } ?? []
        query = page?["next"]?.string.map { "?limit=2&cursor=\($0)" } ?? ""
      }
      #expect(found == (1...5).map { "com.example.a\($0)" })
      let path = "/api/v1/apps/com.example.a1"
      let named = try await scene.call(
        .patch, path, as: .operator, json: ["name": "One", "package_name": "com.example.one", "alias_rule": "jpush"])
      #expect(named.json?["name"] == "One" && named.json?["alias_rule"] == "jpush")
      let bare = try await scene.call(.patch, path, as: .operator, json: ["package_name": .null])
      #expect(bare.json?["package_name"] == .null && bare.json?["name"] == "One")
      let moved = try await scene.call(.patch, path, as: .operator, json: ["bundle_id": "com.example.b"])
      #expect(moved.status == 422 && moved.fields == ["bundle_id"])
      #expect(try await scene.audit("app.update").count == 2)
    }
  }

  @Test("an audience is counted as a push would reach it")
  func counted() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(5, of: try await scene.addApp())
      func count(_ audience: JSONValue, _ change: JSONValue = [:]) async throws -> SceneAnswer {
        let body: JSONValue = [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"],
          "audience": audience,
        ]
        return try await scene.call(
          .post, "/api/v1/audience/count", as: .viewer,
          json: .object((body.object ?? [:]).merging(change.object ?? [:]) { $1 }))
      }
      #expect(try await count("all").json?["reachable"] == 5)
      #expect(
        try await count(["tag": ["odd"]]).json == [
          "reachable": 2, "unreachable": 0, "platforms": ["ios": 2, "android": 0],
        ])
      #expect(try await count(["alias": ["anna"], "tag_not": ["odd"]]).json?["reachable"] == 1)
      #expect(try await count("all", ["platforms": ["android"]]).json?["reachable"] == 0)
      let wrong = try await count(["tag": [1], "tga": []], ["environment": "x", "platforms": []])
      #expect(wrong.fields == ["environment", "platforms", "audience.tag[0]", "audience.tga"])
      #expect(try await count(.null).fields == ["audience"])
      // Platforms as a push names them.
      for platforms in [nil, "all", .null, ["ios", "android"]] as [JSONValue?] {
        var body: [String: JSONValue] = [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
        ]
        body["platforms"] = platforms
        let answer = try await scene.call(.post, "/api/v1/audience/count", as: .viewer, json: .object(body))
        #expect(answer.json?["reachable"] == 5, "\(platforms?.text() ?? "left out")")
      }
    }
  }
}
