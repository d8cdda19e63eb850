import Calendar
import Certificates
import Foundation
import Mustache
import Model
import SQLite
import Store

/// Expiry dates by week, with positions in hundredths of a percent of the picture.
///
/// Always 62 weeks, from today on, or from the oldest item that expired within the last 30 days.
struct ExpiryTimeline: View {
  private static let week = 7 * 86_400.0
  private static let weeks = 62

  let weeks: [ExpiryWeek]
  let months: [ExpiryMonth]
  /// The position of today.
  let today: Int
  /// The number of items that expire in the period.
  let total: Int
  let from: Date
  let before: Date

  static let fields: [Field<Self>] = [
    .number("count") { $0.total },
    .flag("has_any") { $0.total > 0 },
    .written("from") { $1.write(day: $0.from) },
    .written("before") { $1.write(day: $0.before) },
    .written("today") { $1.write(hundredths: $0.today) },
    .list("months") { $0.months },
    .list("weeks") { $0.weeks },
  ]

  init(_ database: Database, now: Date) throws {
    func midnight(_ date: Date) -> Date {
      Date(timeIntervalSince1970: (date.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400)
    }
    let month = 30 * 86_400.0
    let expired = try ExpiryList.stretches(database, from: now.addingTimeInterval(-month), before: now, length: month)
    let first = midnight(expired.first?.earliest ?? now)
    let last = first.addingTimeInterval(Self.week * Double(Self.weeks))
    func x(_ date: Date) -> Int {
      Int((10_000 * date.timeIntervalSince(first) / (Self.week * Double(Self.weeks))).rounded())
    }
    let stretches = try ExpiryList.stretches(database, from: first, before: last, length: Self.week)
    let top = SendChart.rounded(stretches.map(\.count).max() ?? 0)
    let targets = Self.targets(around: stretches.map { 10_000 * (2 * $0.index + 1) / (2 * Self.weeks) })
    weeks = zip(stretches, targets).map { stretch, target in
      let start = first.addingTimeInterval(Double(stretch.index) * Self.week)
      // The worst of the week, as the list has it.
      let band = Expiry.band(notBefore: nil, notAfter: stretch.earliest, now: now)
      return ExpiryWeek(
        stretch: stretch, start: start, end: start.addingTimeInterval(Self.week), x: x(start),
        width: 10_000 / Self.weeks - 30,
        // A minimum height keeps one item among thousands visible.
        height: max(300, 10_000 * stretch.count / top), target: target,
        tone: band == .expired || band == .urgent ? "f-fail" : band == .soon ? "f-unknown" : "f-acc")
    }
    let today = x(now)
    // A mark close to today or to the edge has no room.
    months = Self.months(from: first, before: last).map { ExpiryMonth(date: $0, x: x($0)) }
      .filter { abs($0.x - today) > 1200 && $0.x < 9_200 }
    (from, before, self.today) = (first, last, today)
    total = stretches.reduce(0) { $0 + $1.count }
  }

  /// What a finger hits around each bar: 24 px on the narrowest phone, or up to the middle between two that are closer.
  static func targets(around middles: [Int]) -> [Range<Int>] {
    middles.indices.map { index in
      // At an edge it lies further inside.
      let low = min(max(middles[index] - wide / 2, 0), 10_000 - wide)
      let before = index > 0 ? (middles[index - 1] + middles[index]) / 2 : 0
      let after = index + 1 < middles.count ? (middles[index] + middles[index + 1]) / 2 : 10_000
      return max(low, before)..<min(low + wide, after)
    }
  }

  /// The width of a target that has room.
  static let wide = 750

  /// The start of every third month.
  private static func months(from first: Date, before: Date) -> [Date] {
    var months: [Date] = []
    let parts = first.dayText.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3 else { return [] }
    var (year, month) = (parts[0], parts[1])
    while true {
      (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1)
      let name = String(format: "%04d-%02d", year, month)
      guard let date = Timestamp.parse("\(name)-01T00:00:00Z"), date < before else { return months }
      if month % 3 == 1 { months.append(date) }
    }
  }
}

/// The items that expire in one week.
struct ExpiryWeek: View {
  let stretch: ExpiryList.Stretch
  let start: Date
  let end: Date
  let x: Int
  let width: Int
  let height: Int
  /// What can be hit around the bar, over the whole height.
  let target: Range<Int>
  /// The CSS class of the bar.
  let tone: String

  static let fields: [Field<Self>] = [
    .text("href") { "/certificates?from=\($0.start.dayText)&before=\($0.end.dayText)" },
    .written("day") { $1.write(day: $0.start) },
    .number("count") { $0.stretch.count },
    .text("name") { $0.stretch.name },
    .text("tone") { $0.tone },
    .written("x") { $1.write(hundredths: $0.x) },
    .written("width") { $1.write(hundredths: $0.width) },
    .written("y") { $1.write(hundredths: 10_000 - $0.height) },
    .written("height") { $1.write(hundredths: $0.height) },
    .written("target_x") { $1.write(hundredths: $0.target.lowerBound) },
    .written("target_width") { $1.write(hundredths: $0.target.count) },
    .flag("close") { $0.target.count < ExpiryTimeline.wide },
  ]
}

/// A month's mark under the bars.
struct ExpiryMonth: View {
  let date: Date
  let x: Int

  static let fields: [Field<Self>] = [
    .written("name") { $1.write(month: $0.date) }, .written("x") { $1.write(hundredths: $0.x) },
  ]
}
