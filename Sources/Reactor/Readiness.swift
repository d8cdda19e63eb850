import CEpoll
import Glibc

/// What a file descriptor is ready for.
package struct Readiness: OptionSet, Sendable {
  /// The bits, as epoll(7) has them.
  package let rawValue: UInt32

  /// Creates a set from epoll's bits.
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Bytes, a connection or an end of file can be read.
  package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
  /// Bytes can be written.
  package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
  /// The peer has closed its side. Always reported with `readable`.
  package static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
  /// Error or hang-up. Reported whether or not it was asked for.
  package static let failed = Readiness(rawValue: EPOLLERR.rawValue | EPOLLHUP.rawValue)
}

/// Receives the readiness of one registered file descriptor, always on its loop's thread.
package protocol EventHandler: AnyObject {
  /// Called when the descriptor is ready. Level-triggered: called again until the cause is gone.
  func ready(_ readiness: Readiness)
}
