package import Foundation
package import SQLite

/// The secret address of a person's expiry calendar. Stored as a hash, shown once.
package struct CalendarFeed: Sendable, Hashable {
  /// The person.
  package let userID: Int64
  package let createdAt: Date
  /// When a calendar last read it, accurate to an hour.
  package let readAt: Date?

  private static let columns = "f.user_id, f.created_at, f.read_at"

  private init(_ row: borrowing Row) {
    userID = row.int64(0)
    createdAt = row.date(1)
    readAt = row.optionalDate(2)
  }

  /// Creates a person's address; the previous one becomes invalid.
  package static func make(_ database: Database, user: Int64, hash: [UInt8], now: Date) throws {
    try database.run(
      """
      INSERT INTO calendar_feeds(user_id, hash, created_at) VALUES (?, ?, ?)
      ON CONFLICT(user_id) DO UPDATE SET hash = excluded.hash, created_at = excluded.created_at, read_at = NULL
      """, user, hash, now)
  }

  package static func find(_ database: Database, user: Int64) throws -> CalendarFeed? {
    try database.fetchOne("SELECT \(columns) FROM calendar_feeds f WHERE f.user_id = ?", user) { CalendarFeed($0) }
  }

  /// Nil if there is none, or its person is disabled.
  package static func find(_ database: Database, hash: [UInt8]) throws -> CalendarFeed? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM calendar_feeds f JOIN users u ON u.id = f.user_id
      WHERE f.hash = ? AND u.disabled_at IS NULL
      """, hash
    ) { CalendarFeed($0) }
  }

  /// Records a read, at most once an hour.
  package static func touch(_ database: Database, user: Int64, now: Date) throws {
    try database.run(
      "UPDATE calendar_feeds SET read_at = ? WHERE user_id = ? AND coalesce(read_at, 0) < ?", now, user,
      now.addingTimeInterval(-3600))
  }

  /// Deletes a person's address.
  ///
  /// - Returns: whether it existed.
  @discardableResult
  package static func remove(_ database: Database, user: Int64) throws -> Bool {
    try database.run("DELETE FROM calendar_feeds WHERE user_id = ?", user) > 0
  }
}
