/// Refuses passwords that are guessed first: well-known ones, variations of these, and words that anybody can look up
/// (NIST SP 800-63B-4 §3.1.1.2; OWASP ASVS 5.0, 6.2.4 and 6.2.11).
package struct PasswordRule: Sendable {
  /// Shorter words are part of too many good passwords.
  private static let shortestWord = 4
  /// Letters that must be left without the words that are easy to guess.
  private static let fewestLetters = 6

  private let common: Set<String>
  /// The well-known words of letters alone.
  private let words: Set<String>
  private let longestWord: Int

  /// - Parameter list: well-known passwords in lower case, between blanks and line ends.
  package init(_ list: String) {
    common = Set(list.split(whereSeparator: \.isWhitespace).map(String.init))
    words = common.filter { $0.count >= Self.shortestWord && $0.allSatisfy(\.isLetter) }
    longestWord = words.map(\.count).max() ?? 0
  }

  private static func ordered(_ words: some Sequence<String>) -> [String] {
    words.filter { $0.count >= shortestWord }.sorted { ($0.count, $0) > ($1.count, $1) }
  }

  /// What makes a password easy to guess; nil for a good one.
  ///
  /// - Parameter context: names that the password must not mainly consist of: the product, the person, the host. Each is
  ///   split at what is no letter.
  package func problem(_ password: String, context: [String]) -> Problem? {
    let typed = password.lowercased().filter { !$0.isWhitespace }
    if common.contains(typed) { return Problem("password", PasswordMessage.common) }
    if let unit = Self.unit(of: typed) { return Problem("password", PasswordMessage.repeated, ["word": unit]) }
    if let half = Self.mirrored(typed) { return Problem("password", PasswordMessage.mirrored, ["word": half]) }
    if Self.isSequence(typed) { return Problem("password", PasswordMessage.sequence) }
    let names = Self.ordered(
      Set(context.flatMap { Self.letters($0.lowercased(), between: " ").split(separator: " ") }.map(String.init)))
    // Forwards, and as somebody reads it who has written it backwards.
    for letters in Self.readings(typed) + Self.readings(String(typed.reversed())) {
      if common.contains(letters) { return Problem("password", PasswordMessage.padded, ["word": letters]) }
      var rest = letters
      let ownNames = names.filter { Self.remove($0, from: &rest) }
      var known = 0
      while known < 2, removeWord(from: &rest) { known += 1 }
      guard rest.count < Self.fewestLetters, known + ownNames.count <= 2 else { continue }
      if let name = ownNames.first { return Problem("password", PasswordMessage.context, ["word": name]) }
      if known > 0 { return Problem("password", PasswordMessage.padded, ["word": String(letters.prefix(40))]) }
    }
    return nil
  }

  /// The letters of a password, as they stand and with digits and signs read as the letters they look like. What
  /// precedes the first and follows the last letter is left out.
  private static func readings(_ typed: String) -> [String] {
    let core = typed.drop { !$0.isLetter }
    let inner = core[..<(core.lastIndex(where: \.isLetter).map(core.index(after:)) ?? core.startIndex)]
    let wider = typed.filter { $0.isLetter || lookalikes[$0] != nil }
    let plain = letters(String(inner))
    let others = [letters(read(String(inner))), letters(read(wider))].filter { $0 != plain }
    return [plain] + (others.first == others.last ? Array(others.prefix(1)) : others)
  }

  /// Removes the longest well-known word, wherever it stands.
  ///
  /// - Returns: whether there was one.
  private func removeWord(from text: inout String) -> Bool {
    let letters = Array(text)
    for length in stride(from: min(longestWord, letters.count), through: Self.shortestWord, by: -1) {
      for start in 0...(letters.count - length) {
        let word = String(letters[start..<start + length])
        if words.contains(word) { return Self.remove(word, from: &text) }
      }
    }
    return false
  }

  private static func read(_ text: String) -> String { String(text.map { lookalikes[$0] ?? $0 }) }

  private static let lookalikes: [Character: Character] = [
    "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i", "|": "l",
  ]

  /// - Parameter separator: what stands for anything else.
  private static func letters(_ text: String, between separator: String = "") -> String {
    text.reduce(into: "") { $1.isLetter ? $0.append($1) : $0.append(separator) }
  }

  /// Removes each occurrence of a word.
  ///
  /// - Returns: whether there was one.
  private static func remove(_ word: String, from text: inout String) -> Bool {
    let left = text.replacing(word, with: "")
    defer { text = left }
    return left.count < text.count
  }

  /// The text that is repeated, if the whole is at least two of it; the last one may be cut off.
  private static func unit(of text: String) -> String? {
    let characters = Array(text)
    guard characters.count > 1 else { return nil }
    for length in 1...(characters.count / 2) {
      let repeats = (length..<characters.count).allSatisfy { characters[$0] == characters[$0 - length] }
      if repeats { return String(characters[..<length]) }
    }
    return nil
  }

  /// The half that is written forwards and then backwards.
  private static func mirrored(_ text: String) -> String? {
    text == String(text.reversed()) ? String(text.prefix((text.count + 1) / 2)) : nil
  }

  private static let rows = [
    "01234567890", "abcdefghijklmnopqrstuvwxyz", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./", "qwertzuiopü",
    "azertyuiop",
    "!@#$%^&*()_+", "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p", "1q2w3e4r5t6y7u8i9o0p",
  ].flatMap { [$0, String($0.reversed())] }

  /// Whether the whole consists of runs of at least three neighbours, in the alphabet or on a keyboard.
  private static func isSequence(_ text: String) -> Bool {
    var rest = text[...]
    while !rest.isEmpty {
      let run = rows.map { row in length(ofRun: rest, in: row) }.max() ?? 0
      guard run >= 3 else { return false }
      rest = rest.dropFirst(run)
    }
    return true
  }

  private static func length(ofRun text: Substring, in row: String) -> Int {
    guard let first = text.first, let start = row.firstIndex(of: first) else { return 0 }
    return zip(text, row[start...]).prefix { $0 == $1 }.count
  }
}

package enum PasswordMessage: String, MessageSet {
  case common = "password.common"
  case padded = "password.padded"
  case repeated = "password.repeated"
  case mirrored = "password.mirrored"
  case sequence = "password.sequence"
  case context = "password.context"
  case breached = "password.breached"

  package var english: String {
    switch self {
    case .common: "This is one of the most used passwords, which are guessed first. Choose another one."
    case .padded:
      "Apart from digits, signs, and a few letters, this is the well-known “{word}”, which is guessed first. Choose "
        + "another one."
    case .repeated: "This repeats “{word}”, which is easy to guess. Choose another one."
    case .mirrored: "This is “{word}” forwards and backwards, which is easy to guess. Choose another one."
    case .sequence: "This consists of neighbors in the alphabet or on the keyboard. Choose another one."
    case .context:
      "Apart from digits, signs, and well-known words, this is the name “{word}”, which others know too. Choose another "
        + "one."
    case .breached: "This password was leaked by another service, and attackers will try it. Choose another one."
    }
  }
}
