package import SQLite

/// Response times counted in buckets.
package struct LatencyHistogram: Sendable, Hashable {
  /// Inclusive upper bounds of the buckets in milliseconds; longer times are in one more bucket. Stored by position:
  /// append only.
  package static let bounds = [5, 10, 20, 35, 50, 75, 100, 150, 250, 500, 1000, 2500, 5000, 10_000, 30_000]

  /// One count for each bound, and one for longer times.
  package var counts = [Int](repeating: 0, count: bounds.count + 1)

  package init() {}

  static func bucket(_ milliseconds: Int) -> Int { bounds.firstIndex { milliseconds <= $0 } ?? bounds.count }

  package var total: Int { counts.reduce(0, +) }

  /// Milliseconds within which this share (0 to 1) of the answers came: a bound; nil: longer than all bounds, or no
  /// answers.
  package func quantile(_ share: Double) -> Int? {
    let wanted = Int((Double(total) * share).rounded(.up))
    guard total > 0 else { return nil }
    var sum = 0
    for (bucket, count) in counts.enumerated() {
      sum += count
      if sum >= max(1, wanted) { return bucket < Self.bounds.count ? Self.bounds[bucket] : nil }
    }
    return nil
  }

  package static func find(_ database: Database, push: Int64) throws -> LatencyHistogram {
    var histogram = LatencyHistogram()
    try database.forEach("SELECT bucket, count FROM push_latencies WHERE push_id = ?", push) { row in
      if histogram.counts.indices.contains(row.int(0)) { histogram.counts[row.int(0)] = row.int(1) }
      return .continue
    }
    return histogram
  }
}
