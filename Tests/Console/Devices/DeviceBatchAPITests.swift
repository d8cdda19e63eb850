import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

/// `POST /api/v1/devices/batch`.
@Suite("API: several devices")
struct DeviceBatchAPITests {
  private static let path = "/api/v1/devices/batch"

  private static func result(
    _ action: String, dryRun: Bool = false, changed: Int64, unchanged: Int64 = 0, missing: [Int64] = []
  ) -> JSONValue {
    [
      "action": .string(action), "dry_run": .bool(dryRun), "changed": .integer(changed),
      "unchanged": .integer(unchanged), "missing": .array(missing.map { .integer($0) }),
    ]
  }

  @Test("devices change together, with an audit entry for each; a dry run changes nothing")
  func changes() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      func post(_ body: JSONValue) async throws -> JSONValue? {
        let answer = try await scene.call(.post, Self.path, as: .operator, json: body)
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json
      }
      let before = try await DeviceBatchTests.devices(scene)
      let tried = try await post(
        ["action": "add_tags", "devices": [1, 2, 2, 99], "tags": ["vip"], "dry_run": true])
      #expect(tried == Self.result("add_tags", dryRun: true, changed: 2, missing: [99]))
      #expect(try await DeviceBatchTests.devices(scene) == before)
      #expect(try await scene.audit("device.update").isEmpty)

      let tagged = try await post(["action": "add_tags", "devices": [1, 2, 99], "tags": ["vip"]])
      #expect(tagged == Self.result("add_tags", changed: 2, missing: [99]))
      let again = try await post(["action": "add_tags", "devices": [2, 3], "tags": ["vip"]])
      #expect(again == Self.result("add_tags", changed: 1, unchanged: 1))
      #expect(try await scene.audit("device.update").count == 3)
      let named = try await post(["action": "set_alias", "devices": [1, 2], "alias": .null])
      #expect(named == Self.result("set_alias", changed: 1, unchanged: 1))
      let moved = try await post(["action": "to_production", "devices": [1, 2]])
      #expect(moved == Self.result("to_production", changed: 2))
      let merged = try await post(["action": "merge", "devices": [1, 2], "keep": 2])
      #expect(merged == Self.result("merge", changed: 2))
      let deleted = try await post(["action": "delete", "devices": [4]])
      #expect(deleted == Self.result("delete", changed: 1))
      let after = try await DeviceBatchTests.devices(scene)
      #expect(after.map(\.id) == [2, 3] && after.allSatisfy { $0.tags.contains("vip") && $0.alias == nil })
      #expect(after[0].environment == .production)
    }
  }

  @Test("wrong bodies name the member, and nothing changes; a token sees its apps' devices alone")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp(aliasRule: "jpush"))
      let other = try await scene.addApp("com.example.other", name: "Other")
      try await scene.addDevices(1, of: other)
      let before = try await DeviceBatchTests.devices(scene)
      for (body, field) in [
        (["devices": [1]], "action"), (["action": "reactivate"], "devices"),
        (["action": "reactivate", "devices": []], "devices"), (["action": "delete", "devices": ["1"]], "devices[0]"),
        (["action": "reactivate", "devices": [1]], "devices"), (["action": "merge", "devices": [1, 2]], "keep"),
        (["action": "merge", "devices": [1, 2], "keep": 3], "keep"),
        (["action": "merge", "devices": [1, 4], "keep": 1], "devices"),
        (["action": "to_production", "devices": [1, 4]], "devices"),
        (["action": "add_tags", "devices": [1]], "tags"), (["action": "add_tags", "devices": [1], "tags": []], "tags"),
        (["action": "add_tags", "devices": [1], "tags": ["a-b"]], "tags[0]"),
        (["action": "set_alias", "devices": [1]], "alias"),
        (["action": "set_alias", "devices": [1], "alias": "a-b"], "alias"),
        (["action": "delete", "devices": [1], "tags": ["x"]], "tags"),
      ] as [(JSONValue, String)] {
        let answer = try await scene.call(.post, Self.path, as: .operator, json: body)
        #expect(answer.status == 422 && answer.fields == [field], "\(body.text()): \(answer.text)")
        // What is left out is missed, too.
        #expect(!answer.text.contains("Leave the field out"), "\(body.text())")
      }
      let many = JSONValue.array((1...1001).map { .integer($0) })
      let tooMany = try await scene.call(.post, Self.path, as: .operator, json: ["action": "delete", "devices": many])
      #expect(tooMany.status == 422 && tooMany.fields == ["devices"])
      let headers = try await TokenAccessTests.token(scene, ["devices"], apps: [other.id])
      let hidden = try await scene.call(
        .post, Self.path, as: nil, json: ["action": "delete", "devices": [1, 2]], headers: headers)
      #expect(hidden.json == Self.result("delete", changed: 0, missing: [1, 2]))
      #expect(try await DeviceBatchTests.devices(scene) == before)
      #expect(try await scene.audit().allSatisfy { !$0.action.hasPrefix("device.") })
    }
  }
}
