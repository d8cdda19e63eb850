import Foundation
import JSON
import Text

/// The forms in which logs, databases and programming languages write a token.
enum TokenText {
  /// Removes what nobody sees, blanks and quotation marks around, `%3A`, and `deviceToken=`, `token: ` or `Optional(…)`
  /// from logs.
  static func unwrapped(_ text: String) -> String {
    var text = visible(text).trimmingCharacters(in: .whitespacesAndNewlines)
    // Of an address, and of one inside another address.
    for _ in 0..<2 where text.utf8.contains(UInt8(ascii: "%")) { text = text.removingPercentEncoding ?? text }
    if let value = value(labeled: text) { text = String(value) }
    if text.hasPrefix("Optional("), text.hasSuffix(")") { text = String(text.dropFirst(9).dropLast()) }
    if text.hasPrefix("[\"") || text.hasPrefix("['"), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
    if let open = text.firstIndex(of: "<"), let close = text[open...].firstIndex(of: ">") {
      return String(text[open...close])
    }
    return text.trimmingCharacters(in: around)
  }

  /// Quotation marks, and what stands behind them in JSON.
  private static let around = CharacterSet(charactersIn: "\"'“”,;").union(.whitespacesAndNewlines)

  /// Without characters that have no shape: zero-width ones, byte order marks, and marks of the writing direction, which
  /// pages and chats copy along.
  static func visible(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    return String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter {
          !$0.properties.isDefaultIgnorableCodePoint && $0.properties.generalCategory != .format
        }))
  }

  /// A character as a sentence can show it: one without a shape by its number.
  static func shown(_ character: Character) -> String {
    let isPlain =
      character == " "
      || character.unicodeScalars.allSatisfy { scalar in
        !scalar.properties.isWhitespace
          && ![.control, .format, .unassigned].contains(scalar.properties.generalCategory)
      }
    if isPlain { return String(character) }
    return character.unicodeScalars.map { scalar in
      let number = String(scalar.value, radix: 16, uppercase: true)
      return "U+" + String(repeating: "0", count: max(0, 4 - number.count)) + number
    }.joined(separator: " ")
  }

  /// What stands behind `token:`, `deviceToken =` and the like; nil without such a label. Imports contain millions of
  /// tokens, and a `Regex` costs more than all the rest of one.
  private static func value(labeled text: String) -> Substring? {
    var rest = text.utf8[...]
    func skip(_ word: StaticString) -> Bool {
      let isThere = word.withUTF8Buffer { word in
        rest.count >= word.count && zip(rest, word).allSatisfy { $0 | 0x20 == $1 }
      }
      if isThere { rest = rest.dropFirst(word.utf8CodeUnitCount) }
      return isThere
    }
    if skip("device"), let next = rest.first, next == UInt8(ascii: " ") || next == UInt8(ascii: "_") {
      rest = rest.dropFirst()
    }
    guard skip("token") else { return nil }
    rest = rest.drop { $0 == UInt8(ascii: " ") }
    guard let sign = rest.first, sign == UInt8(ascii: ":") || sign == UInt8(ascii: "=") else { return nil }
    return Substring(rest.dropFirst().drop { $0 == UInt8(ascii: " ") })
  }

  // MARK: Bytes

  /// As many bytes as a token has, separated by commas: with or without brackets, with signs, as Java prints them, with
  /// `0x`, or as pairs of digits. Nil for anything else.
  static func list(_ text: String) -> [UInt8]? {
    guard text.utf8.contains(UInt8(ascii: ",")) else { return nil }
    let numbers: [Int]
    if text.hasPrefix("{"), let json = try? JSONValue(parsing: Array(text.utf8)) {  // nil: not JSON
      guard let found = buffer(json) else { return nil }
      numbers = found
    } else {
      // `Uint8Array(32) [ 21, 169 … ]`, `bytes([21, 169 …])`
      let start = text.lastIndex { "[{(".contains($0) }.map(text.index(after:)) ?? text.startIndex
      let content = text[start...].prefix { !"]})".contains($0) }
      // Of several lists, none is the token.
      guard !text[..<start].contains(","), text[content.endIndex...].allSatisfy({ "]}) ".contains($0) }) else {
        return nil
      }
      let items =
        content
        .split(separator: ",", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
      let arePairs = items.allSatisfy { $0.utf8.count == 2 } && items.contains { Int($0) == nil }
      numbers = items.compactMap { item in
        arePairs ? Int(item, radix: 16) : item.hasPrefix("0x") ? Int(item.dropFirst(2), radix: 16) : Int(item)
      }
      guard numbers.count == items.count else { return nil }
    }
    guard DeviceToken.hexadecimalDigits.contains(numbers.count * 2), numbers.allSatisfy((-128...255).contains) else {
      return nil
    }
    return numbers.map { UInt8(truncatingIfNeeded: $0) }
  }

  /// `{"type":"Buffer","data":[21, …]}`, a Buffer of Node.js as JSON, or `{"0":21,"1":169, …}`, a Uint8Array.
  private static func buffer(_ json: JSONValue) -> [Int]? {
    guard let members = json.object else { return nil }
    let bytes = json["data"]?.array ?? (0..<members.count).compactMap { members[String($0)] }
    let numbers = bytes.compactMap { $0.integer.flatMap { Int(exactly: $0) } }
    return numbers.count == bytes.count ? numbers : nil
  }

  /// Bytes in Base64 with or without `=`: 32, or as many as Live Activities' tokens have. Not for mistyped hexadecimal
  /// text: of 43 random Base64 characters some 28 are no hexadecimal digits, and eight are required.
  static func base64(_ text: String) -> [UInt8]? {
    var bare = text.filter { !$0.isNewline }[...]
    while bare.last == "=", bare.count % 4 != 1 { bare.removeLast() }
    let count = bare.utf8.count * 3 / 4
    guard count == 32 || (64...100).contains(count), bare.filter({ !$0.isHexDigit && $0 != "-" }).count >= 8 else {
      return nil
    }
    let standard = bare.replacing("-", with: "+").replacing("_", with: "/")
    let padded = String(standard) + String(repeating: "=", count: (4 - standard.count % 4) % 4)
    guard let data = Data(base64Encoded: padded), data.count == count else { return nil }
    return [UInt8](data)
  }

  /// The digits of a text without the signs around, and how many characters stand before them.
  static func digits(_ text: String) -> (text: Substring, position: Int) {
    if text.hasPrefix("<"), text.hasSuffix(">") {
      // `<Buffer 15 a9 …>`, as Node.js prints it.
      let label = text.hasPrefix("<Buffer ") ? 8 : 1
      return (text.dropFirst(label).dropLast(), label)
    }
    // `\x77366f0d…` of PostgreSQL and `X'77366f0d…` of other databases, or the same before each byte.
    for sign in ["0x", "0X", "\\x", "x'", "X'"] where text.hasPrefix(sign) {
      let rest = text.dropFirst(2)
      return rest.contains(sign) ? (rest.replacing(sign, with: ""), 2) : (rest, 2)
    }
    return (text[...], 0)
  }

  // MARK: Text

  /// A Firebase token of which somebody wrote the bytes as digits; nil: they are no such text.
  static func letters(_ bytes: [UInt8]) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self), text.contains("APA91"), text.allSatisfy(isFirebase)
    else { return nil }
    return text
  }

  static func isFirebase(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "_-:.~".contains(character))
  }
}

