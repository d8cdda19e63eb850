package import Foundation
package import SQLite

/// A browser in which a person has signed in before, known by a cookie of its own. It lets nobody in: its wrong passwords
/// are counted apart from those of strangers, so that strangers cannot lock a person out. Kept hashed.
package enum KnownDevice {
  /// A browser that nobody signs in with for so many seconds is a stranger again: 180 days.
  package static let lifetime: TimeInterval = 180 * 86_400
  /// A person has so many at most; the one that was used least recently gives way.
  static let limit = 20

  /// Whether a person has signed in with this browser.
  package static func isKnown(_ database: Database, hash: [UInt8], user: Int64, now: Date) throws -> Bool {
    try database.int(
      "SELECT count(*) FROM known_devices WHERE hash = ? AND user_id = ? AND seen_at > ?", hash, user,
      now.addingTimeInterval(-lifetime)) > 0
  }

  /// Notes a sign-in. The browser gets a new cookie each time: one that was planted in it is worth nothing afterwards.
  ///
  /// - Parameter former: of its cookie before; whoever else signs in with this browser stays known with the new one.
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

  /// Clears away those that are strangers again.
  ///
  /// - Returns: how many.
  @discardableResult
  static func deleteOld(_ database: Database, now: Date) throws -> Int {
    try database.run("DELETE FROM known_devices WHERE seen_at <= ?", now.addingTimeInterval(-lifetime))
  }
}
