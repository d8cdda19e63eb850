package enum Suggestion {
  /// The most similar candidate: equal except for case and separators, or a few typing mistakes away.
  package static func closest(to word: String, among candidates: [String]) -> String? {
    guard word.utf8.count <= 64 else { return nil }
    let plain = plain(word)
    if let same = candidates.first(where: { Self.plain($0) == plain }) { return same }
    let allowed = plain.count <= 3 ? 1 : plain.count <= 7 ? 2 : 3
    return
      candidates
      .map { (candidate: $0, distance: distance(plain, Self.plain($0))) }
      .filter { $0.distance <= allowed && $0.distance < $0.candidate.count }
      .min { $0.distance < $1.distance }?.candidate
  }

  /// Lower-case letters and digits only: `timeToLive`, `time-to-live` and `time_to_live` are equal.
  package static func plain(_ word: String) -> [UInt8] { word.lowercased().utf8.filter { ASCII.isAlphanumeric($0) } }

  /// Counts insertions, deletions, replacements, and swapped neighbours (optimal string alignment).
  package static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var before: [Int] = []
    var row = Array(0...other.count)
    for i in 0..<one.count {
      var next = [i + 1]
      for j in 0..<other.count {
        var best = min(row[j + 1] + 1, next[j] + 1, row[j] + (one[i] == other[j] ? 0 : 1))
        if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] { best = min(best, before[j - 1] + 1) }
        next.append(best)
      }
      (before, row) = (row, next)
    }
    return row[other.count]
  }
}