/// Several tokens in one text, as people paste them.
package enum TokenList {
  /// One per line, or separated by commas, semicolons or blanks, with or without the quotes and brackets of a list in a
  /// program. Blanks and commas that belong to a token stay.
  package static func texts(_ text: String) -> [String] {
    let text = TokenText.visible(text).trimmingCharacters(in: .whitespacesAndNewlines)
    if TokenText.list(text) != nil { return [text] }
    if text.hasPrefix("["), let items = (try? JSONValue(parsing: Array(text.utf8)))?.array {  // nil: not JSON
      return items.map { $0.string ?? $0.text() }
    }
    return bare(text).split(whereSeparator: \.isNewline).flatMap(inLine).filter { !$0.isEmpty }
  }

  /// Without the brackets of `['a', 'b']`, `('a', 'b')` and `{a,b}`.
  private static func bare(_ text: String) -> Substring {
    let pairs = [("[", "]"), ("(", ")"), ("{", "}")]
    let inside = text.dropFirst().dropLast()
    let isList = pairs.contains { text.hasPrefix($0.0) && text.hasSuffix($0.1) }
    return isList && !text.contains("length") && !inside.contains { "[({".contains($0) } ? inside : text[...]
  }

  private static func inLine(_ line: Substring) -> [String] {
    let line = line.trimmingCharacters(in: .whitespaces)
    // The description of data that lost its middle has commas, and an error message of its own.
    if line.contains("length") || TokenText.list(line) != nil { return [line] }
    return line.split { ",;，、".contains($0) }.flatMap { part -> [String] in
      let part = part.trimmingCharacters(in: .whitespaces.union(quotes))
      let words = part.split(whereSeparator: \.isWhitespace).map { $0.trimmingCharacters(in: quotes) }
      return words.allSatisfy(isWhole) ? words : [part]
    }
  }

  private static let quotes = CharacterSet(charactersIn: "\"'“”")

  /// Whether a word can be a token of its own, and not one of the groups of digits of a token.
  static func isWhole(_ word: String) -> Bool {
    if word.allSatisfy(\.isHexDigit) {
      return word.utf8.count >= DeviceToken.hexadecimalDigits.lowerBound || RegistrationID.isJPush(word)
    }
    // A blank may also stand within a token that a chat or a mail has broken.
    return word.utf8.count >= DeviceToken.firebaseCharacters.lowerBound && word.allSatisfy(TokenText.isFirebase)
      && (word.contains(":") || word.hasPrefix("APA91"))
  }
}
