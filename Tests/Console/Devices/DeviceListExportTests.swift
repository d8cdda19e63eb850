import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

@testable import Console

/// Exports need a connection: a server on a free port of this machine.
@Suite("Export of devices", .timeLimit(.minutes(2)))
struct DeviceListExportTests {
  /// The body of an answer in chunks.
  static func body(_ answer: String) -> String {
    let text = answer.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
    // The lines with the lengths of chunks stand between them.
    return text.replacing(/(?:^|\r\n)[0-9a-f]{1,8}\r\n/, with: "").trimmingCharacters(in: .newlines)
  }

  @Test("both forms have every device once, over the edges of pages, with the page's filters")
  func whole() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(2100, of: app)
      try await scene.store.write { database in
        try database.run("UPDATE devices SET name = '=1+2' WHERE id = 2")
        try Device.update(database, id: 3, alias: .set("usr_3"), by: "x", now: ConsoleScene.noon)
      }
      let vera = try await scene.signIn(.viewer)
      try await scene.served(to: vera) { served in
        let csv = try await served.get("/devices.csv")
        #expect(csv.contains("filename=\"devices.csv\"") && csv.contains("no-store"))
        let tokens = csv.matches(of: /,([0-9a-f]{64}),/).map { String($0.1) }
        #expect(tokens.count == 2100 && Set(tokens).count == 2100)
        #expect(csv.contains(",'=1+2,"), "a formula is guarded")
        let json = try await served.get("/devices.json")
        #expect(json.matches(of: /"registered_at":/).count == 2100)
        let odd = try await served.get("/devices.json?app=\(ConsoleScene.bundleID)&q=odd")
        #expect(odd.matches(of: /"registered_at":/).count == 1050 && !odd.contains(#""tags":[]"#))
        let one = try await served.get("/devices.csv?q=usr_3&environment=development")
        #expect(one.matches(of: /,[0-9a-f]{64},/).count == 1)
        let none = Self.body(try await served.get("/devices.json?environment=production"))
        #expect(try JSONValue(parsing: Data(none.utf8)).array?.isEmpty == true)
      }
      let written = try await scene.audit("device.export")
      #expect(written.count == 5 && written.allSatisfy { $0.actor == "viewer@example.com" })
      #expect(Set(written.compactMap { $0.detail?["format"]?.string }) == ["csv", "json"])
      var browser = vera
      let page = ScenePage(try await browser.get("/devices?q=odd&app=\(ConsoleScene.bundleID)&cursor=900"))
      #expect(page.links.contains("/devices.csv?q=odd&app=\(ConsoleScene.bundleID)"), "\(page.links)")
      #expect(!ScenePage(try await browser.get("/devices?q=nobody")).links.contains { $0.hasPrefix("/devices.csv") })
    }
  }

  @Test("the devices of a segment are exported, and the log names it")
  func segment() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(6, of: try await scene.addApp())
      var ben = try await scene.signIn(.operator)
      _ = try await ben.post(
        "/audiences/segments",
        [("app", ConsoleScene.bundleID), ("name", "Odd"), ("environment", ""), ("tag", "odd")])
      let path = "/audiences/segments/1/devices"
      let page = ScenePage(try await ben.get("/audiences/segments/1"))
      #expect(page.links.contains(path + ".csv") && page.links.contains(path + ".json"))
      try await scene.served(to: ben) { served in
        let (csv, json) = (try await served.get(path + ".csv"), try await served.get(path + ".json"))
        #expect(csv.matches(of: /,[0-9a-f]{64},/).count == 3)
        #expect(json.matches(of: /"registered_at":/).count == 3)
      }
      #expect(Set(try await scene.audit("device.export").map(\.subject)) == ["segment 1"])
    }
  }

  @Test("an exported CSV is imported again, as it was")
  func again() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: try await scene.addApp())
      let csv = try await Self.exported(scene, "/devices.csv", as: "a@example.com")
      let before = try await scene.store.read { try Device.list($0, DeviceFilter(), limit: 10).items }
      _ = try await scene.store.write { try $0.run("UPDATE devices SET alias = NULL") }
      var ben = try await scene.signIn(.operator)
      let answer = try await ben.upload("/devices/import", [.file("file", name: "d.csv", Array(csv.utf8))])
      #expect(answer.status < 400, "\(answer.text)")
      let after = try await scene.store.read { try Device.list($0, DeviceFilter(), limit: 10).items }
      #expect(after.map(\.alias) == before.map(\.alias) && after.map(\.token) == before.map(\.token))
      #expect(after.map(\.tags) == before.map(\.tags) && after.count == 3)
    }
  }

  static func exported(_ scene: ConsoleScene, _ target: String, as name: String) async throws -> String {
    let text = Box()
    try await scene.served(to: try await scene.signIn(.viewer, name: name)) { served in
      await text.set(body(try await served.get(target)))
    }
    return await text.value
  }

  private actor Box {
    private(set) var value = ""

    func set(_ text: String) { value = text }
  }
}
