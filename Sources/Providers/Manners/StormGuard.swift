package import Foundation

/// Slows down while a service says no to much of what it gets.
///
/// Apple: "4XX slows down your ability to send": APNs lowers its limits and ends connections, soonest for
/// `BadDeviceToken`. Answers are counted in lots; a lot with too large a share of refusals makes the number of devices
/// under way a quarter of what it was, a clean one makes it four times as large again; so does a minute without a
/// storm, because nobody may be sending any more. A value.
package struct StormGuard: Sendable, Hashable {
  /// Devices under way over one credential at each level; nil: no limit of this guard's.
  static let limits: [Int?] = [nil, 1000, 250, 60, 15]
  /// Answers of a lot.
  static let lot = 200
  /// Answers of a lot while it is slowed down: so that good ones are noticed soon.
  static let slowLot = 60
  /// A lot is closed after so many seconds, if it has ``least`` answers.
  static let longest: TimeInterval = 5
  /// A share of fewer answers says nothing.
  static let least = 20
  /// From this share of refusals on it is slowed down.
  static let storm = 0.2
  /// Below this share it goes faster again.
  static let calm = 0.05
  /// Seconds without a storm after each of which it goes a level faster.
  static let rest: TimeInterval = 60

  /// Before the first lot nothing is known: a beginning with moderation.
  private var level = 1
  private var answers = 0
  private var refusals = 0
  private var begun: Date?
  /// The share that made it slow.
  package private(set) var share = 0.0
  /// When that was.
  package private(set) var stormAt: Date?
  private var healedAt: Date?

  /// Begins with 1000 devices under way.
  package init() {}

  /// How many devices may be under way; nil: as many as anybody likes.
  package var limit: Int? { Self.limits[level] }
  /// Whether a storm has slowed it down.
  package var isSlowed: Bool { level > 1 }

  /// Whether an answer slows us down: a refusal of what was sent. A 410 is no error (Apple); 401 and 403 speak of the
  /// credential, which is the ``CircuitBreaker``'s matter.
  package static func counts(_ status: Int) -> Bool {
    (400..<500).contains(status) && status != 401 && status != 403 && status != 410
  }

  /// Counts answers.
  ///
  /// - Parameter refusals: those among them that ``counts(_:)``.
  package mutating func note(answers: Int, refusals: Int, now: Date) {
    guard answers > 0 else { return }
    heal(now: now)
    let start = begun ?? now
    begun = start
    self.answers += answers
    self.refusals += refusals
    // A clock that was set back begins a new lot.
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
    self.answers = 0
    self.refusals = 0
    begun = nil
  }

  /// Lets the time that passed count.
  package mutating func heal(now: Date) {
    guard isSlowed, let since = healedAt else { return }
    // A clock that was set back begins anew.
    guard now >= since else { return healedAt = now }
    let rests = Int(min(Double(Self.limits.count), now.timeIntervalSince(since) / Self.rest))
    guard rests > 0 else { return }
    level = max(1, level - rests)
    healedAt = since.addingTimeInterval(Double(rests) * Self.rest)
  }
}
