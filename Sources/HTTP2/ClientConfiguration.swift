package import Reactor

/// Limits and time-outs of a client.
package struct ClientConfiguration: Sendable {
  /// At most so many requests in flight on one connection, whatever the peer allows.
  package var maximumStreams = 1000
  /// One request at a time until a first one was answered with something other than 401 or 403
  /// (Apple: with a token, APNs allows one stream until it has seen a valid one).
  package var provesFirst = false
  /// From the start of the name look-up to the peer's first SETTINGS.
  package var connectTimeout: Duration = .seconds(20)
  /// From handing a request over to its answer.
  package var requestTimeout: Duration = .seconds(60)
  /// A PING is sent when requests are in flight and nothing came for so long.
  package var pingAfter: Duration = .seconds(10)
  /// A connection that has been silent for so long is tried with a PING before it is used again.
  package var verifyAfter: Duration = .seconds(60)
  /// A PING is sent on an idle connection after so long (Apple: once an hour).
  package var idlePingAfter: Duration = .seconds(3600)
  /// A connection whose PING is not answered for so long is closed.
  package var pingTimeout: Duration = .seconds(10)
  /// A longer answer is cut off and its stream reset.
  package var maximumAnswerBytes = 65_536
  /// Keep the header fields of answers with status 200 to 299 too.
  package var keepsFieldsOfSuccess = false
  /// The highest stream id before a new connection is made; smaller in tests.
  package var maximumStreamID: Int32 = .max

  /// Finds the addresses of a host name; may block, and runs on a thread that may.
  package typealias LookUp = @Sendable (_ host: String, _ port: UInt16) throws -> [SocketAddress]
  /// Asked anew for each connection; the addresses are tried in this order. Not asked where the host is an address.
  package var lookUp: LookUp = { try Socket.resolve(host: $0, port: $1) }

  /// Defaults as documented.
  package init() {}
}
