/// How many rows the next step removes, and how long it waits before it: the time of a step is bounded, whatever the disk
/// and whatever the rows, and most of the time is left to everybody else.
package struct TrimPace: Sendable, Hashable {
  /// A step that takes longer is followed by a smaller one. Whoever writes at the same time waits at most so long more.
  package static let longest = Duration.milliseconds(20)
  /// The fewest and the most rows of a step.
  package static let limits = 50...2000
  /// After a step, it rests so many times as long as the step took: at most a tenth of the writer's time.
  package static let rest = 9
  /// Rests at least so long.
  package static let shortestRest = Duration.milliseconds(10)
  /// It rests so long after a step that had to wait for its turn: somebody else is writing.
  package static let politeRest = Duration.milliseconds(200)
  /// A wait for the turn from which on somebody else is writing.
  static let busy = Duration.milliseconds(5)

  /// Rows of the next step.
  package private(set) var rows = 200

  /// Begins carefully.
  package init() {}

  /// Takes note of a step.
  ///
  /// - Parameters:
  ///   - took: from its begin to its commit.
  ///   - waited: until the writer was free.
  /// - Returns: how long to rest.
  package mutating func after(took: Duration, waited: Duration) -> Duration {
    if took > Self.longest {
      rows = max(Self.limits.lowerBound, rows / 2)
    } else if took < Self.longest / 3 {
      rows = min(Self.limits.upperBound, rows * 2)
    }
    let rest = max(Self.shortestRest, took * Self.rest)
    return waited > Self.busy ? max(Self.politeRest, rest * 2) : rest
  }
}
