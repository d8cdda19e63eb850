/// A cookie that the server sets (RFC 6265 section 4.1).
package struct Cookie: Sendable, Equatable {
  /// From where requests carry the cookie.
  package enum SameSite: String, Sendable {
    /// Only from the site's own pages.
    case strict = "Strict"
    /// Also when a link elsewhere leads here.
    case lax = "Lax"
  }

  /// The name; `__Host-…` makes browsers demand `secure`, path `/` and no domain.
  package let name: String
  /// The value: visible ASCII without `"`, `,`, `;` and `\`.
  package let value: String
  /// Below which path the browser sends it.
  package var path: String
  /// Seconds until the browser forgets it; 0 removes it, nil keeps it until the browser ends.
  package var maximumAge: Int?
  /// Only over https.
  package var isSecure: Bool
  /// Out of reach for scripts.
  package var isHTTPOnly: Bool
  /// From where requests carry it.
  package var sameSite: SameSite

  /// Creates a cookie; safe settings are the defaults, except `isSecure`, which loopback cannot have.
  ///
  /// - Returns: nil if name, value or path hold bytes that a cookie cannot.
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

  /// The value of a `Set-Cookie` field.
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

  /// Reads a `Cookie` field's pairs; pieces without `=` are left out, quotes around a value too.
  static func pairs(in field: String) -> [(name: String, value: String)] {
    field.split(separator: ";").compactMap { piece in
      guard let equals = piece.firstIndex(of: "=") else { return nil }
      let name = piece[..<equals].trimmedOfSpace
      var value = piece[piece.index(after: equals)...].trimmedOfSpace
      if value.utf8.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
      return name.isEmpty ? nil : (String(name), String(value))
    }
  }
}
