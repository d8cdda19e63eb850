/// A cookie that the server sets (RFC 6265 section 4.1).
package struct Cookie: Sendable, Equatable {
  package enum SameSite: String, Sendable {
    /// Also when the user follows a link from elsewhere.
    case lax = "Lax"
  }

  package let name: String
  package let value: String
  /// The path below which the browser sends the cookie.
  package var path: String
  /// Seconds until it expires; 0 removes it, nil keeps it for the browser session.
  package var maximumAge: Int?
  /// Only over https; off by default, because loopback has none.
  package var isSecure: Bool
  /// Hidden from scripts.
  package var isHTTPOnly: Bool
  package var sameSite: SameSite

  /// - Returns: nil if name, value or path contain bytes that a cookie cannot have.
  package init?(
    name: String, value: String, path: String = "/", maximumAge: Int? = nil, isSecure: Bool,
    isHTTPOnly: Bool = true, sameSite: SameSite = .lax
  ) {
    guard !name.isEmpty, name.utf8.allSatisfy(ByteClass.isToken), value.utf8.allSatisfy(Self.isValue),
      path.hasPrefix("/"), path.utf8.allSatisfy({ $0 > 0x1F && $0 < 0x7F && $0 != UInt8(ascii: ";") })
    else { return nil }
    self.name = name
    self.value = value
    self.path = path
    self.maximumAge = maximumAge
    self.isSecure = isSecure
    self.isHTTPOnly = isHTTPOnly
    self.sameSite = sameSite
  }

  package var fieldValue: String {
    var text = "\(name)=\(value); Path=\(path)"
    if let maximumAge { text += "; Max-Age=\(maximumAge)" }
    if isSecure { text += "; Secure" }
    if isHTTPOnly { text += "; HttpOnly" }
    return text + "; SameSite=\(sameSite.rawValue)"
  }

  /// `cookie-octet` of RFC 6265 section 4.1.1.
  private static func isValue(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
    default: false
    }
  }

  /// The value of the first pair with this name in a `Cookie` field; pieces without `=` are skipped, quotes around a
  /// value removed.
  static func value(of name: String, in field: String) -> String? {
    for piece in field.utf8.split(separator: UInt8(ascii: ";")) {
      if let pair = pair(Substring(piece)), pair.name == name { return String(pair.value) }
    }
    return nil
  }

  private static func pair(_ piece: Substring) -> (name: Substring, value: Substring)? {
    guard let equals = piece.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    let name = piece[..<equals].trimmedOfSpace
    var value = piece[piece.utf8.index(after: equals)...].trimmedOfSpace
    let quote = UInt8(ascii: "\"")
    if value.utf8.count >= 2, value.utf8.first == quote, value.utf8.last == quote {
      value = value.dropFirst().dropLast()
    }
    return name.isEmpty ? nil : (name, value)
  }
}
