package import Foundation
import Glibc

/// By memchr: Foundation's search passes each byte through several layers, which is slow for a megabyte of untrusted
/// input.
extension ContiguousBytes {
  /// How many bytes precede the first `text` at or after `start`; nil if there is none.
  package func offset(of text: [UInt8], from start: Int = 0) -> Int? {
    withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, let first = text.first else { return nil }
      var start = start
      // Beyond it, `text` does not fit.
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
  package func holds(_ text: String) -> Bool { offset(of: Array(text.utf8)) != nil }

  /// The number of occurrences of `text` without overlaps.
  package func count(of text: [UInt8]) -> Int {
    var (count, position) = (0, 0)
    while let found = offset(of: text, from: position) {
      count += 1
      position = found + text.count
    }
    return count
  }

  package func holds(_ byte: UInt8) -> Bool {
    withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return false }
      return memchr(base, Int32(byte), buffer.count) != nil
    }
  }

  /// Whether it has no control characters except tabs, line and page ends, and ESC of coloured logs.
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
  /// Whether one of its eight bytes may be below 0x20, or 0x7F: no false negatives, but false positives, so that the
  /// bytes are then checked one by one.
  fileprivate var mayHoldControls: Bool {
    let low: UInt64 = 0x0101_0101_0101_0101
    let high = low << 7
    let delete = self ^ (low &* 0x7F)
    return ((self &- low &* 0x20) & ~self | (delete &- low) & ~delete) & high != 0
  }
}
