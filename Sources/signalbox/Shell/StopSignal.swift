@preconcurrency import Dispatch
import Glibc

/// Waits for SIGTERM or SIGINT. A second signal ends the process at once.
final class StopSignal: Sendable {
  private let stream: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  /// From here on, the signals no longer end the process.
  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    self.stream = stream
    sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
        continuation.finish()
      }
      source.resume()
      return source
    }
  }

  func wait() async { for await _ in stream {} }
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
