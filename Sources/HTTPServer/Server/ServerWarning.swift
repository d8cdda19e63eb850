public import Reactor

/// What whoever runs the server should know: clients are turned away, or only served because others gave way.
public struct ServerWarning: Sendable {
  /// Why.
  public enum Cause: Sendable {
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
  public let cause: Cause
  /// Idle connections that were closed for newcomers since the warning before.
  public let gaveWay: Int
  /// Newcomers that were turned away since the warning before.
  public let refused: Int
}
