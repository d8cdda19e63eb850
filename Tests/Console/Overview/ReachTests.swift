import Console
import Foundation
import Model
import SQLite
import Store
import Testing

@Suite("Pages: devices out of reach")
struct ReachTests {
  @Test("the Overview says how many devices of an app are out of reach, and is not clear when most of them are")
  func unreachable() async throws {
    try await ConsoleScene.with { scene in
      let devices = try await scene.addDevices(18, of: try await scene.addApp())
      var ben = try await scene.signIn(.viewer)
      func retire(_ range: Range<Int>, _ state: DeviceState) async throws {
        try await scene.store.write { database in
          let verdicts = devices[range].map {
            TokenVerdict(
              deviceID: $0.id, state: state, reason: "Unregistered", since: ConsoleScene.noon + 1, push: nil)
          }
          try TokenVerdict.carryOut(database, verdicts, now: ConsoleScene.noon + 1)
        }
      }
      #expect(!ScenePage(try await ben.get("/")).text.contains(" of 18"))
      try await retire(0..<9, .dead)
      let half = ScenePage(try await ben.get("/"))
      #expect(half.text.contains("9 of 18") && !half.text.contains("are parked or retired"))
      try await retire(9..<12, .quarantined)
      let most = ScenePage(try await ben.get("/"))
      #expect(most.text.contains("6 of 18"))
      #expect(most.text.contains("12 of 18 devices of Shop (development) are parked or retired"))
      let href = "/devices?app=com.example.shop&environment=development"
      #expect(most.links.contains(href) && !most.text.contains("All clear"))
      #expect(try await ben.get(href).status == 200)
    }
  }
  @Test("where a credential was refused, the Overview and the apps say which and why, and only that is red")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(1, of: app)
      try await scene.store.write { database in
        for provider in [ProviderKind.apns, .jpush] {
          _ = try Credential.bind(
            database, app: app.id, provider: provider, environment: .development, certificate: nil,
            endpoint: "simulator", now: ConsoleScene.noon)
        }
        try database.run(
          """
          UPDATE credentials SET last_refused_at = ?, last_refusal = 'JPush 1004'
          WHERE provider = 'jpush' AND environment = 'development'
          """, ConsoleScene.noon)
      }
      var ben = try await scene.signIn(.viewer)
      for path in ["/", "/apps"] {
        let page = ScenePage(try await ben.get(path))
        #expect(page.text.contains("JPush: refused with 1004"), "\(path)")
        let cells = page.tags.filter { $0.name == "td" && $0.attributes["class"]?.contains("told") == true }
        #expect(!cells.isEmpty && cells.allSatisfy { $0.attributes["class"]?.contains("red") == false })
        #expect(page.tags.contains { $0.name == "span" && $0.attributes["class"] == "red" }, "\(path)")
      }
    }
  }
}
