import Foundation

/// An HTTP proxy that opens tunnels with CONNECT (RFC 9110 §9.3.6).
package struct ProxyServer: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// A name or an address, without brackets.
  package let host: String
  package let port: UInt16
  /// Nil: the proxy is not told who we are.
  package let user: String?
  /// A secret: ``description`` leaves it out.
  package let password: String?

  /// As curl's.
  private static let defaultPort: UInt16 = 1080
  /// In bytes.
  private static let limit = 1024

  package init(host: String, port: UInt16, user: String? = nil, password: String? = nil) {
    (self.host, self.port, self.user, self.password) = (host, port, user, password)
  }

  /// Parses `http://user:password@host:port`; `http://`, user and password, and port (1080) may be missing.
  ///
  /// - Throws: ``BadProxy``, which names no part of the text: it may hold a password.
  package init(_ text: String) throws(BadProxy) {
    guard text.utf8.count <= Self.limit, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw BadProxy("is too long, or contains blanks or characters beyond ASCII")
    }
    var rest = text[...]
    if let end = rest.range(of: "://") {
      guard rest[..<end.lowerBound].lowercased() == "http" else {
        throw BadProxy("must begin with http://; proxies that use TLS or SOCKS are not supported")
      }
      rest = rest[end.upperBound...]
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    var login: Substring?
    if let at = rest.lastIndex(of: "@") {
      login = rest[..<at]
      rest = rest[rest.index(after: at)...]
    }
    guard let (host, port) = Self.place(rest) else { throw BadProxy("has no valid host and port") }
    (self.host, self.port) = (host, port ?? Self.defaultPort)
    guard let login else {
      (user, password) = (nil, nil)
      return
    }
    let parts = login.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let decoded = parts.map { $0.removingPercentEncoding }
    guard let name = decoded[0], !name.isEmpty, !name.contains(":"),
      decoded.allSatisfy({ $0.map(Self.isPlain) ?? false })
    else { throw BadProxy("has a user or password that is not percent-encoded correctly") }
    user = name
    password = parts.count > 1 ? decoded[1] : nil
  }

  /// Splits `host`, `host:port`, `[::1]` or `[::1]:port`; nil if malformed.
  static func place(_ text: Substring) -> (host: String, port: UInt16?)? {
    var host = text
    var port: UInt16?
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<end]
      let tail = text[text.index(after: end)...]
      if !tail.isEmpty {
        guard tail.hasPrefix(":"), let number = UInt16(tail.dropFirst()) else { return nil }
        port = number
      }
      guard host.contains(":"), SocketAddress(host: String(host), port: 0) != nil else { return nil }
      return port == 0 ? nil : (String(host), port)
    }
    if let colon = text.lastIndex(of: ":") {
      host = text[..<colon]
      guard let number = UInt16(text[text.index(after: colon)...]) else { return nil }
      port = number
    }
    let isName = host.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }
    guard isName, (1...253).contains(host.utf8.count), port != 0 else { return nil }
    return (String(host), port)
  }

  private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } }

  /// `host:port`, an IPv6 address in brackets.
  package var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// As accepted by ``init(_:)``, without the password.
  package var description: String {
    let name = user?.addingPercentEncoding(withAllowedCharacters: .alphanumerics).map { "\($0)@" } ?? ""
    return "http://\(name)\(authority)"
  }

  package var debugDescription: String { description }

  /// The value of `Proxy-Authorization` (RFC 7617); nil: none.
  var authorization: String? {
    user.map { "Basic " + Data("\($0):\(password ?? "")".utf8).base64EncodedString() }
  }
}

/// Why a text is not the URL of a proxy. Reads on after the name of the option or field.
package struct BadProxy: Error, Sendable, Hashable, CustomStringConvertible {
  package let reason: String
  init(_ reason: String) { self.reason = reason }

  package var description: String { "\(reason). Expected: http://user:password@proxy.example.com:3128" }
}

/// Why a proxy opened no tunnel.
package struct ProxyProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The texts are codes that pages and the API show.
  package enum Code: String, Sendable, CaseIterable {
    /// The proxy's name has no address, or nothing listens there.
    case unreachable = "ProxyUnreachable"
    /// No answer to CONNECT in time.
    case timedOut = "ProxyTimedOut"
    /// 407, or 401 as tinyproxy says it: user or password are missing or wrong.
    case authentication = "ProxyAuthenticationRequired"
    /// 403 or 405: the proxy's rules forbid this host or port.
    case forbidden = "ProxyForbidden"
    /// Any other refusal: the proxy cannot find or reach the host.
    case cannotConnect = "ProxyCannotConnect"
    /// The answer is not HTTP, or too long.
    case badAnswer = "ProxyBadAnswer"
  }

  package let code: Code
  /// What happened, with the names of the proxy and the host.
  package let message: String

  package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

  /// The meaning of a status that is not 2xx.
  ///
  /// - Parameter detail: the proxy's words; may be empty.
  package init(status: Int, detail: String, proxy: ProxyServer, target: String) {
    let words = detail.isEmpty ? "\(status)" : "\(status) \(detail)"
    let answered = "the proxy \(proxy.authority) answered \(words)"
    switch status {
    case 401 where proxy.user == nil, 407 where proxy.user == nil:
      self.init(.authentication, "\(answered); no user and password are set")
    case 401, 407: self.init(.authentication, "\(answered) to the user \(proxy.user ?? "")")
    case 403, 405: self.init(.forbidden, "\(answered) to a connection to \(target)")
    case 404, 500...599:
      self.init(.cannotConnect, "\(answered); it cannot find or reach \(target)")
    default: self.init(.cannotConnect, "\(answered) to a connection to \(target)")
    }
  }

  package var description: String { "\(code.rawValue) (\(message))" }
}
