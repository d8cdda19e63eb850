package import Calendar
package import Foundation
import JSON
package import Model
internal import SQLite

/// A push that repeats. Each occurrence becomes an ordinary push with the source `schedule`.
package struct Schedule: Sendable, Hashable, Identifiable {
  /// Row id.
  package let id: Int64
  /// Public id.
  package let uid: String
  /// The app.
  package let appID: Int64
  /// The environment.
  package let environment: Environment
  /// The API's own JSON of the draft, with its rule.
  package let draftJSON: String
  /// For lists.
  package let title: String?
  /// For lists.
  package let body: String?
  /// Where it is in its life.
  package let state: ScheduleState
  /// Nothing happens before.
  package let startAt: Date
  /// When it is next sent; nil if it is not active.
  package let nextAt: Date?
  /// When it was last carried on; nil: not yet.
  package let lookedAt: Date?
  /// Occurrences that became a push.
  package let sent: Int
  /// Occurrences that the server came too late for.
  package let missed: Int
  /// Why it was stopped by itself.
  package let error: String?
  /// As `web`, `api`, `cli`.
  package let source: String
  /// Who asked for it.
  package let createdBy: String
  /// When it was asked for.
  package let createdAt: Date
  /// When it ended.
  package let endedAt: Date?

  /// What is sent each time; nil if another version wrote what this one cannot read.
  package var draft: PushDraft? {
    guard let json = try? JSONValue(parsing: Data(draftJSON.utf8)) else { return nil }  // said by whoever needs it
    return try? PushDraft(json: json)  // as above
  }

  /// When it happens, its state aside; nil without a draft that can be read.
  package var recurrence: Recurrence? { draft?.recurrence.map { Recurrence($0, from: startAt) } }

  /// When it will be sent from now on, from `from` on and before `to`; none unless it is active.
  ///
  /// - Parameter limit: how many at most.
  package func occurrences(from: Date, to: Date = .distantFuture, limit: Int) -> [Date] {
    guard state == .active, let nextAt else { return [] }
    return recurrence?.occurrences(from: max(from, nextAt), to: to, limit: limit) ?? []
  }

  static let columns = """
    s.id, s.uid, s.app_id, s.environment, s.draft, s.title, s.body, s.state, s.start_at, s.next_at, s.looked_at, s.sent,
    s.missed, s.error, s.source, s.created_by, s.created_at, s.ended_at
    """

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
    source = row.text(14)
    createdBy = row.text(15)
    createdAt = row.date(16)
    endedAt = row.optionalDate(17)
  }
}
