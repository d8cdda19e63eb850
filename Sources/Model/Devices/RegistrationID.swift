import Text

/// The name that a push service, or we, gave one installation of an app.
package enum RegistrationID {
  /// Characters. JPush's have 11 or 19 hexadecimal digits (`13165ffa4e0b5fb6ba3`, S002).
  package static let limit = 64

  /// What is wrong with a registration id.
  package static func problem(with id: String) -> Problem? {
    let fits = (1...limit).contains(id.utf8.count) && id.utf8.allSatisfy { ASCII.isAlphanumeric($0) }
    return fits ? nil : Problem("", NameMessage.registrationID, ["limit": String(limit)])
  }
}
