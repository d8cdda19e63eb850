import Logging
import Synchronization

/// The long-lived workers of the service, as children of one task group: one that ends although nobody stopped it is
/// noticed, and said in the log with its name and cause.
final class WorkerGroup: Sendable {
  /// Something that runs for as long as the service.
  struct Worker: Sendable {
    /// What follows when it ends although nobody stopped it.
    enum Loss: Sendable {
      /// Nothing works without it: ``WorkerGroup/failure()`` returns.
      case endsService
      /// It is started again, after a second, two, four, up to a minute.
      case isRestarted
    }

    /// As it stands in the log.
    let name: String
    let loss: Loss
    /// Whether ``WorkerGroup/stop()`` cancels it; otherwise it ends by being told.
    var isCancelled = true
    let run: @Sendable () async throws -> Void
  }

  /// A worker without which nothing works has ended.
  struct Failure: Error, Hashable, CustomStringConvertible {
    let worker: String
    let cause: String
    var description: String { "\(worker) ended unexpectedly: \(cause)" }
  }

  private struct State {
    var isStopping = false
    /// Ended by ``stop()``; each cancels one worker.
    var stops: [AsyncStream<Void>.Continuation] = []
    var living: Set<String> = []
    /// Ended when a worker has ended for good.
    var waiting: [String: [AsyncStream<Void>.Continuation]] = [:]
  }

  private static let longestPause = 60

  private let workers: [Worker]
  private let state: Mutex<State>
  private let failures: AsyncStream<Failure>
  private let fail: AsyncStream<Failure>.Continuation
  private let pause: @Sendable (Duration) async throws -> Void
  private let log: Logger

  /// - Parameter pause: waits before a worker is started again; throws when its task is cancelled.
  init(
    _ workers: [Worker], log: Logger,
    pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    (self.workers, self.log, self.pause) = (workers, log, pause)
    // From the start: whoever stops the service before its workers have begun waits for them too.
    state = Mutex(State(living: Set(workers.map(\.name))))
    (failures, fail) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// Runs the workers, and returns when the last has ended for good.
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

  /// Cancels the workers that end so; those that end by being told are their owner's to tell. From now on a worker may
  /// end.
  func stop() {
    let stops = state.withLock { state in
      state.isStopping = true
      return state.stops
    }
    for stop in stops { stop.finish() }
  }

  /// The first worker that was lost and cannot be done without; nil: the task was cancelled.
  func failure() async -> Failure? { await failures.first { _ in true } }

  /// Waits until a worker has ended for good.
  ///
  /// - Parameter limit: how long; nil: as long as it takes.
  /// - Returns: whether it has.
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
          do { try await Task.sleep(for: limit) } catch { return true }  // cancelled: it has ended
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

  /// Runs one worker until it is stopped or cannot be started again.
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
      var cause = "it returned"
      do { try await worker.run() } catch { cause = "\(error)" }
      guard !isStopping else { return }
      log.error("worker ended unexpectedly", ["worker": worker.name, "error": cause])
      guard case .isRestarted = worker.loss else {
        fail.yield(Failure(worker: worker.name, cause: cause))
        return
      }
      // It throws when cancelled: the service stops.
      do { try await pause(.seconds(seconds)) } catch { return }
      seconds = min(Self.longestPause, seconds * 2)
    }
  }
}
