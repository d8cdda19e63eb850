import Foundation
import JSON
import Model
import SQLite
import Store
import Testing

/// What the review says of an audience, before anything is sent.
@Suite("Pages: checks of an audience")
struct AudienceCheckTests {
  private static func fields(
    _ audience: [(String, String)], body: String = "Hello", environment: String = "development",
    platforms: [String] = ["ios"]
  ) -> [(String, String)] {
    [("app", ConsoleScene.bundleID), ("environment", environment), ("body", body)]
      + platforms.map { ("platforms", $0) } + audience
  }

  private static func hasSend(_ page: ScenePage) -> Bool {
    page.tags.contains { $0.name == "button" && $0.text.contains("Send to") }
  }

  /// One iPhone of APNs with the alias `anna`, and two Android phones of JPush, one with the tag `odd`.
  private static func addMixed(_ scene: ConsoleScene) async throws -> App {
    let app = try await scene.addApp()
    try await scene.addDevices(1, of: app)
    try await scene.store.write { database in
      let registrations = (0..<2).map { number in
        var registration = Registration(
          token: DeviceToken(bytes: Array("1a0018970a8123456\(number)a".utf8)), environment: .development,
          platform: .android)
        registration.provider = .jpush
        if number == 0 { registration.tags = .set(["odd"]) }
        return registration
      }
      let results = try Device.register(database, app: app.id, registrations, now: ConsoleScene.noon)
      #expect(results.allSatisfy { $0.deviceID != nil })
    }
    return app
  }

  @Test("JPush's limits hold for the devices of the audience that JPush reaches, and for no others")
  func jpush() async throws {
    try await ConsoleScene.with { scene in
      _ = try await Self.addMixed(scene)
      var ben = try await scene.signIn(.operator)
      for (audience, platforms, length, isRefused) in [
        ([("audience", "alias"), ("alias", "anna")], ["ios"], 2500, false),
        ([("audience", "alias"), ("alias", "anna")], ["ios", "android"], 3900, false),
        ([("audience", "all")], ["ios", "android"], 2500, false),
        ([("audience", "all")], ["ios"], 3900, false),
        ([("audience", "tag"), ("tag", "odd")], ["android"], 4500, true),
        ([("audience", "all")], ["android"], 4500, true),
      ] as [([(String, String)], [String], Int, Bool)] {
        let body = String(repeating: "x", count: length)
        let page = ScenePage(
          try await ben.post("/pushes/preview", Self.fields(audience, body: body, platforms: platforms)))
        #expect(page.text.contains("JPush allows at most") == isRefused, "\(audience) \(platforms) \(length)")
        #expect(Self.hasSend(page) == !isRefused, "\(audience) \(platforms) \(length)")
      }
    }
  }

  @Test("an audience that is all parked or retired says so, leads to it, and has no way to production")
  func unreachable() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let devices = try await scene.addDevices(4, of: app, environment: .production)
      try await scene.store.write { database in
        let verdicts = devices.filter { $0.tags == ["odd"] }.map {
          TokenVerdict(
            deviceID: $0.id, state: .quarantined, reason: "BadDeviceToken", since: ConsoleScene.noon + 1, push: nil)
        }
        let dead = TokenVerdict(
          deviceID: devices[0].id, state: .dead, reason: "Unregistered", since: ConsoleScene.noon + 1, push: nil)
        let changed = try TokenVerdict.carryOut(database, verdicts + [dead], now: ConsoleScene.noon + 2)
        #expect(changed.count == 3)
      }
      var ben = try await scene.signIn(.operator)
      for (audience, text, link) in [
        (
          [("audience", "tag"), ("tag", "odd")], "2 devices match, but all are parked (BadDeviceToken)",
          "/devices?app=com.example.shop&environment=production&q=odd&state=quarantined"
        ),
        (
          [("audience", "alias"), ("alias", "anna")], "1 device matches, but it is retired",
          "/devices?app=com.example.shop&environment=production&q=anna&state=dead"
        ),
      ] {
        let page = ScenePage(
          try await ben.post("/pushes/preview", Self.fields(audience, environment: "production")))
        #expect(page.text.contains(text), "\(page.text)")
        #expect(page.links.contains(link), "\(page.links)")
        #expect(!Self.hasSend(page) && !page.tags.contains { $0.attributes["name"] == "confirm" })
        #expect(!page.text.contains("register a device first"))
        let shown = ScenePage(try await ben.get(link))
        #expect(shown.links.contains("/devices/\(devices[audience[0].1 == "tag" ? 1 : 0].id)"))
      }
      let both = try await ben.post(
        "/pushes/preview",
        Self.fields(
          [("audience", "registration_id"), ("registration_id", "nobody")], environment: "production"))
      #expect(ScenePage(both).text.contains("register a device first"))
    }
  }

  @Test("devices that cannot be reached are told beside the number that gets the push; the time has its own sentence")
  func sentence() async throws {
    try await ConsoleScene.with { scene in
      let devices = try await scene.addDevices(4, of: scene.addApp(), environment: .production)
      try await scene.store.write { database in
        let dead = TokenVerdict(
          deviceID: devices[0].id, state: .dead, reason: "Unregistered", since: ConsoleScene.noon + 1, push: nil)
        _ = try TokenVerdict.carryOut(database, [dead], now: ConsoleScene.noon + 2)
      }
      var ben = try await scene.signIn(.operator)
      let fields = Self.fields([("audience", "all")], environment: "production")
      let now = ScenePage(try await ben.post("/pushes/preview", fields)).text
      #expect(now.contains("3 devices (plus 1 unreachable) in Shop") && now.contains(" bytes."), "\(now)")
      #expect(!now.contains("Delivery: "))
      let slow = [("speed", "rate"), ("rate", "20")]
      let text = ScenePage(try await ben.post("/pushes/preview", fields + slow)).text
      #expect(text.contains(" bytes. Delivery: ") && text.contains("20"), "\(text)")
    }
  }

  @Test("a mistyped alias is told with the nearest one, which one button takes")
  func alias() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let page = ScenePage(
        try await ben.post("/pushes/preview", Self.fields([("audience", "alias"), ("alias", "ana")])))
      #expect(page.text.contains("No device of the app has the alias “ana”. Did you mean “anna”?"))
      let fix = try #require(page.tags.first { $0.attributes["name"] == "fix" }?.attributes["value"])
      let repaired = ScenePage(
        try await ben.post(
          "/pushes/preview", Self.fields([("audience", "alias"), ("alias", "ana")]) + [("review", "1"), ("fix", fix)]))
      #expect(repaired.values("alias") == ["anna"] && Self.hasSend(repaired))
    }
  }
}
