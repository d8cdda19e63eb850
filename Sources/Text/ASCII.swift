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

  /// At most `limit` characters, with `…` for the rest.
  package func abbreviated(to limit: Int) -> String {
    // Counting bytes costs nothing, and most texts are short.
    utf8.count <= limit || count <= limit ? self : prefix(limit) + "…"
  }

  /// Without the full stop at its end, for quoting inside a sentence.
  package var withoutFullStop: String { hasSuffix(".") || hasSuffix("。") ? String(dropLast()) : self }
}

extension Unicode.Scalar {
  /// The scalar as `U+0007`.
  package var codePoint: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension String {
  /// Safe for lists, mails, pages and terminals, whoever wrote it: control characters and line ends become blanks;
  /// invisible and direction-changing characters are written as `[U+202E]`.
  ///
  /// Joiners stay, because Persian and emoji need them, and so do variation selectors.
  package var singleLine: String {
    if isPlainASCII { return self }
    var shown = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.appearance {
      case .plain: shown.append(scalar)
      case .blank: shown.append(" ")
      case .hidden: shown.append(contentsOf: "[\(scalar.codePoint)]".unicodeScalars)
      }
    }
    return String(shown)
  }
}

extension Unicode.Scalar {
  fileprivate enum Appearance { case plain, blank, hidden }

  fileprivate var appearance: Appearance {
    switch value {
    case 0x20...0x7E: .plain
    // Zero width joiners; variation selectors.
    case 0x200C, 0x200D, 0xFE00...0xFE0F: .plain
    // Line and paragraph separators; interlinear annotations.
    case 0x2028, 0x2029, 0xFFF9...0xFFFB: .hidden
    default:
      properties.generalCategory == .control
        ? .blank : properties.isDefaultIgnorableCodePoint || properties.isBidiControl ? .hidden : .plain
    }
  }
}
