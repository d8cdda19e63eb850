/// The shells in which a pasted command was written, and how each splits its words.
enum Shell: Sendable {
  case posix
  /// `cmd.exe` of Windows: `^` joins lines and takes the meaning of the next sign.
  case windows
  /// A back-tick does both.
  case powerShell

  /// By the sign at the end of a line, else by how quotes are written.
  init(of text: String) {
    let ends = text.split(whereSeparator: \.isNewline).map { $0.last { !$0.isWhitespace } }
    if ends.contains("\\") {
      self = .posix
    } else if ends.contains("^") || text.contains("^\"") || text.contains("\"{\"\"") {
      self = .windows
    } else {
      self = ends.dropLast().contains("`") ? .powerShell : .posix
    }
  }

  /// The words of the first command. Variables stay as they are written.
  func words(_ text: Substring) throws(Problem) -> [String] {
    var words: [String] = []
    var word: String?
    // In place: a command of many characters would be copied for each of them.
    func append(_ part: some StringProtocol) {
      word = word ?? ""
      word?.append(contentsOf: part)
    }
    var rest = self == .windows ? Self.withoutCarets(text)[...] : text
    while let next = rest.popFirst() {
      switch next {
      case "'": append(try singleQuoted(&rest))
      case "$" where rest.first == "'":
        rest.removeFirst()
        append(try Self.escaped(&rest))
      case "\"": append(try doubleQuoted(&rest))
      case "\\" where self == .posix, "`" where self == .powerShell:
        // At the end of a line, also before blanks that were copied along, it joins it with the next one.
        let after = rest.drop { $0 == " " || $0 == "\t" }
        if after.first?.isNewline == true {
          rest = after.dropFirst()
        } else if let escaped = rest.popFirst() {
          append(String(escaped))
        }
      case "|", ";", "&", ">", "<", "\n", "\r\n":
        if let word { words.append(word) }
        // What follows is another command, or where the answer goes.
        if !words.isEmpty { return words }
        word = nil
      case _ where next.isWhitespace:
        if let word { words.append(word) }
        word = nil
      default: append(String(next))
      }
    }
    if let word { words.append(word) }
    return words
  }

  /// Up to the closing quote; PowerShell writes one inside as two.
  private func singleQuoted(_ rest: inout Substring) throws(Problem) -> String {
    var text = ""
    while let end = rest.firstIndex(of: "'") {
      text += rest[..<end]
      rest = rest[rest.index(after: end)...]
      guard self == .powerShell, rest.first == "'" else { return text }
      text += "'"
      rest.removeFirst()
    }
    throw Problem("", DialectMessage.curlQuote)
  }

  /// Up to the closing quote.
  func doubleQuoted(_ rest: inout Substring) throws(Problem) -> String {
    var text = ""
    while let next = rest.popFirst() {
      switch next {
      case "\"" where self != .posix && rest.first == "\"":
        // Windows programs read two as one.
        rest.removeFirst()
        text += "\""
      case "\"": return text
      case "\\" where self == .posix:
        guard let escaped = rest.popFirst() else { break }
        // Elsewhere a backslash in double quotes stands for itself (POSIX shell, 2.2.3).
        if escaped.isNewline { continue }
        text += "\"\\$`".contains(escaped) ? String(escaped) : "\\" + String(escaped)
      case "\\":
        // Before a quote, half of them stay; elsewhere all do (Microsoft, Parsing C command-line arguments).
        let count = 1 + rest.prefix { $0 == "\\" }.count
        rest = rest.dropFirst(count - 1)
        guard rest.first == "\"" else {
          text += String(repeating: "\\", count: count)
          continue
        }
        text += String(repeating: "\\", count: count / 2)
        if !count.isMultiple(of: 2) {
          text += "\""
          rest.removeFirst()
        }
      case "`" where self == .powerShell:
        if let escaped = rest.popFirst() { text += escaped == "n" ? "\n" : String(escaped) }
      default: text.append(next)
      }
    }
    throw Problem("", DialectMessage.curlQuote)
  }

  /// `$'…'` of bash, in which browsers copy texts with quotes: up to the closing quote.
  private static func escaped(_ rest: inout Substring) throws(Problem) -> String {
    var text = ""
    while let next = rest.popFirst() {
      if next == "'" { return text }
      guard next == "\\", let escape = rest.popFirst() else {
        text.append(next)
        continue
      }
      let digits: Int? = escape == "u" ? 4 : escape == "x" ? 2 : escape == "U" ? 8 : nil
      if let digits {
        let number = rest.prefix(digits).prefix(while: \.isHexDigit)
        guard let scalar = UInt32(number, radix: 16).flatMap(Unicode.Scalar.init) else { continue }
        text.unicodeScalars.append(scalar)
        rest = rest.dropFirst(number.count)
      } else {
        text += ["n": "\n", "t": "\t", "r": "\r"][escape] ?? String(escape)
      }
    }
    throw Problem("", DialectMessage.curlQuote)
  }

  /// As `cmd.exe` passes a command on: outside of its quotes, `^` is removed, and the sign behind it is only a sign.
  private static func withoutCarets(_ text: Substring) -> String {
    var plain = ""
    var isQuoted = false
    var rest = text
    while let next = rest.popFirst() {
      if next == "\"" { isQuoted.toggle() }
      guard next == "^", !isQuoted else {
        plain.append(next)
        continue
      }
      let after = rest.drop { $0 == " " || $0 == "\t" }
      if after.first?.isNewline == true {
        rest = after.dropFirst()
        // An empty line behind it is a line end that was meant.
        if rest.first?.isNewline == true { plain.append(rest.removeFirst()) }
      } else if let sign = rest.popFirst() {
        plain.append(sign)
      }
    }
    return plain
  }
}
