import Foundation
import Glibc
import JSON
import Logging
import HTTP2
import Providers
import Model
import SQLite
import Store
import Synchronization
import TestSupport
import Testing

@testable import Delivery

@Suite("The trail: who has left, when the process is killed", .timeLimit(.minutes(1)))
struct TrailTests {
  private func withFile(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try Data().write(to: URL(fileURLWithPath: path))
    let file = try #require(Trail.file(database: path))
    // The trail is named after the database's inode, which another file may get as soon as this one is gone.
    defer { for name in [file, path] { unlink(name) } }
    try body(path)
  }

  @Test("the next process finds who left and has no outcome, and nobody else")
  func found() throws {
    try withFile { path in
      let number: Int64
      do {
        let trail = try #require(Trail(database: path))
        #expect(trail.before() == nil)
        trail.begin()
        number = trail.number
        let places = trail.take(atMost: 5, for: 7)
        let notes = trail.notes(push: 7, places: places)
        for (index, device) in [11, 12, 13, 14].enumerated() { notes.left(index, id: Int64(device)) }
        notes.returned(1)
        trail.giveBack([places[2]])
        let other = trail.take(atMost: 1, for: 7)
        trail.notes(push: 8, places: other).left(0, id: 99)
        // Another process of the same database has none.
        #expect(Trail(database: path) == nil)
      }
      let next = try #require(Trail(database: path))
      let before = try #require(next.before())
      #expect(before.number == number && before.left.mapValues { $0.sorted() } == [7: [11, 14], 8: [99]])
      next.begin()
      #expect(next.left(by: 7).isEmpty)
    }
  }

  @Test("another database file at the same place, as after restoring one, is not told of")
  func otherFile() throws {
    try withFile { path in
      do {
        let trail = try #require(Trail(database: path))
        trail.begin()
        trail.notes(push: 7, places: trail.take(atMost: 1, for: 7)).left(0, id: 11)
      }
      let new = path + "-new"
      try Data().write(to: URL(fileURLWithPath: new))
      #expect(rename(new, path) == 0)
      #expect(try #require(Trail(database: path)).before() == nil)
    }
  }

  @Test("a process that ends with nothing open leaves no file")
  func clean() throws {
    try withFile { path in
      let file = try #require(Trail.file(database: path))
      do {
        let trail = try #require(Trail(database: path))
        trail.begin()
        let places = trail.take(atMost: 3, for: 7)
        #expect(access(file, F_OK) == 0)
        trail.giveBack(places)
      }
      #expect(access(file, F_OK) != 0)
    }
  }

