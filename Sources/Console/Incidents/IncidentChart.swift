import Foundation
import Mustache
import Store

/// How many devices an incident's pushes missed over time, for `incidents/_chart`.
struct IncidentChart: View {
  struct Bar: View {
    let begin: Date
    let devices: Int
    let index: Int
    let bars: Int
    let top: Int

    /// In hundredths of a percent of the highest bar.
    var height: Int { top == 0 ? 0 : 10_000 * devices / top }

    static let fields: [Field<Self>] = [
      .view("begin") { MomentView(date: $0.begin) },
      .number("devices") { $0.devices },
      .flag("any") { $0.devices > 0 },
      .written("x") { $1.write(hundredths: 10_000 * $0.index / $0.bars) },
      .written("width") { $1.write(hundredths: 8000 / $0.bars) },
      .written("y") { $1.write(hundredths: 10_000 - $0.height) },
      .written("height") { $1.write(hundredths: $0.height) },
    ]
  }

  /// From pushes on; fewer are read faster in the list of them.
  private static let leastPushes = 3
  private static let mostBars = 40
  /// Seconds of a bar: minutes, hours, days.
  private static let steps: [Double] = [60, 300, 900, 3600, 10_800, 21_600, 86_400, 604_800, 2_592_000]

  let bars: [Bar]
  let summary: String

  static let fields: [Field<Self>] = [
    .list("bars") { $0.bars },
    .text("summary") { $0.summary },
    .view("first") { view in view.bars.first.map { MomentView(date: $0.begin) } },
    .view("last") { view in view.bars.last.map { MomentView(date: $0.begin) } },
  ]

  /// Nil: too little to draw.
  ///
  /// - Parameter misses: oldest first.
  init?(_ misses: [(at: Date, devices: Int)], _ texts: Texts) {
    guard misses.count >= Self.leastPushes, let first = misses.first?.at, let last = misses.last?.at else { return nil }
    let length = last.timeIntervalSince(first)
    let step = Self.steps.first { length / $0 < Double(Self.mostBars - 1) } ?? length / Double(Self.mostBars - 2)
    func number(_ date: Date) -> Int { Int((date.timeIntervalSince1970 / step).rounded(.down)) }
    let start = number(first)
    var counts = [Int](repeating: 0, count: number(last) - start + 1)
    for miss in misses { counts[number(miss.at) - start] += miss.devices }
    guard counts.count > 1, let top = counts.max() else { return nil }
    bars = counts.enumerated().map { index, devices in
      Bar(
        begin: Date(timeIntervalSince1970: Double(start + index) * step), devices: devices, index: index,
        bars: counts.count, top: top)
    }
    summary = texts.clauses([
      texts("push.device_count", count: counts.reduce(0, +)),
      texts("incidents.proof.between", ["first": texts.minute(first), "last": texts.minute(last)]),
    ])
  }
}
