/// The `apns-id` of one push to one device. It derives from both, so that repetitions after an unknown outcome are
/// recognisable, and needs no column.
///
/// A version 8 UUID (RFC 9562 §5.8): 48 bits of the push's seed, 12 more, and 62 bits of the device's row ID.
package struct APNsID: Sendable, Hashable, CustomStringConvertible {
  /// The first 8 bytes as a number: every push to every device has one, so no array is allocated.
  package let high: UInt64
  /// The last 8 bytes.
  package let low: UInt64

  /// - Parameters:
  ///   - seed: random, drawn once per push.
  ///   - device: the device's row ID, 0 or more.
  package init(seed: UInt64, device: Int64) {
    high = (seed & 0xffff_ffff_ffff_0000) | 0x8000 | (seed & 0x0fff)
    low = 0x8000_0000_0000_0000 | (UInt64(bitPattern: device) & 0x3fff_ffff_ffff_ffff)
  }

  /// Reads a UUID in either case.
  ///
  /// - Returns: nil if it is none, or none that Signalbox has made.
  package init?(parsing text: String) {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
      let high = UInt64(groups[0...2].joined(), radix: 16), let low = UInt64(groups[3...4].joined(), radix: 16),
      high & 0xf000 == 0x8000, low >> 62 == 2
    else { return nil }
    (self.high, self.low) = (high, low)
  }

  /// The device's row ID.
  package var device: Int64 { Int64(low & 0x3fff_ffff_ffff_ffff) }

  package var bytes: [UInt8] {
    [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
  }

  /// Canonical: lower case, 8-4-4-4-12.
  package var description: String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
