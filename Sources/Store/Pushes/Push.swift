package import Foundation
package import Model
internal import SQLite

/// A push as it is kept: what was asked for, and how far it is. (`Push` is the name of the module of its values.)
package struct Push: Sendable, Hashable, Identifiable {
  /// Row id.
  package let id: Int64
  /// Public id.
  package let uid: String
  /// For `APNsID(seed:device:)`.
  package let seed: UInt64
  /// The app.
  package let appID: Int64
  /// The environment.
  package let environment: Environment
  /// The API's own JSON of the draft.
  package let draftJSON: String
  /// For lists.
  package let title: String?
  /// For lists.
  package let body: String?
  /// Where it is in its life.
  package let state: PushState
  /// Why it failed.
  package let error: String?
  /// As `web`, `api`, `cli`, `schedule`.
  package let source: String
  /// Who asked for it.
  package let createdBy: String
  /// When it was asked for.
  package let createdAt: Date
  /// When it is to be sent; nil: at once.
  package let sendAt: Date?
  /// When sending began.
  package let startedAt: Date?
  /// When the last device had its outcome, or it was given up.
  package let finishedAt: Date?
  /// How many devices it is for; nil: not counted yet.
  package let target: Int?
  /// How many devices have which outcome.
  package let counts: OutcomeCounts
  /// Every device of the audience up to this id has its outcome.
  package let cursor: Int64
  /// Devices registered after this one do not take part; nil: not begun.
  package let lastDeviceID: Int64?
  /// How many devices without an outcome wait to be sent to again.
  package let waiting: Int
  /// Devices up to this id may have been sent to; those without an outcome are at most as many as may be under way.
  package let handedOut: Int64
  /// Whether it is over, and devices that it did not come to are still given their outcome.
  package let isSettling: Bool
  /// How many devices may have been sent to twice.
  package let repeats: Repeats
  /// The number of the trail that names the devices that it has left for; 0: none does, or nothing is under way.
  package let trail: Int64
  /// The push that this one repeats for those that it did not reach.
  package let parentID: Int64?
  /// Until when it is held back, so that it can be taken back whole.
  package let holdUntil: Date?
  /// The schedule that it is an occurrence of.
  package let scheduleID: Int64?

  /// A hold further off than this is none: the clock was set back.
  package static let longestHold = TimeInterval(PushLimits.undoSeconds.upperBound)

  /// When it was to begin, if that was not the moment when it was kept.
  package var plannedAt: Date? { [sendAt, holdUntil].compactMap { $0 }.max() }

  /// When it may begin, nil: now.
  package func waits(now: Date) -> Date? {
    let hold = holdUntil.flatMap { $0 <= now.addingTimeInterval(Self.longestHold) ? $0 : nil }
    return [sendAt, hold].compactMap { $0 }.filter { $0 > now }.max()
  }

  /// Since when what it did on each device is being removed, or was; the counts remain. Nil: it is all there.
  package let detailsRemovedAt: Date?

  /// Sends that were made although one before may have arrived: no more doubles than this can there be. Those of which
  /// a trail knows that they left are counted one by one; without one, all that may have been under way.
  package struct Repeats: Sendable, Hashable {
    /// An answer had not come in time, or the connection had ended before it.
    package var unanswered = 0
    /// Under way, as far as the store knew, when the process ended.
    package var interrupted = 0

    /// No repeats.
    package init() {}

    /// All of them.
    package var total: Int { unanswered + interrupted }

    /// Counts a device that was sent to again after `last`, if it may have it from then.
    package mutating func count(after last: Outcome?) {
      guard case .unknown(let reason) = last else { return }
      if reason == OwnReason.interrupted.rawValue { interrupted += 1 } else { unanswered += 1 }
    }
  }

  /// How many devices of the audience have no outcome yet; nil: not counted yet.
  package var pending: Int? { target.map { max(0, $0 - counts.total) } }

  static let columns = """
    p.id, p.uid, p.seed, p.app_id, p.environment, p.draft, p.title, p.body, p.state, p.error, p.source, p.created_by,
    p.created_at, p.send_at, p.started_at, p.finished_at, p.target, p.accepted, p.failed, p.dead_token, p.skipped,
    p.unknown, p.cursor, p.last_device_id, p.parent_id, p.waiting, p.handed_out, p.hold_until, p.schedule_id,
    p.details_removed_at, p.settling, p.repeated_unanswered, p.repeated_interrupted, p.trail
    """

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    uid = row.text(1)
    seed = UInt64(bitPattern: row.int64(2))
    appID = row.int64(3)
    environment = try row.value(4, as: Environment.self)
    draftJSON = row.text(5)
    title = row.optionalText(6)
    body = row.optionalText(7)
    state = try row.value(8, as: PushState.self)
    error = row.optionalText(9)
    source = row.text(10)
    createdBy = row.text(11)
    createdAt = row.date(12)
    sendAt = row.optionalDate(13)
    startedAt = row.optionalDate(14)
    finishedAt = row.optionalDate(15)
    target = row.optionalInt(16)
    counts = OutcomeCounts(
      accepted: row.int(17), failed: row.int(18), deadToken: row.int(19), skipped: row.int(20), unknown: row.int(21))
    cursor = row.int64(22)
    lastDeviceID = row.optionalInt64(23)
    parentID = row.optionalInt64(24)
    waiting = row.int(25)
    handedOut = row.int64(26)
    holdUntil = row.optionalDate(27)
    scheduleID = row.optionalInt64(28)
    detailsRemovedAt = row.optionalDate(29)
    isSettling = row.int(30) != 0
    var repeats = Repeats()
    repeats.unanswered = row.int(31)
    repeats.interrupted = row.int(32)
    self.repeats = repeats
    trail = row.int64(33)
  }
}
