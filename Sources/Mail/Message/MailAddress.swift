internal import Foundation

/// Whom a mail is from or to: an address that can stand in a header and in an SMTP command, and a name.
package struct MailAddress: Sendable, Hashable {
  /// As `ops@example.com`.
  package let address: String
  /// What people read beside it; empty: none.
  package let name: String

  /// The longest address that SMTP carries (RFC 5321 section 4.5.3.1.3, without the angle brackets).
  package static let limit = 254

  /// Checks an address: the dot-atom form of RFC 5322 section 3.4.1, as every public mail service gives it.
  ///
  /// - Returns: nil if it is none. Names outside ASCII need their `xn--` form.
  package init?(_ address: String, name: String = "") {
    let parts = address.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, address.utf8.count <= Self.limit, parts[0].utf8.count <= 64,
      Self.isDotted(parts[0], extra: "!#$%&'*+-/=?^_`{|}~"), Self.isDotted(parts[1], extra: "-")
    else { return nil }
    self.address = address
    self.name = name
  }

  private static func isDotted(_ text: Substring, extra: String) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
      !atom.isEmpty && atom.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || extra.contains($0)) }
    }
  }

  /// As it stands in a header field: `Signalbox <ops@example.com>`.
  var field: HeaderText {
    guard !name.isEmpty else { return HeaderText(words: [address]) }
    return HeaderText(phrase: name).followed(by: "<\(address)>")
  }
}
