import Foundation
import Providers
import Model
import Store

/// The published progress of a running push.
struct RunReport: Sendable {
  private var wasWell = true
  private var done = 0
  private var meter: RateMeter

  /// The set speed, in devices per second; nil: as fast as possible.
  private let pace: Double?

  init(now: Moment, pace: Double?) {
    meter = RateMeter(now: now.steady)
    self.pace = pace
  }

  /// Counts new outcomes.
  mutating func note(_ count: Int, _ now: Moment) {
    done += count
    meter.note(done, now: now.steady)
  }

  /// Whether to publish after a look at the push's row.
  mutating func isNews(hasChanged: Bool, isWell: Bool) -> Bool {
    defer { wasWell = isWell }
    return hasChanged || !isWell || !wasWell
  }

  func progress(_ row: RunRow, nextDue: Date?, trouble: String?, health: ProviderHealth) -> PushProgress {
    var progress = PushProgress(row, nextDue: nextDue)
    (progress.trouble, progress.health) = (trouble, health)
    progress.rate = meter.rate
    // One answer in its first milliseconds measures as hundreds per second, and answers far apart as none.
    if let pace, done > 0 { progress.rate = meter.rate > 0 ? min(meter.rate, pace) : pace }
    // Results are still arriving or being written.
    if progress.state.isOver { progress.isSettling = true }
    return progress
  }
}

/// Outcomes per second over the last ten seconds.
struct RateMeter: Sendable {
  private var samples: [(at: TimeInterval, done: Int)]

  /// - Parameter now: in steady seconds.
  init(now: TimeInterval) { samples = [(now, 0)] }

  /// Records the total so far.
  mutating func note(_ done: Int, now: TimeInterval) {
    samples.removeAll { now - $0.at > 10 }
    // One sample per quarter of a second.
    if let last = samples.last, now - last.at < 0.25, samples.count > 1 { samples.removeLast() }
    samples.append((now, done))
  }

  var rate: Double {
    guard let first = samples.first, let last = samples.last, last.at > first.at else { return 0 }
    return Double(last.done - first.done) / (last.at - first.at)
  }
}
