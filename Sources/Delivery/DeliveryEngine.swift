public import Foundation
public import Logging
import Providers
import Push
public import Store
import Synchronization

/// Carries pushes out: takes up what a former process left unfinished, then whatever is handed to it.
///
/// A push is safe from the moment its row is committed: handing it over is only a hint, and one that another process
/// kept, or whose time has come, is found by a look at the store once a second. Several pushes run side by side, so
/// that a test push does not wait behind a broadcast.
public final class DeliveryEngine: Sendable {
  private struct Running {
    let inbox = Inbox()
    var isCancelled = false
    var route: (any Route)?
    var progress: PushProgress?
    var listeners: [Int: AsyncStream<PushProgress>.Continuation] = [:]
  }

  private struct State {
    var running: [Int64: Running] = [:]
    var nextListener = 0
    /// Pushes that an error of the store stopped: not tried again every second, but at the next start.
    var stopped: Set<Int64> = []
    var isInterrupted = false
  }

  private let store: Store
  private let routes: any RouteFinder
  private let clock: @Sendable () -> Date
  private let pause: @Sendable () async throws -> Void
  private let log: Logger
  private let queue: AsyncStream<Int64>
  private let hand: AsyncStream<Int64>.Continuation
  private let state = Mutex(State())

  /// Creates an engine; ``run()`` starts it.
  ///
  /// - Parameter pause: waits between two looks for pushes that nobody handed over.
  public init(
    store: Store, routes: any RouteFinder, clock: @escaping @Sendable () -> Date = { Date() },
    pause: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) }, log: Logger
  ) {
    self.store = store
    self.routes = routes
    self.clock = clock
    self.pause = pause
    self.log = log.labelled("Delivery")
    (queue, hand) = AsyncStream.makeStream()
  }

  /// Carries pushes out until ``stop()``, and returns when those under way have ended.
  ///
  /// - Throws: what the store throws while unfinished pushes are looked for.
  public func run() async throws {
    for push in try await store.read({ try PushRecord.unfinished($0) }) {
      log.notice("push taken up again", ["push.id": push.uid])
      enqueue(push.id)
    }
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
    if begin(id) { await carryOut(id) }
  }

  private func lookForDue() async {
    var failed = false
    while !Task.isCancelled {
      // It throws when cancelled, and the loop ends.
      do { try await pause() } catch { return }
      let now = clock()
      do {
        for id in try await store.read({ try PushRecord.due($0, now: now) }) where isNew(id) { enqueue(id) }
        failed = false
      } catch {
        if !failed, !Task.isCancelled { log.error("no look for new pushes", ["error": "\(error)"]) }
        failed = true
      }
    }
  }

  private func isNew(_ id: Int64) -> Bool {
    state.withLock { $0.running[id] == nil && !$0.stopped.contains(id) }
  }

  /// Hands a committed push over, by its row id. Twice is no harm.
  public func enqueue(_ id: Int64) { hand.yield(id) }

  /// Takes no more pushes; ``run()`` returns once those under way have ended.
  public func stop() { hand.finish() }

  /// No more time: as ``stop()``, and pushes under way send nothing more, keep the results of what is in flight, and go
  /// on at the next start.
  public func interrupt() {
    stop()
    let running = state.withLock { state in
      state.isInterrupted = true
      return state.running.map { ($0.key, $0.value.route) }
    }
    for (id, route) in running {
      log.notice("push left for the next start", ["push": id])
      route?.cancel(push: id)
    }
  }

  /// Stops a push: devices that it has not reached get nothing.
  ///
  /// - Returns: whether it could still be stopped.
  public func cancel(_ id: Int64) async throws -> Bool {
    let now = clock()
    let route = state.withLock { state -> (any Route)?? in
      guard state.running[id] != nil else { return nil }
      state.running[id]?.isCancelled = true
      return .some(state.running[id]?.route)
    }
    if let route {
      route?.cancel(push: id)
      return true
    }
    return try await store.write { database in
      try PushRecord.move(database, id: id, from: [.queued], to: .cancelled, now: now)
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
      continuation.yield(PushProgress(try await store.read { try PushRecord.get($0, id: id) }))
      continuation.finish()
    }
    return stream
  }

  private func remove(listener: Int, of id: Int64) {
    state.withLock { state in state.running[id]?.listeners[listener] = nil }
  }

  /// - Returns: false if it is under way already.
  private func begin(_ id: Int64) -> Bool {
    state.withLock { state in
      guard state.running[id] == nil else { return false }
      state.running[id] = Running()
      return true
    }
  }

  /// Brings results to their push; those of a push that is not under way any more are of no use.
  private func deliver(_ report: SendReport) {
    let inbox = state.withLock { $0.running[report.push]?.inbox }
    inbox?.add(report.results.map { Inbox.Item(device: $0.device, result: $0.result) })
  }

  private func carryOut(_ id: Int64) async {
    guard let inbox = state.withLock({ $0.running[id]?.inbox }) else { return }
    let run = PushRun(
      store: PatientStore(store: store, push: id, log: log, pause: pause), routes: routes, clock: clock,
      publish: { self.publish(id, $0) },
      isCancelled: { self.state.withLock { $0.running[id]?.isCancelled ?? false } },
      isInterrupted: { self.state.withLock { $0.isInterrupted } }, inbox: inbox,
      report: { self.deliver($0) },
      setRoute: { route in self.state.withLock { $0.running[id]?.route = route } })
    do {
      try await run.carryOut(id)
    } catch {
      log.error("push stopped by an error; it is taken up at the next start", ["push": id, "error": "\(error)"])
      state.withLock { _ = $0.stopped.insert(id) }
    }
    let listeners = state.withLock { state in
      defer { state.running[id] = nil }
      return state.running[id]?.listeners.values.map { $0 } ?? []
    }
    for listener in listeners { listener.finish() }
  }

  private func publish(_ id: Int64, _ progress: PushProgress) {
    let listeners = state.withLock { state in
      state.running[id]?.progress = progress
      return state.running[id]?.listeners.values.map { $0 } ?? []
    }
    for listener in listeners { listener.yield(progress) }
  }
}
