package import Foundation
package import SQLite

/// A bearer token of the API. Stored as a hash, shown once.
package struct APIToken: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let name: String
  package let scopes: [String]
  /// The owner; nil: the installation.
  package let userID: Int64?
  package let createdAt: Date
  /// Accurate to a minute.
  package let lastUsedAt: Date?
  /// Nil: no end.
  package let expiresAt: Date?
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

  package static func all(_ database: Database) throws -> [APIToken] {
    try database.fetchAll("SELECT \(columns) FROM tokens ORDER BY id DESC") { try APIToken($0) }
  }

  package static func find(_ database: Database, id: Int64) throws -> APIToken? {
    try database.fetchOne("SELECT \(columns) FROM tokens WHERE id = ?", id) { try APIToken($0) }
  }

  /// The valid token with this hash, nil if there is none.
  package static func find(_ database: Database, hash: [UInt8], now: Date) throws -> APIToken? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM tokens WHERE hash = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
      """, hash, now
    ) { try APIToken($0) }
  }

  /// Whether a token found before, and unchanged since, is still valid.
  func isGood(now: Date) -> Bool { expiresAt.map { $0.milliseconds > now.milliseconds } ?? true }

  package static func isGood(_ database: Database, id: Int64, now: Date) throws -> Bool {
    try database.int(
      """
      SELECT count(*) FROM tokens WHERE id = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
      """, id, now) > 0
  }

  /// Records its use, at most once a minute.
  package static func touch(_ database: Database, id: Int64, now: Date) throws {
    try database.run(
      "UPDATE tokens SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?", now, id,
      now.addingTimeInterval(-60))
  }

  /// Revokes it.
  ///
  /// - Returns: whether it was valid until now.
  @discardableResult
  package static func revoke(_ database: Database, id: Int64, now: Date) throws -> Bool {
    try database.run("UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", now, id) == 1
  }
}
