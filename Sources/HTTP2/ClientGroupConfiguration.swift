/// Limits and time-outs of a ``ClientGroup``.
public struct ClientGroupConfiguration: Sendable {
  /// Of each connection.
  public var connection = ClientConfiguration()
  /// Connections at once; more than one only while all are saturated.
  public var maximumConnections = 4
  /// A request that comes back unprocessed is sent again at most so many times.
  public var maximumRefusals = 50
  /// How long to wait after a first failed connection; doubles with each further one.
  public var reconnectDelay: Duration = .milliseconds(500)
  /// The longest wait, and the wait after the server refused our certificate.
  public var maximumReconnectDelay: Duration = .seconds(30)
  /// A connection that allows no stream for so long, with requests waiting, is replaced.
  public var stallTimeout: Duration = .seconds(10)
  /// How often the group looks whether to grow, and for stalled connections.
  public var interval: Duration = .milliseconds(100)

  /// Defaults as documented.
  public init() {}
}
