internal import Foundation

/// The value of a header field, in parts between which a line may be folded (RFC 5322 section 2.2.3).
///
/// No part contains a line end, so that a subject cannot add header fields.
struct HeaderText {
  /// The longest line without its end.
  static let lineLimit = 76
  /// The longest encoded word (RFC 2047 section 2).
  private static let wordLimit = 75
  /// Shorter, because the first one shares its line with the field's name.
  private static let encodedLimit = 64

  private(set) var words: [String]

  /// Parts that need no encoding.
  init(words: [String]) { self.words = words }

  /// Text such as a subject, unchanged if it is plain ASCII with short words.
  init(text: String) {
    let text = Self.cleaned(text)
    let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let isPlain =
      text.utf8.allSatisfy { (0x20...0x7e).contains($0) } && !text.contains("=?") && !text.hasPrefix(" ")
      && !text.hasSuffix(" ") && !text.contains("  ") && parts.allSatisfy { $0.utf8.count <= Self.wordLimit }
    words = isPlain ? parts : Self.encoded(text)
  }

  /// A display name: a quoted string if it is plain, else encoded words (RFC 5322 section 3.2.5).
  init(phrase: String) {
    let text = Self.cleaned(phrase)
    let isWord = text.utf8.allSatisfy { byte in
      byte == 0x20 || (byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter)
        || (byte < 0x80 && Character(Unicode.Scalar(byte)).isNumber)
    }
    if isWord {
      words = text.split(separator: " ").map(String.init)
    } else if text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }), text.utf8.count <= 60, !text.contains("=?") {
      words = ["\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""]
    } else {
      words = Self.encoded(text)
    }
  }

  func followed(by word: String) -> HeaderText { HeaderText(words: words + [word]) }

  /// The folded field with its line end.
  func line(_ name: String) -> String {
    var text = "\(name):"
    var length = text.utf8.count
    for word in words {
      // The first word stays on the first line, because a field must not begin with an empty line.
      if length > name.utf8.count + 1, length + 1 + word.utf8.count > Self.lineLimit {
        text += "\r\n " + word
        length = 1 + word.utf8.count
      } else {
        text += " " + word
        length += 1 + word.utf8.count
      }
    }
    return text + "\r\n"
  }

  /// Removes line ends and other control characters.
  private static func cleaned(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          let isBreak = scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
          return isBreak ? " " : scalar
        }))
  }

  /// Encoded words (RFC 2047) that never split a character.
  private static func encoded(_ text: String) -> [String] {
    let (opening, ending) = ("=?utf-8?B?", "?=")
    let room = (encodedLimit - opening.utf8.count - ending.utf8.count) / 4 * 3
    var words: [String] = []
    var bytes: [UInt8] = []
    func end() {
      if !bytes.isEmpty { words.append(opening + Data(bytes).base64EncodedString() + ending) }
      bytes = []
    }
    // By scalar, because a character of many scalars can exceed a word.
    for scalar in text.unicodeScalars {
      let next = Array(String(scalar).utf8)
      if bytes.count + next.count > room { end() }
      bytes += next
    }
    end()
    return words
  }
}
