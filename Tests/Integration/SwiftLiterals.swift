/// The string literals of Swift source, as the keys of messages: `{1}`, `{2}` … for what is interpolated.
struct SwiftLiterals {
  struct Literal {
    let key: String
    /// The end of the source before it.
    let before: String
  }

  private let characters: [Character]
  private(set) var all: [Literal] = []

  /// Literals that are joined by `+` are read as one.
  init(_ source: String) {
    characters = Array(source.replacing(#/"\s*\n\s*\+ "/#, with: ""))
    var place = 0
    while place < characters.count { place = code(from: place) }
  }

  private func begins(_ text: String, at place: Int) -> Bool {
    characters.count - place >= text.count && zip(text, characters[place...]).allSatisfy { $0 == $1 }
  }

  /// Reads code to the closing bracket of the opening one before it; returns the place after it.
  private mutating func code(from start: Int) -> Int {
    var (place, depth) = (start, 1)
    while place < characters.count {
      if begins("//", at: place) {
        while place < characters.count, characters[place] != "\n" { place += 1 }
        continue
      }
      let hashes = characters[place...].prefix { $0 == "#" }.count
      if place + hashes < characters.count, characters[place + hashes] == "\"" {
        place = literal(from: place, hashes: hashes)
        continue
      }
      if characters[place] == "(" { depth += 1 }
      if characters[place] == ")" { depth -= 1 }
      place += 1
      if depth == 0 { return place }
    }
    return place
  }

  /// Reads a literal; returns the place after it.
  private mutating func literal(from start: Int, hashes: Int) -> Int {
    let isMultiline = begins("\"\"\"", at: start + hashes)
    let (raw, quote) = (String(repeating: "#", count: hashes), isMultiline ? "\"\"\"" : "\"")
    var place = start + hashes + quote.count
    // Line ends that the source alone has are marked.
    var (text, count) = ("", 0)
    while place < characters.count, !begins(quote + raw, at: place) {
      guard begins("\\" + raw, at: place) else {
        text.append(characters[place])
        place += 1
        continue
      }
      let escaped = characters[place + 1 + hashes]
      place += 2 + hashes
      switch escaped {
      case "(":
        count += 1
        text += "{\(count)}"
        place = code(from: place)
      case "\n": text += "\u{1}"
      case "n": text += "\n"
      case "u":
        while characters[place] != "}" { place += 1 }
        place += 1
      default: text.append(escaped)
      }
    }
    place += quote.count + hashes
    let before = String(characters[max(0, start - 80)..<start])
    all.append(Literal(key: isMultiline ? Self.unindented(text) : text, before: before))
    return place
  }

  private static func unindented(_ text: String) -> String {
    let indent = text.split(separator: "\n", omittingEmptySubsequences: false).last?.count ?? 0
    var result = ""
    var rest = text.dropFirst()[...]
    while !rest.isEmpty {
      let line = rest.prefix { $0 != "\n" && $0 != "\u{1}" }
      result += line.dropFirst(indent)
      rest = rest.dropFirst(line.count)
      if rest.popFirst() == "\n" { result += "\n" }
    }
    return result.hasSuffix("\n") ? String(result.dropLast()) : result
  }
}
