import Foundation
import JSON
import Logging
import OpenSSL
import Model
import SQLite
import Store
import Synchronization
import TestSupport
import Testing

@Suite struct TrimmerTests {
  /// A store in a folder of its own, with one app.
  private static func with(_ body: (Store, Int64) async throws -> Void) async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let store = try Store.openNew(path: folder.path + "/test.sqlite", sealer: SealingKey(), now: noon)
    defer { store.close() }
    let app = try await store.write { try App.add($0, bundleID: "com.example.shop", name: "Shop", now: noon) }
    try await body(store, app.id)
  }

  private static func add(_ store: Store, _ app: Int64, _ uid: String, devices: Int, ended: Date) async throws {
    try await store.write { database in
      let new = NewPush(
        uid: uid, seed: 1, appID: app, environment: .production, draftJSON: "{}", source: .api, createdBy: "test")
      let id = try Push.create(database, new, now: ended).id
      let results = (1...devices).map {
        DeliveryResult(deviceID: Int64($0), platform: .ios, outcome: .accepted, at: ended)
      }
      _ = try Delivery.record(database, push: id, results, now: ended)
      _ = try Push.move(database, id: id, from: [.queued], to: .cancelled, now: ended)
    }
  }

  private static func rows(_ store: Store, _ table: String = "deliveries") async throws -> Int {
    try await store.read { try $0.int("SELECT count(*) FROM \(table)") }
  }

  /// A time that tests move.
  private final class Clock: Sendable {
    private let value = Mutex(noon)
    var now: Date { value.withLock { $0 } }
    func advance(by seconds: Double) { value.withLock { $0 += seconds } }
  }

  @Test("everything older is removed, nothing younger, and the activity log says how much")
  func clock() async throws {
    try await Self.with { store, app in
      let clock = Clock()
      for age in 0..<4 {
        try await Self.add(store, app, "p\(age)", devices: 1000, ended: noon + Double(age) * day)
      }
      let rests = Mutex<[Duration]>([])
      let trimmer = Trimmer(
        store: store, clock: { clock.now }, wait: { rest in rests.withLock { $0.append(rest) } },
        log: Logger(label: "test", sink: MemorySink()))
      #expect(try await trimmer.trim() == [:])
      clock.advance(by: 91 * day)
      #expect(try await trimmer.trim() == [.deliveries: 1000])
      #expect(try await Self.rows(store) == 3000)
      clock.advance(by: 0.5 * day)
      #expect(try await trimmer.trim() == [.deliveries: 1000])
      #expect(rests.withLock { $0.count } > 2, "in steps, with a rest after each")
      #expect(rests.withLock { $0.allSatisfy { $0 >= TrimPace.shortestRest } })
      clock.advance(by: 730 * day)
      #expect(try await trimmer.trim() == [.deliveries: 2000, .pushes: 4])
      #expect(try await Self.rows(store) == 0)
      #expect(try await Self.rows(store, "pushes") == 0)
      let lines = try await store.read { try AuditEntry.list($0, limit: 10).items.map(\.entry) }
      #expect(lines.map(\.action) == ["retention.trim", "retention.trim", "retention.trim"])
      #expect(lines.first?.detail?["deliveries"]?.integer == 2000)
      #expect(lines.first?.detail?["pushes"]?.integer == 4)
    }
  }

  @Test("an interrupted removal continues, and the first date stays")
  func resumes() async throws {
    try await Self.with { store, app in
      try await Self.add(store, app, "p", devices: 1000, ended: noon)
      let steps = Mutex(0)
      let first = Trimmer(
        store: store, clock: { noon + 100 * day },
        wait: { _ in
          // As if the process ended here.
          if steps.withLock({
            $0 += 1; return $0
          }) == 2 {
            throw CancellationError()
          }
        }, log: Logger(label: "test", sink: MemorySink()))
      await #expect(throws: CancellationError.self) { try await first.trim() }
      let left = try await Self.rows(store)
      #expect(left > 0 && left < 1000)
      let second = Trimmer(
        store: store, clock: { noon + 101 * day }, wait: { _ in }, log: Logger(label: "test", sink: MemorySink()))
      #expect(try await second.trim() == [.deliveries: left])
      let push = try await store.read { try Push.find($0, uid: "p") }
      #expect(push?.detailsRemovedAt == noon + 100 * day)
      #expect(push?.counts.accepted == 1000)
    }
  }

  @Test("a broadcast that is recorded meanwhile gets its turn between the steps, and loses nothing")
  func beside() async throws {
    try await Self.with { store, app in
      try await Self.add(store, app, "old", devices: 20_000, ended: noon)
      let id = try await store.write { database in
        try Push.create(
          database,
          NewPush(
            uid: "new", seed: 1, appID: app, environment: .production, draftJSON: "{}", source: .api,
            createdBy: "test"), now: noon + 100 * day
        ).id
      }
      let batches = 20
      let stepsBeforeEnd = Mutex(0)
      let trimmer = Trimmer(
        store: store, clock: { noon + 100 * day },
        wait: { _ in
          stepsBeforeEnd.withLock { $0 += 1 }
          await Task.yield()
        }, log: Logger(label: "test", sink: MemorySink()))
      async let trimmed = trimmer.trim()
      for batch in 0..<batches {
        let results = (1...500).map {
          DeliveryResult(
            deviceID: Int64(batch * 500 + $0), platform: .ios, outcome: .accepted, at: noon + 100 * day)
        }
        _ = try await store.write { try Delivery.record($0, push: id, results, now: noon + 100 * day) }
      }
      #expect(try await trimmed == [.deliveries: 20_000])
      #expect(stepsBeforeEnd.withLock { $0 } >= 10, "no step takes more than \(TrimPace.limits.upperBound) rows")
      #expect(try await Self.rows(store) == batches * 500)
      #expect(try await store.read { try Push.get($0, id: id).counts.accepted } == batches * 500)
    }
  }

  @Test("it looks when it starts, when it is nudged, and when an hour is over; it ends with its task")
  func looks() async throws {
    try await Self.with { store, app in
      let clock = Clock()
      let hours = AsyncStream.makeStream(of: Void.self)
      let trimmer = Trimmer(
        store: store, clock: { clock.now },
        wait: { rest in
          guard rest == Trimmer.interval else { return }
          for await _ in hours.stream { return }
          throw CancellationError()
        }, log: Logger(label: "test", sink: MemorySink()))
      func gone(_ count: Int) async throws {
        try await waitUntil("\(count) rows are left") { try await Self.rows(store) == count }
      }
      try await Self.add(store, app, "a", devices: 3, ended: noon - 100 * day)
      let running = Task { await trimmer.run() }
      try await gone(0)
      try await Self.add(store, app, "b", devices: 4, ended: noon - 100 * day)
      trimmer.nudge()
      try await gone(0)
      try await Self.add(store, app, "c", devices: 5, ended: noon)
      clock.advance(by: 100 * day)
      hours.continuation.yield()
      try await gone(0)
      running.cancel()
      await running.value
    }
  }
}
