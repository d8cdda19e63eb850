package import Foundation
internal import Model
package import SQLite

/// Removes what exceeds the retention times, in small steps.
///
/// Rows are removed in key order, so that a step touches few pages. Freed pages are reused: the file neither shrinks
/// nor grows. No `auto_vacuum`, which would move a page for each freed one, and no `VACUUM`, which would stop a server
/// with 100 million rows for minutes.
package enum Trim {
  package enum Kind: String, Sendable, CaseIterable {
    /// Deliveries; the pushes and their counts remain.
    case deliveries
    /// Pushes with counts and reasons, after their deliveries.
    case pushes
    /// Notifications of simulated phones.
    case phoneNotifications = "phone_notifications"
    case signInFailures = "sign_in_failures"
    /// Ended sessions and sign-in links.
    case sessions
    /// Expired idempotent answers.
    case idempotency
  }

  package struct Step: Sendable, Hashable {
    /// Removed rows.
    package var removed = 0
    /// Whether nothing of the kind is left to remove.
    package var isDone = false
  }

  /// The most pushes per step, for those with few or no deliveries.
  static let pushesOfStep = 100

  /// Removes up to `limit` rows of a kind in one transaction.
  package static func step(
    _ database: Database, _ kind: Kind, _ policy: RetentionPolicy, limit: Int, now: Date
  ) throws -> Step {
    switch kind {
    case .deliveries: try deliveries(database, policy, limit: limit, now: now)
    case .pushes: try pushes(database, policy, limit: limit, now: now)
    case .phoneNotifications:
      try rows(
        database, before(policy.phoneNotifications, now), limit,
        // In ID order, which follows time, without an index. Younger rows among the oldest stay.
        """
        DELETE FROM phone_notifications WHERE id IN (
          SELECT id FROM (SELECT id, at FROM phone_notifications ORDER BY id LIMIT ?2) WHERE at < ?1)
        """)
    case .signInFailures:
      try rows(
        database, before(policy.signInFailures, now), limit,
        """
        DELETE FROM sign_in_failures WHERE subject IN (
          SELECT subject FROM sign_in_failures INDEXED BY sign_in_failures_last WHERE last_at < ?1 LIMIT ?2)
        """)
    case .sessions: try sessions(database, limit: limit, now: now)
    case .idempotency:
      try rows(
        database, now, limit,
        """
        DELETE FROM idempotency WHERE (actor, key) IN (
          SELECT actor, key FROM idempotency INDEXED BY idempotency_expires WHERE expires_at < ?1 LIMIT ?2)
        """)
    }
  }

  /// Nil: kept forever.
  static func before(_ days: Int, _ now: Date) -> Date? {
    days == 0 ? nil : now.addingTimeInterval(-Double(days) * 86_400)
  }

  private static func rows(_ database: Database, _ date: Date?, _ limit: Int, _ sql: String) throws -> Step {
    guard let date else { return Step(isDone: true) }
    let removed = try database.run(sql, date, limit)
    return Step(removed: removed, isDone: removed < limit)
  }

  private static func sessions(_ database: Database, limit: Int, now: Date) throws -> Step {
    let sessions = try rows(
      database, now, limit,
      """
      DELETE FROM sessions WHERE id_hash IN (
        SELECT id_hash FROM sessions INDEXED BY sessions_expires WHERE expires_at < ?1 LIMIT ?2)
      """)
    // There are only a few.
    let links = try database.run("DELETE FROM sign_in_links WHERE expires_at < ?", now)
    let devices = try KnownDevice.deleteOld(database, now: now)
    return Step(removed: sessions.removed + links + devices, isDone: sessions.isDone)
  }
}

extension Trim {
  /// What would be removed, and from how many pushes.
  package struct Due: Sendable, Hashable {
    /// Rows of each kind; empty kinds are omitted.
    package var rows: [Kind: Int] = [:]
    /// Pushes whose deliveries would be removed.
    package var pushesWithDetails = 0

    package subscript(kind: Kind) -> Int { rows[kind] ?? 0 }
  }

