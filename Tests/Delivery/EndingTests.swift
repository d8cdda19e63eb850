import Delivery
import Foundation
import JSON
import Providers
import Model
import SQLite
import Store
import TestSupport
import Testing

@Suite("Every device has one outcome, however a push ends", .timeLimit(.minutes(2)))
struct EndingTests {
  /// Outcomes in the table by word; the counters say the same, and the target is their sum.
  private func rows(_ scene: EngineScene, _ push: Push) async throws -> [String: Int] {
    let record = try await scene.record(push)
    let rows = try await scene.store.read { database in
      try database.fetchAll(
        """
        SELECT coalesce(r.text, ''), count(*) FROM deliveries x LEFT JOIN reasons r ON r.id = x.reason_id
        WHERE x.push_id = ? GROUP BY 1
        """, push.id
      ) { ($0.text(0), $0.int(1)) }
    }
    let found = Dictionary(rows) { first, _ in first }
    #expect(found.values.reduce(0, +) == record.counts.total && record.target == record.counts.total)
    #expect(try await scene.reasons(push) == found)
    #expect(!record.isSettling && record.waiting == 0)
    return found
  }

  @Test("an audience is counted on a reader: the only writer runs no statement that counts it")
  func countedOnReader() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let push = try await scene.push(["alias": ["usr_1", "usr_2"]])
      try await scene.finish(push)
      // https://www.sqlite.org/stmt.html: what this connection has prepared.
      let list: @Sendable (Database) throws -> [String] = { database in
        try database.fetchAll("SELECT sql FROM sqlite_stmt") { $0.text(0) }
      }
      let written = try await scene.store.write(list)
      #expect(written.contains { $0.contains("UPDATE pushes") })
      #expect(written.filter { $0.contains("count(*)") && $0.contains("GROUP BY d.platform") } == [])
    }
  }

  private func retry(_ scene: EngineScene, _ engine: DeliveryEngine, _ push: Push) async throws -> (Push, PushRepeat)? {
    guard case .created(let child, let found) = try await scene.retryFailed(push.id, engine)
    else { return nil }
    return (child, found)
  }

  @Test("cancelled half-way: the rest is skipped, and the rest is whom a retry is for")
  func cancelled() async throws {
    try await EngineScene.run(devices: 12_000) { scene in
      scene.service.answer { member, _ in member.id <= 500 ? .outcome(.accepted) : nil }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held >= 7500 }
        #expect(try await engine.cancel(push.id))
        // Said at once; the rows follow.
        #expect(try await scene.record(push).state == .cancelled)
        try await scene.wait(engine, push) { $0.isFinal }
        #expect(try await rows(scene, push) == ["": 500, "Cancelled": 11_500])
        #expect(scene.service.held == 0 && scene.service.devices.count <= 8500)

        scene.service.answer { _, _ in .outcome(.accepted) }
        let (child, found) = try #require(try await retry(scene, engine, push))
        #expect(found.devices == 11_500 && found.excluded.isEmpty)
        try await scene.wait(engine, child) { $0.isFinal }
        #expect(try await rows(scene, child) == ["": 11_500])
        // Once more would be twice for all of them: what the repeat left out is repeated from there.
        let again = try await scene.retryFailed(push.id, engine)
        #expect(again == .already(try await scene.record(child)))
        #expect(scene.service.sent.count { $0.push != push.id } == 11_500)
        #expect(Set(scene.service.sent.filter { $0.push == child.id }.map(\.device)) == Set(501...12_000))
      }
    }
  }

  @Test("a retry of the rest goes to those who still are in the audience")
  func membership() async throws {
    try await EngineScene.run(devices: 20) { scene in
      scene.service.answer { _, _ in nil }
      let push = try await scene.push(["tag": ["odd"]])
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held == 10 }
        #expect(try await engine.cancel(push.id))
        try await scene.wait(engine, push) { $0.isFinal }
        #expect(try await rows(scene, push) == ["Cancelled": 10])
        _ = try await scene.store.write { database in
          try Device.update(database, id: 2, tags: .set([]), by: "anna", now: noon)
        }
        scene.service.answer { _, _ in .outcome(.accepted) }
        let (child, _) = try #require(try await retry(scene, engine, push))
        try await scene.wait(engine, child) { $0.isFinal }
        #expect(try await rows(scene, child) == ["": 9])
      }
    }
  }

  @Test("cancelled, and the process dies before the rest is written down: the next start does it", arguments: [1, 3])
  func diedSettling(lives: Int) async throws {
    try await EngineScene.run(devices: 10_000) { scene in
      let push = try await scene.push()
      // A process that handed out four, kept the outcome of the first, was asked to cancel, and died.
      try await scene.store.write { database in
        _ = try Push.move(database, id: push.id, from: [.queued], to: .sending, now: noon)
        try Push.setTarget(
          database, id: push.id, [Reach(.ios, .apns): 10_000], lastDeviceID: try Device.lastID(database))
        try Push.setHandedOut(database, id: push.id, upTo: 4)
        _ = try Delivery.record(
          database, push: push.id, [DeliveryResult(deviceID: 1, platform: .ios, outcome: .accepted, at: noon)],
          waiting: [
            WaitingDelivery(
              deviceID: 2, dueAt: noon + 90, attempts: 1, firstAt: noon, last: .skipped(reason: "Unreachable")),
            WaitingDelivery(
              deviceID: 3, dueAt: noon + 90, attempts: 1, firstAt: noon, last: .skipped(reason: "Unreachable")),
          ], cursor: 2, now: noon)
        try WaitingDelivery.take(database, push: push.id, devices: [3])
        _ = try Push.move(database, id: push.id, from: [.sending], to: .cancelled, now: noon)
      }
      #expect(try await scene.record(push).isSettling)
      for life in 1...lives {
        try await scene.life { engine in
          guard life < lives else {
            try await scene.wait(engine, push) { $0.isFinal }
            return
          }
          try await scene.wait(engine, push) { $0.counts.total > 1 }
          engine.interrupt()
        }
      }
      let found = try await rows(scene, push)
      #expect(found == ["": 1, "Cancelled": 9997, "Interrupted": 2])
      #expect(scene.service.sent.isEmpty)
      let finished = try await scene.record(push).finishedAt
      #expect(finished == noon)
    }
  }

  @Test("cancelled before it began, it never had an audience")
  func neverBegan() async throws {
    try await EngineScene.run(devices: 3) { scene in
      let push = try await scene.push(sendAt: scene.clock.now + 60)
      try await scene.life { engine in
        #expect(try await engine.cancel(push.id))
        try await scene.wait(engine, push) { $0.isFinal }
        #expect(try await retry(scene, engine, push) == nil)
      }
      let record = try await scene.record(push)
      #expect(record.target == nil && record.counts.total == 0 && !record.isSettling)
    }
  }

  @Test("no credential: everybody has that as the outcome, and a retry is for everybody")
  func noRoute() async throws {
    try await EngineScene.run(devices: 2500) { scene in
      scene.service.refuseRoutes(NoRoute("The app has no key.", .noCredential))
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await scene.wait(engine, push) { $0.isFinal }
        #expect(try await scene.record(push).state == .failed)
        #expect(try await scene.record(push).error == "The app has no key.")
        #expect(try await rows(scene, push) == ["NoCredential": 2500])
        scene.service.refuseRoutes(nil)
        let (child, _) = try #require(try await retry(scene, engine, push))
        try await scene.wait(engine, child) { $0.isFinal }
        #expect(try await rows(scene, child) == ["": 2500])
      }
    }
  }

  @Test("the target is what was reached for: those who left meanwhile are not of it")
  func left() async throws {
    try await EngineScene.run(devices: 9000) { scene in
      scene.service.answer { _, _ in nil }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held == 8000 }
        #expect(try await scene.record(push).target == 9000)
        try await scene.store.write { database in
          let gone = TokenVerdict(deviceID: 8500, state: .dead, reason: "Unregistered", since: noon + 90, push: nil)
          _ = try TokenVerdict.carryOut(database, [gone], now: noon + 90)
        }
        scene.service.answer { _, _ in .outcome(.accepted) }
        try await scene.wait(engine, push) { $0.isFinal }
      }
      #expect(try await rows(scene, push) == ["": 8999])
    }
  }
}

