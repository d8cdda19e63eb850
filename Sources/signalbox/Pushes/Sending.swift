import Delivery
import Foundation
import Logging
import Providers
import Model
import Store
import Synchronization
import Text

/// Completes a push that was just stored, by sending it here or by waiting for the server. What does not finish in time
/// is left to a server, and reported.
struct Sending {
  /// The state in which a push was left.
  struct Left {
    let push: Push
    /// Whether a server holds the data folder and continues the push.
    let isServed: Bool
  }

  let directory: DataDirectory
  let store: Store
  let io: CommandIO
  /// Whether to wait until every device has its outcome, including devices to be retried later.
  let isWaiting: Bool
  /// The time limit; nil for none.
  let limit: Duration?
  /// How long a push service may be unreachable when the caller does not wait for the end.
  var patience = Duration.seconds(30)

  /// The pause between two progress checks.
  private static let interval = Duration.milliseconds(100)
  /// How long to wait at the end for the responses to requests in flight.
  private static let lastAnswers = Duration.seconds(3)

  /// Sends the push, unless a server holds the data folder; the server finds the push by itself.
  ///
  /// - Parameter expected: the number of devices, to show progress.
  func carryOut(_ id: Int64, expected: Int) async throws -> Left {
    let start = ContinuousClock.now
    // Read before the query, so that a write in between changes the mark.
    var mark = store.changeMark
    var push = try await find(id)
    while true {
      if try directory.lock(.shared) {
        defer { directory.unlock() }
        // A server may have held the folder until now.
        if try await find(id).state == .queued {
          try await withRoutes(store, io) { await deliver(id, over: $0) }
        }
        return Left(push: try await find(id), isServed: false)
      }
      let present = store.changeMark
      // Without a write there is nothing new to read.
      if present == nil || present != mark { (push, mark) = (try await find(id), present) }
      let isOver = limit.map { ContinuousClock.now - start >= $0 } ?? false
      if PushProgress(push).isFinal || !isWaiting || isOver { return Left(push: push, isServed: true) }
      let waiting: Message = push.waiting == 0 ? "" : ", \(push.waiting) to be retried"
      io.progress("\(push.counts.total) of \(push.target ?? expected)\(waiting)")
      try await Task.sleep(for: Self.interval)
    }
  }

  private func find(_ id: Int64) async throws -> Push {
    io.endProgress()
    return try await store.read { try Push.get($0, id: id) }
  }

  private func deliver(_ id: Int64, over routes: CredentialRoutes) async {
    let watched = WatchedRoutes(routes)
    let engine = DeliveryEngine(
      store: store, routes: watched, clock: io.now,
      log: Logger(label: "signalbox", level: .warning, sink: ErrorSink(io: io)))
    // Later retries are left to the server; this process does not wait for them.
    if !isWaiting { engine.stop() }
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    let stopped = StopSignal()
    Task {
      await engine.runOnly(id)
      end.finish()
    }
    let watch = Task {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await untilGivenUp(watched) }
        // Answers in flight are awaited then, so that a server does not send to those devices again.
        group.addTask { await stopped.wait() }
        _ = try await group.next()
        group.cancelAll()
      }
      try Task.checkCancellation()
      engine.interrupt()
      try await Task.sleep(for: Self.lastAnswers)
      end.finish()
    }
    for await _ in ended {}
    watch.cancel()
    watched.forget()
  }

  /// Reports why nothing is being sent as soon as that is known; returns when the push has to be left.
  private func untilGivenUp(_ routes: WatchedRoutes) async throws {
    let start = ContinuousClock.now
    var outOfReachSince: ContinuousClock.Instant?
    var told: String?
    while true {
      let now = ContinuousClock.now
      let failure = routes.failure
      if let failure, failure.reason != told {
        told = failure.reason
        let reason = singleLine(io.recorded(failure.reason))
        io.note(
          failure.kind == .credential
            ? "the push service refused the credential: \(reason)" : "the push service is unreachable: \(reason)")
      }
      outOfReachSince = failure?.kind == .connection ? outOfReachSince ?? now : nil
      if let limit, now - start >= limit { return }
      if !isWaiting, let outOfReachSince, now - outOfReachSince >= patience { return }
      try await Task.sleep(for: Self.interval)
    }
  }
}

/// Routes that remember those that were found, to report their state.
private final class WatchedRoutes: RouteFinder {
  private let routes: CredentialRoutes
  private let found = Mutex<[ProviderKind: Route]>([:])

  init(_ routes: CredentialRoutes) { self.routes = routes }

  func route(
    app: Int64, environment: Model.Environment, provider: ProviderKind, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> Route {
    let route = try await routes.route(app: app, environment: environment, provider: provider, report: report)
    found.withLock { $0[provider] = route }
    return route
  }

  func health(credential: Int64, at now: Date) -> ProviderHealth? { routes.health(credential: credential, at: now) }

  /// Breaks the cycle route → report → engine → self.
  func forget() { found.withLock { $0 = [:] } }

  /// Why nothing can be sent now; nil if there is no failure or the state is unknown.
  var failure: ProviderFailure? {
    for route in found.withLock({ $0 }).values {
      if case .failing(let failure) = route.provider.state { return failure }
    }
    return nil
  }
}

/// Writes log entries as lines to standard error.
private struct ErrorSink: LogSink {
  let io: CommandIO

  func write(_ entry: LogEntry) { io.writeError(LogFormat.text.line(entry)) }
}
