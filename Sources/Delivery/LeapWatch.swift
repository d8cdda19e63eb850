package import Foundation
import Logging
import Synchronization

/// Notices that the clock was set: it went on by more, or less, than the time that passed.
///
/// Waits and patience are times that pass. They are kept as times of the clock, and move with it when it is set.
final class LeapWatch: Sendable {
  private struct State {
    /// What the clock is ahead of the steady time by.
    var offset: TimeInterval
    var total: TimeInterval = 0
  }

  /// In seconds. What is less is a clock that is set right slowly.
  private static let least: TimeInterval = 5

  private let clock: @Sendable () -> Date
  private let steady: (@Sendable () -> TimeInterval)?
  private let log: Logger
  private let state: Mutex<State>

  /// - Parameter steady: seconds that passed, since whenever; nil: the clock is never set.
  init(clock: @escaping @Sendable () -> Date, steady: (@Sendable () -> TimeInterval)?, log: Logger) {
    self.clock = clock
    self.steady = steady
    self.log = log
    state = Mutex(State(offset: steady.map { clock().timeIntervalSince1970 - $0() } ?? 0))
  }

  /// By how many seconds the clock was set since the beginning, all times together.
  func total() -> TimeInterval {
    guard let steady else { return 0 }
    let (leap, total) = state.withLock { state in
      var before = steady()
      var now = clock()
      // A process that was stopped between the two would see a leap.
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
        "system clock changed; waits continue by elapsed time", ["by": "\(Int(leap.rounded())) s"])
    }
    return total
  }
}

extension DeliveryEngine {
  /// Seconds that passed, since whenever, whatever the clock says; also while the machine sleeps.
  package static func steadyTime() -> TimeInterval { start.duration(to: .now) / .seconds(1) }

  private static let start = ContinuousClock.now
}
