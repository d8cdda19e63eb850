package import Foundation
package import SQLite

/// A browser in which a person has signed in before, recognised by its own cookie. It grants no access: its failed
/// attempts are counted separately, so that strangers cannot lock a person out. Stored as a hash.
package enum KnownDevice {
  /// Unused for 180 days, in seconds, a browser is no longer known.
  package static let lifetime: TimeInterval = 180 * 86_400
  /// The most per person; the least recently used is dropped.
  static let limit = 20

  /// Whether a person has signed in with this browser.
  package static func isKnown(_ database: Database, hash: [UInt8], user: Int64, now: Date) throws -> Bool {
    try database.int(
      "SELECT count(*) FROM known_devices WHERE hash = ? AND user_id = ? AND seen_at > ?", hash, user,
      now.addingTimeInterval(-lifetime)) > 0
  }

  /// Records a sign-in. The browser gets a new cookie each time, so that a planted one becomes worthless.
  ///
  /// - Parameter former: of its previous cookie; other people who use this browser stay known with the new one.
  package static func note(_ database: Database, hash: [UInt8], former: [UInt8]?, user: Int64, now: Date) throws {
    if let former { try database.run("UPDATE known_devices SET hash = ? WHERE hash = ?", hash, former) }
    try database.run(
      """
      INSERT INTO known_devices(hash, user_id, seen_at) VALUES (?, ?, ?)
      ON CONFLICT(hash, user_id) DO UPDATE SET seen_at = excluded.seen_at
      """, hash, user, now)
    try database.run(
      """
      DELETE FROM known_devices WHERE user_id = ?1 AND hash IN (
        SELECT hash FROM known_devices WHERE user_id = ?1 ORDER BY seen_at DESC, hash LIMIT -1 OFFSET ?2)
      """, user, limit)
  }

  /// Deletes browsers that are no longer known.
  ///
  /// - Returns: how many.
  @discardableResult
  static func deleteOld(_ database: Database, now: Date) throws -> Int {
    try database.run("DELETE FROM known_devices WHERE seen_at <= ?", now.addingTimeInterval(-lifetime))
  }
}
