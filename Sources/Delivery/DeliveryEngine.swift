public import Foundation
public import Logging
public import Providers
import Push
import SQLite
public import Store
import Synchronization

/// Carries pushes out: takes up what a former process left unfinished, then whatever is handed to it.
///
/// A push is safe from the moment its row is committed: handing it over is only a hint, and one that another process
/// kept, or whose time has come, is found by a look at the store once a second. Several pushes run side by side, so
/// that a test push does not wait behind a broadcast.
public final class DeliveryEngine: Sendable {
  private struct Running {
    let control: RunControl
    /// Whether to begin again at once when it has ended: it was resumed while it came to a halt.
    var goesOn = false
    var progress: PushProgress?
    /// Why it waits for the store; nil: it does not.
    var storeTrouble: String?
    var listeners: [Int: AsyncStream<PushProgress>.Continuation] = [:]
  }

  /// A push that an error stopped.
  private struct Stopped {
    let reason: String
    /// How many times in a row.
    var times = 1
    /// Looks for new pushes until it is tried again.
    var looks = 1
  }

  private struct State {
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
  private let routes: any RouteFinder
  let clock: @Sendable () -> Date
  private let pause: @Sendable () async throws -> Void
  private let sleep: @Sendable (Date) async throws -> Void
  private let policy: RetryPolicy
  private let shares = FairShare(window: 8000)
  private let leaps: LeapWatch
  let log: Logger
  private let queue: AsyncStream<Int64>
  private let hand: AsyncStream<Int64>.Continuation
  private let state = Mutex(State())

  /// Creates an engine; ``run()`` starts it.
  ///
  /// - Parameters:
  ///   - steady: seconds that passed, whatever the clock was set to, as ``steadyTime()``; nil: `clock` is never set.
  ///   - pause: waits between two looks for pushes that nobody handed over.
  ///   - sleep: waits until a time by `clock`, or less long; nil: at most a second of real time, so that a clock that
  ///     is set right is noticed.
  ///   - policy: what becomes of a device whose push did not go through.
  public init(
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
    leaps = LeapWatch(clock: clock, steady: steady, log: self.log)
    (queue, hand) = AsyncStream.makeStream()
  }

