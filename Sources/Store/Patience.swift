/// How long one page of a list looks for what fits, where no index finds it.
///
/// A number of rows would not do: the same rows take ten times as long from a cold disk, or on a busy machine.
public struct Patience {
  /// Tens of thousands of rows on a quiet machine, and short for a page.
  public static let usual = Duration.milliseconds(10)
  /// The time is looked at with every row whose id divides by this: a prime, because the ids of one tag may all be odd.
  static let lot = 251
  /// So many times it is not over whatever the time, so that a busy machine gets on as well.
  static let least = 16

  private let end: ContinuousClock.Instant
  private let now: () -> ContinuousClock.Instant
  private var looks = 0

  /// Begins now.
  ///
  /// - Parameter now: a clock that does not go back.
  public init(_ time: Duration = usual, now: @escaping () -> ContinuousClock.Instant = { .now }) {
    self.now = now
    end = now() + time
  }

  /// Whether to stop here; asked once a lot.
  mutating func isOver() -> Bool {
    looks += 1
    return looks >= Self.least && now() >= end
  }
}
