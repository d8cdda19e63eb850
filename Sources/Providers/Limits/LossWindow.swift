package import Foundation

/// Limits the requests in flight of a credential while connections end with unanswered requests.
///
/// Each of those may have been processed and is sent again, so it may arrive twice. As in congestion control: a loss
/// leaves a quarter of the requests in flight; answers widen the limit slowly at first, and double it with each round
/// after many answers without a loss; so does time. A value.
package struct LossWindow: Sendable, Hashable {
  /// From this number of devices in flight on there is no limit.
  static let open = 4000
  /// Below this limit people are told.
  static let told = 500
  /// A loss divides the requests in flight by this.
  static let share = 4
  /// Answers without a loss after which the limit doubles.
  static let calm = 5000
  /// Seconds without a loss that double the limit.
  static let rest: TimeInterval = 60

  /// The most devices in flight; nil: no limit.
  package private(set) var limit: Int?
  /// Requests lost since there was a limit.
  package private(set) var lost = 0
  /// Answers since the last loss.
  private var answers = 0
  /// Answers that have not widened the limit yet.
  private var credit = 0
  /// Requests in flight from before the last loss: losing them too is the same loss.
  private var earlier = 0
  private var healedAt: Date?

  package init() {}

  /// Whether people should know.
  package var isNarrow: Bool { limit.map { $0 < Self.told } ?? false }

  /// A connection ended with unanswered requests.
  ///
  /// - Parameter others: requests in flight on other connections.
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

  /// Requests were answered, with any answer.
  package mutating func answered(_ count: Int, now: Date) {
    earlier = max(0, earlier - count)
    heal(now: now)
    guard let limit else { return }
    answers += count
    if answers >= Self.calm { return widen(to: limit + count) }
    // One more for four rounds, so that the next loss stays at a few percent.
    credit += count
    let step = credit / (4 * limit)
    credit -= step * 4 * limit
    widen(to: limit + step)
  }

  /// Applies the passed time.
  package mutating func heal(now: Date) {
    guard var limit, let since = healedAt else { return }
    // Restart after the clock was set back.
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
