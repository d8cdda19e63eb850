package import Foundation

/// Slows down while a service refuses too many requests.
///
/// Apple: "4XX slows down your ability to send": APNs lowers its limits and ends connections, soonest for
/// `BadDeviceToken`. Answers are counted in samples: too large a share of refusals divides the devices in flight by
/// four, a clean sample multiplies them by four again, and so does a minute without a storm, because there may be no
/// requests. A value.
package struct StormGuard: Sendable, Hashable {
  /// Devices in flight over one credential at each level; nil: no limit.
  static let limits: [Int?] = [nil, 1000, 250, 60, 15]
  /// Answers in a sample.
  static let lot = 200
  /// Answers in a sample while slowed down, so that recovery is noticed soon.
  static let slowLot = 60
  /// A sample ends after this many seconds, if it has ``least`` answers.
  static let longest: TimeInterval = 5
  /// The smallest meaningful sample.
  static let least = 20
  /// The share of refusals that slows down.
  static let storm = 0.2
  /// Below this share it speeds up again.
  static let calm = 0.05
  /// Seconds without a storm that speed it up by a level.
  static let rest: TimeInterval = 60

  /// Start at level 1: be conservative until the first sample is in.
  private var level = 1
  private var answers = 0
  private var refusals = 0
  private var begun: Date?
  /// The share that slowed it down.
  package private(set) var share = 0.0
  /// When that was.
  package private(set) var stormAt: Date?
  private var healedAt: Date?

  /// Begins with 1000 devices in flight.
  package init() {}

  /// The most devices in flight; nil: no limit.
  package var limit: Int? { Self.limits[level] }
  /// Whether a storm has slowed it down.
  package var isSlowed: Bool { level > 1 }

  /// - Parameter refusals: as the service counts them.
  package mutating func note(answers: Int, refusals: Int, now: Date) {
    guard answers > 0 else { return }
    heal(now: now)
    let start = begun ?? now
    begun = start
    self.answers += answers
    self.refusals += refusals
    // After the clock was set back a new sample begins.
    let age = now.timeIntervalSince(start)
    let lot = isSlowed ? Self.slowLot : Self.lot
    guard self.answers >= lot || (self.answers >= Self.least && (age >= Self.longest || age < 0)) else { return }
    let share = Double(self.refusals) / Double(self.answers)
    if share >= Self.storm {
      level = min(level + 1, Self.limits.count - 1)
      self.share = share
      (stormAt, healedAt) = (now, now)
    } else if share < Self.calm {
      level = max(0, level - 1)
    }
    (self.answers, self.refusals) = (0, 0)
    begun = nil
  }

  /// Applies the passed time.
  package mutating func heal(now: Date) {
    guard isSlowed, let since = healedAt else { return }
    // Restart after the clock was set back.
    guard now >= since else { return healedAt = now }
    let rests = Int(min(Double(Self.limits.count), now.timeIntervalSince(since) / Self.rest))
    guard rests > 0 else { return }
    level = max(1, level - rests)
    healedAt = since.addingTimeInterval(Double(rests) * Self.rest)
  }
}
