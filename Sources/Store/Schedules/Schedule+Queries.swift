package import Foundation
package import Model
package import SQLite

extension Schedule {
  /// One schedule by its public id, nil if there is none.
  package static func find(_ database: Database, uid: String) throws -> Schedule? {
    try database.fetchOne("SELECT \(columns) FROM schedules s WHERE s.uid = ?", uid) { try Schedule($0) }
  }

  /// One schedule, nil if there is none.
  package static func find(_ database: Database, id: Int64) throws -> Schedule? {
    try database.fetchOne("SELECT \(columns) FROM schedules s WHERE s.id = ?", id) { try Schedule($0) }
  }

  /// One schedule.
  ///
  /// - Throws: `StoreError.notFound`.
  package static func get(_ database: Database, id: Int64) throws -> Schedule {
    guard let schedule = try find(database, id: id) else {
      throw StoreError.notFound(noun: "schedule", id: "\(id)")
    }
    return schedule
  }

  /// A page of the schedules that fit, newest first; nil: not narrowed down by this.
  ///
  /// - Parameter cursor: `next` of the page before; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func list(
    _ database: Database, app: Int64? = nil, state: ScheduleState? = nil, cursor: String? = nil, limit: Int
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
    let found = try database.fetchAll(
      "SELECT \(columns) FROM schedules s WHERE \(conditions.joined(separator: " AND ")) ORDER BY s.id DESC LIMIT ?",
      arguments: arguments + [limit + 1]
    ) { try Schedule($0) }
    return Page(found, limit: limit, key: \.id)
  }

  /// Those that go on by themselves, the next to be sent first: what a forecast asks.
  package static func active(
    _ database: Database, app: Int64? = nil, environment: Environment? = nil
  ) throws -> [Schedule] {
    // The index's own condition, by its text.
    try database.fetchAll(
      """
      SELECT \(columns) FROM schedules s INDEXED BY schedules_due
      WHERE s.state = 'active' AND s.next_at > 0 AND (?1 IS NULL OR s.app_id = ?1)
        AND (?2 IS NULL OR s.environment = ?2)
      ORDER BY s.next_at
      """, app, environment?.rawValue
    ) { try Schedule($0) }
  }

  /// Row ids of those whose time has come, and of those that were last carried on in the future: the clock went wrong,
  /// and was set right. Quick whatever the number of schedules.
  package static func due(_ database: Database, now: Date) throws -> [Int64] {
    try database.fetchAll(
      """
      SELECT id FROM schedules INDEXED BY schedules_due WHERE state = 'active' AND next_at <= ?1
      UNION SELECT id FROM schedules INDEXED BY schedules_looked WHERE state = 'active' AND looked_at > ?2
      """, now, now.addingTimeInterval(clockSlack)
    ) { $0.int64(0) }
  }

  /// Clocks that are set back by less than this have done no harm.
  static let clockSlack: TimeInterval = 60

  /// The last push that was made of a schedule; nil: none yet.
  package static func lastPush(_ database: Database, id: Int64) throws -> Push? {
    try database.fetchOne(
      "SELECT max(id) FROM pushes INDEXED BY pushes_schedule WHERE schedule_id = ?", id
    ) { $0.optionalInt64(0) }?.flatMap { try Push.find(database, id: $0) }
  }

  /// What became of one occurrence.
  package struct Occurrence: Sendable, Hashable {
    /// When it was to be.
    package let at: Date
    /// Its push; nil: missed, the server came too late.
    package let push: Push?
    /// When it was made, or found to be missed.
    package let notedAt: Date
  }

  /// A page of what became of a schedule's occurrences, latest first.
  ///
  /// - Parameter cursor: `next` of the page before; nil: the first page.
  package static func history(
    _ database: Database, id: Int64, cursor: String? = nil, limit: Int
  ) throws -> Page<Occurrence> {
    let found = try database.fetchAll(
      """
      SELECT at, push_id, noted_at FROM schedule_occurrences WHERE schedule_id = ? AND at < ? ORDER BY at DESC LIMIT ?
      """, id, try position(cursor) ?? .max, limit + 1
    ) { (at: $0.date(0), push: $0.optionalInt64(1), noted: $0.date(2)) }
    let occurrences = try found.map { row in
      Occurrence(at: row.at, push: try row.push.flatMap { try Push.find(database, id: $0) }, notedAt: row.noted)
    }
    return Page(occurrences, limit: limit) { $0.at.milliseconds }
  }
}
