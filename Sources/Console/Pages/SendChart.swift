import Foundation
import Mustache
import Push
import Store

/// The bars of the last days, as coordinates for the template's SVG: 640 × 160, the axis at 136, the top at 8.
struct SendChart {
  let sums: [PushRecord.Sum]
  let firstDay: Date
  let days: Int

  func value(_ texts: Texts) -> Value {
    let byDay = Dictionary(sums.map { (Int($0.from.timeIntervalSince(firstDay)) / 86_400, $0.counts) }) { $1 }
    let counts = (0..<days).map { byDay[$0] ?? OutcomeCounts() }
    func bad(_ counts: OutcomeCounts) -> Int { counts.failed + counts.deadToken }
    let top = Self.rounded(counts.map { $0.accepted + bad($0) }.max() ?? 0)
    let bars = counts.enumerated().map { index, counts -> Value in
      let accepted = 128 * Double(counts.accepted) / Double(top)
      let failed = 128 * Double(bad(counts)) / Double(top)
      let text = texts(
        "overview.day_text",
        ["day": day(index), "accepted": counts.accepted.grouped, "failed": bad(counts).grouped])
      return [
        "day": .string(day(index)), "accepted": .string(counts.accepted.grouped),
        "failed": .string(bad(counts).grouped),
        "text": .string(text), "x": .integer(Int64(42 + index * 20)),
        "accepted_y": .double((136 - accepted).hundredths),
        "accepted_height": .double(accepted.hundredths), "failed_y": .double((136 - accepted - failed).hundredths),
        "failed_height": .double(failed.hundredths),
      ]
    }
    let summary = texts(
      "overview.chart_summary",
      [
        "accepted": counts.reduce(0) { $0 + $1.accepted }.grouped, "failed": counts.reduce(0) { $0 + bad($1) }.grouped,
      ])
    return [
      "summary": .string(summary), "top": .string(top.grouped), "middle": .string((top / 2).grouped),
      "first": .string(day(0)), "last": .string(day(days - 1)), "days": .list(bars),
    ]
  }

  private func day(_ index: Int) -> String { firstDay.addingTimeInterval(Double(index) * 86_400).dayText }

  /// The next of 2, 4, 10, 20, 40, 100, …: an even number, so that the middle is whole.
  static func rounded(_ number: Int) -> Int {
    var unit = 1
    while true {
      for step in [2, 4, 10] where unit * step >= number { return unit * step }
      unit *= 10
    }
  }
}
