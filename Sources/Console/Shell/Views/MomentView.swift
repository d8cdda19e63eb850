import Calendar
import Foundation
import Mustache
import Model

/// A time, for `components/time`, `components/zoned` (ends a sentence) and `components/ago`. Written without intermediate
/// strings, because lists contain many.
struct MomentView: View {
  let date: Date
  /// The time of the request, for `components/ago`; nil: shown as a date.
  var now: Date?

  static let fields: [Field<Self>] = [
    .written("datetime") { $1.write(timestamp: $0.date) },
    .written("text") { $1.write(minute: $0.date) },
    .written("zoned") { $1.write(utc: $0.date) },
    .written("exact") { $1.write(exact: $0.date) },
    .written("day") { $1.write(day: $0.date) },
    .written("machine_day") { $1.write(machineDay: $0.date) },
    .flag("relative") { $0.now != nil },
    .view("seconds_ahead") { $0.ahead(1..<90, unit: 1) },
    .view("minutes_ahead") { $0.ahead(90..<5400, unit: 60) },
    .view("hours_ahead") { $0.ahead(5400..<172_800, unit: 3600) },
    .view("days_ahead") { $0.ahead(172_800..<Int.max, unit: 86_400) },
    .flag("just_now") { (0..<60).contains($0.age) },
    .view("minutes_ago") { $0.ago(60..<3600, unit: 60) },
    .view("hours_ago") { $0.ago(3600..<86_400, unit: 3600) },
    .view("days_ago") { $0.ago(86_400..<Int.max, unit: 86_400) },
  ]

  /// Seconds since then; negative for future times.
  private var age: Int { now.map { Int($0.timeIntervalSince(date).rounded(.down)) } ?? 0 }

  private func ago(_ range: Range<Int>, unit: Int) -> CountView? {
    range.contains(age) ? CountView(count: age / unit) : nil
  }

  private func ahead(_ range: Range<Int>, unit: Int) -> CountView? {
    range.contains(-age) ? CountView(count: -age / unit) : nil
  }
}

extension Output {
  /// As RFC 3339, with milliseconds unless they are zero: `2026-12-01T09:00:00Z`.
  mutating func write(timestamp date: Date) {
    let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded())
    let (days, rest) = milliseconds.quotientRoundedDown(dividingBy: 86_400_000)
    write(civil: days)
    write(byte: UInt8(ascii: "T"))
    write(clock: rest / 1000, seconds: true)
    if rest % 1000 != 0 {
      write(byte: UInt8(ascii: "."))
      write(byte: UInt8(ascii: "0") + UInt8(rest % 1000 / 100))
      write(pair: rest % 100)
    }
    write(byte: UInt8(ascii: "Z"))
  }

  /// As `20 Nov 2026, 23:58`, in the form of ``language``: in UTC, as the foot of the navigation says. A script replaces
  /// both with the viewer's clock, whose text is as wide: nothing moves.
  mutating func write(minute date: Date) { write(minute: date, seconds: false) }

  /// As `20 Nov 2026, 23:58 UTC`, in the form of ``language``. A script replaces it with the viewer's local time.
  mutating func write(utc date: Date) {
    write(minute: date, seconds: false)
    write(" UTC" as StaticString)
  }

  /// As `20 Nov 2026, 23:58:07 UTC`, in the form of ``language``.
  mutating func write(exact date: Date) {
    write(minute: date, seconds: true)
    write(" UTC" as StaticString)
  }

  private mutating func write(minute date: Date, seconds: Bool) {
    let (days, rest) = Int(date.timeIntervalSince1970.rounded(.down)).quotientRoundedDown(dividingBy: 86_400)
    write(day: days)
    if !isChinese { write(byte: UInt8(ascii: ",")) }
    write(byte: UInt8(ascii: " "))
    write(clock: rest, seconds: seconds)
  }

  /// As `20 Nov 2026`, in the form of ``language``.
  mutating func write(day date: Date) {
    write(day: Int(date.timeIntervalSince1970.rounded(.down)).quotientRoundedDown(dividingBy: 86_400).quotient)
  }

  /// As `20 Nov`, in Chinese as `11月20日`: where the year is clear and room is scarce.
  mutating func write(shortDay date: Date) {
    let days = Int(date.timeIntervalSince1970.rounded(.down)).quotientRoundedDown(dividingBy: 86_400).quotient
    let (_, month, day) = CivilDate(number: days).parts
    guard isChinese else {
      write(day)
      write(byte: UInt8(ascii: " "))
      return write(CivilDate.monthNames[month - 1])
    }
    write(month)
    write("月" as StaticString)
    write(day)
    write("日" as StaticString)
  }

  /// As `Nov 2026`, in Chinese as `2026年11月`.
  mutating func write(month date: Date) {
    let days = Int(date.timeIntervalSince1970.rounded(.down)).quotientRoundedDown(dividingBy: 86_400).quotient
    let (year, month, _) = CivilDate(number: days).parts
    write(month: month, of: year)
  }

  /// As `2026-11-20` in every language: for attributes and addresses.
  mutating func write(machineDay date: Date) {
    write(civil: Int(date.timeIntervalSince1970.rounded(.down)).quotientRoundedDown(dividingBy: 86_400).quotient)
  }

  /// As `23:58`, in UTC.
  mutating func write(clock date: Date) {
    let rest = Int(date.timeIntervalSince1970.rounded(.down)).quotientRoundedDown(dividingBy: 86_400).remainder
    write(clock: rest, seconds: false)
  }

  /// Writes hundredths as `12.34`, for SVG attributes.
  mutating func write(hundredths: Int) {
    write(hundredths / 100)
    guard hundredths % 100 != 0 else { return }
    write(byte: UInt8(ascii: "."))
    write(pair: hundredths % 100)
  }

  private var isChinese: Bool { language.utf8.starts(with: "zh".utf8) }

  /// As `20 Nov 2026`, in Chinese as `2026年11月20日`. Languages with another form need a case here and below.
  private mutating func write(day days: Int) {
    let (year, month, day) = CivilDate(number: days).parts
    guard isChinese else {
      write(day)
      write(byte: UInt8(ascii: " "))
      return write(month: month, of: year)
    }
    write(month: month, of: year)
    write(day)
    write("日" as StaticString)
  }

  private mutating func write(month: Int, of year: Int) {
    guard isChinese else {
      write(CivilDate.monthNames[month - 1])
      write(byte: UInt8(ascii: " "))
      return write(year)
    }
    write(year)
    write("年" as StaticString)
    write(month)
    write("月" as StaticString)
  }

  private mutating func write(civil days: Int) {
    let (year, month, day) = CivilDate(number: days).parts
    write(year)
    write(byte: UInt8(ascii: "-"))
    write(pair: month)
    write(byte: UInt8(ascii: "-"))
    write(pair: day)
  }

  private mutating func write(clock second: Int, seconds: Bool) {
    write(pair: second / 3600)
    write(byte: UInt8(ascii: ":"))
    write(pair: second / 60 % 60)
    guard seconds else { return }
    write(byte: UInt8(ascii: ":"))
    write(pair: second % 60)
  }

  private mutating func write(pair number: Int) {
    write(byte: UInt8(ascii: "0") + UInt8(number / 10 % 10))
    write(byte: UInt8(ascii: "0") + UInt8(number % 10))
  }
}

extension Int {
  fileprivate func quotientRoundedDown(dividingBy divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
