package import Foundation
package import SQLite

/// A bearer token of the API. Kept hashed, shown once.
package struct APIToken: Sendable, Hashable, Identifiable {
  /// Row id.
  package let id: Int64
  /// What people call it.
  package let name: String
  /// What it may do.
  package let scopes: [String]
  /// Whose it is; nil: the installation's.
  package let userID: Int64?
  /// When made.
  package let createdAt: Date
  /// When last used, to the minute or so.
  package let lastUsedAt: Date?
  /// Until when; nil: for ever.
  package let expiresAt: Date?
  /// Since when it is refused.
  package let revokedAt: Date?

  static let columns = "id, name, scopes, user_id, created_at, last_used_at, expires_at, revoked_at"

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    name = row.text(1)
    scopes = try texts(row.text(2), "tokens.scopes")
    userID = row.optionalInt64(3)
    createdAt = row.date(4)
    lastUsedAt = row.optionalDate(5)
    expiresAt = row.optionalDate(6)
    revokedAt = row.optionalDate(7)
  }

  /// Keeps a token.
  @discardableResult
  package static func add(
    _ database: Database, name: String, hash: [UInt8], scopes: [String], user: Int64?, expiresAt: Date? = nil,
    now: Date
  ) throws -> APIToken {
    try database.run(
      "INSERT INTO tokens(name, hash, scopes, user_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)", name, hash,
      text(scopes), user, now, expiresAt)
    let id = database.lastInsertedID
    guard let token = try find(database, id: id) else { throw StoreError.notFound(noun: "token", id: "\(id)") }
    return token
  }

  /// All tokens, newest first.
  package static func all(_ database: Database) throws -> [APIToken] {
    try database.fetchAll("SELECT \(columns) FROM tokens ORDER BY id DESC") { try APIToken($0) }
  }

  /// One token, nil if there is none.
  package static func find(_ database: Database, id: Int64) throws -> APIToken? {
    try database.fetchOne("SELECT \(columns) FROM tokens WHERE id = ?", id) { try APIToken($0) }
  }

  /// The token with this hash, nil if there is none that is good now.
  package static func find(_ database: Database, hash: [UInt8], now: Date) throws -> APIToken? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM tokens WHERE hash = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
      """, hash, now
    ) { try APIToken($0) }
  }

  /// Whether a token that was found once, and has not changed since, would be found now.
  func isGood(now: Date) -> Bool { expiresAt.map { $0.milliseconds > now.milliseconds } ?? true }

  /// Whether it is still good.
  package static func isGood(_ database: Database, id: Int64, now: Date) throws -> Bool {
    try database.int(
      """
      SELECT count(*) FROM tokens WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
      """, id, now) > 0
  }

  /// Notes that it was used, at most once in a minute.
  package static func touch(_ database: Database, id: Int64, now: Date) throws {
    try database.run(
      "UPDATE tokens SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?", now, id,
      now.addingTimeInterval(-60))
  }

  /// Refuses it from now on.
  ///
  /// - Returns: whether it was good until now.
  @discardableResult
  package static func revoke(_ database: Database, id: Int64, now: Date) throws -> Bool {
    try database.run("UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", now, id) == 1
  }
}
