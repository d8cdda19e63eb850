@preconcurrency import Dispatch
import Glibc
import Synchronization

/// Waits for SIGTERM or SIGINT. A second signal ends the process at once.
final class StopSignal: Sendable {
  private final class Waiters: Sendable {
    /// Nil: a signal has come.
    let all = Mutex<[AsyncStream<Void>.Continuation]?>([])
  }

  private let waiters = Waiters()
  private let sources: [any DispatchSourceSignal]

  /// From here on, the signals no longer end the process.
  init() {
    let waiters = waiters
    sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
        let waiting = waiters.all.withLock { all in
          defer { all = nil }
          return all ?? []
        }
        for waiter in waiting { waiter.finish() }
      }
      source.resume()
      return source
    }
  }

  /// From here on, the signals end the process again.
  deinit { for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) } }

  /// Returns after a signal, or when its task is cancelled. A stream for each caller: one that was cancelled is over.
  func wait() async {
    let (stream, waiter) = AsyncStream.makeStream(of: Void.self)
    let waits = waiters.all.withLock { all in
      all?.append(waiter)
      return all != nil
    }
    if waits { for await _ in stream {} }
  }
}

/// Yields each time the signal arrives; the signal no longer ends the process.
final class SignalStream: Sendable {
  let signals: AsyncStream<Void>
  private let source: any DispatchSourceSignal

  init(_ number: Int32) {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    signal(number, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler { continuation.yield() }
    source.resume()
  }
}
