import Delivery
import Foundation
import JSON
import Model
import Simulator
import Store
import Testing

@Suite("Delivery to the simulator", .timeLimit(.minutes(3)))
struct DeliverySimulatorTests {
  private typealias Person = DeliveryScene.Person

  /// Whom a push reaches, by name.
  private static let audiences: [(audience: JSONValue, names: Set<String>)] = [
    ("all", ["ada", "ben", "cleo", "dora"]),
    (["tag": ["beta"]], ["ada", "ben"]),
    (["tag": ["beta", "vip"]], ["ada", "ben", "cleo"]),
    (["tag_and": ["beta", "vip"]], ["ben"]),
    (["tag": ["beta", "vip"], "tag_not": ["vip"]], ["ada"]),
    (["alias": ["cleo", "dora"]], ["cleo", "dora"]),
    (["alias": ["ada", "cleo"], "tag": ["vip"]], ["cleo"]),
    (["registration_id": ["riddora"]], ["dora"]),
  ]

  @Test(
    "each kind of audience reaches whom it names and nobody else, with a key and with a certificate",
    arguments: [DeliveryScene.Options.Credentials.key, .certificate], Model.Environment.allCases)
  func reached(_ credentials: DeliveryScene.Options.Credentials, _ environment: Model.Environment) async throws {
    var options = DeliveryScene.Options()
    options.credentials = credentials
    try await DeliveryScene.run(options) { scene in
      let phones = try await scene.add([
        Person(name: "ada", tags: ["beta"], environment: environment),
        Person(name: "ben", tags: ["beta", "vip"], environment: environment),
        Person(name: "cleo", tags: ["vip"], environment: environment),
        Person(name: "dora", environment: environment),
      ])
      // The same people in the other environment must never hear of it.
      let other: Model.Environment = environment == .development ? .production : .development
      try await scene.add([Person(name: "eve", tags: ["beta", "vip"], environment: other)])
      var sent = 0
      for (audience, names) in Self.audiences {
        let push = try await scene.deliver(audience, environment: environment)
        let wanted = phones.filter { names.contains($0.name) }
        let tally = try await scene.tally(push, wanted)
        #expect(push.state == .finished, "\(audience.text()): \(push.error ?? "")")
        #expect(tally.isWhole && tally.outcomes == ["accepted": names.count], "\(audience.text()): \(tally)")
        #expect(tally.received == names.count && tally.doubles == 0)
        sent += names.count
        let got = scene.simulator.phones.phones().filter { $0.received.contains { $0.uniqueID == push.uid } }
        #expect(Set(got.map(\.name)) == names)
      }
      let token = phones[3].token.hexadecimal
      let direct = try await scene.deliver(["device_token": [.string(token)]], environment: environment)
      #expect(try await scene.tally(direct, [phones[3]]).isWhole)
      #expect(scene.simulator.counters(SimulatedServer(environment)).byStatus == [200: sent + 1])
      #expect(scene.simulator.counters(SimulatedServer(other)).requests == 0)
    }
  }

  @Test("a phone without the app is found dead, at the time that APNs says, and not asked again")
  func uninstalled() async throws {
    try await DeliveryScene.run { scene in
      let phones = try await scene.add(3)
      let since = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 - 600).rounded(.down))
      try scene.simulator.phones.uninstall(phones[1].id, now: since)
      let push = try await scene.deliver()
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.outcomes == ["accepted": 2, "dead_token": 1], "\(tally)")
      #expect(tally.reasons == ["Unregistered": 1])
      let device = try await scene.device(phones[1])
      #expect(device.state == .dead && device.stateReason == "Unregistered")
      let events = try await scene.store.read { try DeviceEvent.all($0, device: device.id) }
      let found = events.first { $0.kind == .declaredDead }
      #expect(found?.detail?["since"]?.integer == Int64(since.timeIntervalSince1970 * 1000))
      let next = try await scene.deliver()
      #expect(next.target == 2 && next.counts.accepted == 2)
    }
  }

  @Test("an app that registered after the time of a 410 stays alive")
  func registeredSince() async throws {
    try await DeliveryScene.run { scene in
      let phones = try await scene.add(1)
      try scene.simulator.phones.uninstall(phones[0].id, now: Date() - 7200)
      let push = try await scene.deliver()
      #expect(push.counts.deadToken == 1)
      #expect(try await scene.device(phones[0]).state == .active)
    }
  }

  @Test("a token of the other environment is parked, not killed; one of another app fails and stays")
  func wrongPlace() async throws {
    try await DeliveryScene.run { scene in
      let phones = try await scene.add([
        Person(name: "right"), Person(name: "elsewhere", environment: .production, registeredAs: .development),
        Person(name: "other app", topic: "com.example.other"),
      ])
      let push = try await scene.deliver()
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.outcomes == ["accepted": 1, "failed": 2], "\(tally)")
      #expect(tally.reasons == ["BadDeviceToken": 1, "DeviceTokenNotForTopic": 1])
      #expect(try await scene.device(phones[1]).state == .quarantined)
      #expect(try await scene.device(phones[2]).state == .active)
      #expect(try await scene.deliver().target == 2)
    }
  }

  @Test("a certificate for another app is refused by APNs, and the push says for which reason")
  func wrongTopic() async throws {
    var options = DeliveryScene.Options()
    options.credentials = .certificate
    try await DeliveryScene.run(options) { scene in
      let other = try await scene.store.write { database in
        let app = try App.add(database, bundleID: "com.example.other", name: "Other", now: Date())
        let own = try Credential.all(database).first { $0.environment == .development }
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .development, certificate: own?.certificateID,
          endpoint: own?.endpoint ?? "", trustPEM: own?.trustPEM, now: Date())
        return app
      }
      let phone = try scene.simulator.phones.add(
        NewPhone(name: "ada", environment: .development, topic: other.bundleID))
      let draft = try PushDraft(json: [
        "app": .string(other.bundleID), "environment": "development", "audience": "all",
        "notification": ["body": "x"],
      ])
      let queued = try await scene.store.write { database in
        _ = try Device.register(
          database, app: other.id, [Registration(token: phone.token, environment: .development, platform: .ios)],
          now: Date() - 3600)
        return try Push.create(database, NewPush(draft, app: other, source: .api, by: "test"), now: Date())
      }
      try await scene.carryOut(queued)
      let tally = try await scene.tally(queued, [phone])
      #expect(tally.isWhole && tally.received == 0 && tally.outcomes["accepted"] == nil, "\(tally)")
      #expect(tally.reasons.keys.contains { $0.contains("Topic") || $0.contains("Certificate") }, "\(tally)")
    }
  }
}
