import Foundation
import Glibc
import JSON
import Model
import SQLite
import Simulator
import Store
import TestSupport
import Testing

/// The whole program, killed while it sends one push through three services.
///
/// Short in `script/test`; `script/faults` sends to 300 000 devices.
@Suite("Crash and restart with three services", .serialized, .timeLimit(.minutes(FaultPlan.runs == nil ? 5 : 60)))
struct ServiceCrashTests {
  private static let devices = FaultPlan.runs == nil ? 3000 : FaultPlan.broadcast
  private static let kills = 2
  /// What a killed process may have written to APNs and FCM, and the simulator has not read: a socket's worth each.
  private static let onTheWire = 500

  /// Slow enough to be killed on the way, as many at a time as fit.
  private func slowDown(_ scene: DeliveryScene) throws {
    let rules = FaultPlan.runs == nil ? "delay=150ms,streams=10" : "delay=30ms"
    for server in [SimulatedServer.development, .fcm] {
      scene.simulator.faults(server).set(try Faults(parsing: rules, for: server))
    }
    // Long enough that a request is on its way at the first kill.
    scene.simulator.faults(.jpush).set(
      try Faults(parsing: FaultPlan.runs == nil ? "delay=2s" : "delay=300ms", for: .jpush))
  }

  /// Sends one push, and kills the server at about one and two thirds of it.
  private func broadcast(_ options: JSONValue) async throws -> (push: Push, tally: Tally, devices: Int) {
    try await DeliveryScene.run { scene in
      try await scene.addServices()
      let phones = try await scene.addThirds(Self.devices)
      try slowDown(scene)
      let push = try await scene.push(options: options)
      let clock = ContinuousClock.now
      for kill in 1...Self.kills {
        let child = try await scene.serve(seconds: 3600)
        let least = Self.devices * kill / (Self.kills + 1)
        try await eventually("\(least) outcomes", within: .seconds(1200), every: .milliseconds(2)) {
          try await scene.progress(push).total >= least
        }
        child.send(SIGKILL)
        #expect(await child.status() == 137)
        #expect(try await scene.progress(push).state == .sending, "the kill came too late")
      }
      let last = try await scene.serve(seconds: 3600)
      try await scene.finished(push, by: last, within: .seconds(1200))
      #expect(await scene.stop(last) == 0, "\(last.errorText)")
      let tally = try await scene.tally(push, phones)
      let stored = try await scene.store.read { try Push.get($0, id: push.id) }
      print("three services, \(Self.devices) devices, \(Self.kills) kills, \(ContinuousClock.now - clock): \(tally)")
      let problems = try await scene.store.pool.read { try $0.integrityCheck() }
      #expect(problems.isEmpty, "\(problems)")
      return (stored, tally, phones.count)
    }
  }

  @Test("at least once: nobody is forgotten, doubles are those that the page tells of, and JPush sends none")
  func atLeastOnce() async throws {
    let (push, tally, count) = try await broadcast([:])
    #expect(tally.isWhole && tally.outcomes == ["accepted": count], "\(tally)")
    #expect(tally.received == count, "\(tally)")
    #expect(tally.doubles <= push.repeats.total, "\(tally), told \(push.repeats)")
    // The same devices are in the same request with the same cid, which JPush answers a second time and sends once.
    #expect(tally.doublesBy[.jpush, default: 0] == 0, "\(tally)")
  }

  @Test(
    "killed with requests to JPush on their way: the next process sends them with the same cid",
    arguments: [true, false])
  func cid(hasTrail: Bool) async throws {
    try await DeliveryScene.run { scene in
      try await scene.addServices()
      scene.simulator.faults(.jpush).set(try Faults(parsing: "delay=1s", for: .jpush))
      let phones = try await scene.addJPush(2500)
      let push = try await scene.push(options: [:])
      let child = try await scene.serve()
      try await eventually("three requests arrive", every: .milliseconds(2)) {
        phones.allSatisfy { scene.simulator.phones.phone($0.id)?.received.isEmpty == false }
      }
      child.send(SIGKILL)
      _ = await child.status()
      #expect(try await scene.progress(push).total == 0, "the kill came too late")
      if !hasTrail { try scene.removeTrails() }
      let last = try await scene.serve()
      try await scene.finished(push, by: last)
      #expect(await scene.stop(last) == 0, "\(last.errorText)")
      #expect(scene.simulator.counters(.jpush).requests == 6)
      let tally = try await scene.tally(push, phones)
      #expect(tally.isWhole && tally.outcomes == ["accepted": 2500] && tally.doubles == 0, "\(tally)")
      let messages = try await scene.store.read { try SentJPushMessage.all($0, push: push.id) }
      #expect(messages.map(\.devices).sorted() == [500, 1000, 1000])
    }
  }

  @Test("at most once: nobody gets it twice, and unknown are only those that it may have left for")
  func atMostOnce() async throws {
    let (push, tally, count) = try await broadcast(["at_most_once": true])
    let (unknown, accepted) = (tally.outcomes["unknown", default: 0], tally.outcomes["accepted", default: 0])
    #expect(tally.isWhole && unknown + accepted == count, "\(tally)")
    #expect(tally.doubles == 0 && push.repeats.total == 0, "\(tally), told \(push.repeats)")
    #expect(unknown + accepted - tally.received <= Self.kills * Self.onTheWire, "\(tally)")
  }
}
