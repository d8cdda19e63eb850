import Foundation
import Glibc
package import OpenSSL
package import Reactor
import Synchronization

/// An HTTP/1.1 server (RFC 9110, RFC 9112).
///
/// Handlers run as async functions on an event loop; blocking work belongs on a ``BlockingPool``.
package final class Server: Sendable {
  private enum State {
    case ready
    case running([Worker], Listener)
    case stopped
  }

  private let configuration: ServerConfiguration
  private let router: Router
  private let tls: TLSSettings
  private let state = Mutex(State.ready)
  private let (end, ended) = AsyncStream.makeStream(of: Void.self)

  /// The server listens after ``start()``.
  package init(_ configuration: ServerConfiguration, _ router: Router) {
    precondition(configuration.loops > 0, "a server needs a loop")
    self.configuration = configuration
    self.router = router
    tls = TLSSettings(configuration.tls)
  }

  /// Uses another certificate for new connections; existing ones keep theirs. A server without TLS stays without.
  package func replaceTLS(_ context: TLSContext) { tls.replace(context) }

  /// Listens. Can be called once.
  ///
  /// - Returns: the address, with the port that the system chose if it was 0.
  /// - Throws: ``SystemError``, as `bind 127.0.0.1:80: Permission denied`.
  package func start() async throws -> SocketAddress {
    // TLS and sendfile write without MSG_NOSIGNAL.
    Socket.ignoreBrokenPipeSignal()
    let (workers, listener, address) = try state.withLock { state in
      guard case .ready = state else { preconditionFailure("a server starts once") }
      let descriptor = try configuration.listener ?? Socket.listen(on: configuration.address)
      let address: SocketAddress
      let alarm = Alarm(configuration.warningLog ?? { _ in })
      var workers: [Worker] = []
      do {
        address = try Socket.localAddress(of: descriptor)
        for number in 0..<configuration.loops {
          workers.append(
            try Worker(
              configuration: configuration, router: router, tls: tls, count: configuration.connections,
              alarm: alarm, number: number))
        }
      } catch {
        close(descriptor)
        for worker in workers { worker.loop.stop() }
        throw error
      }
      let listener = Listener(
        descriptor: descriptor, workers: workers, configuration: configuration, count: configuration.connections,
        alarm: alarm)
      state = .running(workers, listener)
      return (workers, listener, address)
    }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      workers[0].loop.execute { continuation.resume(with: Result { try listener.open() }) }
    }
    return address
  }

  /// Returns when every loop has come to the end of what it is doing; at once if the server does not run.
  package func turn() async {
    guard case .running(let workers, _) = state.withLock({ $0 }) else { return }
    for worker in workers { await worker.loop.turn() }
  }

  /// Returns when ``stop(within:)`` has closed everything, or its task is cancelled. For one task.
  package func waitForEnd() async { for await _ in end {} }

  /// Stops listening, closes idle connections, ends event streams, lets requests in progress finish, and breaks off
  /// what is left after `limit`. Returns when all is closed.
  package func stop(within limit: Duration = .seconds(30)) async {
    let running = state.withLock { state -> ([Worker], Listener)? in
      defer { state = .stopped }
      if case .running(let workers, let listener) = state { return (workers, listener) }
      return nil
    }
    guard let (workers, listener) = running else { return }
    await withCheckedContinuation { continuation in
      workers[0].loop.execute {
        listener.close()
        continuation.resume()
      }
    }
    await withDiscardingTaskGroup { group in
      for worker in workers { group.addTask { await Self.stop(worker, within: limit) } }
    }
    // A thread, because it waits for the loops' threads.
    await withCheckedContinuation { continuation in
      Thread {
        for worker in workers { worker.loop.stop() }
        continuation.resume()
      }.start()
    }
    ended.finish()
  }

  private static func stop(_ worker: Worker, within limit: Duration) async {
    await withCheckedContinuation { continuation in
      worker.loop.execute {
        // Scheduled first: `done` may be called at once.
        let timer = worker.loop.schedule(after: limit) { worker.forceStop() }
        // nonisolated(unsafe) because the timer is used on the loop's thread only, where `done` is called.
        nonisolated(unsafe) let deadline = timer
        worker.beginStop {
          deadline.cancel()
          continuation.resume()
        }
      }
    }
  }
}

/// The TLS context of future connections; nil: plain HTTP.
final class TLSSettings: Sendable {
  private let context: Mutex<TLSContext?>

  init(_ context: TLSContext?) { self.context = Mutex(context) }

  var current: TLSContext? { context.withLock { $0 } }

  func replace(_ context: TLSContext) {
    self.context.withLock { if $0 != nil { $0 = context } }
  }
}
