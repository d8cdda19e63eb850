/// Limits of a server; what the peer must know is sent as SETTINGS (RFC 9113 §6.5.2).
public struct ServerSettings: Sendable {
  /// Streams that one client may have open at once.
  public var maximumStreams: UInt32 = 1000
  /// Bytes that a client may send on one stream before it is told to go on.
  public var initialWindow: UInt32 = 65_535
  /// Bytes of all names and values of one request; more is answered with 431.
  public var maximumHeaderBytes = 16_384
  /// Bytes of a body that are kept; the rest is counted and dropped.
  public var maximumBodyBytes = 65_536
  /// Connections at once; more wait in the kernel's queue.
  public var maximumConnections = 1000
  /// For TLS and the client's preface.
  public var handshakeTimeout: Duration = .seconds(10)
  /// For how long a client without open requests may send nothing, not even a PING; nil: for ever.
  public var idleTimeout: Duration?
  /// How long connections may finish what is in flight when the server stops.
  public var stopTimeout: Duration = .seconds(5)

  /// Defaults as documented.
  public init() {}
}
