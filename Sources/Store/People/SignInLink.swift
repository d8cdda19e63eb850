package import Foundation
internal import OpenSSL
package import SQLite

/// A one-time sign-in link: first start, invitation, password reset. Stored as a hash.
package struct SignInLink: Sendable, Hashable {
  /// Stored as text.
  package enum Purpose: String, Sendable {
    /// Creates the first administrator.
    case firstStart = "first_start"
    /// Sets the first password of a new person.
    case invitation
    case reset
  }

  /// In seconds: a day.
  package static let lifetime: TimeInterval = 86_400

  package let purpose: Purpose
  package let userID: Int64?
  package let expiresAt: Date

  /// Adds a link; older ones of the same purpose and person become invalid.
  package static func add(
    _ database: Database, hash: [UInt8], purpose: Purpose, user: Int64?, lifetime: TimeInterval, now: Date
  ) throws {
    try database.run("DELETE FROM sign_in_links WHERE purpose = ? AND user_id IS ?", purpose.rawValue, user)
    try database.run(
      "INSERT INTO sign_in_links(hash, purpose, user_id, expires_at) VALUES (?, ?, ?, ?)", hash, purpose.rawValue,
      user, now.addingTimeInterval(lifetime))
  }

  /// Adds a link that sets a person's password, valid for a day; only its hash is stored.
  ///
  /// - Returns: its token.
  static func make(_ database: Database, for user: User, now: Date) throws -> String {
    let token = Secret.text()
    try add(
      database, hash: Secret.hash(token), purpose: user.state == .invited ? .invitation : .reset, user: user.id,
      lifetime: lifetime, now: now)
    return token
  }

  /// A valid link, for the page that asks for the password.
  ///
  /// That of the first start stands in the log: it is valid only while nobody could sign in as an administrator.
  package static func find(_ database: Database, hash: [UInt8], now: Date) throws -> SignInLink? {
    let link = try database.fetchOne(
      """
      SELECT purpose, user_id, expires_at FROM sign_in_links WHERE hash = ? AND used_at IS NULL AND expires_at > ?
      """, hash, now
    ) { row in
      SignInLink(
        purpose: try row.value(0, as: Purpose.self), userID: row.optionalInt64(1), expiresAt: row.date(2))
    }
    if link?.purpose == .firstStart, try User.activeCount(database, role: .admin) > 0 { return nil }
    return link
  }

  /// Uses a link.
  ///
  /// - Returns: nil if there is none, it was used before, or it has expired.
  package static func use(_ database: Database, hash: [UInt8], now: Date) throws -> SignInLink? {
    guard let link = try find(database, hash: hash, now: now) else { return nil }
    try database.run("UPDATE sign_in_links SET used_at = ? WHERE hash = ?", now, hash)
    return link
  }

  /// Invalidates all links of a person.
  static func endAll(_ database: Database, user: Int64) throws {
    try database.run("DELETE FROM sign_in_links WHERE user_id = ?", user)
  }
}

/// Random texts that grant access. They are shown once and stored as hashes, so that reading the file grants nothing.
package enum Secret {
  /// A new API token, such as `sbx_…`, whose prefix scanners for leaked secrets can find.
  package static func apiToken() -> String { "sbx_" + Random.token(bytes: 32) }

  /// For a cookie or a link.
  package static func text() -> String { Random.token(bytes: 32) }

  /// The stored form. Plain SHA-256 is enough, because random texts cannot be guessed like passwords.
  package static func hash(_ text: String) -> [UInt8] { Digest.sha256(Array(text.utf8)) }
}
