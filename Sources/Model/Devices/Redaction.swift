import Text

/// Removes secrets from log texts: device tokens, signed tokens, passwords in headers.
package enum Redaction {
  /// Runs of this many hexadecimal digits count as device tokens. IDs and fingerprints with colons or dashes are
  /// shorter runs, and stay.
  static let hexadecimalDigits = 64

  /// Shortens every token to its ends, and removes secrets.
  package static func masking(_ text: String) -> String {
    if isPlain(text) { return text }
    var result = ""
    var rest = text[...]
    var before: Substring = ""
    while let first = rest.first {
      if first == "<", let group = description(rest) {
        result += "<\(abbreviated(group.filter(\.isHexDigit)))>"
        rest = rest[group.endIndex...].dropFirst()
        before = ""
      } else if isWord(first) {
        let word = rest.prefix(while: isWord)
        result += masked(word, after: before)
        before = word
        rest = rest[word.endIndex...]
      } else {
        if first != " ", first != ":" { before = "" }
        result.append(first)
        rest.removeFirst()
      }
    }
    return result
  }

  /// Whether a text is too short for a token, and has no mark of another secret: most paths in the access log.
  private static func isPlain(_ text: String) -> Bool {
    guard text.utf8.count < hexadecimalDigits else { return false }
    return text.utf8.allSatisfy { byte in
      byte != UInt8(ascii: " ") && byte != UInt8(ascii: ":") && byte != UInt8(ascii: "J")
    }
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "_-.+/=~:".contains(character))
  }

  private static func masked(_ word: Substring, after before: Substring) -> String {
    // The credential follows the scheme (RFC 9110 §11.6.2).
    if ["bearer", "basic"].contains(before.lowercased()) { return "…" }
    // A JSON Web Token is {"…"} in Base64URL, twice, and a signature.
    if word.hasPrefix("eyJ"), word.filter({ $0 == "." }).count == 2 { return "eyJ…" }
    // Those of GCM had no colon.
    if word.contains(":APA91") || (word.contains("APA91") && word.utf8.count >= hexadecimalDigits) {
      return abbreviated(word)
    }
    // Paths and assignments end with their token.
    let parts = word.split(omittingEmptySubsequences: false) { "/=:.".contains($0) }
    guard parts.contains(where: isToken) else { return String(word) }
    var result = ""
    for part in parts {
      result += isToken(part) ? abbreviated(part) : String(part)
      if part.endIndex < word.endIndex { result.append(word[part.endIndex]) }
    }
    return result
  }

  private static func isToken(_ word: Substring) -> Bool {
    word.utf8.count >= hexadecimalDigits && word.utf8.allSatisfy(ASCII.isHexDigit)
  }

  /// `<77366f0d c4a4f2f4 …>`: the text between the brackets, if it consists of groups of hexadecimal digits.
  private static func description(_ rest: Substring) -> Substring? {
    let inside = rest.dropFirst().prefix { $0 != ">" && ($0.isHexDigit || $0 == " ") }
    guard inside.endIndex < rest.endIndex, rest[inside.endIndex] == ">",
      inside.filter({ $0 != " " }).count >= hexadecimalDigits
    else { return nil }
    return inside
  }

  private static func abbreviated(_ token: some StringProtocol) -> String { "\(token.prefix(8))…\(token.suffix(8))" }
}
