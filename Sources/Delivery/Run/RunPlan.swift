import Foundation
import Providers
import Model
import Store

/// A point in time: what the clock says, and seconds that only ever pass.
///
/// What is kept in the store, and what people set, is a time of the clock. How long something takes, and how fast it
/// goes, is counted in steady seconds.
struct Moment: Sendable, Hashable {
  var wall: Date
  var steady: TimeInterval

  /// The time of the clock at which so many steady seconds will have passed.
  func date(atSteady seconds: TimeInterval) -> Date { wall.addingTimeInterval(seconds - steady) }
}

/// What does not change while a push is under way.
struct RunPlan: Sendable {
  /// How a run begins.
  enum Start: Sendable, Hashable {
    /// Devices are to be sent to.
    case sending
    /// Nothing is sent; every device gets its outcome, and the push ends.
    case closing(RunEnding)
    /// The push had ended before; devices without an outcome get one.
    case finishing(RunEnding)
  }

  let push: Int64
  let seed: UInt64
  var start = Start.sending
  /// Devices registered later do not take part.
  var lastDeviceID: Int64
  /// Whether a process before this one began it.
  let isResumed: Bool
  let policy: RetryPolicy
  /// When nothing is to be sent any more. The start of 1970: it is tried once, whatever the time.
  var expiration: Date?
  /// Devices a second; nil: as fast as possible.
  var rate: Double?
  /// The number of this process's trail; 0: there is none.
  var trail: Int64 = 0
  /// How many devices may be under way over one credential.
  var window: Int
  /// Devices of a page.
  var pageSize = PushRun.pageSize

  /// When the rest expires; nil: never.
  var deadline: Date? { expiration.flatMap { $0.timeIntervalSince1970 == 0 ? nil : $0 } }
}

/// Why the rest of a push is not sent, and how the push then ends.
struct RunEnding: Sendable, Hashable {
  /// The reason that devices get which were not sent to.
  let reason: OwnReason
  let state: PushState
  var error: String?

  static let cancelled = RunEnding(reason: .cancelled, state: .cancelled)
  static let expired = RunEnding(reason: .expired, state: .finished)
  /// The audience was empty when sending was to begin, as that of a schedule may be on a day.
  static let nobody = RunEnding(
    reason: .cancelled, state: .finished,
    error: "No active device matched the audience when sending began, so the push reached nobody.")

  /// The outcome of a device that is not sent to any more, after the last one that is known of it.
  func outcome(after last: Outcome?) -> Outcome {
    guard let last, let failure = RetryPolicy.Failure(.outcome(last)) else { return .skipped(reason: reason.rawValue) }
    if case .notProcessed = failure { return .skipped(reason: reason.rawValue) }
    return failure.outcome(reason)
  }
}

/// What a run has to know of its push's row.
struct RunRow: Sendable, Hashable {
  var state: PushState
  var target: Int?
  var counts = OutcomeCounts()
  /// Every device up to this id has its outcome, or waits.
  var cursor: Int64 = 0
  /// Devices up to this id may have been sent to.
  var handedOut: Int64 = 0
  /// Devices that wait to be sent to again, or were under way when they had waited.
  var waiting = 0
  var isSettling = false
  var repeats = Push.Repeats()
  var trail: Int64 = 0
}

extension RunRow {
  init(_ push: Push) {
    self.init(
      state: push.state, target: push.target, counts: push.counts, cursor: push.cursor, handedOut: push.handedOut,
      waiting: push.waiting, isSettling: push.isSettling, repeats: push.repeats, trail: push.trail)
  }
}
