import Delivery
import Foundation
import Glibc
import JSON
import Model
import SQLite
import Simulator
import Store
import TestSupport
import Testing

/// The whole program, killed at any moment and started again.
///
/// Short in `script/test`; `script/faults 100` runs a hundred broadcasts.
@Suite("Crash and restart", .serialized, .timeLimit(.minutes(FaultPlan.runs.map { 5 + 3 * $0 } ?? 5)))
struct CrashTests {
  private static let devices = 20_000
  /// What may come twice for each kill: devices under way whose outcome was not on the disk. `PushRun` has no more
  /// than this number under way at once.
  private static let window = 8000
  /// What a killed process may have written, and the other side has not read: a socket's worth.
  private static let onTheWire = 250

  private struct Total {
    var kills = 0
    var doubles = 0
  }

  /// Brings one broadcast to its end through a number of kills.
  private func broadcast(
    _ scene: DeliveryScene, _ phones: [SimulatedPhone], kills: Int, _ dice: inout SeededNumbers
  ) async throws -> Total {
    // What came before is of no interest, and would make a hundred broadcasts slow.
    for phone in phones { try scene.simulator.phones.clear(phone.id) }
    let push = try await scene.push(options: [:])
    var total = Total()
    for _ in 0..<kills {
      let child = try await scene.serve()
      let begin = try await scene.progress(push).total
      // Mostly in the middle; sometimes before the first outcome is kept, and sometimes towards the end.
      let least = dice.next() % 5 == 0 ? 0 : begin + Int.random(in: 1...(Self.devices / kills), using: &dice)
      let pause = Duration.microseconds(Int.random(in: 0...50_000, using: &dice))
      try await eventually("some outcomes", every: .milliseconds(5)) {
        let present = try await scene.progress(push)
        return present.total >= least || present.state == .finished
      }
      try await Task.sleep(for: pause)
      let isOver = try await scene.progress(push).state == .finished
      child.send(SIGKILL)
      #expect(await child.status() == 137)
      if !isOver { total.kills += 1 }
    }
    let last = try await scene.serve()
    try await scene.finished(push, by: last)
    #expect(await scene.stop(last) == 0, "\(last.errorText)")
    let tally = try await scene.tally(push, phones)
    #expect(tally.isWhole && tally.outcomes == ["accepted": phones.count], "seed \(FaultPlan.seed): \(tally)")
    // The page says how many, and does not say too few.
    let repeats = try await scene.store.read { try Push.get($0, id: push.id).repeats }
    #expect(tally.doubles <= repeats.total, "seed \(FaultPlan.seed): \(tally), told \(repeats)")
    #expect(
      repeats.total <= 2 * tally.doubles + Self.onTheWire * total.kills,
      "seed \(FaultPlan.seed): \(tally), told \(repeats)")
    total.doubles = tally.doubles
    return total
  }

  @Test("whenever it is killed, nobody is forgotten and what comes twice has the same id")
  func killed() async throws {
    var dice = SeededNumbers(seed: FaultPlan.seed)
    // Slow enough to be hit on its way.
    try await DeliveryScene.run(faults: try Faults(parsing: "delay=30ms")) { scene in
      let phones = try await scene.add(Self.devices)
      var total = Total()
      for run in 1...(FaultPlan.runs ?? 1) {
        let kills = FaultPlan.runs == nil ? 3 : Int.random(in: 1...5, using: &dice)
        let one = try await broadcast(scene, phones, kills: kills, &dice)
        total.kills += one.kills
        total.doubles += one.doubles
        print("crash run \(run), seed \(FaultPlan.seed): \(one.kills) kills, \(one.doubles) doubles")
      }
      #expect(total.kills > 0, "every kill came too late; seed \(FaultPlan.seed)")
      let problems = try await scene.store.pool.read { try $0.integrityCheck() }
      #expect(problems.isEmpty, "\(problems)")
    }
  }

  /// Waits until everybody has an outcome.
  private func settled(_ scene: DeliveryScene, _ push: Push, by child: Child) async throws {
    try await eventually("everybody has an outcome", within: .seconds(60), every: .milliseconds(20)) {
      guard child.isRunning else { throw SceneError("serve ended: \(child.errorText)") }
      return try await scene.store.read { PushProgress(try Push.get($0, id: push.id)).isFinal }
    }
  }

  @Test("killed in the midst of a cancel, and of the retry of the rest: everybody has one outcome, and it is true")
  func cancelled() async throws {
    var dice = SeededNumbers(seed: FaultPlan.seed)
    try await DeliveryScene.run(faults: try Faults(parsing: "delay=30ms")) { scene in
      let phones = try await scene.add(Self.devices)
      let push = try await scene.push(options: [:])
      let first = try await scene.serve()
      try await eventually("some outcomes", every: .milliseconds(2)) {
        try await scene.progress(push).total >= 1000
      }
      // As another process does it; this one hears of it within a second, and is killed around that moment.
      let isCancelled = try await scene.store.write {
        try Push.move($0, id: push.id, from: [.sending], to: .cancelled, now: Date())
      }
      #expect(isCancelled, "too late; seed \(FaultPlan.seed)")
      try await Task.sleep(for: .microseconds(Int.random(in: 0...1_200_000, using: &dice)))
      first.send(SIGKILL)
      _ = await first.status()

      let second = try await scene.serve()
      try await settled(scene, push, by: second)
      let tally = try await scene.tally(push, phones)
      // Whoever was under way is unknown, not "not sent": nobody is untold.
      #expect(tally.isWhole, "seed \(FaultPlan.seed): \(tally)")
      let unsent = tally.outcomes["unknown", default: 0] + tally.outcomes["accepted", default: 0] - tally.received
      #expect(unsent <= Self.onTheWire, "seed \(FaultPlan.seed): \(tally)")

      let rest = Self.devices - tally.outcomes["accepted", default: 0]
      guard
        case .created(let child, let found) = try await PushIntake(store: scene.store, deliver: scene.engine.enqueue)
          .retryFailed(push.id, source: .api, by: "test", now: Date())
      else { throw SceneError("there was nobody left: \(tally)") }
      #expect(found.devices == rest && found.unknown == tally.outcomes["unknown", default: 0])
      try await eventually("some outcomes of the rest", every: .milliseconds(2)) {
        let progress = try await scene.progress(child)
        return progress.total >= 500 || progress.state.isOver
      }
      second.send(SIGKILL)
      _ = await second.status()
      let third = try await scene.serve()
      try await scene.finished(child, by: third)
      #expect(await scene.stop(third) == 0)
      let reached = try await scene.store.read { database in
        Set(
          try database.fetchAll(
            """
            SELECT d.token FROM deliveries x JOIN devices d ON d.id = x.device_id WHERE x.push_id = ? AND x.outcome = 1
            """, push.id
          ) { DeviceToken(bytes: $0.blob(0)) })
      }
      let after = try await Tally(
        scene.store, push: child.id, audience: Set(phones.map(\.token)).subtracting(reached),
        phones: scene.simulator.phones)
      #expect(after.isWhole && after.outcomes == ["accepted": rest], "seed \(FaultPlan.seed): \(after)")
      let repeats = try await scene.store.read { try Push.get($0, id: child.id).repeats }
      #expect(after.doubles <= repeats.total, "seed \(FaultPlan.seed): \(after), told \(repeats)")
    }
  }

  @Test("killed in the midst of a push that is sent at most once: only what left is unknown")
  func killedAtMostOnce() async throws {
    // Few streams: of a page that was handed out, most has not left.
    try await DeliveryScene.run(faults: try Faults(parsing: "delay=30ms,streams=20")) { scene in
      let phones = try await scene.add(3000)
      let push = try await scene.push()
      let first = try await scene.serve()
      try await eventually("some outcomes", every: .milliseconds(2)) { try await scene.progress(push).total >= 200 }
      first.send(SIGKILL)
      _ = await first.status()
      #expect(try await scene.progress(push).state == .sending, "too late")
      let second = try await scene.serve()
      try await scene.finished(push, by: second)
      #expect(await scene.stop(second) == 0)
      let tally = try await scene.tally(push, phones)
      let unknown = tally.outcomes["unknown", default: 0]
      let unsent = unknown + tally.outcomes["accepted", default: 0] - tally.received
      #expect(
        tally.isWhole && tally.doubles == 0 && unknown + tally.outcomes["accepted", default: 0] == 3000, "\(tally)")
      #expect(unsent <= Self.onTheWire, "\(tally)")
      print("killed at most once: \(unknown) unknown, \(unsent) of them on no phone")
    }
  }

  @Test("asked to stop in the middle of a slow push, it stops in time, and the rest goes out after the next start")
  func terminated() async throws {
    try await DeliveryScene.run(faults: try Faults(parsing: "delay=3s,streams=20")) { scene in
      let phones = try await scene.add(2000)
      let push = try await scene.push()
      let first = try await scene.serve()
      try await eventually("some outcomes") { try await scene.progress(push).total > 0 }
      let clock = ContinuousClock.now
      #expect(await scene.stop(first) == 0, "\(first.errorText)")
      #expect(ContinuousClock.now - clock < .seconds(40))
      #expect(try await scene.progress(push).state == .sending)
      scene.simulator.faults(.development).set(Faults())
      let second = try await scene.serve()
      try await scene.finished(push, by: second)
      #expect(await scene.stop(second) == 0)
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole, "\(tally)")
      // What was in flight when time was up may be unknown; what had not left must go out now.
      #expect(tally.outcomes["skipped"] == nil && tally.outcomes["failed"] == nil, "\(tally)")
      #expect(tally.outcomes["accepted", default: 0] >= 1900, "\(tally)")
    }
  }
}
