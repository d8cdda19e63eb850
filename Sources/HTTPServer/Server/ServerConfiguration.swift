package import OpenSSL
package import Reactor

/// Settings of a server.
package struct ServerConfiguration: Sendable {
  /// Where to listen; port 0 asks for a free one.
  package var address: SocketAddress
  /// The server's side of TLS; nil serves plain HTTP.
  package var tls: TLSContext?
  /// Event loops, each a thread. One serves about 100,000 small requests a second.
  package var loops = 1
  /// Connections at the same time. For a newcomer beyond, the one that has waited longest for a request gives way; if
  /// none waits, the newcomer is answered with 503.
  package var maximumConnections = 4096
  /// The same for one address (of IPv6: one /64); nil: half of ``maximumConnections``.
  package var maximumConnectionsOfAddress: Int?
  /// Whether an address may have as many as there are: a proxy, behind which are many.
  package var isProxy: @Sendable (SocketAddress) -> Bool = { _ in false }
  /// Bytes of a request line; more is answered with 414.
  package var maximumRequestLine = 8 * 1024
  /// Bytes of all header fields of a request; more is answered with 431.
  package var maximumHeaderBytes = 32 * 1024
  /// Header fields of a request; more is answered with 431.
  package var maximumHeaderFields = 100
  /// From the first byte of a request (on a new connection: from its acceptance) to the end of its head.
  package var headerTimeout = Duration.seconds(10)
  /// Between two pieces of a body while somebody waits for it.
  package var bodyTimeout = Duration.seconds(30)
  /// Bytes of a body in each second that is waited for it, beyond the first ``bodyTimeout``: who sends a byte now and
  /// then does not keep a connection.
  package var leastBodyRate = 500
  /// The most that is waited for all pieces of a body together, unless its route says otherwise.
  package var bodyTimeLimit = Duration.seconds(600)
  /// Between two requests of a connection.
  package var idleTimeout = Duration.seconds(75)
  /// Between two pieces that the client takes of an answer.
  package var writeTimeout = Duration.seconds(30)
  /// How long input is thrown away after the last answer, so that the client can read it before a reset.
  package var lingerTimeout = Duration.seconds(2)
  /// How much input is thrown away then.
  package var lingerBytes = 256 * 1024
  /// Silence on an event stream after which a comment is sent.
  package var heartbeat = Duration.seconds(15)
  /// Is told of each request when it is over. Called on an event loop: must not block.
  package var accessLog: (@Sendable (AccessLogEntry) -> Void)?
  /// Is told of errors that became a 500 or broke off a stream. Called on an event loop: must not block.
  package var errorLog: (@Sendable (Failure) -> Void)?
  /// Is told, at most once a minute for each cause, that clients find no place. Called on an event loop: must not block.
  package var warningLog: (@Sendable (ServerWarning) -> Void)?

  /// Creates settings with their defaults.
  package init(address: SocketAddress) { self.address = address }

  var connectionsOfAddress: Int { maximumConnectionsOfAddress ?? max(1, maximumConnections / 2) }

  var parserLimits: RequestParser.Limits {
    RequestParser.Limits(line: maximumRequestLine, fields: maximumHeaderBytes, fieldCount: maximumHeaderFields)
  }
}
