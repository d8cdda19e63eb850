import Delivery
import Foundation
import JSON
import Model
import Providers
import SQLite
import Store
import Synchronization
import Testing

@Suite("Pushes that need approval: what the engine sends", .timeLimit(.minutes(1)))
struct ApprovalTests {
  private static let root = ApprovalRule.Actor("cli root", person: nil, isCommandLine: true)

  /// A push that waits, in the environment that the scene's devices are in.
  private func asked(_ scene: EngineScene, options: JSONValue = [:]) async throws -> Push {
    let draft: JSONValue = [
      "app": .string(scene.app.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
      "notification": ["body": "hello"], "options": options,
    ]
    let (app, now) = (scene.app, scene.clock.now)
    return try await scene.store.write { database in
      var new = NewPush(
        uid: UUID().uuidString, seed: 42, appID: app.id, environment: .development, draftJSON: draft.text(),
        source: .api, createdBy: "test")
      new.approval = NewApproval(asker: ApprovalRule.Actor("test", person: nil), reach: 3)
      return try Push.create(database, new, now: now)
    }
  }

  @Test("handed over, found after a restart, or looked for: what waits is never sent; approved, it is sent once")
  func waits() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let push = try await asked(scene)
      try await scene.life { engine in
        for _ in 0..<3 {
          engine.enqueue(push.id)
          // A push of its own goes the whole way meanwhile, so that the engine had its turn.
          let other = try await scene.push()
          engine.enqueue(other.id)
          try await scene.wait(engine, other) { $0.isFinal }
          scene.clock.advance(by: 1)
        }
        let wasPaused = try await engine.pause(push.id)
        let wasResumed = try await engine.resume(push.id)
        #expect(!wasPaused && !wasResumed)
      }
      #expect(try await scene.record(push).state == .needsApproval)
      #expect(scene.service.devices.count == 9, "three other pushes to three devices")
      try await scene.life { engine in
        try await engine.decide(.push(push.id), isApproved: true, by: Self.root, remark: nil, from: nil)
        try await scene.wait(engine, push) { $0.isFinal }
      }
      let ended = try await scene.record(push)
      #expect(ended.state == .finished && ended.counts == OutcomeCounts(accepted: 3))
      #expect(scene.service.devices.count == 12)
    }
  }

  @Test("approved by another process, then the server starts: it is sent")
  func approvedWhileDown() async throws {
    try await EngineScene.run(devices: 2) { scene in
      let push = try await asked(scene, options: ["time_to_live": 60])
      scene.clock.advance(by: 7200)
      let now = scene.clock.now
      try await scene.store.write {
        try Approval.decide($0, .push(push.id), isApproved: true, by: Self.root, now: now)
      }
      _ = try await scene.life { engine in try await scene.wait(engine, push) { $0.isFinal } }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 2), "its minute begins with the approval")
    }
  }

  @Test("rejected, canceled or not decided within a day, it ends without a send, and a follower is told")
  func ends() async throws {
    try await EngineScene.run(devices: 2) { scene in
      let pushes = [try await asked(scene), try await asked(scene), try await asked(scene)]
      try await scene.life { engine in
        try await engine.decide(.push(pushes[0].id), isApproved: false, by: Self.root, remark: nil, from: nil)
        let isCanceled = try await engine.cancel(pushes[1].id, by: "anna")
        #expect(isCanceled)
        async let told = scene.wait(engine, pushes[2]) { $0.isFinal }
        scene.clock.advance(by: Approval.lifetime + 1)
        await scene.wait { scene.clock.sleeperCount > 0 }
        scene.clock.advance(by: 1)
        #expect(try await told.state == .cancelled)
      }
      for push in pushes { #expect(try await scene.record(push).state == .cancelled) }
      #expect(try await scene.record(pushes[2]).error == "Nobody approved it within 24 hours: nothing was sent.")
      #expect(scene.service.devices.isEmpty)
    }
  }

  @Test("each door to production waits if the app asks for it; development, a dry run and other apps do not")
  func doors() async throws {
    try await EngineScene.run(devices: 1) { scene in
      let now = scene.clock.now
      try await scene.store.write { database in
        _ = try Device.register(
          database, app: scene.app.id,
          [
            Registration(
              token: DeviceToken(bytes: [UInt8](repeating: 9, count: 32)), environment: .production, platform: .ios)
          ],
          now: now)
        _ = try App.setApproval(
          database, id: scene.app.id, true, by: NewAuditEntry(actor: "anna", action: "", subject: ""), now: now)
        _ = try Credential.bind(
          database, app: scene.app.id, provider: .apns, environment: .production, certificate: nil,
          endpoint: "simulator", now: now)
      }
      let handed = Mutex<[Int64]>([])
      let intake = PushIntake(store: scene.store, deliver: { id in handed.withLock { $0.append(id) } })
      func take(_ environment: JSONValue, _ more: [String: JSONValue], _ source: PushSource) async throws
        -> PushIntake.Kept
      {
        var json: [String: JSONValue] = [
          "app": .string(scene.app.bundleID), "environment": environment, "platforms": ["ios"], "audience": "all",
          "notification": ["body": "hello"],
        ]
        json.merge(more) { $1 }
        let draft = try PushDraft(json: .object(json))
        return try await intake.take(PushIntake.Order(draft, source: source, by: "anna", undoSeconds: 5, now: now))
      }
      for source in [PushSource.web, .api, .cli, .jpush, .legacy, .smoke] {
        guard case .push(let push) = try await take("production", [:], source) else { throw SceneFailure() }
        #expect(push.state == .needsApproval && push.holdUntil == nil, "\(source)")
        let approval = try await scene.store.read { try Approval.find($0, .push(push.id)) }
        #expect(approval?.reach == 1 && approval?.undoSeconds == 5)
      }
      #expect(handed.withLock { $0 }.isEmpty, "the engine is not even told")
      let daily: [String: JSONValue] = ["repeat": ["every": "day", "at": "09:00", "time_zone": "UTC"]]
      guard case .schedule(let schedule) = try await take("production", daily, .api) else { throw SceneFailure() }
      #expect(schedule.state == .needsApproval)
      guard case .schedule(let other) = try await take("development", daily, .api) else { throw SceneFailure() }
      #expect(other.state == .active)
      for (environment, more) in [
        ("development", [:]), ("production", ["options": ["dry_run": true]]),
      ] as [(JSONValue, [String: JSONValue])] {
        guard case .push(let push) = try await take(environment, more, .api) else { throw SceneFailure() }
        #expect(push.state == .queued)
      }
      #expect(handed.withLock { $0 }.count == 2)
    }
  }

  private struct SceneFailure: Error {}
}
