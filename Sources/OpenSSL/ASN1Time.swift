import Calendar
import Foundation

/// Dates in certificates (X.680 §46 GeneralizedTime and §47 UTCTime), in UTC. RFC 5280 §4.1.2.5 requires seconds and
/// `Z`. Other certificates omit the seconds, or have an offset or a fraction; their meaning is clear, so they are read.
/// Parsed by hand because OpenSSL's reader rejects leap seconds.
enum ASN1Time {
  static let utcTime: UInt8 = 0x17
  static let generalizedTime: UInt8 = 0x18

  /// Nil if the text is no date. Fractions of a second are dropped: certificates count whole seconds.
  ///
  /// A leap second (23:59:60 UTC at a month's end) is the second after 23:59:59, as in POSIX. A GeneralizedTime without
  /// a zone is taken as UTC; a UTCTime must have one (X.680 §47.3), and OpenSSL refuses it, too.
  static func date(tag: UInt8, _ text: some Collection<UInt8>) -> Date? {
    var reader = Reader(rest: Array(text)[...])
    let year: Int
    switch tag {
    case utcTime:
      guard let two = reader.digits(2) else { return nil }
      // RFC 5280: 50…99 are 1950…1999.
      year = two < 50 ? 2000 + two : 1900 + two
    case generalizedTime:
      guard let four = reader.digits(4), four > 0 else { return nil }
      year = four
    default: return nil
    }
    guard let month = reader.digits(2), let day = reader.digits(2), let hour = reader.digits(2) else { return nil }
    let minute = reader.digits(2)
    if minute == nil, tag == utcTime { return nil }
    let second = minute == nil ? nil : reader.digits(2)
    if second != nil, tag == generalizedTime, !reader.skipFraction() { return nil }
    if tag == utcTime, reader.rest.isEmpty { return nil }
    guard let offset = reader.offset(), reader.rest.isEmpty else { return nil }
    guard (1...12).contains(month), (1...CivilDate.days(in: month, of: year)).contains(day), hour < 24,
      (minute ?? 0) < 60
    else {
      return nil
    }
    let clock = hour * 3600 + (minute ?? 0) * 60 + (second ?? 0) - offset
    let seconds = CivilDate.number(year, month, day) * 86_400 + clock
    switch second ?? 0 {
    case 0..<60: return Date(timeIntervalSince1970: Double(seconds))
    case 60 where isMonthsBegin(seconds): return Date(timeIntervalSince1970: Double(seconds))
    default: return nil
    }
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    /// Reads `count` digits; consumes nothing on failure.
    mutating func digits(_ count: Int) -> Int? {
      let head = rest.prefix(count)
      guard head.count == count, head.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      rest = rest.dropFirst(count)
      return head.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// False if a decimal mark is not followed by a digit.
    mutating func skipFraction() -> Bool {
      guard rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: ",") else { return true }
      let digits = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
      rest = rest.dropFirst(1 + digits.count)
      return !digits.isEmpty
    }

    /// Seconds east of Greenwich, nil if malformed.
    mutating func offset() -> Int? {
      guard let mark = rest.first else { return 0 }
      rest = rest.dropFirst()
      switch mark {
      case UInt8(ascii: "Z"): return 0
      case UInt8(ascii: "+"), UInt8(ascii: "-"):
        guard let hours = digits(2), hours < 24 else { return nil }
        let minutes = digits(2) ?? 0
        guard minutes < 60 else { return nil }
        return (mark == UInt8(ascii: "+") ? 1 : -1) * (hours * 3600 + minutes * 60)
      default: return nil
      }
    }
  }

  /// Leap seconds are inserted at the end of a month, at midnight UTC (ITU-R TF.460).
  private static func isMonthsBegin(_ seconds: Int) -> Bool {
    guard seconds.isMultiple(of: 86_400) else { return false }
    return CivilDate(number: seconds / 86_400).parts.day == 1
  }
}
