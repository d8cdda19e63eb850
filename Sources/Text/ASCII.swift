/// Classes of bytes.
package enum ASCII {
  package static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) }
  package static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  package static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }
  package static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }
}

extension String {
  /// Whether the text holds only printable ASCII characters and blanks.
  package var isPlainASCII: Bool { utf8.allSatisfy { (0x20...0x7e).contains($0) } }

  /// At most `limit` characters, with `…` where something was left out.
  package func abbreviated(to limit: Int) -> String { count <= limit ? self : prefix(limit) + "…" }

  /// The text without the full stop at its end: for a quotation inside a sentence.
  package var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}

extension Unicode.Scalar {
  /// The scalar as `U+0007`.
  package var codePoint: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
