package import Foundation
package import SQLite

extension Trim {
  /// What would be removed, and from how many pushes.
  package struct Due: Sendable, Hashable {
    /// Rows of each kind; kinds without any are left out.
    package var rows: [Kind: Int] = [:]
    /// Pushes whose deliveries would be removed.
    package var pushesWithDetails = 0

    /// Whether nothing would be.
    package var isEmpty: Bool { rows.isEmpty }

    /// What would be removed of a kind.
    package subscript(kind: Kind) -> Int { rows[kind] ?? 0 }
  }

  /// What a policy would remove now. Deliveries are read from the counts of the pushes that are older than their time,
  /// never counted; the longest part is a row of `pushes` for each. Give the read a limit.
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
