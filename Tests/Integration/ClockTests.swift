import Delivery
import Foundation
import JSON
import Model
import Simulator
import Store
import Synchronization
import Testing

/// The wall clock steps in the middle of a push, as when somebody sets it, or a machine wakes up.
@Suite("Clock that steps", .timeLimit(.minutes(2)))
struct ClockTests {
  /// Real time, and what the clock is off by.
  private final class Clock: Sendable {
    private let offset = Mutex(0.0)

    func step(_ seconds: Double) { offset.withLock { $0 += seconds } }
    var now: Date { Date() + offset.withLock { $0 } }
  }

  /// Sends to 2000 phones, and steps in the middle. Without `together` Apple's clock stays right.
  private func run(
    _ step: Double, together: Bool, faults: String = "delay=20ms,streams=50", hasSteadyTime: Bool = false
  ) async throws -> (tally: Tally, push: Push) {
    let clock = Clock()
    var options = DeliveryScene.Options()
    options.clock = { clock.now }
    if together { options.simulatorClock = { clock.now } }
    let found = Mutex<(Tally, Push)?>(nil)
    options.hasSteadyTime = hasSteadyTime
    try await DeliveryScene.run(options, faults: try Faults(parsing: faults)) { scene in
      let phones = try await scene.add(2000)
      let push = try await scene.push()
      async let carried: Void = scene.carryOut(push)
      try await eventually("some outcomes", every: .milliseconds(5)) { try await scene.progress(push).total >= 300 }
      clock.step(step)
      try await carried
      let ended = try await scene.store.read { try Push.get($0, id: push.id) }
      let tally = try await scene.tally(push, phones)
      found.withLock { $0 = (tally, ended) }
    }
    return try #require(found.withLock { $0 })
  }

  @Test("a clock that steps by an hour with everybody's changes nothing", arguments: [3600.0, -3600])
  func together(_ step: Double) async throws {
    let (tally, push) = try await run(step, together: true)
    #expect(push.state == .finished)
    #expect(tally.isWhole && tally.doubles == 0 && tally.outcomes == ["accepted": 2000], "\(tally)")
    #expect(try #require(push.finishedAt) > .distantPast)
  }

  @Test(
    "devices that wait after a 503 are neither given up nor forgotten when the clock leaps",
    arguments: [31 * 86_400.0, -82_800])
  func waiting(_ step: Double) async throws {
    let (tally, push) = try await run(
      step, together: true, faults: "status=503,share=0.3,delay=5ms,streams=50,seed=1", hasSteadyTime: true)
    #expect(push.state == .finished)
    #expect(tally.isWhole && tally.doubles == 0 && tally.outcomes == ["accepted": 2000], "\(tally)")
  }

  /// A token from an hour ago, or from the future, is what Apple may refuse; then every device says so.
  @Test(
    "a clock that is wrong by an hour loses nobody and sends nothing twice", arguments: [3600.0, -3600, 7200, -7200])
  func alone(_ step: Double) async throws {
    let (tally, push) = try await run(step, together: false)
    #expect(push.state == .finished)
    #expect(tally.isWhole && tally.doubles == 0, "\(tally)")
    #expect(tally.outcomes["accepted", default: 0] >= 300, "\(tally)")
    // Nothing that has nothing to do with the clock.
    let clocks: Set = ["CredentialRefused", "ExpiredProviderToken", "InvalidProviderToken"]
    #expect(clocks.isSuperset(of: tally.reasons.keys), "\(tally)")
  }
}
