/// As ` Did you mean “import”?`; empty if nothing is near.
func suggestion(for word: String, among candidates: [String]) -> String {
  let limit = max(1, word.utf8.count / 3)
  let near = candidates.map { (word: $0, distance: distance(Array(word.utf8), Array($0.utf8))) }
    .min { $0.distance < $1.distance }
  let begun = candidates.first { word.utf8.count > 2 && $0.hasPrefix(word) }
  guard let found = begun ?? near.flatMap({ $0.distance <= limit ? $0.word : nil }) else { return "" }
  return " Did you mean “\(found)”?"
}

/// How many letters have to be added, left out, changed, or swapped with their neighbour (Damerau, 1964).
func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
  var rows = [Array(0...other.count)]
  for (i, a) in one.enumerated() {
    var row = [i + 1]
    for (j, b) in other.enumerated() {
      var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a == b ? 0 : 1))
      if i > 0, j > 0, a == other[j - 1], b == one[i - 1] { least = min(least, rows[i - 1][j - 1] + 1) }
      row.append(least)
    }
    rows.append(row)
  }
  return rows[one.count][other.count]
}
