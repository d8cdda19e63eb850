import OpenSSL
import Synchronization

/// The server's side of TLS for connections to come; nil: plain HTTP.
final class TLSSettings: Sendable {
  private let context: Mutex<TLSContext?>

  init(_ context: TLSContext?) { self.context = Mutex(context) }

  var current: TLSContext? { context.withLock { $0 } }

  func replace(_ context: TLSContext) {
    self.context.withLock { if $0 != nil { $0 = context } }
  }
}
