package import Foundation
package import Model
package import SQLite

extension Push {
  /// One push by its public id, nil if there is none.
  package static func find(_ database: Database, uid: String) throws -> Push? {
    try database.fetchOne("SELECT \(columns) FROM pushes p WHERE p.uid = ?", uid) { try Push($0) }
  }

  /// One push, nil if there is none.
  package static func find(_ database: Database, id: Int64) throws -> Push? {
    try database.fetchOne("SELECT \(columns) FROM pushes p WHERE p.id = ?", id) { try Push($0) }
  }

  /// One push.
  ///
  /// - Throws: `StoreError.notFound`.
  package static func get(_ database: Database, id: Int64) throws -> Push {
    guard let push = try find(database, id: id) else { throw StoreError.notFound(noun: "push", id: "\(id)") }
    return push
  }

  /// Those that still have to be sent, oldest first: what is taken up at start.
  package static func unfinished(_ database: Database) throws -> [Push] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM pushes p INDEXED BY pushes_unfinished WHERE p.state IN ('queued', 'sending') ORDER BY p.id
      """
    ) { try Push($0) }
  }

  /// Row ids of those that wait and whose time has come, oldest first. Quick whatever the number of pushes.
  package static func due(_ database: Database, now: Date) throws -> [Int64] {
    // The first condition is the index's own; the planner knows it by its text.
    try database.fetchAll(
      """
      SELECT p.id FROM pushes p INDEXED BY pushes_unfinished
      WHERE p.state IN ('queued', 'sending') AND p.state = 'queued' AND (p.send_at IS NULL OR p.send_at <= ?1)
        AND (p.hold_until IS NULL OR p.hold_until <= ?1 OR p.hold_until > ?2)
      ORDER BY p.id
      """, now, now.addingTimeInterval(longestHold)
    ) { $0.int64(0) }
  }

  /// How many devices of each platform it is for.
  package static func targets(_ database: Database, id: Int64) throws -> [Platform: Int] {
    var targets: [Platform: Int] = [:]
    try database.forEach("SELECT platform, count FROM push_targets WHERE push_id = ?", id) { row in
      targets[try Platform(code: row.int(0))] = row.int(1)
      return .continue
    }
    return targets
  }

  /// What came of all pushes asked for in a stretch of time.
  package struct Sum: Sendable, Hashable {
    /// When the stretch begins.
    package let from: Date
    /// How many pushes were asked for.
    package let pushes: Int
    /// How many devices have which outcome.
    package let counts: OutcomeCounts
  }

  /// Sums over stretches of time, oldest first: what the 30-day chart shows. Stretches without a push are left out.
  ///
  /// - Parameters:
  ///   - from: where the first stretch begins, as midnight in the viewer's zone.
  ///   - length: of a stretch, in seconds.
  package static func sums(
    _ database: Database, app: Int64? = nil, from: Date, before: Date, length: Int = 86_400
  ) throws -> [Sum] {
    try database.fetchAll(
      """
      SELECT (created_at - ?1) / ?2 AS stretch, count(*), sum(accepted), sum(failed), sum(dead_token), sum(skipped),
        sum(unknown)
      FROM pushes INDEXED BY pushes_created
      WHERE created_at >= ?1 AND created_at < ?3 AND (?4 IS NULL OR app_id = ?4) GROUP BY stretch ORDER BY stretch
      """, from, length * 1000, before, app
    ) { row in
      Sum(
        from: from.addingTimeInterval(Double(row.int(0) * length)), pushes: row.int(1),
        counts: OutcomeCounts(
          accepted: row.int(2), failed: row.int(3), deadToken: row.int(4), skipped: row.int(5), unknown: row.int(6)))
    }
  }
}
