package import Reactor

/// What is known of a request when it is over.
package struct AccessLogEntry: Sendable {
  /// The method; nil if the request could not be read.
  package let method: Method?
  /// The target as it was sent: visible ASCII only. Nil if the request could not be read.
  package let target: String?
  /// The pattern of the route, if one was chosen.
  package let route: String?
  /// The status of the answer; 499 if the client went before there was one.
  package let status: Int
  /// Bytes of the answer's body that were handed over, chunk framing included.
  package let bytes: Int
  /// From the complete head to the end of the answer.
  package let duration: Duration
  /// Where the connection came from.
  package let remoteAddress: SocketAddress?
  /// Names the request, as in `X-Request-Id`.
  package let requestID: String
}