  @Test("a file that another process removes before it is locked is made again")
  func removedBeforeLock() throws {
    try withFile { path in
      let file = try #require(Trail.file(database: path))
      var removals = 0
      let descriptor = try #require(
        Trail.openLocked(file) {
          if removals < 2 { unlink(file) }
          removals += 1
        })
      defer { close(descriptor) }
      var (open, named) = (stat(), stat())
      #expect(fstat(descriptor, &open) == 0 && stat(file, &named) == 0)
      #expect(removals == 3 && open.st_ino == named.st_ino)
    }
  }

  @Test("what a killed process left goes once its database is gone or another file, and nothing else goes")
  func abandoned() throws {
    /// As a killed process leaves it.
    func leave(_ path: String) throws {
      let trail = try #require(Trail(database: path))
      trail.begin()
      trail.notes(push: 7, places: trail.take(atMost: 1, for: 7)).left(0, id: 11)
    }
    try withFile { path in
      let file = try #require(Trail.file(database: path))
      try leave(path)
      Trail.removeAbandoned()
      #expect(access(file, F_OK) == 0, "its database is there")
      do {
        // Opened before the database moves: from then on, engines of other tests remove the file if nobody has it.
        let running = try #require(Trail(database: path))
        #expect(rename(path, path + "-aside") == 0)
        Trail.removeAbandoned()
        #expect(access(file, F_OK) == 0, "a process has it")
        #expect(running.before()?.left == [7: [11]])
      }
      // Restored from a backup: another file at the same place.
      try leave(path + "-aside")
      #expect(rename(path + "-aside", path) == 0)
      try leave(path)
      let new = path + "-new"
      try Data().write(to: URL(fileURLWithPath: new))
      #expect(rename(new, path) == 0)
      Trail.removeAbandoned()
      #expect(access(file, F_OK) != 0)
    }
    try withFile { path in
      let file = try #require(Trail.file(database: path))
      try leave(path)
      unlink(path)
      Trail.removeAbandoned()
      #expect(access(file, F_OK) != 0)
    }
  }

  @Test("a link that somebody put there is not followed")
  func link() throws {
    try withFile { path in
      let file = try #require(Trail.file(database: path))
      // The file's name comes from the database's inode, which a process that was killed may have had before.
      unlink(file)
      #expect(symlink(path, file) == 0)
      #expect(Trail(database: path) == nil)
    }
  }

  @Test("places run out, and come back")
  func places() throws {
    try withFile { path in
      let trail = try #require(Trail(database: path))
      let all = trail.take(atMost: .max, for: 7)
      #expect(all.count == Trail.capacity && Set(all).count == all.count && trail.take(atMost: 1, for: 7).isEmpty)
      trail.giveBack(Array(all.prefix(3)))
      #expect(trail.take(atMost: 9, for: 7).count == 3)
    }
  }

  @Test("what a push that an error stopped held is lent again, once nobody writes to it and its devices are followed")
  func abandonedPush() throws {
    try withFile { path in
      let trail = try #require(Trail(database: path))
      trail.begin()
      func free() -> Int {
        let all = trail.take(atMost: .max, for: 9)
        trail.giveBack(all)
        return all.count
      }
      let taken = trail.take(atMost: 6, for: 7)
      var notes: (any DepartureNotes)? = trail.notes(push: 7, places: Array(taken.prefix(4)))
      var late: (any DepartureNotes)? = trail.notes(push: 7, places: [taken[4]])
      notes?.left(0, id: 11)
      notes?.left(1, id: 12)
      notes?.returned(1)
      late?.left(0, id: 15)
      let other = trail.take(atMost: 1, for: 8)
      trail.abandon(push: 7)
      #expect(free() == Trail.capacity - 6, "the sixth was in no provider's hands; another push keeps its own")
      notes = nil
      #expect(free() == Trail.capacity - 3, "the provider wrote to the first and the fifth")
      #expect(trail.left(by: 7).sorted() == [11, 15])
      trail.follow(push: 7)
      #expect(trail.left(by: 7).isEmpty && free() == Trail.capacity - 2, "the fifth may still be written to")
      late = nil
      trail.giveBack(other)
      #expect(free() == Trail.capacity)
    }
  }

  /// The state in which a killed process leaves its push: 6000 handed out of 10 000, the first 500 with their outcome,
  /// 20 on their way.
  private func killed(_ scene: EngineScene, options: JSONValue, isCancelled: Bool) async throws -> Push {
    let push = try await scene.push(options: options)
    let trail = try #require(Trail(database: scene.store.pool.path))
    trail.begin()
    let notes = trail.notes(push: push.id, places: trail.take(atMost: 21, for: push.id))
    for index in 0..<20 { notes.left(index, id: Int64(501 + index)) }
    // One that has its outcome, and another that was sent once and is to be sent again.
    notes.left(20, id: 500)
    let number = trail.number
    try await scene.store.write { database in
      _ = try Push.move(database, id: push.id, from: [.queued], to: .sending, now: noon)
      try Push.setTarget(
        database, id: push.id, [Reach(.ios, .apns): 10_000], lastDeviceID: try Device.lastID(database), handedOut: 6000,
        trail: number)
      let done = (1...500).map { DeliveryResult(deviceID: Int64($0), platform: .ios, outcome: .accepted, at: noon) }
      let wait = WaitingDelivery(
        deviceID: 600, dueAt: noon, attempts: 1, firstAt: noon, last: .unknown(reason: "TimedOut"))
      _ = try Delivery.record(database, push: push.id, done, waiting: [wait], cursor: 500, now: noon)
      try WaitingDelivery.take(database, push: push.id, devices: [600])
      if isCancelled { _ = try Push.move(database, id: push.id, from: [.sending], to: .cancelled, now: noon) }
    }
    return push
  }

  @Test("at most once: what left is unknown, everything else is sent")
  func atMostOnce() async throws {
    try await EngineScene.run(devices: 10_000) { scene in
      let push = try await killed(scene, options: ["at_most_once": true], isCancelled: false)
      try await scene.life { engine in _ = try await scene.wait(engine, push) { $0.isFinal } }
      #expect(try await scene.reasons(push) == ["": 9980, "Interrupted": 20])
      #expect(Set(scene.service.devices) == Set(521...10_000) && scene.service.devices.count == 9480)
    }
  }

  @Test("cancelled: what left is unknown, everything else was not sent")
  func cancelled() async throws {
    try await EngineScene.run(devices: 10_000) { scene in
      let push = try await killed(scene, options: [:], isCancelled: true)
      try await scene.life { engine in _ = try await scene.wait(engine, push) { $0.isFinal } }
      #expect(
        try await scene.reasons(push) == [
          "": 500, "Interrupted": 20, "Cancelled": 9479, "Cancelled (TimedOut)": 1,
        ])
      #expect(scene.service.sent.isEmpty)
    }
  }

  @Test("what may have come twice is what left and is sent again, one by one")
  func repeats() async throws {
    try await EngineScene.run(devices: 10_000) { scene in
      let push = try await killed(scene, options: [:], isCancelled: false)
      try await scene.life { engine in _ = try await scene.wait(engine, push) { $0.isFinal } }
      let ended = try await scene.record(push)
      #expect(ended.counts == OutcomeCounts(accepted: 10_000))
      #expect(ended.repeats.interrupted == 20 && ended.repeats.unanswered == 1)
    }
  }

  @Test("a file that is not believed: all that was handed out counts as sent")
  func withoutTrail() async throws {
    try await EngineScene.run(devices: 10_000) { scene in
      let push = try await killed(scene, options: ["at_most_once": true], isCancelled: false)
      unlink(try #require(Trail.file(database: scene.store.pool.path)))
      try await scene.life { engine in _ = try await scene.wait(engine, push) { $0.isFinal } }
      #expect(try await scene.reasons(push) == ["": 4500, "Interrupted": 5500])
    }
  }
}