  /// What a policy would remove now. Deliveries are taken from the old pushes' counters, not counted; the cost is one
  /// row of `pushes` each. Give the read a limit.
  package static func due(_ database: Database, _ policy: RetentionPolicy, now: Date) throws -> Due {
    var due = Due()
    func set(_ kind: Kind, _ count: Int) { if count > 0 { due.rows[kind] = count } }
    if let date = before(policy.deliveries, now) {
      let found = try database.fetchOne(
        """
        SELECT count(*), coalesce(sum(max(0, accepted + failed + dead_token + skipped + unknown - details_removed)), 0)
        FROM pushes p INDEXED BY pushes_details WHERE p.has_details = 1 AND \(ended)
        AND accepted + failed + dead_token + skipped + unknown > 0
        """, date
      ) { ($0.int(0), $0.int(1)) }
      due.pushesWithDetails = found?.0 ?? 0
      set(.deliveries, found?.1 ?? 0)
    }
    func count(_ kind: Kind, _ date: Date?, _ query: String) throws {
      guard let date else { return }
      set(kind, try database.fetchOne("SELECT count(*) FROM \(query)", date) { $0.int(0) } ?? 0)
    }
    try count(
      .pushes, before(policy.pushes, now),
      "pushes p INDEXED BY pushes_details WHERE p.has_details IN (0, 1) AND \(ended)")
    try count(.phoneNotifications, before(policy.phoneNotifications, now), "phone_notifications WHERE at < ?")
    try count(.signInFailures, before(policy.signInFailures, now), "sign_in_failures WHERE last_at < ?")
    try count(.sessions, now, "sessions WHERE expires_at < ?")
    try count(.idempotency, now, "idempotency WHERE expires_at < ?")
    return due
  }
}

extension Trim {
  /// Pushes that ended before a time, oldest first. Not those with waiting devices or a retry in progress, which reads
  /// the deliveries.
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
    // Up to a key, in one walk along the table.
    let last = try database.fetchOne(
      "SELECT device_id FROM deliveries WHERE push_id = ? ORDER BY device_id LIMIT 1 OFFSET ?", push, limit - 1
    ) { $0.int64(0) }
    let removed = try database.run(
      "DELETE FROM deliveries WHERE push_id = ? AND device_id <= ?", push, last ?? .max)
    // At most one for each delivery, so that the step stays small.
    try database.run("DELETE FROM receipts WHERE push_id = ? AND device_id <= ?", push, last ?? .max)
    for table in ["message_names", "delivery_answers"] {
      try database.run("DELETE FROM \(table) WHERE push_id = ? AND device_id <= ?", push, last ?? .max)
    }
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
    // Each push deletes some dozens of rows.
    let most = max(1, min(limit, limit / 20))
    let found = try database.fetchAll(
      """
      SELECT p.id FROM pushes p INDEXED BY pushes_details WHERE p.has_details = 0 AND \(ended)
      ORDER BY p.finished_at LIMIT \(most)
      """, date
    ) { $0.int64(0) }
    for push in found { try removeCounts(database, push) }
    let uses = try AudienceUse.trim(database, before: date, limit: limit)
    return Step(removed: found.count, isDone: found.count < most && uses < limit)
  }

  /// Removes a push without deliveries.
  private static func removeCounts(_ database: Database, _ push: Int64) throws {
    // Its retries have ended, and become independent.
    try database.run("UPDATE pushes SET parent_id = NULL WHERE parent_id = ?", push)
    for table in [
      "push_targets", "push_reasons", "push_latencies", "receipts", "receipt_counters", "jpush_messages",
      "incident_pushes", "message_names", "delivery_answers",
    ] {
      try database.run("DELETE FROM \(table) WHERE push_id = ?", push)
    }
    try database.run("DELETE FROM pushes WHERE id = ?", push)
  }

  /// Whether a push, its outcomes and its retries have ended, so that it can be removed before its time.
  package static func mayRemove(_ database: Database, push id: Int64) throws -> Bool {
    let sql = "SELECT count(*) FROM pushes p WHERE \(ended) AND p.id = ? AND p.settling = 0"
    return try database.int(sql, Int64.max, id) == 1
  }

  /// Removes a push before its time: up to `limit` of its deliveries, and after the last of them the push.
  ///
  /// - Returns: nil if it may not be removed, or is not there.
  package static func remove(_ database: Database, push id: Int64, limit: Int, now: Date) throws -> Step? {
    guard try mayRemove(database, push: id) else { return nil }
    if try database.int("SELECT has_details FROM pushes WHERE id = ?", id) != 0 {
      return Step(removed: try removeDetails(database, id, limit: limit, now: now))
    }
    try removeCounts(database, id)
    return Step(removed: 1, isDone: true)
  }
}
