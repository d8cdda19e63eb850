package import Foundation
package import SQLite

/// A link that lets a person in once: the first start, an invitation, a forgotten password. Kept hashed.
package struct SignInLink: Sendable, Hashable {
  /// What it is for. Stored as the text.
  package enum Purpose: String, Sendable {
    /// Makes the first administrator.
    case firstStart = "first_start"
    /// Sets the first password of somebody who was added.
    case invitation
    /// Sets a new password.
    case reset
  }

  /// What it is for.
  package let purpose: Purpose
  /// For whom; nil on the first start.
  package let userID: Int64?
  /// Until when.
  package let expiresAt: Date

  /// Keeps a link; the older ones of the same purpose and person end.
  package static func add(
    _ database: Database, hash: [UInt8], purpose: Purpose, user: Int64?, lifetime: TimeInterval, now: Date
  ) throws {
    try database.run("DELETE FROM sign_in_links WHERE purpose = ? AND user_id IS ?", purpose.rawValue, user)
    try database.run(
      "INSERT INTO sign_in_links(hash, purpose, user_id, expires_at) VALUES (?, ?, ?, ?)", hash, purpose.rawValue,
      user, now.addingTimeInterval(lifetime))
  }

  /// A link that would still work: for the page that asks for the password.
  package static func find(_ database: Database, hash: [UInt8], now: Date) throws -> SignInLink? {
    try database.fetchOne(
      """
      SELECT purpose, user_id, expires_at FROM sign_in_links WHERE hash = ? AND used_at IS NULL AND expires_at > ?
      """, hash, now
    ) { row in
      SignInLink(
        purpose: try row.value(0, as: Purpose.self), userID: row.optionalInt64(1), expiresAt: row.date(2))
    }
  }

  /// Uses a link up.
  ///
  /// - Returns: nil if there is none, it was used before, or it is too old.
  package static func use(_ database: Database, hash: [UInt8], now: Date) throws -> SignInLink? {
    guard let link = try find(database, hash: hash, now: now) else { return nil }
    try database.run("UPDATE sign_in_links SET used_at = ? WHERE hash = ?", now, hash)
    return link
  }

  /// Ends all links of a person.
  static func endAll(_ database: Database, user: Int64) throws {
    try database.run("DELETE FROM sign_in_links WHERE user_id = ?", user)
  }
}
