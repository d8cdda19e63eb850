public import OpenSSL
public import Reactor

/// Settings of a server.
public struct ServerConfiguration: Sendable {
  /// Where to listen; port 0 asks for a free one.
  public var address: SocketAddress
  /// The server's side of TLS; nil serves plain HTTP.
  public var tls: TLSContext?
  /// Event loops, each a thread. One serves about 100,000 small requests a second.
  public var loops = 1
  /// Connections at the same time; more are answered with 503.
  public var maximumConnections = 4096
  /// Bytes of a request line; more is answered with 414.
  public var maximumRequestLine = 8 * 1024
  /// Bytes of all header fields of a request; more is answered with 431.
  public var maximumHeaderBytes = 32 * 1024
  /// Header fields of a request; more is answered with 431.
  public var maximumHeaderFields = 100
  /// From the first byte of a request (on a new connection: from its acceptance) to the end of its head.
  public var headerTimeout = Duration.seconds(10)
  /// Between two pieces of a body while somebody waits for it.
  public var bodyTimeout = Duration.seconds(30)
  /// Between two requests of a connection.
  public var idleTimeout = Duration.seconds(75)
  /// Between two pieces that the client takes of an answer.
  public var writeTimeout = Duration.seconds(30)
  /// How long input is thrown away after the last answer, so that the client can read it before a reset.
  public var lingerTimeout = Duration.seconds(2)
  /// Silence on an event stream after which a comment is sent.
  public var heartbeat = Duration.seconds(15)
  /// Is told of each request when it is over. Called on an event loop: must not block.
  public var accessLog: (@Sendable (AccessLogEntry) -> Void)?
  /// Is told of errors that became a 500 or broke off a stream. Called on an event loop: must not block.
  public var errorLog: (@Sendable (Failure) -> Void)?

  /// Creates settings with their defaults.
  public init(address: SocketAddress) { self.address = address }

  var parserLimits: RequestParser.Limits {
    RequestParser.Limits(line: maximumRequestLine, fields: maximumHeaderBytes, fieldCount: maximumHeaderFields)
  }
}
