import Delivery
import Foundation
import Logging
import Providers
import Model
import Reactor
import Store
import Synchronization

/// Brings a push that was just kept to its end: here, or by waiting for the server. What cannot be brought to its end in
/// time is left to a server, and said so.
struct Sending {
  /// How a push was left.
  struct Left {
    let push: Push
    /// Whether a server holds the folder, and goes on with it.
    let isServed: Bool
  }

  let directory: DataDirectory
  let store: Store
  let io: CommandIO
  /// Whether to stay until every device has its outcome, those too that are to be sent to again later.
  let isWaiting: Bool
  /// How long it may take; nil: as long as it goes on.
  let limit: Duration?
  /// How long a service may be out of reach for a caller who does not wait for the end.
  var patience = Duration.seconds(30)

  /// Between two looks at how it goes.
  private static let interval = Duration.milliseconds(100)
  /// How long the answers of what is in flight are waited for at the end.
  private static let lastAnswers = Duration.seconds(3)

  /// Delivers the push, unless a server holds the folder: that finds it by itself.
  ///
  /// - Parameter expected: how many devices it is for, to show how far it is.
  func carryOut(_ id: Int64, expected: Int) async throws -> Left {
    let start = ContinuousClock.now
    // Before the query: what is written in between makes the mark another one.
    var mark = store.changeMark
    var push = try await find(id)
    while true {
      if try directory.lock(.shared) {
        defer { directory.unlock() }
        // A server may have had it until now.
        if try await find(id).state == .queued { try await deliver(id) }
        return Left(push: try await find(id), isServed: false)
      }
      let present = store.changeMark
      // Where nobody wrote, there is no news.
      if present == nil || present != mark { (push, mark) = (try await find(id), present) }
      let isOver = limit.map { ContinuousClock.now - start >= $0 } ?? false
      if PushProgress(push).isFinal || !isWaiting || isOver { return Left(push: push, isServed: true) }
      let waiting = push.waiting == 0 ? "" : ", \(push.waiting) to be retried"
      io.progress("\(push.counts.total) of \(push.target ?? expected)\(waiting)")
      try await Task.sleep(for: Self.interval)
    }
  }

  private func find(_ id: Int64) async throws -> Push {
    io.endProgress()
    return try await store.read { try Push.get($0, id: id) }
  }

  private func deliver(_ id: Int64) async throws {
    Socket.ignoreBrokenPipeSignal()
    let loop = try EventLoop(name: "delivery")
    let pool = BlockingPool(name: "blocking", threads: 1)
    let routes = CredentialRoutes(store: store, loop: loop, resolver: pool, clock: io.now)
    let watched = WatchedRoutes(routes)
    let engine = DeliveryEngine(
      store: store, routes: watched, clock: io.now,
      log: Logger(label: "signalbox", level: .warning, sink: ErrorSink(io: io)))
    // A device that is to be sent to again later is the server's: this process does not sit and wait for it.
    if !isWaiting { engine.stop() }
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    Task {
      await engine.runOnly(id)
      end.finish()
    }
    let watch = Task {
      try await untilGivenUp(watched)
      engine.interrupt()
      try await Task.sleep(for: Self.lastAnswers)
      end.finish()
    }
    for await _ in ended {}
    watch.cancel()
    routes.stop()
    loop.stop()
    pool.stop()
  }

  /// Tells why nothing goes out, as soon as that is known; returns when the push has to be left.
  private func untilGivenUp(_ routes: WatchedRoutes) async throws {
    let start = ContinuousClock.now
    var outOfReachSince: ContinuousClock.Instant?
    var told: String?
    while true {
      let now = ContinuousClock.now
      let failure = routes.failure
      if let failure, failure.reason != told {
        told = failure.reason
        io.note(
          (failure.kind == .credential
            ? "the push service refused the credential: " : "the push service is unreachable: ")
            + singleLine(failure.reason))
      }
      outOfReachSince = failure?.kind == .connection ? outOfReachSince ?? now : nil
      if let limit, now - start >= limit { return }
      if !isWaiting, let outOfReachSince, now - outOfReachSince >= patience { return }
      try await Task.sleep(for: Self.interval)
    }
  }
}

/// Routes that remember how the last one stands.
private final class WatchedRoutes: RouteFinder {
  private let routes: CredentialRoutes
  private let last = Mutex<Route?>(nil)

  init(_ routes: CredentialRoutes) { self.routes = routes }

  func route(
    app: Int64, environment: Model.Environment, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> Route {
    let route = try await routes.route(app: app, environment: environment, report: report)
    last.withLock { $0 = route }
    return route
  }

  func health(credential: Int64, at now: Date) -> ProviderHealth? { routes.health(credential: credential, at: now) }

  /// Why nothing can be sent at present; nil: all is well, or nothing is known.
  var failure: ProviderFailure? {
    guard case .failing(let failure) = last.withLock({ $0?.provider.state }) else { return nil }
    return failure
  }
}

/// Log entries as lines on standard error.
private struct ErrorSink: LogSink {
  let io: CommandIO

  func write(_ entry: LogEntry) { io.writeError(LogFormat.text.line(entry)) }
}
