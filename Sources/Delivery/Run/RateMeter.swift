import Foundation

/// Outcomes a second, over the last ten seconds.
struct RateMeter {
  private var samples: [(at: Date, done: Int)]

  init(now: Date) { samples = [(now, 0)] }

  /// Notes how many there are in all.
  mutating func note(_ done: Int, now: Date) {
    // One sample a quarter of a second, and none from before the clock was set back.
    samples.removeAll { $0.at > now || now.timeIntervalSince($0.at) > 10 }
    if let last = samples.last, now.timeIntervalSince(last.at) < 0.25, samples.count > 1 { samples.removeLast() }
    samples.append((now, done))
  }

  var rate: Double {
    guard let first = samples.first, let last = samples.last, last.at > first.at else { return 0 }
    return Double(last.done - first.done) / last.at.timeIntervalSince(first.at)
  }
}
