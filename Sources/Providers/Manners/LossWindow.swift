package import Foundation

/// Narrows what is under way over a credential while connections end with requests unanswered.
///
/// Each of those requests may have been acted on, and is sent again: what is lost with a connection is what may come
/// twice. As congestion control does it: a loss leaves a quarter of what was under way; answers widen it again, slowly
/// at first, and twofold with each round once many have come without another loss; so does time. A value.
package struct LossWindow: Sendable, Hashable {
  /// From so many devices under way on nothing is held back.
  static let open = 4000
  /// Below this it is worth telling.
  static let told = 500
  /// A loss divides what was under way by this.
  static let share = 4
  /// Answers without a loss after which it opens quickly.
  static let calm = 5000
  /// Seconds without a loss after each of which it is twice as wide.
  static let rest: TimeInterval = 60

  /// How many devices may be under way; nil: as many as anybody likes.
  package private(set) var limit: Int?
  /// Requests without an answer since it was open.
  package private(set) var lost = 0
  /// Answers since the last loss.
  private var answers = 0
  /// Answers that have not widened it yet.
  private var credit = 0
  /// How many requests are under way from before the last loss: if they are lost too, that is the same loss.
  private var earlier = 0
  private var healedAt: Date?

  /// Begins without a limit.
  package init() {}

  /// Whether it is so narrow that people should know.
  package var isNarrow: Bool { limit.map { $0 < Self.told } ?? false }

  /// A connection ended with requests unanswered.
  ///
  /// - Parameter others: requests still under way on other connections.
  package mutating func lost(_ count: Int, others: Int, now: Date) {
    guard count > 0 else { return }
    heal(now: now)
    lost += count
    let isSame = earlier > 0
    earlier = max(0, earlier - count)
    if isSame { return }
    limit = max(1, min(limit ?? .max, count + others) / Self.share)
    earlier = others
    (answers, credit) = (0, 0)
    healedAt = now
  }

  /// Requests were answered, whatever the answer.
  package mutating func answered(_ count: Int, now: Date) {
    earlier = max(0, earlier - count)
    heal(now: now)
    guard let limit else { return }
    answers += count
    if answers >= Self.calm { return widen(to: limit + count) }
    // One more for four rounds: what is lost by the next loss should stay a few of a hundred.
    credit += count
    let step = credit / (4 * limit)
    credit -= step * 4 * limit
    widen(to: limit + step)
  }

  /// Lets the time that passed count.
  package mutating func heal(now: Date) {
    guard var limit, let since = healedAt else { return }
    // A clock that was set back begins anew.
    guard now >= since else { return healedAt = now }
    let rests = Int(min(20, now.timeIntervalSince(since) / Self.rest))
    guard rests > 0 else { return }
    limit <<= rests
    healedAt = since.addingTimeInterval(Double(rests) * Self.rest)
    widen(to: limit)
  }

  private mutating func widen(to limit: Int) {
    if limit >= Self.open { self = LossWindow() } else { self.limit = limit }
  }
}
