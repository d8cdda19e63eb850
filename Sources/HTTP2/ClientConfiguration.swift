public import Reactor

/// Limits and time-outs of a client.
public struct ClientConfiguration: Sendable {
  /// At most so many requests in flight on one connection, whatever the peer allows.
  public var maximumStreams = 1000
  /// One request at a time until a first one was answered with something other than 401 or 403
  /// (Apple: with a token, APNs allows one stream until it has seen a valid one).
  public var provesFirst = false
  /// From the start of the name look-up to the peer's first SETTINGS.
  public var connectTimeout: Duration = .seconds(20)
  /// From handing a request over to its answer.
  public var requestTimeout: Duration = .seconds(60)
  /// A PING is sent when requests are in flight and nothing came for so long.
  public var pingAfter: Duration = .seconds(10)
  /// A connection that has been silent for so long is tried with a PING before it is used again.
  public var verifyAfter: Duration = .seconds(60)
  /// A PING is sent on an idle connection after so long (Apple: once an hour).
  public var idlePingAfter: Duration = .seconds(3600)
  /// A connection whose PING is not answered for so long is closed.
  public var pingTimeout: Duration = .seconds(10)
  /// A longer answer is cut off and its stream reset.
  public var maximumAnswerBytes = 65_536
  /// Keep the header fields of answers with status 200 to 299 too.
  public var keepsFieldsOfSuccess = false
  /// The highest stream id before a new connection is made; smaller in tests.
  public var maximumStreamID: Int32 = .max

  /// Finds the addresses of a host name; may block, and runs on a thread that may.
  public typealias LookUp = @Sendable (_ host: String, _ port: UInt16) throws -> [SocketAddress]
  /// Asked anew for each connection; the addresses are tried in this order. Not asked where the host is an address.
  public var lookUp: LookUp = { try Socket.resolve(host: $0, port: $1) }

  /// Defaults as documented.
  public init() {}
}
