package import Calendar
package import Foundation
import JSON
package import Model
internal import SQLite

/// A repeating push. Each occurrence becomes an ordinary push with the source `schedule`.
package struct Schedule: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  package let uid: String
  package let appID: Int64
  package let environment: Environment
  /// The API's JSON of the draft, with its rule.
  package let draftJSON: String
  package let title: String?
  package let body: String?
  package let state: ScheduleState
  /// Nothing happens before.
  package let startAt: Date
  /// Nil if it is not active.
  package let nextAt: Date?
  /// When it was last checked; nil: not yet.
  package let lookedAt: Date?
  /// Occurrences that became a push.
  package let sent: Int
  /// Missed occurrences.
  package let missed: Int
  /// Why it was stopped automatically.
  package let error: String?
  /// Such as `web`, `api`, `cli`.
  package let source: PushSource
  package let createdBy: String
  package let createdAt: Date
  package let endedAt: Date?

  /// What is sent each time; nil if this version cannot read it.
  package var draft: PushDraft? {
    guard let json = try? JSONValue(parsing: Data(draftJSON.utf8)) else { return nil }  // nil: the caller reports it
    return try? PushDraft(json: json)  // likewise
  }

  /// Regardless of the state; nil without a readable draft.
  package var recurrence: Recurrence? { draft?.recurrence.map { Recurrence($0, from: startAt) } }

  /// Occurrences from `from` until before `to`; none unless it is active.
  ///
  /// - Parameter limit: their greatest number.
  package func occurrences(from: Date, to: Date = .distantFuture, limit: Int) -> [Date] {
    guard state == .active, let nextAt else { return [] }
    return recurrence?.occurrences(from: max(from, nextAt), to: to, limit: limit) ?? []
  }

  static let columns = """
    s.id, s.uid, s.app_id, s.environment, s.draft, s.title, s.body, s.state, s.start_at, s.next_at, s.looked_at, s.sent,
    s.missed, s.error, s.source, s.created_by, s.created_at, s.ended_at
    """
  static let columnCount = 18

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    uid = row.text(1)
    appID = row.int64(2)
    environment = try row.value(3, as: Environment.self)
    draftJSON = row.text(4)
    title = row.optionalText(5)
    body = row.optionalText(6)
    state = try row.value(7, as: ScheduleState.self)
    startAt = row.date(8)
    nextAt = row.optionalDate(9)
    lookedAt = row.optionalDate(10)
    sent = row.int(11)
    missed = row.int(12)
    error = row.optionalText(13)
    source = try row.value(14, as: PushSource.self)
    createdBy = row.text(15)
    createdAt = row.date(16)
    endedAt = row.optionalDate(17)
  }
}

/// A schedule to be stored.
package struct NewSchedule: Sendable {
  package var uid: String
  package var appID: Int64
  /// What is sent each time, with its rule.
  package var draft: PushDraft
  /// For lists and search.
  package var title: String?
  /// For lists and search.
  package var body: String?
  /// Further search terms.
  package var searchTerms: [String] = []
  package var source: PushSource
  package var createdBy: String
  /// It waits for a second person; nil: it is active at once.
  package var approval: NewApproval?

  /// Title, body and search terms, one a line.
  var search: String { ([title, body].compactMap { $0 } + searchTerms).joined(separator: "\n") }

  package init(uid: String, appID: Int64, draft: PushDraft, source: PushSource, createdBy: String) {
    (self.uid, self.appID, self.draft, self.source, self.createdBy) = (uid, appID, draft, source, createdBy)
  }
}

package enum ScheduleState: String, Sendable, CaseIterable {
  /// A second person has to approve it before its first run.
  case needsApproval = "needs_approval"
  case active
  /// Occurrences are left out.
  case paused
  /// The rule has ended, or somebody ended it.
  case ended
}
