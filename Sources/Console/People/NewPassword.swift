import Model

/// A new password, typed twice.
enum NewPassword {
  /// - Throws: errors for the fields `password` and `repeat`.
  static func read(_ form: Form, _ texts: Texts) throws(FieldErrors) -> String {
    let password = form.raw("password")
    var errors = FieldErrors()
    if password.count < AccountName.shortestPassword {
      errors.add("password", texts("setup.too_short", ["count": String(password.count)]))
    } else if password.utf8.count > AccountName.longestPassword {
      errors.add("password", texts("setup.too_long"))
    }
    if form.raw("repeat") != password { errors.add("repeat", texts("setup.differ")) }
    guard errors.isEmpty else { throw errors }
    return password
  }
}

enum AccountName {
  /// NIST SP 800-63B-4 §3.1.1.2 asks for 15 characters without a second factor and 8 with one.
  static let shortestPassword = 12
  /// A limit for the work of scrypt; no real password is longer.
  static let longestPassword = 1024

  /// Checks the form of an email address. RFC 5321 allows 254 bytes.
  static func problem(_ name: String) -> Problem? {
    let parts = name.split(separator: "@", omittingEmptySubsequences: false)
    let fits =
      parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && name.utf8.count <= 254
      && name.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value >= 0x20 && $0.value != 0x7f }
    return fits ? nil : Problem("email", code: "account.email", "Enter a valid email address, e.g. lin@example.com.")
  }
}
