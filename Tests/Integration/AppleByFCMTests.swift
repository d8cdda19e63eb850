import Delivery
import Foundation
import JSON
import Model
import Simulator
import Store
import Testing

/// Over HTTP/2 to the simulated Firebase, which hands on to iPhones.
@Suite("iPhones that are registered with FCM, from the console to the phones", .timeLimit(.minutes(2)))
struct AppleByFCMTests {
  /// Registers a phone with a line of an import, which names no service.
  private static func imported(_ scene: DeliveryScene, _ phone: SimulatedPhone, _ alias: String) async throws {
    let line: JSONValue = [
      "app": .string(scene.app.bundleID), "environment": "production", "platform": .string(phone.platform.rawValue),
      "token": .string(phone.tokenText), "alias": .string(alias),
    ]
    let input = try DeviceInput(json: line)
    _ = try await scene.store.write { [app = scene.app] in
      try Device.register($0, app: app.id, [input.registration], now: Date() - 3600)
    }
  }

  @Test("one push reaches an iPhone through APNs, one through FCM with its own badge, and an Android phone")
  func mixed() async throws {
    try await TopicTests.run { scene in
      let kinds: [(Platform, ProviderKind)] = [(.ios, .apns), (.ios, .fcm), (.android, .fcm)]
      let phones = try kinds.map { platform, provider in
        try scene.simulator.phones.add(
          NewPhone(
            name: "\(platform) \(provider)", platform: platform, provider: provider, environment: .production,
            topic: DeliveryScene.topic))
      }
      for phone in phones { try await Self.imported(scene, phone, "usr_1") }
      let devices = try await scene.store.read { [app = scene.app] database in
        try phones.map { try #require(try Device.find(database, app: app.id, token: $0.token)) }
      }
      #expect(devices.map(\.provider) == kinds.map(\.1) && devices.map(\.platform) == kinds.map(\.0))
      for number in 1...2 {
        let queued = try await scene.push(
          ["alias": ["usr_1"]], environment: .production, options: ["collapse_id": "lunch"],
          notification: [
            "title": .string("Lunch \(number)"), "body": "It is ready.", "badge": "+1", "extras": ["order": 7],
          ])
        try await scene.carryOut(queued)
        let push = try await scene.store.read { try Push.get($0, id: queued.id) }
        #expect(push.state == .finished && push.counts == OutcomeCounts(accepted: 3), "\(push)")
        let targets = try await scene.store.read { try Push.targets($0, id: push.id) }
        #expect(targets == Dictionary(uniqueKeysWithValues: kinds.map { (Reach($0.0, $0.1), 1) }))
        for phone in phones {
          let received = try #require(scene.simulator.phones.phone(phone.id)?.received.first, "\(phone.name)")
          #expect(received.alert.title == "Lunch \(number)" && received.uniqueID == push.uid, "\(phone.name)")
          guard phone.platform == .ios else { continue }
          let payload = try JSONValue(parsing: Data(received.payload.utf8))
          #expect(payload["aps"]?["badge"] == .integer(Int64(number)) && payload["order"] == 7, "\(phone.name)")
          #expect(received.pushType == .alert && received.collapseID == "lunch" && received.priority == 10)
        }
      }
      try scene.simulator.phones.uninstall(phones[1].id)
      let last = try await scene.deliver(["alias": ["usr_1"]], environment: .production)
      #expect(last.counts == OutcomeCounts(accepted: 2, deadToken: 1), "\(last)")
      #expect(try await scene.device(phones[1]).state == .dead)
    }
  }
}
