import Delivery
import Foundation
import JSON
import Logging
import Providers
import Model
import Store
import Synchronization
import TestSupport
import Testing

/// A provider that answers nothing until it is cancelled.
private final class HoldingProvider: Sendable {
  private struct State {
    var held: [(Int64, [ProviderDevice])] = []
    var isCancelled = false
  }

  private let state = Mutex(State())
  private let report: @Sendable (SendReport) -> Void
  private let heard: @Sendable () -> Void

  init(report: @escaping @Sendable (SendReport) -> Void, heard: @escaping @Sendable () -> Void) {
    self.report = report
    self.heard = heard
  }

  func route(credential: Int64) -> Route {
    let provider = ProviderClosure(send: { self.send($0, $1) }, cancel: { self.cancel(push: $0) })
    return Route(credentialID: credential, provider: provider)
  }

  private func send(_ push: ProviderPush, _ members: [ProviderDevice]) {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.held.append((push.id, members)) }
      return state.isCancelled
    }
    if isCancelled { giveUp(push.id, members) }
    heard()
  }

  private func cancel(push: Int64) {
    let held = state.withLock { state in
      state.isCancelled = true
      defer { state.held = [] }
      return state.held
    }
    for (push, members) in held { giveUp(push, members) }
  }

  private func giveUp(_ push: Int64, _ members: [ProviderDevice]) {
    report(SendReport(push: push, results: members.map { ($0.id, .notSent(reason: OwnReason.cancelled.rawValue)) }))
  }
}

private func testRoute(_ credential: Int64, send: @escaping ProviderClosure.Send) -> Route {
  Route(credentialID: credential, provider: ProviderClosure(send: send))
}

private struct TestRoutes: RouteFinder {
  let find: @Sendable (@escaping @Sendable (SendReport) -> Void) throws -> Route

  func route(
    app: Int64, environment: Model.Environment, provider: ProviderKind, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> Route { try find(report) }
}

@Suite("Delivery engine", .timeLimit(.minutes(5)))
struct DeliveryEngineTests {
  /// A store with an app, a credential, and `count` development devices; the odd ones carry the tag `odd`.
  private func withStore(devices count: Int, _ body: (Store, App, Credential) async throws -> Void) async throws {
    try await EngineScene.run(devices: count) { try await body($0.store, $0.app, $0.credential) }
  }

  private func push(
    _ store: Store, _ app: App, _ audience: JSONValue = "all", options: JSONValue = [:], sendAt: Date? = nil
  ) async throws -> Push {
    let draft: JSONValue = [
      "app": .string(app.bundleID), "environment": "development", "platforms": ["ios"], "audience": audience,
      "notification": ["body": "hello"], "options": options,
    ]
    return try await store.write { database in
      var new = NewPush(
        uid: UUID().uuidString, seed: 42, appID: app.id, environment: .development, draftJSON: draft.text(),
        source: .api, createdBy: "test")
      new.sendAt = sendAt
      return try Push.create(database, new, now: noon)
    }
  }

