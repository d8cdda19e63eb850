/// The name that a push service, or we, gave one installation of an app.
public enum RegistrationID {
  /// Characters. JPush's have 11 or 19 hexadecimal digits (`13165ffa4e0b5fb6ba3`, S002).
  public static let limit = 64

  /// What is wrong with a registration id.
  public static func problem(with id: String) -> Problem? {
    let fits = (1...limit).contains(id.utf8.count) && id.utf8.allSatisfy { ASCII.isAlphanumeric($0) }
    return fits ? nil : Problem("", NameMessage.registrationID, ["limit": String(limit)])
  }
}

/// Classes of bytes.
enum ASCII {
  static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) }
  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }
  static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }
}

extension String {
  /// Whether there is nothing in it but the printable characters of ASCII, and blanks.
  var isPlainASCII: Bool { utf8.allSatisfy { (0x20...0x7e).contains($0) } }
}
