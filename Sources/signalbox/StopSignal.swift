@preconcurrency import Dispatch
import Glibc

/// Waits for SIGTERM or SIGINT. A second signal ends the process at once.
final class StopSignal: Sendable {
  private let stream: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  /// From now on the signals no longer end the process.
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
