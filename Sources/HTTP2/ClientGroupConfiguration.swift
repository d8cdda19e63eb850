/// Limits and time-outs of a ``ClientGroup``.
package struct ClientGroupConfiguration: Sendable {
  /// Of each connection.
  package var connection = ClientConfiguration()
  /// Connections at once; more than one only while all are saturated.
  package var maximumConnections = 4
  /// A request that comes back unprocessed is sent again at most so many times.
  package var maximumRefusals = 50
  /// How long to wait after a first failed connection; doubles with each further one.
  package var reconnectDelay: Duration = .milliseconds(500)
  /// The longest wait, and the wait after the server refused our certificate.
  package var maximumReconnectDelay: Duration = .seconds(30)
  /// A connection that allows no stream for so long, with requests waiting, is replaced.
  package var stallTimeout: Duration = .seconds(10)
  /// How often the group looks whether to grow, and for stalled connections.
  package var interval: Duration = .milliseconds(100)

  /// Defaults as documented.
  package init() {}
}
