package import Foundation
import Text

/// RFC 3339 times of the API. Parsed by hand because Foundation's parser takes 30 February, 24:00 and trailing text,
/// and refuses forms that RFC 3339 allows.
package enum Timestamp {
  /// Reads `2026-12-01T09:00:00Z`, `2026-12-01 09:00:00.250+08:00`; nil for anything that RFC 3339 does not allow,
  /// including days that do not exist. A leap second counts as the first second of the next minute.
  package static func parse(_ text: String) -> Date? {
    var scanner = Scanner(rest: Array(text.utf8)[...])
    guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
      let day = scanner.number(2), scanner.take("T") || scanner.take("t") || scanner.take(" "),
      let hour = scanner.number(2), scanner.take(":"), let minute = scanner.number(2), scanner.take(":"),
      let second = scanner.number(2),
      (1...12).contains(month), (1...CivilDate.days(in: month, of: year)).contains(day), hour < 24, minute < 60,
      second <= 60
    else { return nil }
    guard let fraction = scanner.fraction(), let offset = scanner.offset(), scanner.rest.isEmpty else { return nil }
    let seconds = CivilDate.number(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset
    return Date(timeIntervalSince1970: Double(seconds) + fraction)
  }

  /// In UTC: `2026-12-01T09:00:00Z`, with milliseconds if there are any.
  package static func text(_ date: Date) -> String { text(date, alwaysMilliseconds: false) }

  package static func text(_ date: Date, alwaysMilliseconds: Bool) -> String {
    String(unsafeUninitializedCapacity: longest) {
      write(date, alwaysMilliseconds: alwaysMilliseconds, to: $0.baseAddress!)
    }
  }

  /// The most bytes of a text, even for a year beyond RFC 3339.
  package static let longest = 48
  /// Milliseconds until the year 31,690,708. Later times, such as an expiration of as many seconds as Int holds, are
  /// written as this one.
  private static let farthest = 1e18

  /// Writes ``text(_:alwaysMilliseconds:)`` into at most ``longest`` bytes: answers contain hundreds of times.
  ///
  /// - Returns: how many bytes were written.
  package static func write(
    _ date: Date, alwaysMilliseconds: Bool = false, to bytes: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let milliseconds = Int(min(max((date.timeIntervalSince1970 * 1000).rounded(), -farthest), farthest))
    let (seconds, fraction) = CivilDate.floor(milliseconds, 1000)
    let (days, second) = CivilDate.floor(seconds, 86400)
    let (year, month, day) = CivilDate.parts(days)
    var end = 0
    func put(_ byte: UInt8) {
      bytes[end] = byte
      end += 1
    }
    func put(_ sign: Unicode.Scalar, _ number: Int) {
      put(UInt8(ascii: sign))
      put(UInt8(ascii: "0") + UInt8(number / 10))
      put(UInt8(ascii: "0") + UInt8(number % 10))
    }
    if (0..<10_000).contains(year) {
      put(UInt8(ascii: "0") + UInt8(year / 1000))
      put(UInt8(ascii: "0") + UInt8(year / 100 % 10))
      put(UInt8(ascii: "0") + UInt8(year / 10 % 10))
      put(UInt8(ascii: "0") + UInt8(year % 10))
    } else {
      for digit in String(year).utf8 { put(digit) }
    }
    put("-", month)
    put("-", day)
    put("T", second / 3600)
    put(":", second / 60 % 60)
    put(":", second % 60)
    if fraction != 0 || alwaysMilliseconds {
      put(UInt8(ascii: "."))
      put(UInt8(ascii: "0") + UInt8(fraction / 100))
      put(UInt8(ascii: "0") + UInt8(fraction / 10 % 10))
      put(UInt8(ascii: "0") + UInt8(fraction % 10))
    }
    put(UInt8(ascii: "Z"))
    return end
  }

  private struct Scanner {
    var rest: ArraySlice<UInt8>

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    mutating func number(_ digits: Int) -> Int? {
      guard rest.count >= digits, rest.prefix(digits).allSatisfy(ASCII.isDigit) else { return nil }
      let value = rest.prefix(digits).reduce(0) { $0 * 10 + Int($1 - 0x30) }
      rest.removeFirst(digits)
      return value
    }

    mutating func fraction() -> Double? {
      guard take(".") else { return 0 }
      let digits = rest.prefix(while: ASCII.isDigit)
      rest.removeFirst(digits.count)
      return digits.isEmpty ? nil : Double("0." + String(decoding: digits, as: UTF8.self))
    }

    mutating func offset() -> Int? {
      if take("Z") || take("z") { return 0 }
      let east = take("+")
      guard east || take("-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60
      else { return nil }
      return (east ? 1 : -1) * (hours * 3600 + minutes * 60)
    }
  }
}
