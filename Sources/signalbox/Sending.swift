import Delivery
import Foundation
import Logging
import Push
import Reactor
import Store

/// Brings a push that was just kept to its end: here, or by waiting for the server.
struct Sending {
  let directory: DataDirectory
  let store: Store
  let io: CommandIO

  /// Between two looks at the push's row while a server delivers it.
  private static let interval = Duration.milliseconds(100)

  /// Delivers the push, unless a server holds the folder: that finds it by itself.
  ///
  /// - Parameters:
  ///   - expected: how many devices it is for, to show how far it is.
  ///   - limit: how long to wait for the server; nil: not at all.
  /// - Returns: the push as it is then.
  func carryOut(_ id: Int64, expected: Int, waiting limit: Duration?) async throws -> PushRecord {
    let start = ContinuousClock.now
    while true {
      if try directory.lock(.shared) {
        defer { directory.unlock() }
        // A server may have had it until now.
        if try await find(id).state == .queued { try await deliver(id, waiting: limit) }
        let push = try await find(id)
        guard
          PushProgress(push).isFinal || push.waiting > 0 || push.state == .paused
            || push.waits(now: io.now()) != nil
        else {
          throw CommandFailure(
            "push \(push.uid) was begun and not ended: the next start of the server goes on with it.")
        }
        return push
      }
      let push = try await find(id)
      if PushProgress(push).isFinal { return push }
      guard let limit, ContinuousClock.now - start < limit else { return push }
      let waiting = push.waiting == 0 ? "" : ", \(push.waiting) to be sent to again"
      io.progress("\(push.counts.total) of \(push.target ?? expected)\(waiting)")
      try await Task.sleep(for: Self.interval)
    }
  }

  private func find(_ id: Int64) async throws -> PushRecord {
    io.endProgress()
    return try await store.read { try PushRecord.get($0, id: id) }
  }

  private func deliver(_ id: Int64, waiting limit: Duration?) async throws {
    Socket.ignoreBrokenPipeSignal()
    let loop = try EventLoop(name: "delivery")
    let pool = BlockingPool(name: "blocking", threads: 1)
    let routes = CredentialRoutes(store: store, loop: loop, resolver: pool, clock: io.now)
    let engine = DeliveryEngine(
      store: store, routes: routes, clock: io.now,
      log: Logger(label: "signalbox", level: .warning, sink: ErrorSink(io: io)))
    // A device that is to be sent to again later is the server's: this process does not sit and wait beyond the limit.
    let patience = Task {
      if let limit { try await Task.sleep(for: limit) }
      engine.stop()
    }
    await engine.runOnly(id)
    patience.cancel()
    routes.stop()
    loop.stop()
    pool.stop()
  }
}

/// Log entries as lines on standard error.
private struct ErrorSink: LogSink {
  let io: CommandIO

  func write(_ entry: LogEntry) { io.writeError(LogFormat.text.line(entry)) }
}
