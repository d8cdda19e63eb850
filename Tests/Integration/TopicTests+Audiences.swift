import Delivery
import Foundation
import Glibc
import JSON
import Model
import Providers
import Simulator
import Store
import Synchronization
import TestSupport
import Testing

/// Audiences that join and leave topics, over HTTP/2 to the simulated Firebase.
extension TopicTests {
  private static func queue(
    _ scene: DeliveryScene, _ audience: JSONValue, _ topic: String = "news", joins: Bool = true
  ) async throws -> TopicChange {
    let fields = JSONFields(["audience": audience])
    let read = try #require(Audience.read(fields, platforms: [.android]))
    return try await scene.store.write { [app = scene.app] database in
      try TopicKeeper.queue(
        database, topic: topic, joins: joins, read, app: app, .production,
        by: KeeperAuthor("test", now: Date()))
    }
  }

  private static func change(_ scene: DeliveryScene, _ id: Int64) async throws -> TopicChange {
    try await scene.store.read { [app = scene.app] in try #require(try TopicChange.find($0, app: app.id, id: id)) }
  }

  private static func members(_ scene: DeliveryScene, _ change: TopicChange) async throws -> [TopicChange.Member] {
    try await scene.store.read { try TopicChange.members($0, of: change, limit: 10_000).items }
  }

  private static func tag(_ scene: DeliveryScene, _ phones: some Sequence<SimulatedPhone>, _ tag: String) async throws {
    for phone in phones {
      let id = try await scene.device(phone).id
      _ = try await scene.store.write { database in
        try Device.update(database, id: id, tags: .set([tag]), by: "test", now: Date())
      }
    }
  }

  @Test("an audience joins a topic, with a result for each device, and leaves it again")
  func audience() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 5)
      try await Self.tag(scene, phones.prefix(3), "beta")
      try scene.simulator.phones.uninstall(phones[2].id)
      let joined = await scene.box.run(
        "topics", "subscribe", DeliveryScene.topic, "production", "news", "--tag", "beta", now: Date())
      let id = try #require(Int64(joined.output.trimmingCharacters(in: .whitespacesAndNewlines)), "\(joined)")
      let before = await scene.box.run("topics", "change", DeliveryScene.topic, "\(id)")
      #expect(before.code == 75, "nothing is done yet")
      let keeper = scene.engine.topics
      while try await keeper.work() {}
      let change = try await Self.change(scene, id)
      #expect(change.devices == 3 && change.done == 2 && change.refused == 1 && change.endedAt != nil, "\(change)")
      #expect(phones.map { Self.topics(scene, $0) } == [["news"], ["news"], [], [], []])
      let members = try await Self.members(scene, change)
      #expect(members.map(\.state) == [.done, .done, .refused] && members.last?.reason == "UNREGISTERED")
      let shown = await scene.box.run("topics", "change", DeliveryScene.topic, "\(id)")
      #expect(shown.code == 1 && shown.output.contains("UNREGISTERED"), "\(shown)")
      let left = try await Self.queue(scene, "all", joins: false)
      while try await keeper.work() {}
      let after = try await Self.change(scene, left.id)
      #expect(after.devices == 4 && after.done == 4 && after.endedAt != nil, "\(after)")
      #expect(phones.allSatisfy { Self.topics(scene, $0).isEmpty })
      let nobody = await scene.box.run(
        "topics", "subscribe", DeliveryScene.topic, "production", "news", "--tag", "nobody", now: Date())
      #expect(nobody.code == 1 && nobody.errors.contains("No active device that FCM reaches"), "\(nobody)")
      let both = await scene.box.run(
        "topics", "subscribe", DeliveryScene.topic, "production", "news", "--all", "--device", phones[0].tokenText,
        now: Date())
      #expect(both.code == 64)
    }
  }

  @Test("a later change takes devices over; what waits shows its reason; what is gone ends the change")
  func replaced() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 2)
      let clock = Mutex(Date() + 60)
      let isOut = Mutex(true)
      let routes = scene.routes
      let keeper = TopicKeeper(store: scene.store, clock: { clock.withLock { $0 } }) { batches, app, environment in
        if isOut.withLock({ $0 }) { throw NoRoute("There is none.", .noCredential) }
        return try await routes.change(batches, app: app, environment: environment)
      }
      let first = try await Self.queue(scene, "all")
      while try await keeper.work() {}
      let waiting = try await Self.members(scene, try await Self.change(scene, first.id))
      #expect(waiting.map(\.state) == [.pending, .pending])
      #expect(waiting.allSatisfy { $0.reason == OwnReason.noCredential.rawValue && $0.nextAt != nil })
      let token = phones[0].tokenText
      let second = try await Self.queue(scene, ["device_token": [.string(token)]], joins: false)
      isOut.withLock { $0 = false }
      for _ in 0..<4 {
        clock.withLock { $0 += 4000 }
        while try await keeper.work() {}
      }
      let (one, two) = (try await Self.change(scene, first.id), try await Self.change(scene, second.id))
      #expect(one.done == 1 && one.replaced == 1 && one.endedAt != nil, "\(one)")
      #expect(two.done == 1 && two.endedAt != nil, "\(two)")
      #expect(phones.map { Self.topics(scene, $0) } == [[], ["news"]])
      let removed = try await Self.queue(scene, ["device_token": [.string(token)]])
      isOut.withLock { $0 = true }
      while try await keeper.work() {}
      let device = try await scene.device(phones[0])
      _ = try await scene.store.write { try Device.delete($0, id: device.id, now: Date()) }
      for _ in 0..<4 {
        clock.withLock { $0 += 4000 }
        while try await keeper.work() {}
      }
      let gone = try await Self.change(scene, removed.id)
      #expect(gone.replaced == 1 && gone.endedAt != nil, "\(gone)")
      #expect(try await Self.members(scene, gone).first?.token == nil)
    }
  }

  @Test("a server that is killed again and again subscribes every device of an audience of 3000 once it runs")
  func killedAudience() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 3000)
      let queued = try await Self.queue(scene, "all")
      for round in 1...2 {
        let child = try await scene.serve()
        try await eventually("some devices", every: .milliseconds(2)) {
          let change = try await Self.change(scene, queued.id)
          return change.devices >= round * 1000 || change.endedAt != nil
        }
        child.send(SIGKILL)
        #expect(await child.status() == 137)
      }
      let last = try await scene.serve()
      try await eventually("every device has its result", within: .seconds(60), every: .milliseconds(50)) {
        try await Self.change(scene, queued.id).endedAt != nil
      }
      #expect(await scene.stop(last) == 0)
      let change = try await Self.change(scene, queued.id)
      #expect(change.devices == 3000 && change.done == 3000, "\(change)")
      #expect(phones.count { Self.topics(scene, $0) == ["news"] } == 3000)
    }
  }
}
