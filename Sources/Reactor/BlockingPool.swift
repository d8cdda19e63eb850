import Foundation
import Synchronization

/// Threads for work that blocks (files, hashing, name look-up), so that neither an event loop nor the
/// cooperative pool waits for it.
public final class BlockingPool: Sendable {
  private struct State {
    var work: [@Sendable () -> Void] = []
    var next = 0
    var stopping = false
  }

  private let state: Mutex<State>
  private let available = DispatchSemaphore(value: 0)
  private let threads: Int

  /// Starts the pool's threads.
  public init(name: String, threads: Int) {
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
  public func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let isAdded = execute { continuation.resume(with: Result(catching: body)) }
      if !isAdded { continuation.resume(throwing: CancellationError()) }
    }
  }

  /// Runs `work` on one of the pool's threads, soon; for callers that are no tasks, as callbacks of an event loop.
  ///
  /// - Returns: false if the pool was stopped before: then `work` is not run.
  public func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isAdded = state.withLock { state in
      guard !state.stopping else { return false }
      state.work.append(work)
      return true
    }
    if isAdded { available.signal() }
    return isAdded
  }

  /// Lets the threads end once the work already handed over is done. Does not wait.
  public func stop() {
    let first = state.withLock { state in
      defer { state.stopping = true }
      return !state.stopping
    }
    if first { for _ in 0..<threads { available.signal() } }
  }

  private func serve() {
    while true {
      available.wait()
      let work: (@Sendable () -> Void)? = state.withLock { state in
        guard state.next < state.work.count else { return nil }
        defer {
          state.next += 1
          if state.next == state.work.count || state.next > 1024 {
            state.work.removeFirst(state.next)
            state.next = 0
          }
        }
        return state.work[state.next]
      }
      guard let work else { return }
      work()
    }
  }
}
