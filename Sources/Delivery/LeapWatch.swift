package import Foundation
import Logging
import Synchronization

/// Detects clock changes: the clock advanced by more or less than the elapsed time.
///
/// Waits are stored as clock times. When the clock is set back, they are shifted, so that they end as planned. When it is
/// set forward, they end by the new time, as schedules do: a virtual machine that was suspended sees time that passed as
/// such a change.
final class LeapWatch: Sendable {
  private struct State {
    /// How far the clock is ahead of the steady time.
    var offset: TimeInterval
    var total: TimeInterval = 0
  }

  /// In seconds. Smaller differences are gradual clock corrections.
  private static let least: TimeInterval = 5

  private let clock: @Sendable () -> Date
  private let steady: (@Sendable () -> TimeInterval)?
  private let log: Logger
  private let state: Mutex<State>

  /// - Parameter steady: elapsed seconds since an arbitrary start; nil if the clock is never set.
  init(clock: @escaping @Sendable () -> Date, steady: (@Sendable () -> TimeInterval)?, log: Logger) {
    (self.clock, self.steady, self.log) = (clock, steady, log)
    state = Mutex(State(offset: steady.map { clock().timeIntervalSince1970 - $0() } ?? 0))
  }

  /// The sum of all clock changes since the start, in seconds.
  func total() -> TimeInterval {
    guard let steady else { return 0 }
    let (leap, total) = state.withLock { state in
      var before = steady()
      var now = clock()
      // Reads both again if the process was suspended in between, which would look like a clock change.
      while steady() - before > 0.1 { (before, now) = (steady(), clock()) }
      let offset = now.timeIntervalSince1970 - before
      let leap = offset - state.offset
      state.offset = offset
      guard abs(leap) >= Self.least else { return (0.0, state.total) }
      state.total += leap
      return (leap, state.total)
    }
    if leap != 0 {
      log.warning(
        leap > 0
          ? "system clock changed; retries that are due now are made"
          : "system clock changed; retries wait as long as planned", ["by": "\(Int(leap.rounded())) s"])
    }
    return total
  }
}

extension DeliveryEngine {
  /// Elapsed seconds since an arbitrary start, unaffected by clock changes; includes the time the machine sleeps.
  package static func steadyTime() -> TimeInterval { start.duration(to: .now) / .seconds(1) }

  private static let start = ContinuousClock.now
}
