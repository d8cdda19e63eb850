public import Foundation

/// Slows down while a service says no to much of what it gets.
///
/// Apple: "4XX slows down your ability to send": APNs lowers its limits and ends connections, soonest for
/// `BadDeviceToken`. Answers are counted in lots; a lot with too large a share of refusals makes the number of devices
/// under way a quarter of what it was, a clean one makes it four times as large again. A value.
public struct StormGuard: Sendable, Hashable {
  /// Devices under way over one credential at each level; nil: no limit of this guard's.
  static let limits: [Int?] = [nil, 1000, 250, 60, 15]
  /// Answers of a lot.
  static let lot = 200
  /// A lot is closed after so many seconds, if it has ``least`` answers.
  static let longest: TimeInterval = 5
  /// A share of fewer answers says nothing.
  static let least = 20
  /// From this share of refusals on it is slowed down.
  static let storm = 0.2
  /// Below this share it goes faster again.
  static let calm = 0.05

  /// Before the first lot nothing is known: a beginning with moderation.
  private var level = 1
  private var answers = 0
  private var refusals = 0
  private var begun: Date?
  /// The share that made it slow.
  public private(set) var share = 0.0

  /// Begins with 1000 devices under way.
  public init() {}

  /// How many devices may be under way; nil: as many as anybody likes.
  public var limit: Int? { Self.limits[level] }
  /// Whether a storm has slowed it down.
  public var isSlowed: Bool { level > 1 }

  /// Whether an answer slows us down: a refusal of what was sent. A 410 is no error (Apple); 401 and 403 speak of the
  /// credential, which is the ``CircuitBreaker``'s matter.
  public static func counts(_ status: Int) -> Bool {
    (400..<500).contains(status) && status != 401 && status != 403 && status != 410
  }

  /// Counts answers.
  ///
  /// - Parameter refusals: those among them that ``counts(_:)``.
  public mutating func note(answers: Int, refusals: Int, now: Date) {
    guard answers > 0 else { return }
    let start = begun ?? now
    begun = start
    self.answers += answers
    self.refusals += refusals
    // A clock that was set back begins a new lot.
    let age = now.timeIntervalSince(start)
    guard self.answers >= Self.lot || (self.answers >= Self.least && (age >= Self.longest || age < 0)) else { return }
    let share = Double(self.refusals) / Double(self.answers)
    if share >= Self.storm {
      level = min(level + 1, Self.limits.count - 1)
      self.share = share
    } else if share < Self.calm {
      level = max(0, level - 1)
    }
    self.answers = 0
    self.refusals = 0
    begun = nil
  }
}
