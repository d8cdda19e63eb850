import Delivery
import Foundation
import JSON
import Logging
import Model
import Providers
import SQLite
import Store
import Synchronization
import TestSupport
import Testing

/// What looks for work again and again until its task is cancelled.
@Suite("Workers", .timeLimit(.minutes(1)))
struct WorkerTests {
  /// Routes whose credentials cannot be read.
  private struct UnreadableRoutes: RouteFinder {
    let code: SQLiteError.Code

    func route(
      app: Int64, environment: Model.Environment, provider: ProviderKind,
      report: @escaping @Sendable (SendReport) -> Void
    ) async throws -> Route { throw SQLiteError(code, "no") }

    func ask(_ operation: JPushOperation, app: Int64, environment: Model.Environment) async throws -> JSONValue {
      throw SQLiteError(code, "no")
    }
  }

  @Test("a worker that is stopped while it reads the database ends without an error in the log")
  func cancelled() async throws {
    try await EngineScene.run(devices: 0) { scene in
      let log = Logger(label: "test", sink: scene.log)
      let reports = JPushReportWorker(store: scene.store, routes: scene.service, clock: { noon }, log: log)
      let smoke = SmokeRunner(store: scene.store, intake: PushIntake(store: scene.store))
      let workers: [@Sendable () async throws -> Void] = [
        { try await reports.run() }, { try await smoke.run(clock: { noon }, log: log) },
      ]
      for run in workers {
        let task = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          try await run()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      #expect(scene.log.entries.isEmpty)
    }
  }

  @Test("a database that cannot be read is no answer of JPush: the report stays due while that may pass")
  func unreadable() async throws {
    try await EngineScene.run(devices: 1) { scene in
      let push = try await scene.push()
      let message = SentJPushMessage(push: push.id, id: "1", firstDevice: 1, lastDevice: 1, devices: 1, sentAt: noon)
      try await scene.store.write { try SentJPushMessage.add($0, message) }
      let log = Logger(label: "test", sink: scene.log)
      func ask(_ code: SQLiteError.Code) async throws -> Bool {
        try await JPushReportWorker(
          store: scene.store, routes: UnreadableRoutes(code: code), clock: { noon + 130 }, log: log
        ).askOnce()
      }
      for _ in 0..<2 { await #expect(throws: SQLiteError.self) { try await ask(.busy) } }
      // A row that is damaged must not hold up the reports of other pushes.
      #expect(try await ask(.mismatch))
      #expect(try await !ask(.mismatch))
    }
  }

  @Test("an engine without work asks the database nothing until somebody commits or a time has come")
  func quiet() async throws {
    try await EngineScene.run(devices: 1) { scene in
      func reads() -> Int { scene.store.times.all[.database(isWrite: false)]?.counts.reduce(0, +) ?? 0 }
      /// Lets the engine look once a second, and returns when it waits again.
      func look(times: Int) async {
        for _ in 0..<times {
          await scene.wait { scene.clock.sleeperCount == 1 }
          scene.clock.advance(by: 1)
        }
        await scene.wait { scene.clock.sleeperCount == 1 }
      }
      let later = try await scene.push(sendAt: scene.clock.now + 30)
      try await scene.life { engine in
        await look(times: 1)
        let before = reads()
        await look(times: 20)
        #expect(reads() == before)
        // As another process does: nobody hands the push over.
        let push = try await scene.push()
        try await waitUntil {
          if scene.service.devices.count == 2 { return true }
          scene.clock.advance(by: 1)
          return false
        }
        #expect(Set(scene.service.sent.map(\.push)) == [push.id, later.id])
        try await scene.wait(engine, push) { $0.isFinal }
        try await scene.wait(engine, later) { $0.isFinal }
      }
    }
  }

  /// Lets a worker look once a second. After the tenth look, another process commits something.
  ///
  /// - Returns: the looks in which the worker asked the database, without the first one.
  private static func looks(
    _ scene: EngineScene, until last: Int, commit: @escaping @Sendable (Database) throws -> Void,
    run: (@escaping @Sendable () async throws -> Void) async throws -> Void
  ) async throws -> [Int] {
    let other = try Store.open(path: scene.store.pool.path, sealer: scene.store.sealer, now: noon)
    defer { other.close() }
    // Of all transactions, as of the end of each look.
    let counts = Mutex<[Int]>([])
    do {
      try await run {
        let count = scene.store.times.all.values.reduce(0) { $0 + $1.counts.reduce(0, +) }
        let look = counts.withLock { all in
          all.append(count)
          return all.count
        }
        if look == last { throw CancellationError() }
        if look == 10 { try await other.write(commit) }
        scene.clock.advance(by: 1)
      }
    } catch is CancellationError {
      // The last look.
    }
    let all = counts.withLock { $0 }
    return all.indices.dropFirst().filter { all[$0] != all[$0 - 1] }.map { $0 + 1 }
  }

  @Test("the runner of smoke tests asks the database nothing until somebody commits or a run is late")
  func quietSmokeTests() async throws {
    try await EngineScene.run(devices: 1) { scene in
      let (app, push, clock) = (scene.app, try await scene.push(), scene.clock)
      let log = Logger(label: "test", sink: scene.log)
      let runner = SmokeRunner(store: scene.store, intake: PushIntake(store: scene.store))
      let start = clock.now + 10
      let late = 11 + Int(SmokeRun.patience)
      let looks = try await Self.looks(scene, until: late + 20) { database in
        var draft = PushDraft(
          app: app.bundleID, environment: .development, platforms: [.ios], audience: .all,
          notification: PushNotification())
        draft.notification.title = "Shipped"
        let entry = NewAuditEntry(actor: "anna", action: "", subject: "")
        let content = SmokeTestContent(name: "Shipped", draft: draft, expected: SmokeExpectation())
        let test = try SmokeTest.create(database, content, by: entry, now: start)
        _ = try SmokeRun.start(database, test, push: push, source: .api, by: entry, now: start)
      } run: { pause in
        try await runner.run(clock: { clock.now }, log: log, pause: pause)
      }
      // The last one because of its own commit.
      #expect(looks == [11, late, late + 1])
      let run = try await scene.store.read { try SmokeRun.get($0, id: 1) }
      #expect(run.error == .timedOut && run.endedAt == start + SmokeRun.patience, "\(run)")
    }
  }

  @Test("the worker of topics asks the database nothing until somebody commits or a change is due")
  func quietTopics() async throws {
    try await EngineScene.run(devices: 1) { scene in
      let (app, clock) = (scene.app, scene.clock)
      let asked = Mutex<[Date]>([])
      let keeper = TopicKeeper(store: scene.store, clock: { clock.now }) { batches, _, _ in
        asked.withLock { $0.append(clock.now) }
        return batches.map { batch in batch.tokens.map { _ in TopicResult.done } }
      }
      let token = DeviceToken(bytes: [UInt8](repeating: 7, count: 32))
      let start = clock.now
      let looks = try await Self.looks(scene, until: 60) { database in
        try TopicSubscription.keep(
          database, app: app.id, environment: .development, topic: "news", joins: true,
          [(device: 1, token: token, ending: .later(reason: "UNAVAILABLE", at: start + 40))], askedAt: start, now: start
        )
      } run: { pause in
        try await keeper.run(log: Logger(label: "test", sink: scene.log), pause: pause)
      }
      // The last one because of its own commit.
      #expect(looks == [11, 41, 42])
      #expect(asked.withLock { $0 } == [start + 40])
    }
  }

  @Test("the worker of JPush's reports asks the database nothing until somebody commits or one is due")
  func quietReports() async throws {
    try await EngineScene.run(devices: 0) { scene in
      let (push, clock) = (try await scene.push(), scene.clock)
      let log = Logger(label: "test", sink: scene.log)
      let reports = JPushReportWorker(store: scene.store, routes: scene.service, clock: { clock.now }, log: log)
      let message = SentJPushMessage(
        push: push.id, id: "1", firstDevice: 1, lastDevice: 1, devices: 1, sentAt: clock.now)
      let looks = try await Self.looks(scene, until: 140) {
        try SentJPushMessage.add($0, message)
      } run: { pause in
        try await reports.run(pause: pause)
      }
      // Two minutes after the message. The last one because of its own commit.
      #expect(looks == [11, 121, 122])
      #expect(scene.log.entries.map(\.message) == ["no report from JPush"])
    }
  }
}
