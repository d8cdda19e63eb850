package import Foundation
import Glibc

/// The search of the C library: Foundation's looks at each byte through several layers, which is felt with a megabyte of
/// unknown origin.
extension ContiguousBytes {
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
}

extension Data {
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

  /// Whether `byte` stands anywhere in it.
  package func holds(_ byte: UInt8) -> Bool {
    withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return false }
      return memchr(base, Int32(byte), buffer.count) != nil
    }
  }

  /// Whether it holds no control character but blanks, tabs, line and page ends, and ESC of coloured logs.
  package var isPlainText: Bool {
    withUnsafeBytes { buffer in
      var start = 0
      while start + 8 <= buffer.count {
        let eight = buffer.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        if eight.mayHoldControls, !buffer[start..<start + 8].allSatisfy(\.isPlainText) { return false }
        start += 8
      }
      return buffer[start...].allSatisfy(\.isPlainText)
    }
  }
}

extension UInt8 {
  fileprivate var isPlainText: Bool { self >= 0x20 && self != 0x7F || (0x09...0x0D).contains(self) || self == 0x1B }
}

extension UInt64 {
  /// Whether one of its eight bytes is below 0x20, or 0x7F. Sometimes also said of others, never not said of these:
  /// a subtraction that borrows is looked at byte by byte.
  fileprivate var mayHoldControls: Bool {
    let low: UInt64 = 0x0101_0101_0101_0101
    let high = low << 7
    let delete = self ^ (low &* 0x7F)
    return ((self &- low &* 0x20) & ~self | (delete &- low) & ~delete) & high != 0
  }
}
