extension String {
  /// As it may stand in a list, a mail, a page or a terminal, whoever wrote it: control characters and line ends become
  /// blanks; what is not seen, or turns the direction of what is seen, is written as `[U+202E]`.
  ///
  /// Joiners stay, because Persian and emoji are written with them, and so do the marks that choose an emoji's look.
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
    // Line and paragraph separator; marks of annotations.
    case 0x2028, 0x2029, 0xFFF9...0xFFFB: .hidden
    default:
      properties.generalCategory == .control
        ? .blank : properties.isDefaultIgnorableCodePoint || properties.isBidiControl ? .hidden : .plain
    }
  }
}
