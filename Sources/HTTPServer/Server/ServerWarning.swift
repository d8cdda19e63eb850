package import Reactor

/// What whoever runs the server should know: clients are turned away, or only served because others gave way.
package struct ServerWarning: Sendable {
  /// Why.
  package enum Cause: Sendable {
    /// The server has all the connections it may have.
    case full
    /// One address (of IPv6: one /64) has all the connections that it may have.
    case address(SocketAddress)
    /// The process, or the machine, has no descriptors left.
    case descriptors(SystemError)
  }

  /// Seconds after which a client may come again, for `Retry-After`.
  static let retryAfter = "5"

  /// Why.
  package let cause: Cause
  /// Idle connections that were closed for newcomers since the warning before.
  package let gaveWay: Int
  /// Newcomers that were turned away since the warning before.
  package let refused: Int
}
