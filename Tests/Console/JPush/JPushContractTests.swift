import Foundation
import HTTPServer
import JSON
import Logging
import Model
import Store
import TestSupport
import Testing

@testable import Console

/// The document of the API that is compatible with JPush, and JPush's own client.
@Suite("JPush API: the document, and JPush's client for Python")
struct JPushContractTests {
  private typealias Operation = OpenAPIDocument.Operation

  private static let python = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_JPUSH"]

  @Test(
    "every operation of the document has a route, with and without a slash at the end, and every route is described")
  func routes() async throws {
    let document = try OpenAPIDocument("jpush.json")
    try await ConsoleScene.with { scene in
      let patterns = scene.router.routes.filter { $0.name == "jpush" }.map { route in
        let parts = route.pattern.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
        let slash = route.pattern.hasSuffix("/") ? "/" : ""
        return Operation(method: route.method.rawValue, path: "/" + parts.joined(separator: "/") + slash)
      }
      let served = Set(patterns)
      #expect(served.count == patterns.count)
      let slashed = document.operations.map { Operation(method: $0.method, path: $0.path + "/") }
      #expect(document.operations.union(slashed).subtracting(served) == [], "described, not served")
      #expect(served.subtracting(document.operations.union(slashed)) == [], "served, not described")
      let file = try await scene.call(.get, "/api/jpush.json", as: nil)
      #expect(file.status == 200)
    }
  }

  @Test("answers and refusals fit the document")
  func answers() async throws {
    let document = try OpenAPIDocument("jpush.json")
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a"], ["a"])
      let trigger: JSONValue = ["single": ["time": "2027-01-01 00:00:00"]]
      let schedule: JSONValue = ["name": "a", "enabled": true, "trigger": trigger, "push": JPushScene.push]
      let made = try await jpush.call(.post, "/v3/schedules", schedule)
      let id = try #require(made.json?["schedule_id"]?.string)
      let slow = JSONValue.object(
        (JPushScene.push.object ?? [:]).merging(["options": ["big_push_duration": 1400]]) { $1 })
      let running = try #require(try await jpush.call(.post, "/v3/push", slow).json?["msg_id"]?.string)
      let batch: JSONValue = ["pushlist": ["c": ["platform": "ios", "target": "r1", "notification": ["alert": "x"]]]]
      let aliases: JSONValue = ["pushlist": ["d": ["platform": "ios", "target": "x", "notification": ["alert": "x"]]]]
      let devices: JSONValue = ["registration_ids": ["r1", "none"]]
      let change: JSONValue = ["tags": ["add": ["b"]], "alias": "x"]
      let status: JSONValue = ["msg_id": 1, "registration_ids": ["r1"]]
      let reports = "?msg_ids=1"
      for (method, path, target, body) in [
        (HTTPServer.Method.post, "/v3/push", "/v3/push", JPushScene.push),
        (.post, "/v3/push/validate", "/v3/push/validate", JPushScene.push),
        (.get, "/v3/push/cid", "/v3/push/cid?count=2", nil),
        (.delete, "/v3/push/{id}", "/v3/push/\(running)", nil),
        (.post, "/v3/push/batch/regid/single", "/v3/push/batch/regid/single", batch),
        (.post, "/v3/push/batch/alias/single", "/v3/push/batch/alias/single", aliases),
        (.get, "/v3/schedules", "/v3/schedules", nil), (.post, "/v3/schedules", "/v3/schedules", schedule),
        (.get, "/v3/schedules/{id}", "/v3/schedules/\(id)", nil),
        (.put, "/v3/schedules/{id}", "/v3/schedules/\(id)", ["name": "b"]),
        (.get, "/v3/schedules/{id}/msg_ids", "/v3/schedules/\(id)/msg_ids", nil),
        (.delete, "/v3/schedules/{id}", "/v3/schedules/\(id)", nil),
        (.post, "/v3/devices/{id}", "/v3/devices/r1", change), (.get, "/v3/devices/{id}", "/v3/devices/r1", nil),
        (.post, "/v3/devices/status", "/v3/devices/status", devices),
        (.get, "/v3/aliases/{name}", "/v3/aliases/x", nil),
        (.post, "/v3/aliases/{name}", "/v3/aliases/x", ["registration_ids": ["remove": ["r1"]]]),
        (.delete, "/v3/aliases/{name}", "/v3/aliases/x", nil), (.get, "/v3/tags", "/v3/tags", nil),
        (.post, "/v3/tags/{name}", "/v3/tags/a", ["registration_ids": ["add": ["r1"]]]),
        (.get, "/v3/tags/{name}/registration_ids/{id}", "/v3/tags/a/registration_ids/r1", nil),
        (.delete, "/v3/tags/{name}", "/v3/tags/a", nil), (.get, "/v3/received", "/v3/received" + reports, nil),
        (.get, "/v3/received/detail", "/v3/received/detail" + reports, nil),
        (.get, "/v3/messages", "/v3/messages" + reports, nil),
        (.get, "/v3/messages/detail", "/v3/messages/detail" + reports, nil),
        (.post, "/v3/status/message", "/v3/status/message", status),
        (.get, "/v3/users", "/v3/users?time_unit=DAY&start=2026-11-20&duration=1", nil),
      ] as [(HTTPServer.Method, String, String, JSONValue?)] {
        let operation = Operation(method: method.rawValue, path: path)
        let answer = try await jpush.call(method, target, body)
        #expect(answer.status == 200, "\(operation): \(answer.text)")
        #expect(try document.errors(answer, to: operation) == [], "\(operation): \(answer.text)")
        if let body { #expect(try document.requestErrors(body, of: operation) == [], "\(operation)") }
        let stranger = try await jpush.call(method, target, body, authorization: "")
        #expect(try document.errors(stranger, to: operation) == [], "\(operation): \(stranger.text)")
        guard body != nil else { continue }
        let wrong = try await jpush.call(method, target, body: Array("{".utf8))
        #expect(wrong.status >= 400)
        #expect(try document.errors(wrong, to: operation) == [], "\(operation): \(wrong.text)")
      }
    }
  }

  @Test(
    "every call of the package jpush works after a change of the host",
    .enabled(if: python != nil, "SIGNALBOX_TEST_JPUSH is not set: script/test sets it"))
  func client() async throws {
    let script = ConsoleScene.root.appendingPathComponent("Tests/Console/Fixtures/strangers/jpush_client.py").path
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a"], ["a", "b"])
      try await WebTestServer.with(jpush.scene.router) { address in
        let (status, output) = try await OtherProgram.run(
          try #require(Self.python), [script, "http://\(address)", jpush.appKey, jpush.secret],
          environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        #expect(status == 0, "\(output)")
      }
      #expect(jpush.scene.log.entries.filter { $0.level >= .error }.map { "\($0)" } == [])
      let pushes = try await jpush.store.read { try Push.list($0, PushFilter(), limit: 100).items }
      for push in pushes { _ = try await jpush.scene.finished(push.uid) }
      // What the console shows is what the client sent: production unless it said otherwise.
      #expect(pushes.contains { $0.environment == .production } && pushes.allSatisfy { $0.source == .jpush })
    }
  }
}
