internal import Foundation
internal import Model
internal import SQLite

extension Trim {
  /// Pushes that ended before a time, oldest first. One that waits for a device, or whose repeat is still under way, is
  /// not over: the repeat reads from its deliveries whom it did not reach.
  static let ended = """
    p.finished_at IS NOT NULL AND p.finished_at < ? AND p.waiting = 0
    AND p.state IN ('finished', 'cancelled', 'failed') AND NOT EXISTS (
      SELECT 1 FROM pushes c INDEXED BY pushes_parent WHERE c.parent_id = p.id
      AND (c.waiting > 0 OR c.state NOT IN ('finished', 'cancelled', 'failed')))
    """

  static func deliveries(_ database: Database, _ policy: RetentionPolicy, limit: Int, now: Date) throws -> Step {
    guard let date = before(policy.deliveries, now) else { return Step(isDone: true) }
    let found = try database.fetchAll(
      """
      SELECT p.id FROM pushes p INDEXED BY pushes_details WHERE p.has_details = 1 AND \(ended)
      ORDER BY p.finished_at LIMIT \(pushesOfStep)
      """, date
    ) { $0.int64(0) }
    var step = Step()
    for push in found {
      let removed = try removeDetails(database, push, limit: limit - step.removed, now: now)
      step.removed += removed
      if step.removed >= limit { return step }
    }
    step.isDone = found.count < pushesOfStep
    return step
  }

  private static func removeDetails(_ database: Database, _ push: Int64, limit: Int, now: Date) throws -> Int {
    // Up to a key, not one row after the other: one walk along the table.
    let last = try database.fetchOne(
      "SELECT device_id FROM deliveries WHERE push_id = ? ORDER BY device_id LIMIT 1 OFFSET ?", push, limit - 1
    ) { $0.int64(0) }
    let removed = try database.run(
      "DELETE FROM deliveries WHERE push_id = ? AND device_id <= ?", push, last ?? .max)
    try database.run(
      """
      UPDATE pushes SET has_details = ?1, details_removed = details_removed + ?2,
        details_removed_at = iif(?2 > 0, coalesce(details_removed_at, ?3), details_removed_at)
      WHERE id = ?4
      """, last == nil ? 0 : 1, removed, now, push)
    return removed
  }

  static func pushes(_ database: Database, _ policy: RetentionPolicy, limit: Int, now: Date) throws -> Step {
    guard let date = before(policy.pushes, now) else { return Step(isDone: true) }
    // Each takes some dozens of rows along.
    let most = max(1, min(limit, limit / 20))
    let found = try database.fetchAll(
      """
      SELECT p.id FROM pushes p INDEXED BY pushes_details WHERE p.has_details = 0 AND \(ended)
      ORDER BY p.finished_at LIMIT \(most)
      """, date
    ) { $0.int64(0) }
    for push in found {
      // Its repeats are over, and stand for themselves from now on.
      try database.run("UPDATE pushes SET parent_id = NULL WHERE parent_id = ?", push)
      for table in ["push_targets", "push_reasons", "push_latencies"] {
        try database.run("DELETE FROM \(table) WHERE push_id = ?", push)
      }
      try database.run("DELETE FROM pushes WHERE id = ?", push)
    }
    return Step(removed: found.count, isDone: found.count < most)
  }
}