@Suite("What may have come twice is counted", .timeLimit(.minutes(2)))
struct RepeatTests {
  @Test("what was not answered and is sent again; not what was refused or never left")
  func unanswered() async throws {
    try await EngineScene.run(devices: 10) { scene in
      let lost = SendResult.outcome(.unknown(reason: OwnReason.timedOut.rawValue))
      scene.service.answer { member, attempt in
        switch (member.id, attempt) {
        case (1, 1...2), (2, 1): lost
        case (3, 1): .retry(RetryCause(status: 0, reason: OwnReason.unreachable.rawValue))
        case (4, 1): .retry(RetryCause(status: 503, reason: "Shutdown"))
        default: .outcome(.accepted)
        }
      }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        try await waitUntil("the push is over") {
          scene.clock.advance(by: 1)
          return try await scene.record(push).state.isOver
        }
      }
      let repeats = try await scene.record(push).repeats
      #expect(repeats.unanswered == 3 && repeats.interrupted == 0)
    }
  }

  @Test("a process that dies: at most what was under way, never more than the window", arguments: [300, 20_000])
  func died(devices: Int) async throws {
    try await EngineScene.run(devices: devices) { scene in
      scene.service.answer { member, _ in member.id % 3 == 0 ? nil : .outcome(.accepted) }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held >= min(8000, devices / 3) }
        let before = try await scene.record(push)
        #expect(before.handedOut > 0 && before.repeats.total == 0)
        // As if the process were dead: another one takes the push up, and finds what the store knows.
        let (store, clock, service, log) = (
          scene.store, scene.clock,
          ScriptedService(
            credential: scene.credential.id, clock: scene.clock), scene.log
        )
        let other = EngineScene(
          store: store, app: scene.app, credential: scene.credential, clock: clock, service: service, log: log)
        try await other.life { second in
          second.enqueue(push.id)
          try await other.wait(second, push) { $0.isFinal }
        }
        let sent = Set(scene.service.devices)
        let doubles = Set(service.devices).intersection(sent).count
        let ended = try await scene.record(push)
        #expect(doubles > 0 && ended.repeats.interrupted >= doubles && ended.repeats.interrupted <= 8000)
        #expect(ended.counts == OutcomeCounts(accepted: devices) && ended.repeats.unanswered == 0)
        scene.service.answer { _, _ in .outcome(.accepted) }
      }
    }
  }

  @Test("a process that ends as it should repeats nothing, and counts nothing")
  func stopped() async throws {
    try await EngineScene.run(devices: 20_000) { scene in
      scene.service.answer { member, _ in member.id <= 5000 ? .outcome(.accepted) : nil }
      let push = try await scene.push()
      try await scene.life { engine in
        engine.enqueue(push.id)
        await scene.wait { scene.service.held >= 7000 }
        engine.interrupt()
      }
      let between = try await scene.record(push)
      #expect(between.state == .sending && between.counts.accepted == 5000)
      scene.service.answer { _, _ in .outcome(.accepted) }
      try await scene.life { engine in _ = try await scene.wait(engine, push) { $0.isFinal } }
      let ended = try await scene.record(push)
      #expect(ended.repeats.total == 0 && ended.counts == OutcomeCounts(accepted: 20_000))
    }
  }
}
