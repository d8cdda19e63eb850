package import Calendar
package import Foundation
package import Model
package import SQLite

extension Schedule {
  package static func find(_ database: Database, uid: String) throws -> Schedule? {
    try database.fetchOne("SELECT \(columns) FROM schedules s WHERE s.uid = ?", uid) { try Schedule($0) }
  }

  package static func find(_ database: Database, id: Int64) throws -> Schedule? {
    try database.fetchOne("SELECT \(columns) FROM schedules s WHERE s.id = ?", id) { try Schedule($0) }
  }

  package static let noun = "schedule"

  /// A page of matching schedules, newest first; nil: any.
  ///
  /// - Parameter jpushID: the `schedule_id` of JPush's clients.
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func list(
    _ database: Database, app: Int64? = nil, state: ScheduleState? = nil, jpushID: String? = nil,
    cursor: String? = nil, limit: Int
  ) throws -> Page<Schedule> {
    var conditions = ["s.id < ?"]
    var arguments: [any SQLiteBindable] = [try position(cursor) ?? .max]
    if let app {
      conditions.append("s.app_id = ?")
      arguments.append(app)
    }
    if let state {
      conditions.append("s.state = ?")
      arguments.append(state.rawValue)
    }
    if let jpushID {
      conditions.append("s.id IN (SELECT schedule_id FROM jpush_schedules WHERE uid = lower(?))")
      arguments.append(jpushID)
    }
    let found = try database.fetchAll(
      "SELECT \(columns) FROM schedules s WHERE \(conditions.joined(separator: " AND ")) ORDER BY s.id DESC LIMIT ?",
      arguments: arguments + [limit + 1]
    ) { try Schedule($0) }
    return Page(found, limit: limit, key: \.id)
  }

  /// Schedules of any app with a text in their push or in the name that JPush’s clients gave them, or with this ID, newest
  /// first.
  package static func search(_ database: Database, _ text: String, limit: Int) throws -> [Schedule] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM schedules s
      WHERE s.uid = ?2 OR s.search LIKE ?1 ESCAPE '\\' OR s.id IN (
        SELECT schedule_id FROM jpush_schedules WHERE uid = lower(?2) OR name LIKE ?1 ESCAPE '\\'
      )
      ORDER BY s.id DESC LIMIT ?3
      """, anywhere(text), text, limit
    ) { try Schedule($0) }
  }

  /// Active schedules, the next first, for forecasts.
  package static func active(
    _ database: Database, app: Int64? = nil, environment: Environment? = nil
  ) throws -> [Schedule] {
    // The planner recognises the index's condition by its text.
    try database.fetchAll(
      """
      SELECT \(columns) FROM schedules s INDEXED BY schedules_due
      WHERE s.state = 'active' AND s.next_at > 0 AND (?1 IS NULL OR s.app_id = ?1)
        AND (?2 IS NULL OR s.environment = ?2)
      ORDER BY s.next_at
      """, app, environment?.rawValue
    ) { try Schedule($0) }
  }

  /// Row IDs of due schedules, and of those last checked in the future, because the clock was wrong. Fast for any
  /// number of schedules.
  package static func due(_ database: Database, now: Date) throws -> [Int64] {
    try database.fetchAll(
      """
      SELECT id FROM schedules INDEXED BY schedules_due WHERE state = 'active' AND next_at <= ?1
      UNION SELECT id FROM schedules INDEXED BY schedules_looked WHERE state = 'active' AND looked_at > ?2
      """, now, now.addingTimeInterval(clockSlack)
    ) { $0.int64(0) }
  }

  /// Smaller changes of the clock are harmless.
  static let clockSlack: TimeInterval = 60

  /// The schedule's last push; nil: none yet.
  package static func lastPush(_ database: Database, id: Int64) throws -> Push? {
    try database.fetchOne(
      "SELECT max(id) FROM pushes INDEXED BY pushes_schedule WHERE schedule_id = ?", id
    ) { $0.optionalInt64(0) }?.flatMap { try Push.find(database, id: $0) }
  }

  /// One past occurrence.
  package struct Occurrence: Sendable, Hashable {
    /// The planned time.
    package let at: Date
    /// The server came too late, and created no push.
    package let isMissed: Bool
    /// Nil: missed, or deleted since.
    package let push: Push?
    /// When it was created, or found to be missed.
    package let notedAt: Date
  }

  /// How many past occurrences are recorded.
  package static func historyCount(_ database: Database, id: Int64) throws -> Int {
    try database.int("SELECT count(*) FROM schedule_occurrences WHERE schedule_id = ?", id)
  }

  /// A page of a schedule's past occurrences, latest first.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  package static func history(
    _ database: Database, id: Int64, cursor: String? = nil, limit: Int
  ) throws -> Page<Occurrence> {
    let found = try database.fetchAll(
      """
      SELECT at, push_id, noted_at FROM schedule_occurrences WHERE schedule_id = ? AND at < ? ORDER BY at DESC LIMIT ?
      """, id, try position(cursor) ?? .max, limit + 1
    ) { (at: $0.date(0), push: $0.optionalInt64(1), noted: $0.date(2)) }
    let occurrences = try found.map { row in
      Occurrence(
        at: row.at, isMissed: row.push == nil, push: try row.push.flatMap { try Push.find(database, id: $0) },
        notedAt: row.noted)
    }
    return Page(occurrences, limit: limit) { $0.at.milliseconds }
  }
}

/// An active schedule.
package struct PlannedSchedule: Sendable, Hashable {
  package let uid: String
  package let title: String?
  package let appID: Int64
  package let bundleID: String
  package let environment: Environment
  package let platforms: [Platform]
  /// The next occurrence; nothing happens before.
  package let nextAt: Date
  package let recurrence: Recurrence

  /// All active ones, the next first; without those that this version cannot read.
  package static func all(_ database: Database, app: Int64? = nil) throws -> [PlannedSchedule] {
    let schedules = try Schedule.active(database, app: app)
    guard !schedules.isEmpty else { return [] }
    let apps = try App.bundleIDs(database)
    return schedules.compactMap { schedule in
      guard let nextAt = schedule.nextAt, let draft = schedule.draft, let rule = draft.recurrence else { return nil }
      return PlannedSchedule(
        uid: schedule.uid, title: schedule.title ?? schedule.body, appID: schedule.appID,
        bundleID: apps[schedule.appID] ?? draft.app, environment: schedule.environment,
        platforms: Platform.allCases.filter(draft.platforms.contains), nextAt: nextAt,
        recurrence: Recurrence(rule, from: schedule.startAt))
    }
  }

  /// The first occurrence at or after a moment; nil if it has ended.
  package func first(from date: Date) -> Date? { recurrence.first(from: max(date, nextAt)) }

  /// The number of occurrences from `from` until before `to`, calculated without a walk.
  package func count(from: Date, to: Date) -> Int { recurrence.count(from: max(from, nextAt), to: to) }
}
