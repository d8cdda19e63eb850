package import Certificates
package import Foundation
package import Logging
package import Providers
import Model
import SQLite
package import Store
import Synchronization

/// Sends pushes: first those that an earlier process left unfinished, then those that are enqueued.
///
/// A push is safe once its row is committed; enqueueing is only a hint. Pushes that another process stored, or whose
/// time has come, are found within a second: the store is asked when anything was committed or is due (``QuietTime``).
/// Several pushes run at the same time, so a test push does not wait behind a broadcast.
package final class DeliveryEngine: Sendable {
  struct Running {
    let control: RunControl
    /// Whether to start again after stopping: the push was resumed while it was stopping.
    var goesOn = false
    var progress: PushProgress?
    /// Why the push waits for the store; nil if it does not.
    var storeTrouble: String?
    var listeners: [Int: AsyncStream<PushProgress>.Continuation] = [:]
  }

  /// A push that an error stopped.
  struct Stopped {
    let reason: String
    /// The number of failures in a row.
    var times = 1
    /// Polls left until the retry.
    var looks = 1
  }

  struct State {
    var running: [Int64: Running] = [:]
    var nextListener = 0
    var isStopping = false
    /// Pushes that an error stopped; retried after 1, 2, 4, … seconds, at most 5 minutes.
    var stopped: [Int64: Stopped] = [:]
    var trail: Trail?
    var isTrailOpen = false
    var isInterrupted = false
    var trouble: String?
    /// Followers of pushes that may not be active.
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
  ///   - steady: elapsed seconds, unaffected by clock changes, as in ``steadyTime()``; nil if `clock` is never set.
  ///   - pause: waits between two looks for new and due pushes.
  ///   - sleep: waits until a time by `clock`, or returns early; nil waits at most one second of real time, so that a
  ///     corrected clock is noticed.
  ///   - policy: what happens to a device after a failed attempt.
  package init(
    store: Store, routes: any RouteFinder, clock: @escaping @Sendable () -> Date = { Date() },
    steady: (@Sendable () -> TimeInterval)? = nil,
    pause: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) },
    sleep: (@Sendable (Date) async throws -> Void)? = nil, policy: RetryPolicy = RetryPolicy(), log: Logger
  ) {
    (self.store, self.routes, self.clock, self.pause, self.policy) = (store, routes, clock, pause, policy)
    self.sleep =
      sleep ?? { date in try await Task.sleep(for: .seconds(min(1, max(0.001, date.timeIntervalSince(clock()))))) }
    self.log = log.labelled("Delivery")
    self.steady = steady ?? { clock().timeIntervalSinceReferenceDate }
    leaps = LeapWatch(clock: clock, steady: steady, log: self.log)
    (queue, hand) = AsyncStream.makeStream()
  }

  /// Sends pushes until ``stop()``; returns when the active ones have ended. If the store cannot be read at the start,
  /// retries with growing pauses and reports it in ``trouble``.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before the store could be read.
  package func run() async throws {
    defer { state.withLock { $0.trouble = "It has finished." } }
    let now = clock()
    await renewSchedules(now: now)
    try await takeUp(now: now)
    // Cancelled when this scope is left, after the last active push has ended.
    async let _ = lookForDue()
    await withDiscardingTaskGroup { group in
      for await id in queue {
        guard begin(id) else { continue }
        group.addTask { await self.carryOut(id) }
      }
    }
  }

  /// Sends one push without ``run()``, for a process that sends only its own push. Returns when the push has ended, or
  /// at once if it is already active.
  package func runOnly(_ id: Int64) async {
    do {
      try await openTrail()
    } catch {
      log.error("could not read what an earlier process was sending", ["error": "\(error)"])
    }
    if begin(id) { await carryOut(id) }
  }

  /// Reconnects changed credentials at once, also for active pushes. Without this call the change is noticed within a
  /// second.
  package func credentialsChanged() async throws { try await routes.refresh() }

  /// Tests whether the push service accepts a certificate or key before it is used.
  package func attempt(_ trial: CredentialTrial) async -> ProviderVerdict { await routes.attempt(trial) }

  /// Asks the services that a push would go through whether they would take it, without sending it.
  package func validate(_ check: PushCheck) async throws -> [PushValidation] {
    try await PushValidation.find(check, store, routes, now: clock())
  }

  /// The broadcast channels of apps.
  package var channels: ChannelKeeper {
    ChannelKeeper(store: store) { [routes] in try await routes.ask($0, app: $1, environment: $2) }
  }

  /// What JPush itself keeps of apps.
  package var jpush: JPushKeeper { JPushKeeper(store: store, routes: routes) }

  /// The subscriptions of topics.
  package var topics: TopicKeeper { TopicKeeper(store: store, routes: routes, clock: clock) }

  /// What is held back because of a credential; nil if nothing was sent with it since the start.
  package func health(credential: Int64) -> ProviderHealth? { routes.health(credential: credential, at: clock()) }

  /// Hands over a committed push by its row ID. Idempotent.
  package func enqueue(_ id: Int64) { hand.yield(id) }

  /// Accepts no more pushes; ``run()`` returns once the active ones have ended. Pushes that only wait for a time end at
  /// once and continue at the next start.
  package func stop() {
    hand.finish()
    let running = state.withLock { state in
      state.isStopping = true
      return state.running.values.map(\.control)
    }
    for control in running { control.stop() }
  }

  /// Stops without waiting: like ``stop()``, but active pushes send nothing more, store the results of requests in
  /// flight, and continue at the next start.
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
