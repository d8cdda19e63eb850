package import JSON

/// Where to check a certificate: host, port, and how TLS begins.
package struct HostAddress: Sendable, Hashable, CustomStringConvertible {
  /// The raw values are stored and used in JSON.
  package enum StartProtocol: String, Sendable, Hashable, Codable, CaseIterable {
    /// From the first byte.
    case tls
    /// After `STARTTLS` (RFC 3207).
    case smtp
    case imap
    /// After `STLS` (RFC 2595 §4).
    case pop3
    /// After PostgreSQL's `SSLRequest`.
    case postgres

    /// The default port.
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

  /// A lower-case name, or a numeric address.
  package var host: String
  /// From 1 to 65535.
  package var port: UInt16
  /// The name sent as SNI, which the certificate must match.
  package var serverName: String
  package var startProtocol: StartProtocol

  /// - Parameter serverName: nil: the host.
  package init(host: String, port: UInt16, serverName: String? = nil, startProtocol: StartProtocol = .tls) {
    (self.host, self.port) = (host, port)
    self.serverName = serverName ?? host
    self.startProtocol = startProtocol
  }

  /// As `mail.example.com:587` or `[::1]:443`.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension HostAddress {
  /// The values written to the audit log.
  package var audited: JSONValue {
    [
      "host": .string(host), "port": .integer(Int64(port)), "protocol": .string(startProtocol.rawValue),
      "server_name": .string(serverName),
    ]
  }
}