  /// Carries pushes out until ``stop()``, and returns when those under way have ended. A store that cannot be read at
  /// the beginning is tried again with growing pauses, and ``trouble`` says so meanwhile.
  ///
  /// - Throws: `CancellationError` if its task is cancelled before the store could be read.
  public func run() async throws {
    defer { state.withLock { $0.trouble = "It has ended." } }
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
  public func runOnly(_ id: Int64) async {
    do {
      try await openTrail()
    } catch {
      log.error("what a process before had under way is not known", ["error": "\(error)"])
    }
    if begin(id) { await carryOut(id) }
  }

  /// Why nothing is carried out, nil if all is well: the store could not be read at the start, does not take what came
  /// of a push, or ``run()`` has ended.
  public var trouble: String? {
    state.withLock { state in state.trouble ?? state.running.values.lazy.compactMap(\.storeTrouble).first }
  }

  /// Why a push stands still: it waits for the store, or an error stopped it; nil: it does not.
  public func trouble(push id: Int64) -> String? {
    state.withLock { $0.running[id].map(\.storeTrouble) ?? $0.stopped[id]?.reason }
  }

  /// Takes over what a process before had under way, once, and begins to note it for the next.
  private func openTrail() async throws {
    let isFirst = state.withLock { state in
      defer { state.isTrailOpen = true }
      return !state.isTrailOpen
    }
    guard isFirst, let trail = Trail(database: store.pool.path) else { return }
    let now = clock()
    if let before = trail.before() {
      do {
        try await store.write { database in
          for id in try PushRecord.ofTrail(database, before.number) {
            try PushRecord.follow(database, id: id, left: before.left[id] ?? [], now: now)
          }
        }
      } catch {
        // The file is as it was, for the next attempt.
        state.withLock { $0.isTrailOpen = false }
        throw error
      }
    }
    trail.begin()
    state.withLock { $0.trail = trail }
  }

  /// Finds what a former process left unfinished.
  private func takeUp(now: Date) async throws {
    var pauses = 1
    while true {
      do {
        try await openTrail()
        let (unfinished, left) = try await store.read { database in
          (try PushRecord.unfinished(database), try WaitingDelivery.leftBehind(database))
        }
        // One for later is found when its time has come.
        for push in unfinished where push.waits(now: now) == nil {
          log.notice("push taken up again", ["push.id": push.uid])
          enqueue(push.id)
        }
        for id in left { enqueue(id) }
        state.withLock { $0.trouble = nil }
        return
      } catch {
        log.error("delivery cannot begin: the store cannot be read; tried again", ["error": "\(error)"])
        state.withLock { $0.trouble = "The store cannot be read: \(error)" }
      }
      // A second, two, four, up to half a minute.
      for _ in 0..<pauses {
        if state.withLock({ $0.isStopping }) { return }
        try await pause()
      }
      pauses = min(30, pauses * 2)
    }
  }

  private func lookForDue() async {
    var failed = false
    while !Task.isCancelled {
      // It throws when cancelled, and the loop ends.
      do { try await pause() } catch { return }
      let now = clock()
      do {
        _ = leaps.total()
        for id in stoppedAndDue() { enqueue(id) }
        for id in try await store.read({ try PushRecord.due($0, now: now) }) where isNew(id) { enqueue(id) }
        try await lookForOccurrences(now: now)
        try await routes.refresh()
        failed = false
        // Another process may have changed a push that nobody here is at.
        for id in state.withLock({ Array($0.followers.keys) }) where isNew(id) { tell(id) }
      } catch {
        if !failed, !Task.isCancelled { log.error("no look for new pushes", ["error": "\(error)"]) }
        failed = true
      }
    }
  }

  private func isNew(_ id: Int64) -> Bool {
    state.withLock { $0.running[id] == nil && $0.stopped[id] == nil }
  }

  /// Pushes that an error stopped and that are to be tried again now. Called once a look.
  private func stoppedAndDue() -> [Int64] {
    state.withLock { state in
      for id in state.stopped.keys { state.stopped[id]?.looks -= 1 }
      return state.stopped.filter { $0.value.looks == 0 }.map(\.key)
    }
  }

  /// Longest pause before a push that an error stopped is tried again, in looks.
  private static let longestStop = 300

  private func stop(_ id: Int64, _ error: any Error) {
    log.error("push stopped by an error; it is tried again", ["push": id, "error": "\(error)"])
    state.withLock { state in
      var stopped = Stopped(reason: "\(error)", times: (state.stopped[id]?.times ?? 0) + 1)
      stopped.looks = min(Self.longestStop, 1 << min(stopped.times - 1, 16))
      state.stopped[id] = stopped
    }
  }

  /// Credentials were changed: their connections are opened anew at once, also for pushes that are under way. Without
  /// it that is noticed within a second.
  public func credentialsChanged() async throws { try await routes.refresh() }

  /// Tries whether the service takes a certificate or key, before it is put in use.
  public func attempt(_ trial: CredentialTrial) async -> CredentialTrial.Verdict { await routes.attempt(trial) }
  /// What is held back for the sake of a credential; nil: nothing was sent with it since the start.
  public func health(credential: Int64) -> ProviderHealth? { routes.health(credential: credential, at: clock()) }

  /// Hands a committed push over, by its row id. Twice is no harm.
  public func enqueue(_ id: Int64) { hand.yield(id) }

  /// Takes no more pushes; ``run()`` returns once those under way have ended. Those that have nothing to do but to wait
  /// for a time end at once, and go on at the next start.
  public func stop() {
    hand.finish()
    let running = state.withLock { state in
      state.isStopping = true
      return state.running.values.map(\.control)
    }
    for control in running { control.stop() }
  }

  /// No more time: as ``stop()``, and pushes under way send nothing more, keep the results of what is in flight, and go
  /// on at the next start.
  public func interrupt() {
    stop()
    let running = state.withLock { state in
      state.isInterrupted = true
      return state.running.map { ($0.key, $0.value.control) }
    }
    for (id, control) in running {
      log.notice("push left for the next start", ["push": id])
      control.interrupt()
    }
  }

  /// What happens to a push from now on, the present first; ends with its end.
  public func progress(_ id: Int64) async throws -> AsyncStream<PushProgress> {
    let (stream, continuation) = AsyncStream.makeStream(of: PushProgress.self, bufferingPolicy: .bufferingNewest(1))
    let isRunning = state.withLock { state in
      guard let running = state.running[id] else { return false }
      state.nextListener += 1
      let number = state.nextListener
      state.running[id]?.listeners[number] = continuation
      continuation.onTermination = { [weak self] _ in self?.remove(listener: number, of: id) }
      if let progress = running.progress { continuation.yield(progress) }
      return true
    }
    if !isRunning {
      continuation.yield(try await store.read { try PushProgress.find($0, push: id) })
      continuation.finish()
    }
    return stream
  }

  /// Says when there may be something new of a push that is not under way: it begins, or somebody wants something of
  /// it; and once a second, because another process may have changed it.
  public func news(_ id: Int64) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.nextListener += 1
      state.followers[id, default: [:]][state.nextListener] = continuation
      return state.nextListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in
        state.followers[id]?[number] = nil
        if state.followers[id]?.isEmpty ?? false { state.followers[id] = nil }
      }
    }
    return stream
  }

  private func tell(_ id: Int64) {
    for follower in state.withLock({ Array($0.followers[id, default: [:]].values) }) { follower.yield() }
  }

  private func remove(listener: Int, of id: Int64) {
    state.withLock { state in state.running[id]?.listeners[listener] = nil }
  }

  /// Gives an order to a push that is under way.
  func order(_ order: RunControl.Order, push: Int64) {
    state.withLock { $0.running[push]?.control }?.give(order)
    tell(push)
  }

  /// Begins a push, at once or as soon as it has come to a halt.
  func goOn(_ id: Int64) {
    let isRunning = state.withLock { state in
      state.stopped[id] = nil
      state.running[id]?.goesOn = true
      return state.running[id] != nil
    }
    if !isRunning { enqueue(id) }
    tell(id)
  }

  /// - Returns: false if it is under way already.
  private func begin(_ id: Int64) -> Bool {
    defer { tell(id) }
    return state.withLock { state in
      guard state.running[id] == nil else { return false }
      let control = RunControl(isStopping: state.isStopping)
      if state.isInterrupted { control.interrupt() }
      state.running[id] = Running(control: control)
      return true
    }
  }

  /// Brings results to their push; those of a push that is not under way any more are of no use.
  private func deliver(_ report: SendReport) {
    let control = state.withLock { $0.running[report.push]?.control }
    control?.inbox.add(report.results.map { Inbox.Item(device: $0.device, result: $0.result) })
  }

  private func carryOut(_ id: Int64) async {
    guard let control = state.withLock({ $0.running[id]?.control }) else { return }
    let patient = PatientStore(
      store: store, push: id, log: log, pause: pause, told: { self.note(id, storeTrouble: $0) })
    let tools = PushRun.Tools(
      store: patient, routes: routes, clock: clock, sleep: sleep, policy: policy, shares: shares, leaps: leaps,
      trail: state.withLock { $0.trail }, log: log, report: { self.deliver($0) }, publish: { self.publish(id, $0) })
    do {
      let push = try await patient.read { try PushRecord.get($0, id: id) }
      try await PushRun(push, tools: tools, control: control).carryOut()
      state.withLock { $0.stopped[id] = nil }
    } catch {
      stop(id, error)
    }
    let (listeners, goesOn) = state.withLock { state in
      let ended = state.running.removeValue(forKey: id)
      return (ended?.listeners.values.map { $0 } ?? [], ended?.goesOn ?? false)
    }
    if goesOn { enqueue(id) }
    for listener in listeners { listener.finish() }
    tell(id)
  }

  private func publish(_ id: Int64, _ progress: PushProgress) {
    let (told, listeners) = state.withLock { state in
      var told = progress
      told.trouble = state.running[id]?.storeTrouble ?? progress.trouble
      state.running[id]?.progress = told
      return (told, state.running[id]?.listeners.values.map { $0 } ?? [])
    }
    for listener in listeners { listener.yield(told) }
  }

  /// A push waits for the store, for a reason; or goes on.
  private func note(_ id: Int64, storeTrouble reason: String?) {
    let progress = state.withLock { state in
      state.running[id]?.storeTrouble = reason
      var progress = state.running[id]?.progress
      progress?.trouble = reason
      return progress
    }
    if let progress { publish(id, progress) }
  }
}
