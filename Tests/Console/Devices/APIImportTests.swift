import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

@Suite("API: import of devices")
struct APIImportTests {
  private func line(_ number: Int, _ change: JSONValue = [:]) -> String {
    let device: JSONValue = [
      "app": .string(ConsoleScene.bundleID), "environment": "development", "platform": "ios",
      "token": .string(ConsoleScene.token(number).hexadecimal), "tags": ["beta"],
    ]
    return JSONValue.object((device.object ?? [:]).merging(change.object ?? [:]) { $1 }).text()
  }

  private func send(_ scene: ConsoleScene, _ text: String, type: String = "application/x-ndjson") async throws
    -> SceneAnswer
  {
    try await scene.call(
      .post, "/api/v1/devices/import", as: .operator, headers: ["Content-Type": type], body: Array(text.utf8))
  }

  private func count(_ scene: ConsoleScene) async throws -> Int {
    try await scene.store.read { try DeviceCount.all($0).reduce(0) { $0 + $1.count } }
  }

  @Test("good lines are kept, bad ones named with line and field; a repeat changes nothing but the counts")
  func mixed() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp(aliasRule: "jpush")
      let text = [
        line(1), "", line(2, ["token": "short"]), "{nonsense", line(3, ["alias": "user-1"]),
        line(4, ["colour": "blue"]), line(5, ["app": "com.example.none"]), line(6, ["alias": "anna"]), line(1),
      ].joined(separator: "\n")
      let answer = try await send(scene, text)
      #expect(answer.status == 200, "\(answer.text)")
      let json = try #require(answer.json)
      #expect(json["lines"] == 8 && json["added"] == 2 && json["updated"] == 1 && json["rejected"] == 5)
      let errors = try #require(json["errors"]?.array)
      #expect(errors.map { $0["line"]?.integer } == [3, 4, 5, 6, 7])
      #expect(errors.map { $0["field"]?.string } == ["token", nil, "alias", "colour", "app"])
      #expect(try await count(scene) == 2)

      let again = try await send(scene, text)
      #expect(again.json?["added"] == 0 && again.json?["updated"] == 3)
      #expect(try await count(scene) == 2)
      #expect(try await scene.audit("device.import").map(\.actor) == ["token operator", "token operator"])
    }
  }

  @Test("CSV with its header; a header that is wrong is refused whole")
  func csv() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let row = { (number: Int) in
        "\(ConsoleScene.bundleID),development,ios,\(ConsoleScene.token(number).hexadecimal),beta gamma\r\n"
      }
      let header = "app,environment,platform,token,tags\r\n"
      let answer = try await send(scene, header + row(1) + row(2) + "x,y\r\n", type: "text/csv; charset=utf-8")
      #expect(answer.json?["added"] == 2 && answer.json?["rejected"] == 1)
      #expect(answer.json?["errors"]?.array?.first?["line"] == 4)
      let devices = try await scene.store.read { try Device.list($0, DeviceFilter(), limit: 10).items }
      #expect(devices.map(\.tags) == [["beta", "gamma"], ["beta", "gamma"]])

      let wrong = try await send(scene, header.replacing("tags", with: "colour") + row(3), type: "text/csv")
      #expect(wrong.status == 422 && wrong.codes == ["import.column_unknown"])
      #expect(try await count(scene) == 2)
    }
  }

  @Test("on a disk that fills, it is said how many devices are in and how to go on; then the file goes in whole")
  func full() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let limit: @Sendable (Int64) async throws -> Void = { room in
        try await scene.store.write { database in
          let present = try database.fetchOne("PRAGMA page_count") { $0.int64(0) } ?? 0
          try database.forEach("PRAGMA max_page_count = \(room == 0 ? 4_294_967_294 : present + room)") { _ in .continue
          }
        }
      }
      // The first transaction needs little room, the second one a lot.
      let first = Array(repeating: line(0), count: DeviceImportBatch.size)
      let text = (first + (1...3000).map { line($0) }).joined(separator: "\n")
      try await limit(30)
      let before =
        "The database disk is full. The import ended early: 20000 devices of the file were imported before (1 "
      let answer = try await send(scene, text)
      #expect(answer.status == 507, "\(answer.text)")
      let detail = answer.json?["detail"]?.string ?? ""
      #expect(detail.hasPrefix(before + "added, 19999 updated), the rest were not. Import the same file again"))
      #expect(!detail.contains("Nothing was changed"))
      #expect(try await count(scene) == 1)
      // The page says the same, and with nothing imported the answer is that nothing was changed.
      var anna = try await scene.signIn(.operator)
      try await limit(30)
      let page = try await anna.upload(
        "/devices/import", [.field("format", "ndjson"), .file("file", name: "d.ndjson", Array(text.utf8))])
      #expect(page.status == 507 && page.text.contains("20,000 devices of the file were imported before"))
      let none = try await send(scene, (1...3000).map { line($0) }.joined(separator: "\n"))
      #expect(none.status == 507 && none.json?["detail"]?.string?.contains("Nothing was changed") == true)
      try await limit(0)
      let again = try await send(scene, text)
      #expect(again.status == 200 && again.json?["added"] == 3000 && again.json?["lines"] == 23000, "\(again.text)")
    }
  }

  @Test("more lines than one transaction takes, and of more errors the first 1000 are named")
  func large() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let good = DeviceImportBatch.size + 500
      let lines = (0..<good).map { line($0) } + (0..<1500).map { _ in "{}" }
      let answer = try await send(scene, lines.joined(separator: "\n"))
      #expect(answer.json?["added"]?.integer == Int64(good))
      #expect(answer.json?["rejected"] == 1500)
      #expect(answer.json?["errors"]?.array?.count == 1000)
      #expect(answer.json?["errors"]?.array?.first?["line"]?.integer == Int64(good + 1))
      #expect(try await count(scene) == good)
      let audit = try await scene.audit("device.import").map { $0.detail?["added"]?.integer }
      #expect(audit == [500, Int64(DeviceImportBatch.size)])
    }
  }

  @Test("an empty body is no mistake; another content type is")
  func edges() async throws {
    try await ConsoleScene.with { scene in
      let empty = try await send(scene, "")
      #expect(empty.status == 200 && empty.json?["lines"] == 0)
      #expect(try await scene.audit("device.import").isEmpty)
      #expect(try await send(scene, line(1), type: "application/json").status == 415)
    }
  }
}
