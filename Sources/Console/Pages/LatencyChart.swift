import Mustache
import Store

/// The latency histogram, as coordinates for the template's SVG: 400 × 140, the axis at 116, bars up to 96 high.
struct LatencyChart {
  let histogram: LatencyHistogram

  init(_ histogram: LatencyHistogram) { self.histogram = histogram }

  func value(_ texts: Texts) -> Value {
    guard histogram.total > 0 else { return ["summary": .string(texts("push.no_answers")), "buckets": []] }
    let used = histogram.counts.indices.filter { histogram.counts[$0] > 0 }
    // From the first bucket that holds something to the last, one more on each side: gaps are seen as gaps.
    let first = max(0, (used.first ?? 0) - 1)
    let last = min(histogram.counts.count - 1, (used.last ?? 0) + 1)
    let top = Double(histogram.counts.max() ?? 1)
    let step = 400 / Double(last - first + 1)
    // Many bars stand close together: the whole text is in each bar's title.
    let isNarrow = last - first + 1 > 6
    let buckets = (first...last).enumerated().map { position, bucket -> Value in
      let count = histogram.counts[bucket]
      let height = 96 * Double(count) / top
      let x = Double(position) * step + step * 0.1
      let label = name(bucket)
      return [
        "text": .string(texts("push.bucket", ["count": count.grouped, "time": label])), "x": .double(x.hundredths),
        "y": .double((116 - height).hundredths), "width": .double((step * 0.8).hundredths),
        "height": .double(height.hundredths), "label": .string(isNarrow ? Self.bare(bucket) : label),
        "number": .string(count == 0 ? "" : isNarrow ? Self.rounded(count) : count.grouped),
        "middle": .double((x + step * 0.4).hundredths), "above": .double((112 - height).hundredths),
      ]
    }
    let median = histogram.quantile(0.5).map { "≤ \(Self.short($0))" } ?? "> 30 s"
    let late = histogram.quantile(0.99).map { "≤ \(Self.short($0))" } ?? "> 30 s"
    return [
      "summary": .string(texts("push.latency_summary", ["median": median, "late": late])), "buckets": .list(buckets),
    ]
  }

  private func name(_ bucket: Int) -> String {
    bucket < LatencyHistogram.bounds.count ? "≤ \(Self.short(LatencyHistogram.bounds[bucket]))" : "> 30 s"
  }

  /// As `250` (ms) or `2.5 s`.
  private static func bare(_ bucket: Int) -> String {
    guard bucket < LatencyHistogram.bounds.count else { return "> 30 s" }
    return short(LatencyHistogram.bounds[bucket]).replacing(" ms", with: "")
  }

  /// As `9 999`, `114k`, `3.2M`.
  static func rounded(_ count: Int) -> String {
    if count < 10_000 { return count.grouped }
    if count < 1_000_000 { return "\(count / 1000)k" }
    let tenths = count / 100_000
    return tenths < 100 ? "\(tenths / 10).\(tenths % 10)M" : "\(tenths / 10)M"
  }

  private static func short(_ milliseconds: Int) -> String {
    milliseconds < 1000 ? "\(milliseconds) ms" : "\(Double(milliseconds) / 1000) s".replacing(".0 s", with: " s")
  }
}
