import Delivery
import Foundation
import JSON
import Model
import Providers
import Store
import Synchronization
import Testing

@Suite("One push in several languages", .timeLimit(.minutes(2)))
struct LocalizationTests {
  private static let notification: JSONValue = [
    "body": "hello", "localizations": ["de": ["body": "hallo"], "zh-Hans": ["body": "你好"]],
  ]

  /// What the app of a device reports.
  static func speak(_ scene: EngineScene, _ languages: [Int64: String]) async throws {
    let app = scene.app.id
    try await scene.store.write { database in
      for (id, language) in languages {
        let device = try Device.get(database, id: id)
        var input = AppRegistration(
          app: app, Registration(token: device.token, environment: .development, platform: .ios))
        input.details = DeviceDetails(language: language)
        _ = try AppRegistration.register(database, [input], now: noon)
      }
    }
  }

  private static func texts(_ scene: EngineScene, _ push: Push) async throws -> [Int64: Int?] {
    let found = try await scene.store.read {
      try Delivery.list($0, push: push.id, isLocalized: true, limit: 100).items
    }
    return Dictionary(uniqueKeysWithValues: found.map { ($0.delivery.deviceID, $0.variant) })
  }

  @Test("each device is handed out with its text, which stays known when its language changes")
  func handedOut() async throws {
    try await EngineScene.run(devices: 4) { scene in
      try await Self.speak(scene, [1: "de-AT", 2: "zh_CN", 3: "fr"])
      let seen = Mutex<[Int64: Int]>([:])
      scene.service.answer { member, _ in
        seen.withLock { $0[member.id] = member.variant }
        return .outcome(.accepted)
      }
      let push = try await scene.push(notification: Self.notification)
      try await scene.finish(push)
      #expect(seen.withLock { $0 } == [1: 1, 2: 2, 3: 0, 4: 0])
      try await Self.speak(scene, [1: "zh-Hans"])
      #expect(try await Self.texts(scene, push) == [1: 1, 2: 2, 3: 0, 4: 0])
      let one = try await scene.store.read { try Delivery.find($0, push: push.id, device: 1)?.variant }
      #expect(one == 1)
    }
  }

  @Test("a push with one text reads no language and keeps none")
  func plain() async throws {
    try await EngineScene.run(devices: 2) { scene in
      try await Self.speak(scene, [1: "de"])
      let seen = Mutex<[Int]>([])
      scene.service.answer { member, _ in
        seen.withLock { $0.append(member.variant) }
        return .outcome(.accepted)
      }
      let push = try await scene.push()
      try await scene.finish(push)
      #expect(seen.withLock { $0 } == [0, 0])
      #expect(try await Self.texts(scene, push) == [1: nil, 2: nil])
    }
  }

  @Test("a device that is sent to again, also after a restart, gets the same text")
  func again() async throws {
    try await EngineScene.run(devices: 2) { scene in
      try await Self.speak(scene, [2: "de"])
      let seen = Mutex<[Int]>([])
      scene.service.answer { member, attempt in
        if member.id == 2 { seen.withLock { $0.append(member.variant) } }
        return member.id == 2 && attempt == 1 ? busy : .outcome(.accepted)
      }
      let push = try await scene.push(notification: Self.notification)
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 1 && $0.counts.total == 1 }
      }
      scene.clock.advance(by: 1200)
      _ = try await scene.life { engine in try await scene.wait(engine, push) { $0.isFinal } }
      #expect(seen.withLock { $0 } == [1, 1])
      #expect(try await Self.texts(scene, push) == [1: 0, 2: 1])
    }
  }
}
