import Reactor

/// A mail server and its settings.
package struct SMTPServer: Sendable, Hashable {
  /// The raw values are stored.
  package enum Security: String, Sendable, Hashable, CaseIterable {
    /// STARTTLS, required (RFC 3207): the usual way, port 587.
    case startTLS = "starttls"
    /// TLS from the first byte (RFC 8314 section 3.3), port 465.
    case tls
    /// STARTTLS if the server offers it.
    case optional
    /// No encryption, for a server on the same machine.
    case none

    /// The usual port.
    package var port: Int {
      switch self {
      case .startTLS: 587
      case .tls: 465
      case .optional, .none: 25
      }
    }
  }

  package var host: String
  package var port: Int
  package var security: Security
  /// Nil: no authentication.
  package var user: String?
  package var password: String?
  /// Trusted roots in place of the system's.
  package var trustPEM: String?
  /// Seconds.
  package var timeout = 30

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

  /// Whether a host is valid in an address: letters, digits, dots, dashes, underscores, or an IPv6 address.
  package static func isHost(_ text: String) -> Bool {
    if text.contains(":") { return SocketAddress(host: text, port: 0) != nil }
    return !text.isEmpty && text.utf8.count <= 253
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
  }

  /// Host and port of a text that has both, such as `smtp.example.com:587`; nil for anything else.
  package static func place(_ text: String) -> (host: String, port: Int)? {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (1...65_535).contains(port)
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.contains(":") || text.hasPrefix("["), isHost(String(host)) else { return nil }
    return (String(host), port)
  }

  /// Whether a password would be sent unencrypted over a network. Such settings are refused.
  package var isCareless: Bool { user != nil && security == .none && !Loopback.isLoopback(host) }

  /// A password requires encryption, because an attacker could remove the offer of STARTTLS.
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
