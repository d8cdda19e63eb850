package import Foundation
import Glibc

/// The search of the C library: Foundation's looks at each byte through several layers, which is felt with a megabyte of
/// unknown origin.
extension Data {
  /// How many bytes stand before the first `text` that begins at or behind `start`; nil if there is none.
  package func offset(of text: [UInt8], from start: Int = 0) -> Int? {
    withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, let first = text.first else { return nil }
      var start = start
      // Behind it there is no room for all of the text.
      let end = buffer.count - text.count + 1
      while start < end, let found = memchr(base + start, Int32(first), end - start) {
        start = UnsafeRawPointer(found) - base
        if memcmp(found, text, text.count) == 0 { return start }
        start += 1
      }
      return nil
    }
  }

  /// Whether `text` stands anywhere in it.
  package func holds(_ text: String) -> Bool { offset(of: Array(text.utf8)) != nil }

  /// How often `text` stands in it, without overlaps.
  package func count(of text: [UInt8]) -> Int {
    var (count, position) = (0, 0)
    while let found = offset(of: text, from: position) {
      count += 1
      position = found + text.count
    }
    return count
  }
}
