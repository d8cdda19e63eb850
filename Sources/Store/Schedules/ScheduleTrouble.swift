package import Foundation
internal import Model
package import SQLite

/// A schedule with a problem that needs attention.
package struct ScheduleTrouble: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// `count` missed occurrences within ``keptDays``, the last at `last`.
    case missed(count: Int, last: Date)
    /// Due at `since` without effect: the server cannot write, or does not check.
    case overdue(since: Date)
    /// Stopped automatically, with the reason.
    case stopped(why: String)
  }

  package let schedule: Schedule
  package let kind: Kind

  /// Missed occurrences are reported for at most this many days.
  package static let keptDays = 7
  /// Missed occurrences are reported for at least this many seconds even if a later one succeeded, so that a night's
  /// outage is visible in the morning.
  package static let keptSeconds: TimeInterval = 86_400
  /// Seconds after which a schedule is overdue.
  package static let patience: TimeInterval = 300

  /// Whether a missed occurrence is still reported.
  ///
  /// - Parameters:
  ///   - noted: when it was last found that something was missed.
  ///   - wentWell: whether a later occurrence succeeded.
  ///   - ended: when the schedule ended, by its rule or by a person.
  static func isOpen(noted: Date, wentWell: Bool, ended: Date?, now: Date) -> Bool {
    // No report if a person ended it later. A rule that ends with a missed run ends at that moment and is reported.
    if let ended, ended > noted { return false }
    let age = now.timeIntervalSince(noted)
    return age < (wentWell ? keptSeconds : Double(keptDays) * 86_400)
  }

  /// All problems, most severe first. Fast for any number of schedules and past occurrences.
  package static func all(_ database: Database, now: Date) throws -> [ScheduleTrouble] {
    let stopped = try database.fetchAll(
      """
      SELECT \(Schedule.columns) FROM schedules s INDEXED BY schedules_stopped
      WHERE s.error IS NOT NULL AND s.state = 'paused' ORDER BY s.id
      """
    ) { try Schedule($0) }
    let overdue = try database.fetchAll(
      """
      SELECT \(Schedule.columns) FROM schedules s INDEXED BY schedules_due
      WHERE s.state = 'active' AND s.next_at <= ? ORDER BY s.next_at
      """, now.addingTimeInterval(-patience)
    ) { try Schedule($0) }
    return stopped.map { ScheduleTrouble(schedule: $0, kind: .stopped(why: $0.error ?? "")) }
      + overdue.map { ScheduleTrouble(schedule: $0, kind: .overdue(since: $0.nextAt ?? now)) }
      + (try missed(database, now: now))
  }

  private static let missedQuery = """
    SELECT schedule_id, count(*), max(at), max(noted_at)
    FROM schedule_occurrences INDEXED BY schedule_occurrences_missed
    WHERE push_id IS NULL AND noted_at > ? GROUP BY schedule_id ORDER BY max(noted_at) DESC
    """

  private static func missed(_ database: Database, now: Date) throws -> [ScheduleTrouble] {
    let found = try database.fetchAll(missedQuery, now.addingTimeInterval(-Double(keptDays) * 86_400)) {
      (id: $0.int64(0), count: $0.int(1), last: $0.date(2), noted: $0.date(3))
    }
    return try found.compactMap { row in
      let schedule = try Schedule.get(database, id: row.id)
      guard
        isOpen(
          noted: row.noted, wentWell: try wentWell(database, row.id, after: row.last), ended: schedule.endedAt, now: now
        )
      else { return nil }
      return ScheduleTrouble(schedule: schedule, kind: .missed(count: row.count, last: row.last))
    }
  }

  /// Whether the last occurrence after `date` became a push that was or will be sent.
  private static func wentWell(_ database: Database, _ id: Int64, after date: Date) throws -> Bool {
    let state = try database.fetchOne(
      """
      SELECT p.state FROM schedule_occurrences o JOIN pushes p ON p.id = o.push_id
      WHERE o.schedule_id = ? AND o.at > ? ORDER BY o.at DESC LIMIT 1
      """, id, date
    ) { $0.text(0) }
    return state.map { $0 != PushState.failed.rawValue } ?? false
  }
}
