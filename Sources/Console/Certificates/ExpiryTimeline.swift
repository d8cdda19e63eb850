import Calendar
import Certificates
import Foundation
import JSON
import Mustache
import Model
import SQLite
import Store

/// When things end, week by week, as coordinates for the template's SVG: 640 × 150, the axis at 124, the top at 8.
///
/// However many things there are, it is 62 bars: from 30 days ago to 400 days ahead.
struct ExpiryTimeline {
  private static let week = 7 * 86_400.0
  private static let weeks = 62
  private static let left = 40.0
  private static let width = 600.0

  private let now: Date
  private let from: Date

  init(now: Date) {
    self.now = now
    let today = (now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400
    from = Date(timeIntervalSince1970: today - 30 * 86_400)
  }

  private var before: Date { from.addingTimeInterval(Self.week * Double(Self.weeks)) }

  func stretches(_ database: Database) throws -> [ExpiryList.Stretch] {
    try ExpiryList.stretches(database, from: from, before: before, length: Self.week)
  }

  func value(_ stretches: [ExpiryList.Stretch], _ texts: Texts) -> Value {
    let top = SendChart.rounded(stretches.map(\.count).max() ?? 0)
    let total = stretches.reduce(0) { $0 + $1.count }
    return [
      "any": .bool(total > 0),
      "summary": .string(
        texts("expiry.timeline_summary", count: total, ["from": from.dayText, "before": before.dayText])),
      "top": .string(top.grouped), "middle": .string((top / 2).grouped),
      "today": .double(x(now).hundredths), "today_text": .double((x(now) + 4).hundredths),
      "months": .list(months()), "weeks": .list(stretches.map { bar($0, top: top, texts) }),
    ]
  }

  private func x(_ date: Date) -> Double {
    Self.left + Self.width * date.timeIntervalSince(from) / (Self.week * Double(Self.weeks))
  }

  private func bar(_ stretch: ExpiryList.Stretch, top: Int, _ texts: Texts) -> Value {
    let start = from.addingTimeInterval(Double(stretch.index) * Self.week)
    let end = start.addingTimeInterval(Self.week)
    // One thing among thousands is seen as well.
    let height = max(3, 116 * Double(stretch.count) / Double(top))
    let left = start.timeIntervalSince(now) / 86_400
    let kind = left <= Double(Expiry.urgentDays) ? "failed" : left <= Double(Expiry.warningDays) ? "soon" : "accepted"
    return [
      "x": .double((x(start) + 1).hundredths), "y": .double((124 - height).hundredths),
      "height": .double(height.hundredths),
      "width": .double((Self.width / Double(Self.weeks) - 2).hundredths), "class": .string(kind),
      "day": .string(start.dayText), "count": .string(stretch.count.grouped), "name": .string(stretch.name),
      "href": .string("/certificates?from=\(start.dayText)&before=\(end.dayText)"),
      "text": .string(texts("expiry.bar", count: stretch.count, ["day": start.dayText, "name": stretch.name])),
    ]
  }

  /// Where months begin, every third with its name.
  private func months() -> [Value] {
    var values: [Value] = []
    let parts = from.dayText.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3 else { return [] }
    var (year, month) = (parts[0], parts[1])
    while true {
      (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1)
      let name = String(format: "%04d-%02d", year, month)
      guard let date = Timestamp.parse("\(name)-01T00:00:00Z"), date < before else { return values }
      values.append(["x": .double(x(date).hundredths), "label": .string(month % 3 == 1 ? name : "")])
    }
  }
}
