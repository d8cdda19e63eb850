import Foundation
import Synchronization

/// Threads for work that blocks (files, hashing, name look-up), so that neither an event loop nor the
/// cooperative pool waits for it.
package final class BlockingPool: Sendable {
  private struct State {
    /// What waits, by its number; what was abandoned is missing.
    var waiting: [UInt64: Work] = [:]
    var first: UInt64 = 0
    var next: UInt64 = 0
    var stopping = false

    mutating func add(_ work: Work) -> UInt64 {
      defer { next += 1 }
      waiting[next] = work
      return next
    }

    mutating func take() -> Work? {
      while first < next {
        defer { first += 1 }
        if let work = waiting.removeValue(forKey: first) { return work }
      }
      return nil
    }
  }

  private struct Work {
    let run: @Sendable () -> Void
    /// Called in place of `run` if the work is taken out before its turn; nil: it never is.
    var abandoned: (@Sendable () -> Void)?
  }

  /// The number of a task's work, once it waits.
  private final class Place: Sendable {
    let number = Mutex<UInt64?>(nil)
  }

  private let state: Mutex<State>
  private let available = DispatchSemaphore(value: 0)
  private let threads: Int

  /// Starts the pool's threads.
  package init(name: String, threads: Int) {
    precondition(threads > 0)
    self.threads = threads
    state = Mutex(State())
    for number in 0..<threads {
      Thread.start("\(name)-\(number)") { [self] in serve() }
    }
  }

  /// Runs `body` on one of the pool's threads and returns what it returns.
  ///
  /// - Throws: what `body` throws, or `CancellationError` if the pool was stopped before.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let isAdded = execute { continuation.resume(with: Result(catching: body)) }
      if !isAdded { continuation.resume(throwing: CancellationError()) }
    }
  }

  /// Runs `body` as ``run(_:)`` does, but only if it is worth it: a full queue is refused at once, and the work of a task
  /// that is cancelled before its turn is never done.
  ///
  /// - Parameter limit: how much may wait before this.
  /// - Throws: what `body` throws; ``BlockingPoolFull``; `CancellationError` if the task was cancelled in time, or the pool
  ///   was stopped before.
  package func run<Value: Sendable>(
    waiting limit: Int, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let place = Place()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let work = Work {
          continuation.resume(with: Result(catching: body))
        } abandoned: {
          continuation.resume(throwing: CancellationError())
        }
        do {
          let number = try add(work, limit: limit)
          place.number.withLock { $0 = number }
          // The handler below may have come before there was a number.
          if Task.isCancelled { abandon(number) }
        } catch {
          continuation.resume(throwing: error)
        }
      }
    } onCancel: {
      if let number = place.number.withLock({ $0 }) { abandon(number) }
    }
  }

  private func add(_ work: Work, limit: Int) throws -> UInt64 {
    let number = try state.withLock { state in
      guard !state.stopping else { throw CancellationError() }
      guard state.waiting.count < limit else { throw BlockingPoolFull() }
      return state.add(work)
    }
    available.signal()
    return number
  }

  private func abandon(_ number: UInt64) {
    // Nobody else calls it: whoever takes the work out of the queue does.
    state.withLock { $0.waiting.removeValue(forKey: number) }?.abandoned?()
  }

  /// Runs `work` on one of the pool's threads, soon; for callers that are no tasks, as callbacks of an event loop.
  ///
  /// - Returns: false if the pool was stopped before: then `work` is not run.
  package func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isAdded = state.withLock { state in
      guard !state.stopping else { return false }
      _ = state.add(Work(run: work))
      return true
    }
    if isAdded { available.signal() }
    return isAdded
  }

  /// Lets the threads end once the work already handed over is done. Does not wait.
  package func stop() {
    let first = state.withLock { state in
      defer { state.stopping = true }
      return !state.stopping
    }
    if first { for _ in 0..<threads { available.signal() } }
  }

  private func serve() {
    while true {
      available.wait()
      let (work, stops) = state.withLock { ($0.take(), $0.stopping) }
      if let work {
        work.run()
      } else if stops {
        return
      }
      // Else it was abandoned after it had been announced.
    }
  }
}

/// More work waits for a ``BlockingPool`` than whoever brings more wants to wait for.
package struct BlockingPoolFull: Error, Equatable, Sendable {
  package init() {}
}
