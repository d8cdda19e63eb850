/// Limits of a server; what the peer must know is sent as SETTINGS (RFC 9113 §6.5.2).
package struct ServerSettings: Sendable {
  /// Streams that one client may have open at once.
  package var maximumStreams: UInt32 = 1000
  /// Bytes that a client may send on one stream before it is told to go on.
  package var initialWindow: UInt32 = 65_535
  /// Bytes of all names and values of one request; more is answered with 431.
  package var maximumHeaderBytes = 16_384
  /// Bytes of a body that are kept; the rest is counted and dropped.
  package var maximumBodyBytes = 65_536
  /// Connections at once; more wait in the kernel's queue.
  package var maximumConnections = 1000
  /// For TLS and the client's preface.
  package var handshakeTimeout: Duration = .seconds(10)
  /// For how long a client without open requests may send nothing, not even a PING; nil: for ever.
  package var idleTimeout: Duration?
  /// How long connections may finish what is in flight when the server stops.
  package var stopTimeout: Duration = .seconds(5)

  /// Defaults as documented.
  package init() {}
}
