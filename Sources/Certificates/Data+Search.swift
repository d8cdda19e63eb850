import Foundation
import Glibc

/// What is asked of every byte of a file of unknown origin, which may be as long as a file may be.
extension Data {
  /// Whether `byte` stands anywhere in it.
  func holds(_ byte: UInt8) -> Bool {
    withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return false }
      return memchr(base, Int32(byte), buffer.count) != nil
    }
  }

  /// Whether it holds no control character but blanks, tabs, line and page ends, and ESC of coloured logs.
  var isPlainText: Bool {
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
