package import OpenSSL
package import Reactor

package struct ServerConfiguration: Sendable {
  /// Where to listen; port 0 asks for a free one.
  package var address: SocketAddress
  /// A socket that listens already, see `Socket.adopt`; closed by the server. Nil: the server opens one at ``address``.
  package var listener: Int32?
  /// The server's side of TLS; nil serves plain HTTP.
  package var tls: TLSContext?
  /// Event loops, each a thread. One serves about 100,000 small requests a second.
  package var loops = 1
  /// Beyond it, the connection that has waited longest for a request is closed; if none waits, the new one is answered
  /// with 503.
  package var maximumConnections = 4096
  /// The limit for one address (one /64 of IPv6); nil: half of ``maximumConnections``.
  package var maximumConnectionsOfAddress: Int?
  /// Counts the connections, for whoever watches them.
  package let connections = ConnectionCount()
  /// How many requests of one client, known by its cookie, its token or else its address, may be under way at once while
  /// more of them wait; what others ask for comes first if a client asks for much. Not counted are requests with a body,
  /// and routes that may wait for something to happen. Nil: requests run as they arrive.
  package var requestsOfClient: Int?
  /// Whether an address is exempt from its limit: a proxy stands for many clients.
  package var isProxy: @Sendable (SocketAddress) -> Bool = { _ in false }
  /// Bytes of a request line; more is answered with 414.
  package var maximumRequestLine = 8 * 1024
  /// Bytes of all header fields of a request; more is answered with 431.
  package var maximumHeaderBytes = 32 * 1024
  /// Header fields of a request; more is answered with 431.
  package var maximumHeaderFields = 100
  /// From the first byte of a request (on a new connection: from its acceptance) to the end of its head.
  package var headerTimeout = Duration.seconds(10)
  /// Between two pieces of a body while the handler waits for it.
  package var bodyTimeout = Duration.seconds(30)
  /// Bytes of a body per second of waiting, after the first ``bodyTimeout``: a client that trickles bytes loses its
  /// connection.
  package var leastBodyRate = 500
  /// The longest total wait for the pieces of a body, unless the route sets its own.
  package var bodyTimeLimit = Duration.seconds(600)
  /// Between two requests of a connection.
  package var idleTimeout = Duration.seconds(75)
  /// Between two pieces of an answer that the client takes.
  package var writeTimeout = Duration.seconds(30)
  /// How long input is dropped after the last answer, so that the client can read it before a reset.
  package var lingerTimeout = Duration.seconds(2)
  /// How much input is dropped then.
  package var lingerBytes = 256 * 1024
  /// Silence on an event stream after which a comment is sent.
  package var heartbeat = Duration.seconds(15)
  /// Called for each finished request, on an event loop: must not block.
  package var accessLog: (@Sendable (AccessLogEntry) -> Void)?
  /// Called for each finished request with its route's pattern, status and duration, on an event loop: must not block.
  package var requestEnded: (@Sendable (_ route: String?, _ status: Int, _ duration: Duration) -> Void)?
  /// Called for errors that became a 500 or broke off a stream, on an event loop: must not block.
  package var errorLog: (@Sendable (Failure) -> Void)?
  /// Called at most once a minute for each cause when clients find no place, on an event loop: must not block.
  package var warningLog: (@Sendable (ServerWarning) -> Void)?

  package init(address: SocketAddress) { self.address = address }

  var connectionsOfAddress: Int { maximumConnectionsOfAddress ?? max(1, maximumConnections / 2) }

  var parserLimits: RequestParser.Limits {
    RequestParser.Limits(line: maximumRequestLine, fields: maximumHeaderBytes, fieldCount: maximumHeaderFields)
  }
}

/// One finished request.
package struct AccessLogEntry: Sendable {
  /// Nil if the request could not be read.
  package let method: Method?
  /// The target as sent: visible ASCII only. Nil if the request could not be read.
  package let target: String?
  /// The pattern of the chosen route.
  package let route: String?
  /// The status of the answer; 499 if the client disconnected before.
  package let status: Int
  /// Bytes of the answer's body, chunk framing included.
  package let bytes: Int
  /// From the complete head to the end of the answer.
  package let duration: Duration
  package let remoteAddress: SocketAddress?
  /// The answer's ``Response/actor``.
  package let actor: String?
  /// The request's id, as in `X-Request-Id`.
  package let requestID: String
}
