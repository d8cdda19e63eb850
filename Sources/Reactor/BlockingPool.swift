import CEpoll
import Foundation
import Glibc
import Synchronization

/// Threads for blocking work (files, hashing, name look-up), so that neither an event loop nor the cooperative pool
/// waits for it.
package final class BlockingPool: Sendable {
  private struct State {
    /// The waiting work by its number; abandoned work is missing.
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
    /// Called in place of `run` if the work is abandoned; nil: it never is.
    var abandoned: (@Sendable () -> Void)?
  }

  /// The number of a task's work, once it waits.
  private final class Place: Sendable {
    let number = Mutex<UInt64?>(nil)
  }

  /// Who waits for the name look-ups that run, and which may.
  private struct LookUps {
    var desk: LookUpDesk
    var waiters: [LookUpDesk.Name: [@Sendable (Result<[SocketAddress], any Error>) -> Void]] = [:]
  }

  private let lookUps: Mutex<LookUps>
  private let state: Mutex<State>
  private let available = DispatchSemaphore(value: 0)
  private let threads: Int

  package init(name: String, threads: Int) {
    precondition(threads > 0)
    self.threads = threads
    state = Mutex(State())
    lookUps = Mutex(LookUps(desk: LookUpDesk(threads: threads)))
    for number in 0..<threads {
      Thread.start("\(name)-\(number)") { [self] in serve() }
    }
  }

  /// Runs `body` on one of the pool's threads.
  ///
  /// - Throws: the error of `body`, or `CancellationError` if the pool was stopped before.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let isAdded = execute { continuation.resume(with: Result(catching: body)) }
      if !isAdded { continuation.resume(throwing: CancellationError()) }
    }
  }

  /// Like ``run(_:)``, but refuses work at once if the queue is full, and skips work whose task is cancelled before its
  /// turn.
  ///
  /// - Parameter limit: how much work may wait already.
  /// - Throws: the error of `body`; ``BlockingPoolFull``; `CancellationError` if the task was cancelled in time, or the
  /// pool was stopped before.
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
          // The handler below may have run before there was a number.
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
    // Called once: only one caller can take the work out of the queue.
    state.withLock { $0.waiting.removeValue(forKey: number) }?.abandoned?()
  }

  /// Runs `work` on one of the pool's threads, for callers outside of tasks, such as callbacks of an event loop.
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

  /// Looks a host name up on one of the pool's threads, or joins the look-up that runs; see ``LookUpDesk``.
  ///
  /// - Parameters:
  ///   - owner: whose connection it is for, so that one owner's names do not take all threads; 0: nobody's.
  ///   - lookUp: may block.
  ///   - done: called on a thread of the pool.
  /// - Returns: false if the pool was stopped before: then nothing is called.
  package func lookUp(
    _ host: String, _ port: UInt16, owner: Int64,
    _ lookUp: @escaping @Sendable (_ host: String, _ port: UInt16) throws -> [SocketAddress],
    done: @escaping @Sendable (Result<[SocketAddress], any Error>) -> Void
  ) -> Bool {
    guard !state.withLock({ $0.stopping }) else { return false }
    let name = LookUpDesk.Name(host: host, port: port)
    let errand = LookUpDesk.Errand(name: name, owner: owner) { [self] in
      let start = ContinuousClock.now
      let result = Result { try lookUp(host, port) }
      let isGood = if case .success = result { ContinuousClock.now - start < Self.slow } else { false }
      let (waiters, next) = lookUps.withLock { lookUps in
        (lookUps.waiters.removeValue(forKey: name) ?? [], lookUps.desk.ended(name, isGood: isGood))
      }
      begin(next)
      for waiter in waiters { waiter(result) }
    }
    let next = lookUps.withLock { lookUps in
      let isFirst = lookUps.waiters[name] == nil
      lookUps.waiters[name, default: []].append(done)
      return isFirst ? lookUps.desk.add(errand) : []
    }
    begin(next)
    return true
  }

  /// A name that takes longer is likely to do so again.
  private static let slow = Duration.seconds(5)

  private func begin(_ errands: [LookUpDesk.Errand]) {
    for errand in errands { _ = execute(errand.run) }
  }

  /// Lets the threads end after the work already handed over. Does not wait.
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
      // Otherwise the work was abandoned after its announcement.
    }
  }
}

/// More work waits for a ``BlockingPool`` than the caller accepts.
package struct BlockingPoolFull: Error, Equatable, Sendable {
  package init() {}
}

extension Thread {
  /// Starts a thread whose name the system knows, as `top -H` and `perf` show it: at most 15 bytes
  /// (pthread_setname_np(3)).
  static func start(_ name: String, niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread {
      // Foundation sets the system's name only for threads that have finished starting.
      pthread_setname_np(pthread_self(), String(decoding: name.utf8.prefix(15), as: UTF8.self))
      // On Linux this affects the thread, not the process ("C library/kernel differences", setpriority(2)). Lowering
      // the priority cannot fail.
      if niceness > 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
      body()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }
}
