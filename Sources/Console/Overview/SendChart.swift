import Foundation
import Mustache
import Model
import Store

/// The bars of the last days, in hundredths of a percent of the chart's width and height.
struct SendChart {
  let sums: [Push.Sum]
  /// What apps reported, by day.
  let receipts: [Int: ReceiptCounts]
  let firstDay: Date
  let days: Int

  func view(_ texts: Texts) -> ChartView {
    let byDay = Dictionary(sums.map { (Int($0.from.timeIntervalSince(firstDay)) / 86_400, $0.counts) }) { $1 }
    let counts = (0..<days).map { byDay[$0] ?? OutcomeCounts() }
    let top = Self.rounded(counts.map { $0.accepted + $0.failed + $0.deadToken }.max() ?? 0)
    let sums = [
      ("accepted", counts.reduce(0) { $0 + $1.accepted }), ("failed", counts.reduce(0) { $0 + $1.failed }),
      ("dead", counts.reduce(0) { $0 + $1.deadToken }), ("opened", receipts.values.reduce(0) { $0 + $1.opened }),
    ].filter { $0.1 > 0 }
    let summary =
      sums.isEmpty
      ? texts("overview.sum.none") : texts.clauses(sums.map { texts("overview.sum.\($0.0)", ["number": $0.1.grouped]) })
    return ChartView(
      summary: summary, first: day(0), last: day(days - 1),
      days: counts.enumerated().map { index, counts in
        ChartDay(
          date: day(index), index: index, days: days, accepted: counts.accepted, failed: counts.failed,
          dead: counts.deadToken, receipts: receipts[index] ?? ReceiptCounts(), top: top)
      })
  }

  private func day(_ index: Int) -> Date { firstDay.addingTimeInterval(Double(index) * 86_400) }

  /// Rounds up to the next of 2, 4, 10, 20, 40, 100, …: even numbers, so that the middle line is a whole number.
  static func rounded(_ number: Int) -> Int {
    var unit = 1
    while true {
      for step in [2, 4, 10] where unit * step >= number { return unit * step }
      unit *= 10
    }
  }
}

struct ChartView: View {
  let summary: String
  let first: Date
  let last: Date
  let days: [ChartDay]

  static let fields: [Field<Self>] = [
    .text("summary") { $0.summary },
    .view("first") { MomentView(date: $0.first) },
    .view("last") { MomentView(date: $0.last) },
    .list("days") { $0.days },
  ]
}

/// One day: the accepted sends, those of them that apps reported as displayed inside, and the others stacked on top.
struct ChartDay: View {
  let date: Date
  let index: Int
  let days: Int
  let accepted: Int
  let failed: Int
  let dead: Int
  let receipts: ReceiptCounts
  let top: Int

  static let fields: [Field<Self>] = [
    .written("day") { $1.write(day: $0.date) },
    .written("machine_day") { $1.write(machineDay: $0.date) },
    .number("accepted") { $0.accepted },
    .number("failed") { $0.failed },
    .number("dead") { $0.dead },
    .number("displayed") { $0.receipts.displayed },
    .number("opened") { $0.receipts.opened },
    .written("displayed_y") { $1.write(hundredths: 10_000 - $0.height($0.displayed)) },
    .written("displayed_height") { $1.write(hundredths: $0.height($0.displayed)) },
    .written("x") { $1.write(hundredths: 10_000 * $0.index / $0.days) },
    .written("width") { $1.write(hundredths: 7200 / $0.days) },
    .written("accepted_y") { $1.write(hundredths: 10_000 - $0.height($0.accepted)) },
    .written("accepted_height") { $1.write(hundredths: $0.height($0.accepted)) },
    .written("failed_y") { $1.write(hundredths: 10_000 - $0.height($0.accepted + $0.failed)) },
    .written("failed_height") { $1.write(hundredths: $0.height($0.failed)) },
    .flag("any") { $0.accepted + $0.failed + $0.dead > 0 },
    .flag("any_dead") { $0.dead > 0 },
    .written("dead_y") { $1.write(hundredths: 10_000 - $0.height($0.accepted + $0.failed + $0.dead)) },
    .written("dead_height") { $1.write(hundredths: $0.height($0.dead)) },
  ]

  /// A device whose answer was lost may have displayed the push all the same.
  private var displayed: Int { min(receipts.displayed, accepted) }

  private func height(_ count: Int) -> Int { 10_000 * count / max(top, 1) }
}
