package import Certificates
package import Foundation
package import Logging
package import Providers
import Model
import SQLite
package import Store
import Synchronization

/// Carries pushes out: takes up what a former process left unfinished, then whatever is handed to it.
///
/// A push is safe from the moment its row is committed: handing it over is only a hint, and one that another process
/// kept, or whose time has come, is found by a look at the store once a second. Several pushes run side by side, so
/// that a test push does not wait behind a broadcast.
package final class DeliveryEngine: Sendable {
  struct Running {
    let control: RunControl
    /// Whether to begin again at once when it has ended: it was resumed while it came to a halt.
    var goesOn = false
    var progress: PushProgress?
    /// Why it waits for the store; nil: it does not.
    var storeTrouble: String?
    var listeners: [Int: AsyncStream<PushProgress>.Continuation] = [:]
  }

  /// A push that an error stopped.
  struct Stopped {
    let reason: String
    /// How many times in a row.
    var times = 1
    /// Looks for new pushes until it is tried again.
    var looks = 1
  }

  struct State {
    var running: [Int64: Running] = [:]
    var nextListener = 0
    var isStopping = false
    /// Pushes that an error stopped: tried again after a second, two, four, up to five minutes.
    var stopped: [Int64: Stopped] = [:]
    var trail: Trail?
    var isTrailOpen = false
    var isInterrupted = false
    var trouble: String?
    /// Who follows pushes that may not be under way.
    var followers: [Int64: [Int: AsyncStream<Void>.Continuation]] = [:]
  }

  let store: Store
  let routes: any RouteFinder
  let clock: @Sendable () -> Date
  let pause: @Sendable () async throws -> Void
  let sleep: @Sendable (Date) async throws -> Void
  let policy: RetryPolicy
  let shares = FairShare(window: 8000)
  let leaps: LeapWatch
  let steady: @Sendable () -> TimeInterval
  let log: Logger
  private let queue: AsyncStream<Int64>
  let hand: AsyncStream<Int64>.Continuation
  let state = Mutex(State())

  /// Creates an engine; ``run()`` starts it.
  ///
  /// - Parameters:
  ///   - steady: seconds that passed, whatever the clock was set to, as ``steadyTime()``; nil: `clock` is never set.
  ///   - pause: waits between two looks for pushes that nobody handed over.
  ///   - sleep: waits until a time by `clock`, or less long; nil: at most a second of real time, so that a clock that
  ///     is set right is noticed.
  ///   - policy: what becomes of a device whose push did not go through.
  package init(
    store: Store, routes: any RouteFinder, clock: @escaping @Sendable () -> Date = { Date() },
    steady: (@Sendable () -> TimeInterval)? = nil,
    pause: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) },
    sleep: (@Sendable (Date) async throws -> Void)? = nil, policy: RetryPolicy = RetryPolicy(), log: Logger
  ) {
    self.store = store
    self.routes = routes
    self.clock = clock
    self.pause = pause
    self.policy = policy
    self.sleep =
      sleep ?? { date in
        try await Task.sleep(for: .seconds(min(1, max(0.001, date.timeIntervalSince(clock())))))
      }
    self.log = log.labelled("Delivery")
    self.steady = steady ?? { clock().timeIntervalSinceReferenceDate }
    leaps = LeapWatch(clock: clock, steady: steady, log: self.log)
    (queue, hand) = AsyncStream.makeStream()
  }

  /// Carries pushes out until ``stop()``, and returns when those under way have ended. A store that cannot be read at
  /// the beginning is tried again with growing pauses, and ``trouble`` says so meanwhile.
  ///
  /// - Throws: `CancellationError` if its task is cancelled before the store could be read.
  package func run() async throws {
    defer { state.withLock { $0.trouble = "It has finished." } }
    let now = clock()
    await renewSchedules(now: now)
    try await takeUp(now: now)
    // Ends with this scope, which is left when the last push under way has ended.
    async let _ = lookForDue()
    await withDiscardingTaskGroup { group in
      for await id in queue {
        guard begin(id) else { continue }
        group.addTask { await self.carryOut(id) }
      }
    }
  }

  /// Carries one push out, without ``run()``: for a process that sends its own push and nothing else. Returns when it
  /// has ended; at once if it is under way already.
  package func runOnly(_ id: Int64) async {
    do {
      try await openTrail()
    } catch {
      log.error("could not read what an earlier process was sending", ["error": "\(error)"])
    }
    if begin(id) { await carryOut(id) }
  }

  /// Credentials were changed: their connections are opened anew at once, also for pushes that are under way. Without
  /// it that is noticed within a second.
  package func credentialsChanged() async throws { try await routes.refresh() }

  /// Tries whether the service takes a certificate or key, before it is put in use.
  package func attempt(_ trial: CredentialTrial) async -> ProviderVerdict { await routes.attempt(trial) }

  /// What is held back for the sake of a credential; nil: nothing was sent with it since the start.
  package func health(credential: Int64) -> ProviderHealth? { routes.health(credential: credential, at: clock()) }

  /// Hands a committed push over, by its row id. Idempotent.
  package func enqueue(_ id: Int64) { hand.yield(id) }

  /// Takes no more pushes; ``run()`` returns once those under way have ended. Those that have nothing to do but to wait
  /// for a time end at once, and go on at the next start.
  package func stop() {
    hand.finish()
    let running = state.withLock { state in
      state.isStopping = true
      return state.running.values.map(\.control)
    }
    for control in running { control.stop() }
  }

  /// No more time: as ``stop()``, and pushes under way send nothing more, keep the results of what is in flight, and go
  /// on at the next start.
  package func interrupt() {
    stop()
    let running = state.withLock { state in
      state.isInterrupted = true
      return state.running.map { ($0.key, $0.value.control) }
    }
    for (id, control) in running {
      log.notice("left push for the next start", ["push": id])
      control.interrupt()
    }
  }
}
