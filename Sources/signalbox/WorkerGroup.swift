import Logging
import Synchronization

/// The service's long-lived workers, as children of one task group. A worker that ends unexpectedly is logged with its
/// name and cause.
final class WorkerGroup: Sendable {
  /// A task that runs as long as the service.
  struct Worker: Sendable {
    /// What happens when the worker ends unexpectedly.
    enum Loss: Sendable {
      /// The service cannot continue: ``WorkerGroup/failure()`` returns.
      case endsService
      /// The worker is restarted after 1, 2, 4, … up to 60 seconds; after 1 again once it has run for longer than that.
      case isRestarted
    }

    /// The name in the log.
    let name: String
    let loss: Loss
    /// Whether ``WorkerGroup/stop()`` cancels the worker; otherwise its owner stops it.
    var isCancelled = true
    let run: @Sendable () async throws -> Void
  }

  /// An essential worker has ended.
  struct Failure: Error, Hashable, CustomStringConvertible {
    let worker: String
    let cause: String
    var description: String { "\(worker) ended unexpectedly: \(cause)" }
  }

  private struct State {
    var isStopping = false
    /// Finished by ``stop()``; each cancels one worker.
    var stops: [AsyncStream<Void>.Continuation] = []
    var living: Set<String> = []
    /// Finished when the worker has ended for good.
    var waiting: [String: [AsyncStream<Void>.Continuation]] = [:]
  }

  private static let longestPause = 60

  private let workers: [Worker]
  private let state: Mutex<State>
  private let failures: AsyncStream<Failure>
  private let fail: AsyncStream<Failure>.Continuation
  private let pause: @Sendable (Duration) async throws -> Void
  private let now: @Sendable () -> ContinuousClock.Instant
  private let log: Logger

  /// - Parameters:
  ///   - pause: waits before a worker is restarted; throws when its task is cancelled.
  ///   - now: measures how long a worker ran.
  init(
    _ workers: [Worker], log: Logger,
    pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    (self.workers, self.log, self.now, self.pause) = (workers, log, now, pause)
    // Filled at once, so that stopping before the workers have started still waits for them.
    state = Mutex(State(living: Set(workers.map(\.name))))
    (failures, fail) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// Runs the workers; returns when the last one has ended for good.
  func run() async {
    await withDiscardingTaskGroup { group in
      for worker in workers {
        group.addTask {
          await self.live(worker)
          self.noteEnd(of: worker.name)
        }
      }
    }
  }

  /// Cancels the workers with `isCancelled`; the others are stopped by their owners. From now on a worker may end.
  func stop() {
    let stops = state.withLock { state in
      state.isStopping = true
      return state.stops
    }
    for stop in stops { stop.finish() }
  }

  /// The first essential worker that failed; nil if the task was cancelled.
  func failure() async -> Failure? { await failures.first { _ in true } }

  /// Waits until a worker has ended for good.
  ///
  /// - Parameter limit: the time limit; nil for none.
  /// - Returns: whether it has ended.
  @discardableResult
  func hasEnded(_ name: String, within limit: Duration? = nil) async -> Bool {
    let (end, ended) = AsyncStream.makeStream(of: Void.self)
    let isLiving = state.withLock { state in
      guard state.living.contains(name) else { return false }
      state.waiting[name, default: []].append(ended)
      return true
    }
    guard isLiving else { return true }
    return await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in end {}
        return !Task.isCancelled
      }
      if let limit {
        group.addTask {
          do { try await Task.sleep(for: limit) } catch { return true }  // cancelled because the worker has ended
          return false
        }
      }
      let hasEnded = await group.next() ?? true
      group.cancelAll()
      return hasEnded
    }
  }

  private func noteEnd(of name: String) {
    let waiting = state.withLock { state in
      state.living.remove(name)
      return state.waiting.removeValue(forKey: name) ?? []
    }
    for continuation in waiting { continuation.finish() }
  }

  private var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Runs a worker until it is stopped or cannot be restarted.
  private func live(_ worker: Worker) async {
    guard worker.isCancelled else { return await keepAlive(worker) }
    let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
    let isLate = state.withLock { state in
      state.stops.append(stop)
      return state.isStopping
    }
    if isLate { stop.finish() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.keepAlive(worker) }
      group.addTask { for await _ in stopped {} }
      await group.next()
      group.cancelAll()
    }
  }

  private func keepAlive(_ worker: Worker) async {
    var seconds = 1
    while true {
      let began = now()
      var cause = "it returned"
      do { try await worker.run() } catch { cause = "\(error)" }
      guard !isStopping else { return }
      log.error("worker ended unexpectedly", ["worker": worker.name, "error": cause])
      guard case .isRestarted = worker.loss else {
        fail.yield(Failure(worker: worker.name, cause: cause))
        return
      }
      if now() - began > .seconds(Self.longestPause) { seconds = 1 }
      // `pause` throws when cancelled: the service is stopping.
      do { try await pause(.seconds(seconds)) } catch { return }
      seconds = min(Self.longestPause, seconds * 2)
    }
  }
}
