import Delivery
import Foundation
import JSON
import Logging
import Model
import Providers
import Store
import Testing

/// A route for each service; nil: none.
private struct PlatformRoutes: RouteFinder {
  let ios: ScriptedService
  let android: ScriptedService?

  func route(
    app: Int64, environment: Model.Environment, provider: ProviderKind, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> Route {
    let service = provider == .apns ? ios : android
    guard let service else { throw NoRoute("The app has no credential for Android.", .noCredential) }
    return try await service.route(app: app, environment: environment, provider: provider, report: report)
  }
}

@Suite("One push to iOS and Android", .timeLimit(.minutes(2)))
struct PlatformTests {
  private struct World {
    let scene: EngineScene
    let fcm: Credential
    let android: ScriptedService
    let phones: Set<Int64>

    func routes(android hasAndroid: Bool = true) -> any RouteFinder {
      PlatformRoutes(ios: scene.service, android: hasAndroid ? android : nil)
    }
  }

  private func run(ios: Int, android: Int, _ body: (World) async throws -> Void) async throws {
    try await EngineScene.run(devices: ios) { scene in
      let app = scene.app
      let (fcm, phones) = try await scene.store.write { database in
        let phones = (0..<android).map { number in
          Registration(
            token: DeviceToken(bytes: Array("phone-\(number):APA91bHun4MxP5egoKMwt2KZFBaFUH".utf8)),
            environment: .development, platform: .android)
        }
        let ids = try Device.register(database, app: app.id, phones, now: noon).compactMap(\.deviceID)
        let fcm = try Credential.bind(
          database, app: app.id, provider: .fcm, environment: .development, certificate: nil, endpoint: "simulator",
          now: noon)
        return (fcm, Set(ids))
      }
      try await body(
        World(
          scene: scene, fcm: fcm, android: ScriptedService(credential: fcm.id, clock: scene.clock), phones: phones))
    }
  }

  @Test("each device goes by its own service, and the counts are one")
  func both() async throws {
    try await run(ios: 2500, android: 1500) { world in
      let push = try await world.scene.push(platforms: ["ios", "android"])
      try await world.scene.finish(push, world.routes())
      let ended = try await world.scene.record(push)
      #expect(ended.state == .finished && ended.error == nil)
      #expect(ended.counts == OutcomeCounts(accepted: 4000))
      #expect(Set(world.android.devices) == world.phones)
      #expect(world.scene.service.devices.count == 2500)
      #expect(Set(world.scene.service.devices).isDisjoint(with: world.phones))
      // Both credentials are known to work.
      for id in [world.scene.credential.id, world.fcm.id] {
        #expect(try await world.scene.store.read { try Credential.find($0, id: id)?.health } == .accepted)
      }
    }
  }

  @Test("without a credential for Android its devices are skipped with that reason; a retry reaches them alone")
  func missing() async throws {
    try await run(ios: 30, android: 20) { world in
      let push = try await world.scene.push(platforms: ["ios", "android"])
      try await world.scene.finish(push, world.routes(android: false))
      let ended = try await world.scene.record(push)
      #expect(ended.state == .finished)
      #expect(ended.error == "The app has no credential for Android.")
      #expect(ended.counts == OutcomeCounts(accepted: 30, skipped: 20))
      #expect(try await world.scene.reasons(push)["NoCredential"] == 20)
      let sent = world.scene.service.devices.count
      try await world.scene.life(world.routes()) { engine in
        guard case .created(let again, _) = try await world.scene.retryFailed(push.id, engine) else {
          Issue.record("no retry")
          return
        }
        try await world.scene.wait(engine, again) { $0.isFinal }
        #expect(try await world.scene.record(again).counts == OutcomeCounts(accepted: 20))
      }
      #expect(Set(world.android.devices) == world.phones)
      #expect(world.scene.service.devices.count == sent)
    }
  }

  @Test("no credential for either: nothing is sent, and the push fails")
  func missingBoth() async throws {
    try await run(ios: 3, android: 2) { world in
      world.scene.service.refuseRoutes(NoRoute("The app has no credential for iOS.", .noCredential))
      let push = try await world.scene.push(platforms: ["ios", "android"])
      try await world.scene.finish(push, world.routes(android: false))
      let ended = try await world.scene.record(push)
      #expect(ended.state == .failed && ended.counts == OutcomeCounts(skipped: 5))
      #expect(ended.error == "The app has no credential for iOS. The app has no credential for Android.")
    }
  }

  @Test("an open circuit of one service holds up only its devices")
  func circuit() async throws {
    try await run(ios: 40, android: 20) { world in
      let (since, until) = (world.scene.clock.now, world.scene.clock.now + 300)
      let open = CircuitBreaker.State.open(reason: "why", since: since, until: until)
      world.scene.service.stand(ProviderHealth(circuit: open))
      let push = try await world.scene.push(platforms: ["ios", "android"])
      try await world.scene.life(world.routes()) { engine in
        engine.enqueue(push.id)
        // The two services tell in any order.
        try await world.scene.see(engine, push) { $0.counts.accepted == 20 && $0.health.circuit == open }
        #expect(world.scene.service.sent.isEmpty)
        world.scene.service.stand(ProviderHealth())
        while try await world.scene.record(push).state != .finished {
          world.scene.clock.advance(by: 1)
          await Task.yield()
        }
      }
      #expect(try await world.scene.record(push).counts == OutcomeCounts(accepted: 60))
    }
  }

  @Test("a refused service account ends Android's part only")
  func refusedAccount() async throws {
    try await run(ios: 40, android: 20) { world in
      world.android.answer { _, _ in .notSent(reason: "invalid_grant (Invalid JWT Signature.)") }
      let push = try await world.scene.push(platforms: ["ios", "android"])
      try await world.scene.finish(push, world.routes())
      let ended = try await world.scene.record(push)
      #expect(ended.counts == OutcomeCounts(accepted: 40, skipped: 20))
      #expect(ended.error?.contains("invalid_grant (Invalid JWT Signature.)") == true)
      #expect(try await world.scene.reasons(push)["CredentialRefused"] == 20)
    }
  }

  @Test("retries of both platforms are due on their own, and all arrive")
  func retries() async throws {
    try await run(ios: 20, android: 20) { world in
      world.scene.service.answer { _, attempt in attempt == 1 ? busy : .outcome(.accepted) }
      world.android.answer { _, attempt in
        attempt == 1 ? .retry(RetryCause(status: 429, reason: "QUOTA_EXCEEDED")) : .outcome(.accepted)
      }
      let push = try await world.scene.push(platforms: ["ios", "android"])
      try await world.scene.life(world.routes()) { engine in
        engine.enqueue(push.id)
        try await world.scene.wait(engine, push) { $0.waiting == 40 }
        // FCM's pause is a minute and a quarter at most, Apple's at least 15 minutes.
        world.scene.clock.advance(by: 80)
        while world.android.devices.count < 40 {
          world.scene.clock.advance(by: 0.01)
          await Task.yield()
        }
        #expect(world.scene.service.devices.count == 20)
        while try await !world.scene.record(push).state.isOver {
          world.scene.clock.advance(by: 30)
          await Task.yield()
        }
      }
      #expect(try await world.scene.record(push).counts == OutcomeCounts(accepted: 40))
    }
  }
}
