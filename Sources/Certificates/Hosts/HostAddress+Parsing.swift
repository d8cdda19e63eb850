import Foundation
package import Model
import Reactor
package import Store

extension HostAddress {
  /// URL schemes with the TLS start and the default port.
  private static let schemes: [String: (StartProtocol, UInt16)] = [
    "https": (.tls, 443), "wss": (.tls, 443), "tls": (.tls, 443), "ssl": (.tls, 443), "smtps": (.tls, 465),
    "submissions": (.tls, 465), "imaps": (.tls, 993), "pop3s": (.tls, 995), "ldaps": (.tls, 636),
    "ftps": (.tls, 990), "amqps": (.tls, 5671), "mqtts": (.tls, 8883), "rediss": (.tls, 6379),
    "smtp": (.smtp, 25), "submission": (.smtp, 587), "imap": (.imap, 143), "pop3": (.pop3, 110), "pop": (.pop3, 110),
    "postgres": (.postgres, 5432), "postgresql": (.postgres, 5432),
  ]
  /// Ports whose protocols begin in plain text (STARTTLS).
  private static let ports: [UInt16: StartProtocol] = [
    25: .smtp, 587: .smtp, 2525: .smtp, 143: .imap, 110: .pop3, 5432: .postgres,
  ]

  /// Reads `host`, `host:port`, `[::1]:443`, or a URL, of which only scheme, host and port are used.
  ///
  /// - Parameters:
  ///   - startProtocol: how TLS begins; nil: by the scheme or the port, else direct TLS.
  ///   - serverName: the name for SNI; nil or empty: the host.
  ///   - port: nil: from the text.
  /// - Throws: `Problems` at `host`, `port` and `server_name`.
  package init(
    parsing text: String, startProtocol: StartProtocol? = nil, serverName: String? = nil, port: UInt16? = nil
  ) throws(Problems) {
    var rest = Substring(text.trimmingCharacters(in: .whitespacesAndNewlines))
    var meant: (start: StartProtocol, port: UInt16)?
    if let mark = rest.firstRange(of: "://") {
      let scheme = rest[..<mark.lowerBound].lowercased()
      guard let known = Self.schemes[scheme] else {
        throw Problems([Problem("host", HostMessage.scheme, ["scheme": String(scheme.prefix(20))])])
      }
      meant = known
      rest = rest[mark.upperBound...]
    }
    rest = rest.prefix { !"/?#".contains($0) }
    if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
    let (host, digits) = Self.split(rest)
    var problems: [Problem] = []
    if let problem = Self.problem(host) { problems.append(Problem("host", problem)) }
    var number = port
    if let digits {
      let said = UInt16(digits)
      if said ?? 0 == 0 { problems.append(Problem("host", HostMessage.port)) }
      number = number ?? (said == 0 ? nil : said)
    }
    if number == 0 { problems.append(Problem("port", HostMessage.port)) }
    let name = Self.tidy(serverName ?? "")
    if !name.isEmpty, let problem = Self.problem(name) { problems.append(Problem("server_name", problem)) }
    guard problems.isEmpty else { throw Problems(problems) }
    let start = startProtocol ?? meant?.start ?? number.flatMap { Self.ports[$0] } ?? .tls
    let usual = startProtocol == nil || startProtocol == meant?.start ? meant?.port ?? start.port : start.port
    self.init(host: host, port: number ?? usual, serverName: name.isEmpty ? nil : name, startProtocol: start)
  }

  /// Splits into the host and the digits of the port.
  private static func split(_ text: Substring) -> (host: String, port: Substring?) {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      let after = text[text.index(after: end)...]
      return (tidy(text[text.index(after: text.startIndex)..<end]), after.isEmpty ? nil : after.dropFirst())
    }
    // More than one colon: an IPv6 address without brackets, and so without a port.
    guard let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") else { return (tidy(text), nil) }
    return (tidy(text[..<colon]), text[text.index(after: colon)...])
  }

  /// Lower case, without the final dot.
  private static func tidy(_ text: some StringProtocol) -> String {
    let lower = text.trimmingCharacters(in: .whitespaces).lowercased()
    return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
  }

  /// Checks an address or a name (RFC 1123 §2.1, plus the underscore, which real names contain).
  private static func problem(_ host: String) -> HostMessage? {
    guard !host.isEmpty else { return .missing }
    guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return .notASCII }
    if host.contains(":") { return SocketAddress(host: host, port: 0) == nil ? .host : nil }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    let isName = labels.allSatisfy { label in
      (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { byte in
          (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x2d || byte == 0x5f
        }
    }
    return isName && host.utf8.count <= 253 ? nil : .host
  }
}
