import Console
import Foundation
import Model
import Store
import Testing

@Suite("Pages: devices out of reach")
struct ReachTests {
  @Test("the Overview says how many devices of an app are out of reach, and is not clear when most of them are")
  func unreachable() async throws {
    try await ConsoleScene.with { scene in
      let devices = try await scene.addDevices(18, of: try await scene.addApp())
      var ben = try await scene.signIn(.operator)
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
}
