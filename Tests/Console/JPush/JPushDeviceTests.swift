import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@testable import Console

@Suite("JPush API: devices, aliases and tags")
struct JPushDeviceTests {
  private static func tags(_ jpush: JPushScene, _ id: String) async throws -> JSONValue? {
    try await jpush.call(.get, "/v3/devices/\(id)/").json?["tags"]
  }

  @Test("tags are added, removed and cleared, the alias set and deleted; what is not named stays")
  func update() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a", "b"])
      #expect(
        try await jpush.call(.get, "/v3/devices/r1").json == ["tags": ["a", "b"], "alias": "anna", "mobile": .null])
      for (body, tags, alias) in [
        (["tags": ["add": ["c", "深圳"], "remove": ["a", "x"]]], ["b", "c", "深圳"], "anna"),
        (["alias": "usr_1"], ["b", "c", "深圳"], "usr_1"), (["tags": ["add": ["b"]]], ["b", "c", "深圳"], "usr_1"),
        (["tags": ""], [], "usr_1"), (["alias": "", "mobile": ""], [], .null),
      ] as [(JSONValue, JSONValue, JSONValue)] {
        let answer = try await jpush.call(.post, "/v3/devices/r1/", body)
        #expect(answer.status == 200 && answer.bytes.isEmpty, "\(answer.text)")
        let device = try await jpush.call(.get, "/v3/devices/r1").json
        #expect(device?["tags"] == tags && device?["alias"] == alias, "\(body.text())")
      }
      let numbered = try await jpush.call(
        .post, "/v3/devices/r1/", ["alias": "usr_2", "tags": ["add": ["d"]], "mobile": "13800000000"])
      #expect(numbered.status == 200 && numbered.response.headers["X-Signalbox-Unused"] == "mobile")
      let device = try await jpush.call(.get, "/v3/devices/r1").json
      #expect(device?["tags"] == ["d"] && device?["alias"] == "usr_2" && device?["mobile"] == .null)
      let entry = try #require(try await jpush.scene.audit("device.update").first)
      #expect(entry.actor == "jpush \(jpush.appKey)")
    }
  }

  @Test("wrong changes are 7002 with the rule, and an eleventh device of an alias is 7015")
  func refused() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a"], [], [], [], [], [], [], [], [], [], [])
      let many: JSONValue = .array((0...100).map { .string("t\($0)") })
      func tags(_ numbers: Range<Int>) -> JSONValue {
        .array(numbers.map { .string(String(repeating: "x", count: 38) + String($0)) })
      }
      for (body, text) in [
        (["alias": "user-e6882cab-cedf-4335-9b7c-612cd5b4d37d"], "40"),
        (["alias": "e6882cab-cedf-4335-9b7c-612cd5b4d37d"], "-"), (["tags": ["add": ["a b"]]], "tags.add"),
        (["tags": ["add": many]], "100"), (["tags": ["add": tags(10..<36)]], "1000"),
        (["tags": ["add": tags(10..<23), "remove": tags(23..<36)]], "1000"), (["tags": ["set": ["a"]]], "set"),
        (["tags": ["a"]], "tags"), (["alias": 7], "alias"), ([:], "alias"),
        (["name": "x"], "name"), (["tags": ["add": [7]]], "tags.add"), ([], "object"),
      ] as [(JSONValue, String)] {
        let answer = try await jpush.call(.post, "/v3/devices/r1", body)
        #expect(answer.status == 400 && answer.jpushCode == 7002, "\(body.text().prefix(80)): \(answer.text)")
        #expect(answer.json?["error"]?["message"]?.string?.contains(text) == true, "\(answer.text)")
      }
      #expect(try await Self.tags(jpush, "r1") == ["a"])
      #expect(try await jpush.call(.get, "/v3/devices/none").jpushCode == 7002)
      let form: JSONValue = ["alias": "usr_e6882cab_cedf_4335_9b7c_612cd5b4d37d"]
      for number in 1...10 { #expect(try await jpush.call(.post, "/v3/devices/r\(number)", form).status == 200) }
      let eleventh = try await jpush.call(.post, "/v3/devices/r11", form)
      #expect(eleventh.status == 400 && eleventh.jpushCode == 7015)
    }
  }

  @Test("an alias shows its devices, loses some of them, and is deleted on one platform or all")
  func aliases() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([], [], [])
      for id in ["r2", "r3"] { _ = try await jpush.call(.post, "/v3/devices/\(id)", ["alias": "anna"]) }
      func ids(_ query: String = "") async throws -> JSONValue? {
        try await jpush.call(.get, "/v3/aliases/anna\(query)").json?["registration_ids"]
      }
      #expect(try await ids() == ["r1", "r2", "r3"])
      #expect(try await ids("?platform=ios%2Candroid") == ["r1", "r2", "r3"])
      #expect(try await ids("/?platform=ios&platform=android") == ["r1", "r2", "r3"])
      #expect(try await ids("?platform=android") == [])
      #expect(try await ids("?platform=ios,hmos,quickapp,winphone") == ["r1", "r2", "r3"])
      #expect(try await ids("?platform=hmos") == [])
      #expect(try await jpush.call(.get, "/v3/aliases/anna?platform=x").jpushCode == 7002)
      #expect(try await jpush.call(.get, "/v3/aliases/a-b").jpushCode == 7002)
      let half: JSONValue = ["registration_ids": ["remove": ["r1", "none"]]]
      #expect(try await jpush.call(.post, "/v3/aliases/anna", half).jpushCode == 7013, "all or none")
      #expect(try await ids() == ["r1", "r2", "r3"])
      #expect(
        try await jpush.call(.post, "/v3/aliases/anna", ["registration_ids": ["remove": ["r1"]]]).status == 200)
      #expect(try await ids() == ["r2", "r3"])
      #expect(try await jpush.call(.delete, "/v3/aliases/anna?platform=android").status == 200)
      #expect(try await ids() == ["r2", "r3"])
      #expect(try await jpush.call(.delete, "/v3/aliases/anna").status == 200)
      #expect(try await ids() == [])
    }
  }

  @Test("tags are listed, checked, given to devices, and deleted, with any character that is allowed")
  func tags() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a"], [], [])
      let tag = "/v3/tags/%E6%B7%B1%E5%9C%B3%23"
      let change: JSONValue = ["registration_ids": ["add": ["r1", "r2"], "remove": ["r3"]]]
      #expect(try await jpush.call(.post, tag + "/", change).status == 200)
      #expect(try await jpush.call(.get, "/v3/tags/").json == ["tags": ["a", "深圳#"]])
      #expect(try await jpush.call(.get, tag + "/registration_ids/r2").json == ["result": true])
      #expect(try await jpush.call(.get, tag + "/registration_ids/r3").json == ["result": false])
      #expect(try await jpush.call(.get, tag + "/registration_ids/none").jpushCode == 7002)
      let half: JSONValue = ["registration_ids": ["add": ["r3", "none"]]]
      #expect(try await jpush.call(.post, tag, half).jpushCode == 7013)
      #expect(try await jpush.call(.get, tag + "/registration_ids/r3").json == ["result": false])
      for body in [[:], ["registration_ids": [:]], ["registration_ids": ["add": "r1"]]] as [JSONValue] {
        #expect(try await jpush.call(.post, tag, body).jpushCode == 7002)
      }
      #expect(try await jpush.call(.delete, tag).status == 200)
      #expect(try await jpush.call(.get, "/v3/tags").json == ["tags": ["a"]])
      #expect(try await jpush.scene.audit("tag.delete").count == 1)
    }
  }

  @Test("status: when the app last contacted the server, in Beijing time")
  func status() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      func status() async throws -> JSONValue? {
        try await jpush.call(.post, "/v3/devices/status", ["registration_ids": ["r1", "none"]]).json
      }
      #expect(try await status() == ["r1": ["online": true], "none": [:]])
      jpush.scene.clock.advance(601)
      #expect(
        try await status() == ["r1": ["online": false, "last_online_time": "2026-11-20 20:00:00"], "none": [:]])
      jpush.scene.clock.advance(2 * 86_400)
      #expect(try await status() == ["r1": ["online": false], "none": [:]])
      #expect(try await jpush.call(.post, "/v3/devices/status/", ["registration_ids": []]).jpushCode == 7002)
    }
  }

  @Test("devices of another app are not seen")
  func others() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a"])
      let other = try await jpush.scene.addApp("com.example.other", name: "Other")
      let issued = try await jpush.store.write { try JPushKey.issue($0, app: other, by: "eve", now: ConsoleScene.noon) }
      let eve = JPushScene(scene: jpush.scene, app: other, appKey: issued.key.appKey, secret: issued.secret)
      #expect(try await eve.call(.get, "/v3/devices/r1").jpushCode == 7002)
      #expect(try await eve.call(.get, "/v3/aliases/anna").json == ["registration_ids": []])
      #expect(try await eve.call(.get, "/v3/tags").json == ["tags": []])
      #expect(try await eve.call(.delete, "/v3/tags/a").status == 200)
      #expect(try await eve.call(.post, "/v3/push", JPushScene.push).jpushCode == 1011)
      #expect(try await Self.tags(jpush, "r1") == ["a"])
    }
  }
}
