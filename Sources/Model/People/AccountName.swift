package enum AccountName {
  /// NIST SP 800-63B-4 §3.1.1.2 asks for 15 characters without a second factor and 8 with one.
  package static let shortestPassword = 12
  /// A limit for the work of scrypt; no real password is longer.
  package static let longestPassword = 1024

  /// Checks the form of an email address. RFC 5321 allows 254 bytes.
  package static func problem(_ name: String) -> Problem? {
    let parts = name.split(separator: "@", omittingEmptySubsequences: false)
    let fits =
      parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && name.utf8.count <= 254
      && name.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value >= 0x20 && $0.value != 0x7f }
    return fits ? nil : Problem("name", PersonMessage.name)
  }
}

package enum PersonMessage: String, MessageSet {
  case name = "person.name"
  case known = "person.known"
  case lastAdmin = "person.last_admin"
  case own = "person.own"
  case disabled = "person.disabled"

  package var english: String {
    switch self {
    case .name: "Enter a valid email address, e.g. lin@example.com."
    case .known: "{name} is already in the list of people."
    case .lastAdmin: "{name} is the only admin who can sign in. Make someone else an admin first."
    case .own: "You cannot do this to your own account. Ask another admin."
    case .disabled: "{name} is disabled. Enable the person first."
    }
  }
}