  /// Runs an engine until the push has ended, and returns it.
  private func carryOut(
    _ store: Store, _ push: Push, _ routes: TestRoutes,
    during body: (DeliveryEngine) async throws -> Void = { _ in }
  ) async throws -> Push {
    let engine = DeliveryEngine(
      store: store, routes: routes, clock: { noon.addingTimeInterval(60) },
      log: Logger(label: "test", sink: MemorySink()))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await engine.run() }
      engine.enqueue(push.id)
      try await body(engine)
      engine.stop()
      try await group.waitForAll()
    }
    return try await store.read { try Push.get($0, id: push.id) }
  }

  private func accepting(_ credential: Credential) -> (TestRoutes, Mutex<[Int64]>.Box) {
    let sent = Mutex<[Int64]>.Box([])
    let routes = TestRoutes { report in
      testRoute(credential.id) { push, members in
        sent.mutex.withLock { $0 += members.map(\.id) }
        report(SendReport(push: push.id, results: members.map { ($0.id, .outcome(.accepted)) }))
      }
    }
    return (routes, sent)
  }

  @Test("a broadcast over several pages reaches every device once, and each has its outcome")
  func broadcast() async throws {
    try await withStore(devices: 2500) { store, app, credential in
      let (routes, sent) = accepting(credential)
      let push = try await carryOut(store, try await push(store, app), routes)
      #expect(push.state == .finished)
      #expect(push.target == 2500 && push.counts.accepted == 2500 && push.pending == 0)
      #expect(sent.mutex.withLock { $0.count } == 2500)
      #expect(Set(sent.mutex.withLock { $0 }).count == 2500)
      let healthy = try await store.read { try Credential.find($0, id: credential.id) }
      #expect(healthy?.lastAcceptedAt != nil)
    }
  }

  @Test("a tag reaches only its devices")
  func tag() async throws {
    try await withStore(devices: 10) { store, app, credential in
      let (routes, sent) = accepting(credential)
      let push = try await carryOut(store, try await push(store, app, ["tag": ["odd"]]), routes)
      #expect(push.target == 5 && push.counts.accepted == 5)
      #expect(sent.mutex.withLock { $0.count } == 5)
    }
  }

  @Test("a push that reaches devices is noted with the names that it is sent to")
  func audienceUse() async throws {
    try await withStore(devices: 4) { store, app, credential in
      let (routes, _) = accepting(credential)
      func last(_ tags: [String]) async throws -> [String: Date] {
        try await store.read { try AudienceUse.last($0, app: app.id, .tag, tags) }
      }
      let tried = try await push(store, app, ["tag": ["odd"]], options: ["dry_run": true])
      #expect(try await carryOut(store, tried, routes).state == .finished)
      #expect(try await carryOut(store, try await push(store, app, ["tag": ["nobody"]]), routes).target == 0)
      #expect(try await last(["odd", "nobody"]) == [:])
      let sent = try await carryOut(store, try await push(store, app, ["tag": ["odd"], "tag_not": ["even"]]), routes)
      #expect(sent.counts.accepted == 2)
      #expect(try await last(["odd", "even"]) == ["odd": noon.addingTimeInterval(60)])
    }
  }

  @Test("a push whose process died goes on behind its last committed batch")
  func resumed() async throws {
    try await withStore(devices: 2500) { store, app, credential in
      let begun = try await push(store, app)
      // What a process left behind that recorded 1000 devices and then one out of order.
      try await store.write { database in
        _ = try Push.move(database, id: begun.id, from: [.queued], to: .sending, now: noon)
        try Push.setTarget(
          database, id: begun.id, [Reach(.ios, .apns): 2500], lastDeviceID: try Device.lastID(database))
        let done = Array(1...1000) + [1700]
        _ = try Delivery.record(
          database, push: begun.id,
          done.map { DeliveryResult(deviceID: Int64($0), platform: .ios, outcome: .accepted, at: noon) },
          cursor: 1000, now: noon)
      }
      let (routes, sent) = accepting(credential)
      let push = try await carryOut(store, begun, routes)
      #expect(push.state == .finished && push.counts.accepted == 2500)
      #expect(sent.mutex.withLock { Set($0) } == Set((1001...2500).map(Int64.init)).subtracting([1700]))
    }
  }

  @Test("every kind of result is kept as what it is; a dead token is retired")
  func outcomes() async throws {
    try await withStore(devices: 6) { store, app, credential in
      let routes = TestRoutes { report in
        testRoute(credential.id) { push, members in
          let results: [SendResult] = [
            .outcome(.accepted),
            .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: noon.addingTimeInterval(30))),
            .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)),
            .outcome(.unknown(reason: OwnReason.connectionLost.rawValue)),
            .notSent(reason: OwnReason.credentialRefused.rawValue),
            .retry(RetryCause(status: 503, reason: "ServiceUnavailable")),
          ]
          report(SendReport(push: push.id, results: zip(members.map(\.id), results).map { ($0, $1) }))
        }
      }
      let push = try await carryOut(store, try await push(store, app), routes)
      #expect(push.counts == OutcomeCounts(accepted: 1, failed: 2, deadToken: 1, skipped: 1, unknown: 1))
      let states = try await store.read { database in try (1...6).map { try Device.get(database, id: $0).state } }
      #expect(states == [.active, .dead, .quarantined, .active, .active, .active])
    }
  }

  @Test(
    "a dry run sends nothing, says so for each device, and is held to no speed", arguments: ["rate", "spread_minutes"])
  func dryRun(speed: String) async throws {
    try await withStore(devices: 3) { store, app, credential in
      let (routes, sent) = accepting(credential)
      let push = try await carryOut(store, try await push(store, app, options: ["dry_run": true, speed: 1]), routes)
      #expect(push.state == .finished && push.counts == OutcomeCounts(skipped: 3))
      #expect(sent.mutex.withLock { $0.isEmpty })
      let reasons = try await store.read { try Delivery.reasonCounts($0, push: push.id) }
      #expect(reasons.map(\.reason) == ["DryRun"])
    }
  }

  @Test("a push that another process kept is found by the next look, one for later when its time has come")
  func found() async throws {
    try await withStore(devices: 3) { store, app, credential in
      let time = Mutex<Date>.Box(noon)
      let looks = AsyncStream.makeStream(of: Void.self)
      let ticks = AsyncStream.makeStream(of: Void.self)
      let ended = AsyncStream.makeStream(of: Int64.self)
      let routes = TestRoutes { report in
        testRoute(credential.id) { push, members in
          report(SendReport(push: push.id, results: members.map { ($0.id, .outcome(.accepted)) }))
          ended.continuation.yield(push.id)
        }
      }
      let engine = DeliveryEngine(
        store: store, routes: routes, clock: { time.mutex.withLock { $0 } },
        pause: {
          looks.continuation.yield()
          for await _ in ticks.stream { break }
        }, log: Logger(label: "test", sink: MemorySink()))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await engine.run() }
        var look = looks.stream.makeAsyncIterator()
        var end = ended.stream.makeAsyncIterator()
        await look.next()
        let later = try await push(store, app, sendAt: noon + 60)
        let now = try await push(store, app)
        ticks.continuation.yield()
        #expect(await end.next() == now.id)
        await look.next()
        #expect(try await store.read { try Push.get($0, id: later.id).state } == .queued)
        time.mutex.withLock { $0 += 60 }
        ticks.continuation.yield()
        #expect(await end.next() == later.id)
        engine.stop()
        try await group.waitForAll()
        for id in [now.id, later.id] {
          let push = try await store.read { try Push.get($0, id: id) }
          #expect(push.state == .finished && push.counts.accepted == 3)
        }
      }
    }
  }

  @Test("a process that sends its own push leaves others alone")
  func only() async throws {
    try await withStore(devices: 2) { store, app, credential in
      let (routes, _) = accepting(credential)
      let other = try await push(store, app)
      let own = try await push(store, app)
      let engine = DeliveryEngine(store: store, routes: routes, log: Logger(label: "test", sink: MemorySink()))
      await engine.runOnly(own.id)
      let states = try await store.read { database in
        try [other.id, own.id].map { try Push.get(database, id: $0).state }
      }
      #expect(states == [.queued, .finished])
    }
  }

  @Test("an app without a credential fails with words that help")
  func noRoute() async throws {
    try await withStore(devices: 1) { store, app, _ in
      let routes = TestRoutes { _ in throw NoRoute("The app has no key.") }
      let push = try await carryOut(store, try await push(store, app), routes)
      #expect(push.state == .failed && push.error == "The app has no key.")
    }
  }

  @Test("progress ends with the final counts, also for one who asks later")
  func progress() async throws {
    try await withStore(devices: 1500) { store, app, credential in
      let (routes, _) = accepting(credential)
      let record = try await push(store, app)
      var last: PushProgress?
      _ = try await carryOut(store, record, routes) { engine in
        for await progress in try await engine.progress(record.id) { last = progress }
      }
      let late = DeliveryEngine(store: store, routes: routes, log: Logger(label: "test", sink: MemorySink()))
      for await progress in try await late.progress(record.id) { last = progress }
      #expect(last?.state == .finished && last?.counts.accepted == 1500 && last?.target == 1500)
    }
  }

  @Test("a cancelled push sends no further page and says so")
  func cancelled() async throws {
    try await withStore(devices: 20_000) { store, app, credential in
      let record = try await push(store, app)
      let sent = AsyncStream.makeStream(of: Void.self)
      let routes = TestRoutes { report in
        HoldingProvider(report: report) { sent.continuation.yield() }.route(credential: credential.id)
      }
      let push = try await carryOut(store, record, routes) { engine in
        for await _ in sent.stream { break }
        let wasStopped = try await engine.cancel(record.id)
        #expect(wasStopped)
      }
      #expect(push.state == .cancelled)
      #expect(push.counts == OutcomeCounts(skipped: 20_000) && push.target == 20_000)
    }
  }
}

extension Mutex where Value: Sendable {
  /// A lock that closures can share.
  final class Box: Sendable {
    let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
  }
}
