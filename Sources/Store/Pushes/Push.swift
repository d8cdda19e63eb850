package import Foundation
package import Model
internal import SQLite

/// A stored push: its request and its progress.
package struct Push: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  package let uid: String
  package let seed: UInt64
  package let appID: Int64
  package let environment: Environment
  /// The API's JSON of the draft.
  package let draftJSON: String
  package let title: String?
  package let body: String?
  package let state: PushState
  package let error: String?
  /// Such as `web`, `api`, `cli`, `schedule`.
  package let source: PushSource
  package let createdBy: String
  package let createdAt: Date
  /// Nil: at once.
  package let sendAt: Date?
  package let startedAt: Date?
  /// When the last device had its outcome, or the push was given up.
  package let finishedAt: Date?
  /// The number of devices; nil: not counted yet.
  package let target: Int?
  package let counts: OutcomeCounts
  /// Every device of the audience up to this ID has its outcome.
  package let cursor: Int64
  /// Devices registered later do not take part; nil: not started.
  package let lastDeviceID: Int64?
  /// Devices without an outcome that wait for a retry.
  package let waiting: Int
  /// Devices up to this ID may have been sent to; at most as many of them lack an outcome as may be in flight.
  package let handedOut: Int64
  /// Whether it has ended, and remaining devices are still being given their outcomes.
  package let isSettling: Bool
  /// Devices that may have been sent to twice.
  package let repeats: Repeats
  /// The trail that names the devices in flight; 0: none.
  package let trail: Int64
  /// The push that this one retries.
  package let parentID: Int64?
  /// The end of the undo window.
  package let holdUntil: Date?
  package let scheduleID: Int64?
  /// Given or derived, as ``PushDraft/pushType``.
  package let pushType: PushType
  /// Random, and only in the payload (`sbsig`): who knows it was sent the push, and may report what became of it. Nil: the
  /// push is from a version without receipts.
  package let signature: String?

  /// A longer hold is invalid: the clock was set back.
  package static let longestHold = TimeInterval(PushLimits.undoSeconds.upperBound)

  /// When a second person approved it; nil: nobody had to, or nobody has.
  package let approvedAt: Date?
  /// How its last request for approval ended; nil: it is open, or there was none.
  package let approvalDecision: Approval.Decision?

  /// How it ended unapproved: rejected or expired; nil: it did not, or somebody canceled it.
  package var refusal: Approval.Decision? {
    state == .cancelled && (approvalDecision == .rejected || approvalDecision == .expired) ? approvalDecision : nil
  }

  /// What its time to live counts from.
  package var sentAt: Date { [sendAt ?? createdAt, approvedAt].compactMap { $0 }.max() ?? createdAt }

  /// The planned start, if it differs from the creation.
  package var plannedAt: Date? { [sendAt, holdUntil].compactMap { $0 }.max() }

  /// When it may start; nil: now.
  package func waits(now: Date) -> Date? {
    let hold = holdUntil.flatMap { $0 <= now.addingTimeInterval(Self.longestHold) ? $0 : nil }
    return [sendAt, hold].compactMap { $0 }.filter { $0 > now }.max()
  }

  /// Whether it is in its undo window: it waits for that alone, not for a time that somebody chose.
  package func isUndoable(now: Date) -> Bool {
    guard state == .queued, let end = waits(now: now) else { return false }
    return end == holdUntil && (sendAt ?? .distantPast) < end
  }

  /// Since when its deliveries are being removed, or were; counts remain. Nil: nothing was removed.
  package let detailsRemovedAt: Date?

  /// Sends made although an earlier one may have arrived: an upper bound for duplicates. With a trail, devices are
  /// counted individually; without one, everything that may have been in flight counts.
  package struct Repeats: Sendable, Hashable {
    /// No answer came in time, or the connection ended before it.
    package var unanswered = 0
    /// In flight, as far as known, when the process ended.
    package var interrupted = 0

    package init() {}

    package var total: Int { unanswered + interrupted }

    /// Counts a device that was resent after `last`, if it may have received the push then.
    package mutating func count(after last: Outcome?) {
      guard case .unknown(let reason) = last else { return }
      if reason == OwnReason.interrupted.rawValue { interrupted += 1 } else { unanswered += 1 }
    }
  }

  /// Devices without an outcome; nil: not counted yet.
  package var pending: Int? { target.map { max(0, $0 - counts.total) } }

  // Only a push that was approved or canceled can have a decision: the others need no look-up, which cost a fifth of
  // the time to read a page of the history.
  static let columns = """
    p.id, p.uid, p.seed, p.app_id, p.environment, p.draft, p.title, p.body, p.state, p.error, p.source, p.created_by,
    p.created_at, p.send_at, p.started_at, p.finished_at, p.target, p.accepted, p.failed, p.dead_token, p.skipped,
    p.unknown, p.cursor, p.last_device_id, p.parent_id, p.waiting, p.handed_out, p.hold_until, p.schedule_id,
    p.details_removed_at, p.settling, p.repeated_unanswered, p.repeated_interrupted, p.trail, p.signature,
    p.approved_at, p.push_type, CASE WHEN p.state = 'cancelled' OR p.approved_at IS NOT NULL THEN
      (SELECT v.decision FROM approvals v WHERE v.push_id = p.id ORDER BY v.id DESC LIMIT 1) END
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
    source = try row.value(10, as: PushSource.self)
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
    signature = row.optionalText(34)
    approvedAt = row.optionalDate(35)
    pushType = try row.value(36, as: PushType.self)
    approvalDecision = row.optionalText(37) == nil ? nil : try row.value(37, as: Approval.Decision.self)
  }
}

/// A push to be stored.
package struct NewPush: Sendable {
  /// Public ID, hard to guess.
  package var uid: String
  package var seed: UInt64
  package var appID: Int64
  package var environment: Environment
  /// The API's JSON of the draft.
  package var draftJSON: String
  /// For lists and search.
  package var title: String?
  /// For lists and search.
  package var body: String?
  /// Further search terms: tags, aliases, registration IDs.
  package var searchTerms: [String] = []
  package var source: PushSource
  package var createdBy: String
  /// Nil: at once.
  package var sendAt: Date?
  package var holdUntil: Date?
  package var scheduleID: Int64?
  /// Of the draft, for lists.
  package var pushType = PushType.alert
  /// The push that this one retries.
  package var parentID: Int64?
  /// For receipts, hard to guess.
  package var signature: String?
  /// It waits for a second person; nil: it is queued at once.
  package var approval: NewApproval?

  package init(
    uid: String, seed: UInt64, appID: Int64, environment: Environment, draftJSON: String, source: PushSource,
    createdBy: String
  ) {
    (self.uid, self.seed, self.appID, self.environment) = (uid, seed, appID, environment)
    (self.draftJSON, self.source, self.createdBy) = (draftJSON, source, createdBy)
  }
}
