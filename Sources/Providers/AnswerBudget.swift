import Synchronization

/// How many more successes of a push are kept whole: the first ones, each time that it is begun or continued. A push to
/// millions of devices has as many, and all of them say the same.
final class AnswerBudget: Sendable {
  static let size = 200

  private let left = Mutex(size)

  func take(atMost count: Int) -> Int {
    left.withLock { left in
      let taken = min(left, count)
      left -= taken
      return taken
    }
  }
}
