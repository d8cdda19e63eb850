package enum Suggestion {
  /// Words to choose from. Kept where the same ones are chosen from again and again.
  package struct Candidates: Sendable {
    package let words: [String]
    fileprivate let plain: [[UInt8]]
    fileprivate let letters: [UInt64]

    package init(_ words: [String]) {
      self.words = words
      plain = words.map { Suggestion.plain($0) }
      letters = plain.map { Suggestion.letters($0) }
    }
  }

  /// Longer words are no slips of anything.
  private static let longest = 64

  /// The most similar candidate: equal except for case and separators, or a few typing mistakes away.
  package static func closest(to word: String, among candidates: [String]) -> String? {
    word.utf8.count <= longest ? closest(to: word, among: Candidates(candidates)) : nil
  }

  /// The same among candidates that are kept.
  package static func closest(to word: String, among candidates: Candidates) -> String? {
    guard word.utf8.count <= longest else { return nil }
    let plain = plain(word)
    guard !plain.isEmpty else { return nil }
    if let same = candidates.plain.firstIndex(of: plain) { return candidates.words[same] }
    let letters = letters(plain)
    var found: String?
    // How many slips are forgiven; once one is found, only fewer.
    var limit = plain.count <= 3 ? 1 : plain.count <= 7 ? 2 : 3
    for index in candidates.words.indices {
      // A slip changes at most two letters of all that occur: spares nearly all candidates the comparison.
      guard (letters ^ candidates.letters[index]).nonzeroBitCount <= 2 * limit,
        let distance = distance(plain, candidates.plain[index], atMost: limit),
        distance < candidates.words[index].count
      else { continue }
      found = candidates.words[index]
      limit = distance - 1
    }
    return found
  }

  /// Lower-case letters and digits only: `timeToLive`, `time-to-live` and `time_to_live` are equal. Letters of other
  /// scripts stay as they are in UTF-8: without them, all Chinese words would be equal.
  package static func plain(_ word: String) -> [UInt8] {
    // Few words need Unicode's rules.
    let word = word.utf8.allSatisfy { $0 < 0x80 } ? word : letters(ofAnyScript: word.lowercased())
    // All threads share the empty array, and without room for a byte its count would be written.
    guard !word.isEmpty else { return [] }
    return [UInt8](unsafeUninitializedCapacity: word.utf8.count) { plain, count in
      for byte in word.utf8 where byte >= 0x80 || ASCII.isAlphanumeric(byte) {
        // The bit that makes a letter lower case; digits have it anyway.
        plain[count] = byte < 0x80 ? byte | 0x20 : byte
        count += 1
      }
    }
  }

  private static func letters(ofAnyScript word: String) -> String {
    String(String.UnicodeScalarView(word.unicodeScalars.filter { $0.isASCII || $0.properties.isAlphabetic }))
  }

  /// A bit for each character that occurs; some characters share one.
  private static func letters(_ plain: [UInt8]) -> UInt64 { plain.reduce(0) { $0 | 1 << UInt64($1 & 63) } }

  /// Counts insertions, deletions, replacements, and swapped neighbours (optimal string alignment).
  package static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    let most = max(one.count, other.count)
    return distance(one, other, atMost: most) ?? most
  }

  /// Nil if there are more than `limit`.
  private static func distance(_ one: [UInt8], _ other: [UInt8], atMost limit: Int) -> Int? {
    guard abs(one.count - other.count) <= limit else { return nil }
    var before = [Int](repeating: 0, count: other.count + 1)
    var row = Array(0...other.count)
    var next = before
    for i in 0..<one.count {
      next[0] = i + 1
      var least = i + 1
      for j in 0..<other.count {
        var best = min(row[j + 1] + 1, next[j] + 1, row[j] + (one[i] == other[j] ? 0 : 1))
        if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] { best = min(best, before[j - 1] + 1) }
        next[j + 1] = best
        least = min(least, best)
      }
      // The rows below hold nothing less.
      if least > limit { return nil }
      (before, row, next) = (row, next, before)
    }
    return row[other.count] <= limit ? row[other.count] : nil
  }
}
