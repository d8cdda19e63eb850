import Foundation
import Providers
import Model
import Store

/// A point in time, on the clock and in steady (monotonic) seconds.
///
/// Stored times and times set by people are clock times. Durations and speeds are measured in steady seconds.
struct Moment: Sendable, Hashable {
  var wall: Date
  var steady: TimeInterval

  /// The clock time at a given steady time.
  func date(atSteady seconds: TimeInterval) -> Date { wall.addingTimeInterval(seconds - steady) }
}

/// The constants of a running push.
struct RunPlan: Sendable {
  enum Start: Sendable, Hashable {
    /// Devices are sent to.
    case sending
    /// Nothing is sent; every device gets its outcome, and the push ends.
    case closing(RunEnding)
    /// The push has ended; devices without an outcome get one.
    case finishing(RunEnding)
  }

  let push: Int64
  let seed: UInt64
  var start = Start.sending
  /// The services that reach the audience, in the order of their legs.
  var providers = ProviderKind.allCases
  /// Of a push that is sent at most once: by service, the last device that may have been sent to. A service that is not
  /// named: as the push's row says.
  var announced: [ProviderKind: Int64] = [:]
  /// What the devices of one request to JPush have in common besides their page.
  var cut: PageCut = []
  /// Of a push whose pages are cut, where each service goes on after a restart; a service that is not named: as the
  /// push's row says.
  var cursors: [ProviderKind: Int64] = [:]
  /// Devices registered later do not take part.
  var lastDeviceID: Int64
  /// Whether a previous process started it.
  let isResumed: Bool
  let policy: RetryPolicy
  /// When sending stops, for all devices. The start of 1970 means a single attempt, regardless of the time.
  var expiration: Date?
  /// Seconds for each device from the moment at which it is first handed over; excludes ``expiration``.
  var timeToLive: TimeInterval?
  /// Seconds since the push last went on, in a previous process or before a pause, or since it was to be sent.
  var stoodStill: TimeInterval = 0
  /// Devices per second; nil: as fast as possible.
  var rate: Double?
  /// The number of this process's trail; 0: none.
  var trail: Int64 = 0
  /// Devices in flight per credential.
  var window: Int
  /// Devices per page.
  var pageSize = PushRun.pageSize

  /// The end of the time to live; nil: none.
  var deadline: Date? { expiration.flatMap { $0.timeIntervalSince1970 == 0 ? nil : $0 } }
}

/// How a page of devices becomes requests to JPush, which knows a request again by its devices.
struct PageCut: OptionSet, Sendable {
  let rawValue: Int
  /// Texts in several languages: a request has one text.
  static let byLanguage = PageCut(rawValue: 1)
  /// A message for Android apps alone, which JPush would bring to iPhones, too.
  static let byPlatform = PageCut(rawValue: 2)
}

/// Why the rest of a push is not sent, and the final state of the push.
struct RunEnding: Sendable, Hashable {
  /// The reason of the devices that were not sent to.
  let reason: OwnReason
  let state: PushState
  var error: String?

  static let cancelled = RunEnding(reason: .cancelled, state: .cancelled)
  static let expired = RunEnding(reason: .expired, state: .finished)
  /// The audience was empty when sending was to begin, as that of a schedule may be on a day.
  static let nobody = RunEnding(
    reason: .cancelled, state: .finished,
    error: "No active device matched the audience when sending began, so the push reached nobody.")

  /// The outcome of a device that is not sent to any more, given its last known outcome.
  func outcome(after last: Outcome?) -> Outcome { reason.outcome(after: last) }
}

extension OwnReason {
  /// The outcome of a device that is not sent to any more for this reason, given its last known outcome.
  func outcome(after last: Outcome?) -> Outcome {
    guard let last, let failure = RetryPolicy.Failure(.outcome(last)) else { return .skipped(reason: rawValue) }
    if case .notProcessed = failure { return .skipped(reason: rawValue) }
    return failure.outcome(self)
  }
}

/// The values of the push's row that a run needs.
struct RunRow: Sendable, Hashable {
  var state: PushState
  var target: Int?
  var counts = OutcomeCounts()
  /// Every device up to this ID has its outcome or is waiting.
  var cursor: Int64 = 0
  /// Devices up to this ID may have been sent to.
  var handedOut: Int64 = 0
  /// Devices waiting for a retry, and those in flight after such a wait.
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
