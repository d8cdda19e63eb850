package import OpenSSL
package import Reactor

/// Limits and time-outs of a client.
package struct ClientConfiguration: Sendable {
  /// At most so many requests in flight on one connection, whatever the peer allows.
  package var maximumStreams = 1000
  /// Sends one request at a time until one is answered with something other than 401 or 403 (Apple: with a token, APNs
  /// allows one stream until it has seen a valid one).
  package var provesFirst = false
  /// From the start of the name look-up to the peer's first SETTINGS.
  package var connectTimeout: Duration = .seconds(20)
  /// Which connections go through a proxy, by the endpoint's host and port.
  package var proxies = ProxyRules.none
  /// Where connections may go.
  package var targets = TargetList.any
  /// From the connection to a proxy to its complete answer to CONNECT.
  package var tunnelTimeout: Duration = .seconds(10)
  /// From handing a request over to its answer.
  package var requestTimeout: Duration = .seconds(60)
  /// A PING is sent when requests are in flight and nothing was received for this long.
  package var pingAfter: Duration = .seconds(10)
  /// A connection that has been silent for this long is checked with a PING before it is used again.
  package var verifyAfter: Duration = .seconds(60)
  /// A PING is sent on an idle connection after this time (Apple: once an hour).
  package var idlePingAfter: Duration = .seconds(3600)
  /// A connection whose PING is not answered within this time is closed.
  package var pingTimeout: Duration = .seconds(10)
  /// A longer answer is cut off and its stream reset.
  package var maximumAnswerBytes = 65_536
  /// Keep the header fields of answers with status 200 to 299 too.
  package var keepsFieldsOfSuccess = false
  /// The highest stream id before a new connection is opened; smaller in tests.
  package var maximumStreamID: Int32 = .max

  /// Finds the addresses of a host name; may block, and runs on a thread that may.
  package typealias LookUp = @Sendable (_ host: String, _ port: UInt16) throws -> [SocketAddress]
  /// Called for each new connection; the addresses are tried in this order. Not called if the host is an address.
  package var lookUp: LookUp = { try Socket.resolve(host: $0, port: $1) }

  /// Whose connections these are; see ``BlockingPool/lookUp(_:_:owner:_:done:)``.
  package var owner: Int64 = 0

  package init() {}
}

/// Where a client connects to, and how it verifies the server.
package struct Endpoint: Sendable {
  /// Host name or IP address, verified against the server's certificate.
  package let host: String
  package let port: UInt16
  /// Trust, and the client's certificate if there is one.
  package let tls: TLSContext

  /// Creates an endpoint. The context should offer `h2` (ALPN).
  package init(host: String, port: UInt16, tls: TLSContext) {
    self.host = host
    self.port = port
    self.tls = tls
  }

  /// `host`, or `host:port` where the port is not 443; an IPv6 address in brackets.
  package var authority: String {
    let host = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? host : "\(host):\(port)"
  }
}

/// Limits and time-outs of a ``ClientGroup``.
package struct ClientGroupConfiguration: Sendable {
  /// Of each connection.
  package var connection = ClientConfiguration()
  /// The most connections; more than one only while all are saturated.
  package var maximumConnections = 4
  /// How often a request that comes back unprocessed is sent again.
  package var maximumRefusals = 50
  /// The pause after the first failed connection; it doubles with each further one.
  package var reconnectDelay: Duration = .milliseconds(500)
  /// The longest pause, and the pause after the server refused our certificate.
  package var maximumReconnectDelay: Duration = .seconds(30)
  /// A connection that allows no stream for this long while requests wait is replaced.
  package var stallTimeout: Duration = .seconds(10)
  /// How often the group checks for growth and stalled connections.
  package var interval: Duration = .milliseconds(100)

  package init() {}
}
