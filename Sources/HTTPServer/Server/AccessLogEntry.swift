public import Reactor

/// What is known of a request when it is over.
public struct AccessLogEntry: Sendable {
  /// The method; nil if the request could not be read.
  public let method: Method?
  /// The target as it was sent: visible ASCII only. Nil if the request could not be read.
  public let target: String?
  /// The pattern of the route, if one was chosen.
  public let route: String?
  /// The status of the answer; 499 if the client went before there was one.
  public let status: Int
  /// Bytes of the answer's body that were handed over, chunk framing included.
  public let bytes: Int
  /// From the complete head to the end of the answer.
  public let duration: Duration
  /// Where the connection came from.
  public let remoteAddress: SocketAddress?
  /// Names the request, as in `X-Request-Id`.
  public let requestID: String
}