@Suite("A push whose store fails", .timeLimit(.minutes(1)))
struct PatienceTests {
  private func store(_ scene: EngineScene, told: @escaping @Sendable (String?) -> Void) -> PatientStore {
    PatientStore(
      store: scene.store, push: 1, log: Logger(label: "test", sink: scene.log), pause: {}, told: told)
  }

  @Test(
    "what looks like damage, and a full disk, are waited for; the same again works",
    arguments: [11, 13, 10, 8, 26, 5, 7])
  func waits(code: Int32) async throws {
    try await EngineScene.run(devices: 1) { scene in
      let told = Mutex<[String?]>.Box([])
      var attempts = 0
      let result = try await store(scene) { words in told.mutex.withLock { $0.append(words) } }.insist {
        attempts += 1
        if attempts < 30 { throw SQLiteError(SQLiteError.Code(rawValue: code), "no") }
        return 5
      }
      #expect(result == 5 && attempts == 30)
      let words = told.mutex.withLock { $0 }
      // The file is sound: nobody says that it is damaged.
      #expect(words.count == 2 && words[0]?.contains("SQLite \(code)") == true && words[1] == nil)
    }
  }

  @Test("damage is said when it was looked for and found")
  func damaged() async throws {
    try await EngineScene.run(devices: 2000) { scene in
      try scene.store.pool.checkpoint(waiting: true)
      #expect(await scene.store.pool.damage() == .none)
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: scene.store.pool.path))
      for page in 30..<60 {
        try file.seek(toOffset: UInt64(page * 4096))
        file.write(Data(repeating: 0xA5, count: 4096))
      }
      // Not closed: that would drop SQLite's locks.
      let told = Mutex<[String?]>.Box([])
      var attempts = 0
      _ = try await store(scene) { words in told.mutex.withLock { $0.append(words) } }.insist {
        attempts += 1
        if attempts < 12 { throw SQLiteError(.corrupt, "malformed") }
      }
      let words = told.mutex.withLock { $0 }
      #expect(words.count == 3 && words[1]?.hasPrefix("The database is damaged: ") == true, "\(words)")
      withExtendedLifetime(file) {}
    }
  }

  @Test("the places in the trail of a push that an error stopped are lent again")
  func placesComeBack() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let push = try await scene.push()
      try await scene.store.write { database in
        _ = try database.run(
          "CREATE TRIGGER refusal BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ABORT, 'refused'); END")
      }
      try await scene.life { engine in
        // A push that is sent before it is open goes without it.
        await scene.wait { engine.state.withLock { $0.trail != nil } }
        engine.enqueue(push.id)
        await scene.wait { engine.trouble(push: push.id) != nil }
        try await scene.store.write { _ = try $0.run("DROP TRIGGER refusal") }
        while try await !scene.record(push).state.isOver, !Task.isCancelled {
          scene.clock.advance(by: 1)
          await Task.yield()
        }
        let trail = try #require(engine.state.withLock { $0.trail })
        await scene.wait {
          let all = trail.take(atMost: .max, for: 0)
          trail.giveBack(all)
          return all.count == Trail.capacity
        }
      }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 3))
    }
  }

  @Test("a push that an error stopped is tried again by itself, and says why it stands")
  func triedAgain() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let push = try await scene.push()
      try await scene.store.write { _ = try $0.run("ALTER TABLE push_targets RENAME TO away") }
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { engine.trouble(push: push.id) != nil }
        #expect(engine.trouble(push: push.id)?.contains("push_targets") == true)
        try await scene.store.write { _ = try $0.run("ALTER TABLE away RENAME TO push_targets") }
        while try await !scene.record(push).state.isOver, !Task.isCancelled {
          scene.clock.advance(by: 1)
          await Task.yield()
        }
        await scene.wait { engine.trouble(push: push.id) == nil }
      }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 3))
    }
  }
}

