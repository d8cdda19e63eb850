/// A mail server, and how to speak to it.
package struct SMTPServer: Sendable, Hashable {
  /// How the connection is kept private. The raw values are stored.
  package enum Security: String, Sendable, Hashable, CaseIterable {
    /// STARTTLS, and nothing is sent without it (RFC 3207): the usual way, port 587.
    case startTLS = "starttls"
    /// TLS from the first byte (RFC 8314 section 3.3), port 465.
    case tls
    /// STARTTLS if the server offers it.
    case optional
    /// Everything is readable on the way; for a server on the same machine.
    case none

    /// The port that goes with it.
    package var port: Int {
      switch self {
      case .startTLS: 587
      case .tls: 465
      case .optional, .none: 25
      }
    }
  }

  /// Name or address.
  package var host: String
  /// TCP port.
  package var port: Int
  /// How the connection is kept private.
  package var security: Security
  /// Who we are; nil: without signing in.
  package var user: String?
  /// The user's password. In no error, no log.
  package var password: String?
  /// Roots that are trusted in place of the system's.
  package var trustPEM: String?
  /// Seconds after which an attempt is given up.
  package var timeout = 30

  /// Describes a server.
  package init(
    host: String, port: Int? = nil, security: Security = .startTLS, user: String? = nil, password: String? = nil,
    trustPEM: String? = nil
  ) {
    self.host = host
    self.port = port ?? security.port
    self.security = security
    self.user = user
    self.password = password
    self.trustPEM = trustPEM
  }

  /// Whether a host can stand in an address as it is: letters, digits, dots, dashes, or an IPv6 address.
  package static func isHost(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 253
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-:".contains($0)) }
  }

  /// Whether a password would travel readable over a network. Such settings are not used.
  package var isCareless: Bool { user != nil && security == .none && !Loopback.isLoopback(host) }

  /// A password is only sent over a private connection: somebody on the way could take the offer of STARTTLS out.
  var needsEncryption: Bool {
    switch security {
    case .startTLS, .tls: true
    case .optional: user != nil && !Loopback.isLoopback(host)
    case .none: false
    }
  }

  var url: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(security == .tls ? "smtps" : "smtp")://\(name):\(port)"
  }
}
