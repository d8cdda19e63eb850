import Foundation
import TestSupport
import Testing
import Text

@Suite("Looking through bytes")
struct ByteSearchTests {
  /// The rule, byte by byte.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) || $0 == 0x1B }
  }

  @Test("plain text is classified like a check byte by byte, for every byte at every place")
  func plainText() {
    // Those beside it at which a subtraction borrows or does not.
    for neighbour: UInt8 in [0x00, 0x0A, 0x1F, 0x20, 0x61, 0x7E, 0x7F, 0x80, 0xFF] {
      for byte in UInt8.min...UInt8.max {
        for (place, count) in [(0, 1), (0, 8), (3, 8), (7, 8), (8, 9), (15, 17), (16, 17)] {
          var bytes = [UInt8](repeating: 0x61, count: count)
          if place > 0 { bytes[place - 1] = neighbour }
          bytes[place] = byte
          #expect(Data(bytes).isPlainText == Self.isText(bytes), "\(bytes)")
        }
      }
    }
    #expect(Data().isPlainText)
  }

  @Test("a search finds what one that compares every place finds, also in a slice", arguments: 0..<20)
  func search(seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    for _ in 0..<200 {
      // Few different bytes, so that beginnings repeat.
      let bytes = (0..<Int.random(in: 0...40, using: &numbers)).map { _ in UInt8.random(in: 1...2, using: &numbers) }
      let text = (0..<Int.random(in: 1...4, using: &numbers)).map { _ in UInt8.random(in: 1...2, using: &numbers) }
      let start = Int.random(in: 0...bytes.count, using: &numbers)
      let expected = (start..<bytes.count + 1).first { bytes[$0...].starts(with: text) }
      #expect(Data(bytes).offset(of: text, from: start) == expected)
      #expect((Data([1, 2, 1]) + bytes).dropFirst(3).offset(of: text, from: start) == expected)
      #expect(Data(bytes).holds(text[0]) == bytes.contains(text[0]))
      var (count, rest) = (0, bytes[...])
      while !rest.isEmpty {
        let isThere = rest.starts(with: text)
        if isThere { count += 1 }
        rest = rest.dropFirst(isThere ? text.count : 1)
      }
      #expect(Data(bytes).count(of: text) == count)
    }
  }
}
