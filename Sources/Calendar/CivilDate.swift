/// A day of the Gregorian calendar without a time zone.
///
/// By hand because Foundation's days belong to a time zone, and its `Calendar` asks ICU, which costs too much for each
/// row of a list (docs/performance.md).
package struct CivilDate: Sendable, Hashable, Comparable {
  /// Days since 1970-01-01.
  package let number: Int

  package init(number: Int) { self.number = number }

  /// A day past the month's end continues into the next month.
  package init(year: Int, month: Int, day: Int) { number = Self.number(year, month, day) }

  /// Year, month from 1, day from 1.
  package var parts: (year: Int, month: Int, day: Int) { Self.parts(number) }

  /// 0 is Monday.
  package var weekday: Int { Self.floor(number + 3, 7).remainder }

  /// As `2026-12-01`.
  package var text: String {
    let (year, month, day) = parts
    return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
  }

  package static func < (one: CivilDate, other: CivilDate) -> Bool { one.number < other.number }

  package static func + (date: CivilDate, days: Int) -> CivilDate { CivilDate(number: date.number + days) }

  package static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  package static func days(in month: Int, of year: Int) -> Int {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Division towards minus infinity.
  package static func floor(_ number: Int, _ unit: Int) -> (quotient: Int, remainder: Int) {
    let remainder = ((number % unit) + unit) % unit
    return ((number - remainder) / unit, remainder)
  }

  /// Days since 1970-01-01 (Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, `days_from_civil`).
  package static func number(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floor(year, 400)
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719468
  }

  /// The inverse of ``number(_:_:_:)`` (`civil_from_days`).
  package static func parts(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = floor(days + 719468, 146097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  /// Monday first, as HTTP and mail write them.
  static let dayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  /// January first, as HTTP and English pages write them.
  package static let monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
