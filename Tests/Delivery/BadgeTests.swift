import Delivery
import Foundation
import JSON
import Model
import Providers
import SQLite
import Store
import Synchronization
import Testing

@Suite("Badges that are counted for each device", .timeLimit(.minutes(2)))
struct BadgeTests {
  private static func push(_ scene: EngineScene, _ badge: JSONValue) async throws -> Push {
    try await scene.push(notification: ["body": "hello", "badge": badge])
  }

  /// Sends a push from its start to its end.
  private static func send(_ scene: EngineScene, _ badge: JSONValue) async throws {
    let push = try await push(scene, badge)
    try await scene.finish(push)
  }

  private static func number(_ scene: EngineScene, _ device: Int64) async throws -> Int {
    try await scene.store.read { try $0.int("SELECT badge FROM devices WHERE id = ?", device) }
  }

  @Test("each push that counts begins with the number of the one before; a number that is set is known from then on")
  func counting() async throws {
    try await EngineScene.run(devices: 2) { scene in
      let seen = Mutex<[Int64: [Int]]>([:])
      scene.service.answer { member, _ in
        seen.withLock { $0[member.id, default: []].append(member.badge) }
        return .outcome(.accepted)
      }
      // Nothing counts yet: this number is not kept, and costs nothing.
      try await Self.send(scene, 5)
      #expect(try await Self.number(scene, 1) == 0)
      for badge in ["+1", "+2", 7] as [JSONValue] { try await Self.send(scene, badge) }
      #expect(try await Self.number(scene, 1) == 7)
      try await Self.send(scene, "-1")
      #expect(seen.withLock { $0 } == [1: [0, 0, 1, 0, 7], 2: [0, 0, 1, 0, 7]])
      // What each push made of it; a number that is set is in the push itself.
      let made = try await scene.store.read { database in
        try (1...5).map { try Delivery.badge(database, push: $0, device: 1) }
      }
      #expect(made == [nil, 1, 3, nil, 6])
      #expect(try await Self.number(scene, 2) == 6)
    }
  }

  @Test("a device that is sent to again, also after a restart, gets the same number, and counts once")
  func again() async throws {
    try await EngineScene.run(devices: 2) { scene in
      let seen = Mutex<[Int]>([])
      scene.service.answer { member, attempt in
        if member.id == 2 { seen.withLock { $0.append(member.badge) } }
        return member.id == 2 && attempt == 1 ? busy : .outcome(.accepted)
      }
      let push = try await Self.push(scene, "+1")
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 1 && $0.counts.total == 1 }
      }
      #expect(try await Self.number(scene, 1) == 1)
      #expect(try await Self.number(scene, 2) == 0, "not accepted yet")
      scene.clock.advance(by: 1200)
      _ = try await scene.life { engine in try await scene.wait(engine, push) { $0.isFinal } }
      #expect(seen.withLock { $0 } == [0, 0])
      #expect(try await Self.number(scene, 2) == 1)
    }
  }
}
