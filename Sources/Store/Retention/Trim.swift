package import Foundation
package import SQLite

/// Removes what is older than the policy says, a little at a time.
///
/// Rows go in the order of their keys, so that a step touches few pages. The pages that become free are used by the next
/// rows: the file does not shrink, and does not grow either. It has no `auto_vacuum`, which would move a page for each
/// page that becomes free, and never needs a `VACUUM`, which would stop a server with 100 million rows for minutes.
package enum Trim {
  /// What is removed.
  package enum Kind: String, Sendable, CaseIterable {
    /// What pushes did on each device; the pushes and their counts remain.
    case deliveries
    /// Pushes, their counts and their reasons, after their deliveries.
    case pushes
    /// What the simulator's phones received.
    case phoneNotifications = "phone_notifications"
    /// Failed sign-ins.
    case signInFailures = "sign_in_failures"
    /// Sessions and sign-in links that have ended.
    case sessions
    /// Answers for repeated requests that are kept no longer.
    case idempotency
  }

  /// What a step did.
  package struct Step: Sendable, Hashable {
    /// Rows that are gone.
    package var removed = 0
    /// Whether nothing of the kind is left to remove.
    package var isDone = false
  }

  /// Pushes that one step looks at, at most: those with few deliveries or none.
  static let pushesOfStep = 100

  /// Removes up to `limit` rows of a kind, in one transaction.
  package static func step(
    _ database: Database, _ kind: Kind, _ policy: RetentionPolicy, limit: Int, now: Date
  ) throws -> Step {
    switch kind {
    case .deliveries: try deliveries(database, policy, limit: limit, now: now)
    case .pushes: try pushes(database, policy, limit: limit, now: now)
    case .phoneNotifications:
      try rows(
        database, before(policy.phoneNotifications, now), limit,
        // By number, which rises with time: needs no index. Those among the oldest that are younger stay.
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

  /// What is older than so many days; nil: kept for ever.
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
    // There are never more than a few.
    let links = try database.run("DELETE FROM sign_in_links WHERE expires_at < ?", now)
    let devices = try KnownDevice.deleteOld(database, now: now)
    return Step(removed: sessions.removed + links + devices, isDone: sessions.isDone)
  }
}
