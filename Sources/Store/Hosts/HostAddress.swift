/// Where a certificate is looked for: a host, a port, and how TLS begins there.
package struct HostAddress: Sendable, Hashable, CustomStringConvertible {
  /// How TLS begins. The raw values stand in the database and in JSON.
  package enum StartProtocol: String, Sendable, Hashable, Codable, CaseIterable {
    /// With the first byte.
    case tls
    /// After `STARTTLS` (RFC 3207).
    case smtp
    /// After `STARTTLS` (RFC 9051 §6.2.1).
    case imap
    /// After `STLS` (RFC 2595 §4).
    case pop3
    /// After PostgreSQL's `SSLRequest`.
    case postgres

    /// The port that is meant if none is said.
    package var port: UInt16 {
      switch self {
      case .tls: 443
      case .smtp: 25
      case .imap: 143
      case .pop3: 110
      case .postgres: 5432
      }
    }
  }

  /// A name in lower case, or an address in figures.
  package var host: String
  /// From 1 to 65535.
  package var port: UInt16
  /// The name that the server is asked for (SNI), and that its certificate must be for.
  package var serverName: String
  /// How TLS begins.
  package var startProtocol: StartProtocol

  /// Creates an address.
  ///
  /// - Parameter serverName: nil: the host.
  package init(host: String, port: UInt16, serverName: String? = nil, startProtocol: StartProtocol = .tls) {
    self.host = host
    self.port = port
    self.serverName = serverName ?? host
    self.startProtocol = startProtocol
  }

  /// As `mail.example.com:587` or `[::1]:443`.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
