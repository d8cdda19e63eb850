package import JSON
package import SQLite

/// A schedule made through the API that is compatible with JPush, with what its clients read back.
package struct JPushSchedule: Sendable, Hashable {
  /// JPush's `schedule_id`: a UUID.
  package let uid: String
  package var name: String
  /// As sent, as is ``push``.
  package var trigger: JSONValue
  package var push: JSONValue
  package let schedule: Schedule

  /// The most schedules of an app that have not ended.
  package static let liveLimit = 100

  package init(uid: String, name: String, trigger: JSONValue, push: JSONValue, schedule: Schedule) {
    (self.uid, self.name, self.trigger, self.push, self.schedule) = (uid, name, trigger, push, schedule)
  }

  private static let columns = "\(Schedule.columns), j.uid, j.name, j.trigger, j.push"
  private static let from = "FROM jpush_schedules j JOIN schedules s ON s.id = j.schedule_id"

  private init(_ row: borrowing Row) throws {
    schedule = try Schedule(row)
    let next = Schedule.columnCount
    uid = row.text(next)
    name = row.text(next + 1)
    trigger = try json(row.text(next + 2), "jpush_schedules.trigger") ?? .null
    push = try json(row.text(next + 3), "jpush_schedules.push") ?? .null
  }

  /// Adds or changes the row of ``schedule``.
  package func save(_ database: Database) throws {
    try database.run(
      """
      INSERT INTO jpush_schedules(schedule_id, uid, name, trigger, push) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT(schedule_id) DO UPDATE SET name = excluded.name, trigger = excluded.trigger, push = excluded.push
      """, schedule.id, uid, name, trigger.text(), push.text())
  }

  /// Nil also for one that JPush's clients have removed.
  package static func find(_ database: Database, app: Int64, uid: String) throws -> JPushSchedule? {
    try database.fetchOne(
      "SELECT \(columns) \(from) WHERE j.uid = ? AND s.app_id = ? AND NOT j.is_removed", uid, app
    ) { try JPushSchedule($0) }
  }

  /// What JPush’s clients know, or knew, a schedule by; nil: it is none of theirs.
  package static func names(_ database: Database, schedule: Int64) throws -> (uid: String, name: String)? {
    try database.fetchOne("SELECT uid, name FROM jpush_schedules WHERE schedule_id = ?", schedule) {
      (uid: $0.text(0), name: $0.text(1))
    }
  }

  /// Those of an app that have not ended, oldest first; at most ``liveLimit`` exist.
  package static func live(_ database: Database, app: Int64) throws -> [JPushSchedule] {
    try database.fetchAll(
      "SELECT \(columns) \(from) WHERE s.app_id = ? AND s.state <> 'ended' ORDER BY s.id", app
    ) { try JPushSchedule($0) }
  }

  /// Removes it for JPush's clients; the ended schedule stays in the console's history, and keeps its name there.
  package func remove(_ database: Database) throws {
    try database.run("UPDATE jpush_schedules SET is_removed = 1 WHERE schedule_id = ?", schedule.id)
  }

  /// Row IDs of its pushes, oldest first.
  package func pushes(_ database: Database) throws -> [Int64] {
    try database.fetchAll(
      "SELECT id FROM pushes INDEXED BY pushes_schedule WHERE schedule_id = ? ORDER BY id", schedule.id
    ) { $0.int64(0) }
  }
}
