import JSON
import Mustache
import Store

/// The bars of a push's response-time chart, in hundredths of a percent of the chart's size.
struct LatencyChart {
  /// With fewer responses no chart is drawn: the summary says as much.
  static let least = 10

  let histogram: LatencyHistogram

  init(_ histogram: LatencyHistogram) { self.histogram = histogram }

  /// For example “p50 ≤ 20 ms, p99 ≤ 75 ms”; nil without responses.
  func summary(_ texts: Texts) -> String? {
    guard histogram.total > 0 else { return nil }
    func bound(_ share: Double) -> String { histogram.quantile(share).map { "≤ \(Self.short($0))" } ?? Self.beyond }
    return texts("push.latency_summary", ["median": bound(0.5), "late": bound(0.99)])
  }

  /// Nil if there are too few responses to draw.
  func view(_ texts: Texts) -> LatencyChartView? {
    guard histogram.total >= Self.least, histogram.counts.count(where: { $0 > 0 }) > 1,
      let summary = summary(texts)
    else { return nil }
    return LatencyChartView(summary: summary, bars: bars)
  }

  /// From the first used bucket to the last, plus one on each side. Empty buckets between them stay, so gaps are
  /// visible.
  var bars: [LatencyBar] {
    let used = histogram.counts.indices.filter { histogram.counts[$0] > 0 }
    let first = max(0, (used.first ?? 0) - 1)
    let last = min(histogram.counts.count - 1, (used.last ?? 0) + 1)
    let top = histogram.counts.max() ?? 0
    return (first...last).map { bucket in
      LatencyBar(
        time: Self.name(bucket), count: histogram.counts[bucket], index: bucket - first, bars: last - first + 1,
        top: top)
    }
  }

  private static let beyond = "> 30 s"

  private static func name(_ bucket: Int) -> String {
    bucket < LatencyHistogram.bounds.count ? "≤ \(short(LatencyHistogram.bounds[bucket]))" : beyond
  }

  private static func short(_ milliseconds: Int) -> String {
    milliseconds < 1000 ? "\(milliseconds) ms" : "\(Double(milliseconds) / 1000) s".replacing(".0 s", with: " s")
  }
}

struct LatencyChartView: View {
  let summary: String
  let bars: [LatencyBar]

  static let fields: [Field<Self>] = [
    .text("summary") { $0.summary },
    .list("bars") { $0.bars },
    .text("first") { $0.bars.first?.time ?? "" },
    .text("last") { $0.bars.last?.time ?? "" },
  ]
}

/// The number of responses in one bucket.
struct LatencyBar: View {
  let time: String
  let count: Int
  let index: Int
  let bars: Int
  let top: Int

  static let fields: [Field<Self>] = [
    .text("time") { $0.time },
    .number("count") { $0.count },
    .written("x") { $1.write(hundredths: 10_000 * $0.index / $0.bars) },
    .written("width") { $1.write(hundredths: 8000 / $0.bars) },
    .written("y") { $1.write(hundredths: 10_000 - $0.height) },
    .written("height") { $1.write(hundredths: $0.height) },
  ]

  /// In hundredths of a percent of the highest bar.
  var height: Int { top == 0 ? 0 : 10_000 * count / top }
}
