/// How wide a terminal shows a text: Chinese, Japanese and Korean characters take two columns.
extension String {
  package var columns: Int { reduce(0) { $0 + $1.columns } }

  /// Adds blanks at the end up to a width.
  package func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - columns)) }

  /// Wraps at blanks, and between characters that are written without them.
  ///
  /// - Parameters:
  ///   - width: of a line, with its margin.
  ///   - indent: the margin of the first line.
  ///   - further: the margin of the lines after it.
  package func wrapped(to width: Int, indent: Int, further: Int? = nil) -> String {
    var lines = [String(repeating: " ", count: indent)]
    var count = indent
    var isFirst = true
    for word in split(separator: " ") {
      for (index, part) in word.unbroken.enumerated() {
        let gap = isFirst || index > 0 ? 0 : 1
        let columns = String(part).columns
        if !isFirst, count + gap + columns > width {
          let margin = String(repeating: " ", count: further ?? indent)
          lines.append(margin + part)
          count = margin.count + columns
        } else {
          lines[lines.count - 1] += (gap == 1 ? " " : "") + part
          count += gap + columns
        }
        isFirst = false
      }
    }
    return lines.joined(separator: "\n")
  }
}

extension Character {
  fileprivate var columns: Int { isWide ? 2 : 1 }

  /// By the blocks of East Asian Width W and F (Unicode Standard Annex #11), and emoji.
  private var isWide: Bool {
    guard let scalar = unicodeScalars.first, scalar.value >= 0x1100 else { return false }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return true
    default: return false
    }
  }

  /// Whether a line may break beside it.
  fileprivate var breaks: Bool { isWide }
  /// Punctuation that begins no line.
  fileprivate var closes: Bool { "，。、；：？！）》」』】…”’".contains(self) }
  /// Punctuation that ends no line.
  fileprivate var opens: Bool { "（《「『【“‘".contains(self) }
}

extension Substring {
  /// Its parts between which a line may break.
  fileprivate var unbroken: [Substring] {
    var parts: [Substring] = []
    var start = startIndex
    for index in indices.dropFirst() {
      let (before, after) = (self[self.index(before: index)], self[index])
      guard before.breaks || after.breaks, !before.opens, !after.closes else { continue }
      parts.append(self[start..<index])
      start = index
    }
    return parts + [self[start...]]
  }
}
