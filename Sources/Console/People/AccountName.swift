import Model

/// Rules for what people sign in with.
enum AccountName {
  /// NIST SP 800-63B-4 §3.1.1.2 asks for 15 without a second factor, 8 with one; the console asks for 12.
  static let shortestPassword = 12
  /// scrypt takes more; nobody types it.
  static let longestPassword = 1024

  /// An e-mail address as far as a form can tell: RFC 5321 allows 254 bytes.
  static func problem(_ name: String) -> Problem? {
    let parts = name.split(separator: "@", omittingEmptySubsequences: false)
    let fits =
      parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && name.utf8.count <= 254
      && name.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value >= 0x20 && $0.value != 0x7f }
    return fits ? nil : Problem("email", code: "account.email", "Enter a valid email address, e.g. lin@example.com.")
  }
}
