/// What a `Range` field asks of a file (RFC 9110 section 14).
enum ByteRange: Equatable {
  /// The field is to be ignored: malformed, another unit, or several ranges.
  case whole
  case part(Range<Int>)
  case unsatisfiable

  init(_ field: String, size: Int) {
    self = .whole
    guard field.utf8.count > 6, field.prefix(6).equalsIgnoringCase("bytes=") else { return }
    let ends = field.dropFirst(6).trimmedOfSpace.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return }
    switch (Self.number(ends[0]), Self.number(ends[1])) {
    case (let first?, let last?) where first <= last:
      self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
    case (let first?, nil) where ends[1].isEmpty: self = first < size ? .part(first..<size) : .unsatisfiable
    case (nil, let suffix?) where ends[0].isEmpty:
      self = suffix > 0 && size > 0 ? .part(max(0, size - suffix)..<size) : .unsatisfiable
    default: break
    }
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy(ByteClass.isDigit) && !text.isEmpty ? Int(text) ?? Int.max - 1 : nil
  }
}