@Suite("A clock that is set while devices wait", .timeLimit(.minutes(1)))
struct LeapTests {
  @Test(
    "set back, devices wait as long as planned; set forward, as a resumed machine sees it, until the time by the clock",
    arguments: [(31 * 86_400, 0...60), (600, 300...585), (-82_800, 900...1185)] as [(Double, ClosedRange<Double>)])
  func leap(by seconds: Double, waits: ClosedRange<Double>) async throws {
    try await EngineScene.run(devices: 4) { scene in
      scene.service.answer { member, attempt in member.id <= 2 && attempt == 1 ? busy : .outcome(.accepted) }
      let push = try await scene.push()
      // Time that passes moves both, whoever sets the clock moves one.
      let set = Mutex<Double>.Box(0)
      let clock = scene.clock
      let wall: @Sendable () -> Date = { clock.now + set.mutex.withLock { $0 } }
      let engine = DeliveryEngine(
        store: scene.store, routes: scene.service, clock: wall,
        steady: { clock.now.timeIntervalSince(noon) },
        pause: { try await clock.sleep(until: clock.now + 1) },
        sleep: { try await clock.sleep(until: $0 - set.mutex.withLock { $0 }) },
        log: Logger(label: "test", sink: scene.log))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await engine.run() }
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.waiting == 2 && $0.counts.accepted == 2 }
        // Both sleep by the old clock: a time read before the leap and waited for after it is no case of this test.
        while clock.sleeperCount < 2 { await Task.yield() }
        set.mutex.withLock { $0 = seconds }
        var passed = 0.0
        while try await !scene.record(push).state.isOver, passed < 3000 {
          // Only while the engine's poll and the push both sleep, so that a busy machine does not let time run ahead.
          if clock.sleeperCount >= 2 {
            clock.advance(by: 1)
            passed += 1
          }
          await Task.yield()
        }
        #expect(passed < 3000)
        engine.stop()
        try await group.waitForAll()
      }
      #expect(try await scene.record(push).counts == OutcomeCounts(accepted: 4))
      #expect(scene.log.entries.contains { $0.message.hasPrefix("system clock changed") })
      for device in [1, 2] as [Int64] {
        let times = scene.service.sent.filter { $0.device == device }.map(\.at)
        #expect(times.count == 2)
        let (first, last) = (try #require(times.first), try #require(times.last))
        let wait = last.timeIntervalSince(first)
        #expect(waits.contains(wait), "device \(device) waited \(wait) s")
      }
    }
  }
}
