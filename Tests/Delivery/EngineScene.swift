import Delivery
import Foundation
import JSON
import Logging
import OpenSSL
import Providers
import Model
import SQLite
import Store
import TestSupport
import Testing

let noon = Date(timeIntervalSince1970: 1_795_176_000)

/// A store with an app and its devices, a scripted provider, a clock that the test moves, and an engine that runs.
struct EngineScene: Sendable {
  let store: Store
  let app: App
  let credential: Credential
  let clock: ManualClock
  let service: ScriptedService
  let log: MemorySink

  /// Runs `body` with `count` development devices; the odd ones carry the tag `odd`.
  static func run(devices count: Int, _ body: (EngineScene) async throws -> Void) async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let store = try Store.openNew(path: folder.path + "/test.sqlite", sealer: SealingKey(), now: noon)
    defer { store.close() }
    let (app, credential) = try await store.write { database in
      let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      let devices = (0..<count).map { number in
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
        var device = Registration(
          token: DeviceToken(bytes: bytes + [UInt8](repeating: 7, count: 28)), environment: .development,
          platform: .ios)
        if number % 2 == 1 { device.tags = .set(["odd"]) }
        return device
      }
      _ = try Device.register(database, app: app.id, devices, now: noon)
      let credential = try Credential.bind(
        database, app: app.id, provider: .apns, environment: .development, certificate: nil, endpoint: "simulator",
        now: noon)
      return (app, credential)
    }
    let clock = ManualClock(noon + 60)
    let service = ScriptedService(credential: credential.id, clock: clock)
    try await body(
      EngineScene(
        store: store, app: app, credential: credential, clock: clock, service: service, log: MemorySink()))
  }

  /// Keeps a push.
  func push(
    _ audience: JSONValue = "all", platforms: JSONValue = ["ios"], options: JSONValue = [:], sendAt: Date? = nil,
    holdFor: TimeInterval? = nil, notification: JSONValue = ["body": "hello"]
  ) async throws -> Push {
    let draft: JSONValue = [
      "app": .string(app.bundleID), "environment": "development", "platforms": platforms, "audience": audience,
      "notification": notification, "options": options,
    ]
    let (app, now) = (app, clock.now)
    return try await store.write { database in
      var new = NewPush(
        uid: UUID().uuidString, seed: 42, appID: app.id, environment: .development, draftJSON: draft.text(),
        source: .api, createdBy: "test")
      new.sendAt = sendAt
      new.holdUntil = holdFor.map { now.addingTimeInterval($0) }
      return try Push.create(database, new, now: now)
    }
  }

  /// A process's life: an engine that runs during `body`, and is stopped then.
  func life<Result>(
    _ routes: (any RouteFinder)? = nil, _ body: (DeliveryEngine) async throws -> Result
  ) async throws -> Result {
    let clock = clock
    let engine = DeliveryEngine(
      store: store, routes: routes ?? service, clock: { clock.now },
      pause: { try await clock.sleep(until: clock.now + 1) }, sleep: { try await clock.sleep(until: $0) },
      log: Logger(label: "test", sink: log))
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await engine.run() }
      let result = try await body(engine)
      engine.stop()
      try await group.waitForAll()
      return result
    }
  }

  /// Waits until a push stands as `condition` says.
  @discardableResult
  func wait(
    _ engine: DeliveryEngine, _ push: Push, until condition: (PushProgress) -> Bool
  ) async throws -> PushProgress {
    while true {
      for await progress in try await engine.progress(push.id) where condition(progress) { return progress }
      // The suite's time limit ends a wait for what never comes.
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// A life in which a push is sent to its end.
  func finish(_ push: Push, _ routes: (any RouteFinder)? = nil) async throws {
    try await life(routes) { engine in
      engine.enqueue(push.id)
      try await wait(engine, push) { $0.isFinal }
    }
  }

  /// Sends a push again to the devices that it did not reach.
  func retryFailed(_ id: Int64, _ engine: DeliveryEngine) async throws -> PushIntake.Retried {
    try await PushIntake(store: store, deliver: engine.enqueue)
      .retryFailed(id, source: .api, by: "anna", now: clock.now)
  }

  /// Waits until the engine says what troubles a push.
  @discardableResult
  func seeTrouble(_ engine: DeliveryEngine, _ push: Push, _ reason: String) async throws -> PushProgress {
    try await see(engine, push) { $0.trouble == reason }
  }

  /// Waits until the engine has seen something of a service. It looks once a second, and may have read the clock just
  /// before the test moved it: so the clock goes on until it has looked.
  @discardableResult
  func see(
    _ engine: DeliveryEngine, _ push: Push, until condition: (PushProgress) -> Bool
  ) async throws -> PushProgress {
    while true {
      for await progress in try await engine.progress(push.id) {
        if condition(progress) { return progress }
        break
      }
      clock.advance(by: 0.01)
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  /// Waits until something is so that nobody reports.
  func wait(until condition: () -> Bool) async {
    do { try await waitUntil { condition() } } catch { Issue.record("\(error)") }
  }

  func record(_ push: Push) async throws -> Push {
    try await store.read { try Push.get($0, id: push.id) }
  }

  func delivery(_ push: Push, _ device: Int64) async throws -> Delivery? {
    try await store.read { try Delivery.find($0, push: push.id, device: device)?.delivery }
  }

  /// Words and how many devices have them.
  func reasons(_ push: Push) async throws -> [String: Int] {
    let counts = try await store.read { try Delivery.reasonCounts($0, push: push.id) }
    return Dictionary(counts.map { ($0.reason ?? "", $0.count) }, uniquingKeysWith: +)
  }
}

/// Answers that tests use.
let busy = SendResult.retry(RetryCause(status: 503, reason: "ServiceUnavailable"))
func refused(_ status: Int, _ reason: String) -> SendResult {
  .outcome(.rejected(status: status, reason: reason, tokenInvalidSince: nil))
}
