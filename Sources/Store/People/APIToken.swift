package import Foundation
import JSON
package import Model
package import SQLite

/// A bearer token of the API. Stored as a hash, shown once.
package struct APIToken: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let name: String
  /// What it may do, as stored: scopes, or a role, which earlier versions gave.
  package let words: [String]
  /// The role that was given instead of scopes; nil: it has scopes.
  package let role: User.Role?
  /// What it may do if it has no role.
  package let scopes: Set<TokenScope>
  /// The IDs of the apps that it sees and touches; nil: all.
  package let apps: Set<Int64>?
  /// The ranges of addresses (CIDR) that it may be used from; empty: any.
  package let addresses: [String]
  /// The owner; nil: the installation.
  package let userID: Int64?
  /// The owner's role now: the token allows no more than it.
  package let ownerRole: User.Role?
  package let createdAt: Date
  /// Accurate to a minute.
  package let lastUsedAt: Date?
  /// Nil: no end.
  package let expiresAt: Date?
  package let revokedAt: Date?

  static let columns = """
    id, name, scopes, user_id, created_at, last_used_at, expires_at, revoked_at, apps, addresses,
    (SELECT role FROM users WHERE users.id = tokens.user_id)
    """

  /// How long a token lives if nothing else is said, in days.
  package static let usualDays = 90

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    name = row.text(1)
    words = try texts(row.text(2), "tokens.scopes")
    role = words.compactMap(User.Role.init).max()
    scopes = Set(words.compactMap(TokenScope.init))
    userID = row.optionalInt64(3)
    createdAt = row.date(4)
    lastUsedAt = row.optionalDate(5)
    expiresAt = row.optionalDate(6)
    revokedAt = row.optionalDate(7)
    apps = try json(row.optionalText(8), "tokens.apps")?.array.map { Set($0.compactMap(\.integer)) }
    addresses = try texts(row.text(9), "tokens.addresses")
    ownerRole = try row.optionalText(10) == nil ? nil : row.value(10, as: User.Role.self)
  }

  @discardableResult
  package static func add(
    _ database: Database, name: String, hash: [UInt8], scopes words: [String], user: Int64?, apps: [Int64]? = nil,
    addresses: [String] = [], expiresAt: Date? = nil, now: Date
  ) throws -> APIToken {
    let apps = apps.map { ids in JSONValue.array(Set(ids).sorted().map { .integer($0) }).text() }
    try database.run(
      """
      INSERT INTO tokens(name, hash, scopes, user_id, created_at, expires_at, apps, addresses)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, name, hash, text(words), user, now, expiresAt, apps, text(addresses))
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

  /// The token with this hash, valid or not.
  package static func find(_ database: Database, hash: [UInt8]) throws -> APIToken? {
    try database.fetchOne("SELECT \(columns) FROM tokens WHERE hash = ?", hash) { try APIToken($0) }
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

  /// Revokes it, with its audit entry.
  ///
  /// - Parameter audit: without subject.
  /// - Returns: whether it was valid until now.
  package func revoke(_ database: Database, _ audit: NewAuditEntry, now: Date) throws -> Bool {
    guard try Self.revoke(database, id: id, now: now) else { return false }
    var entry = audit
    entry.subject = "token \(name)"
    try AuditEntry.add(database, entry, now: now)
    return true
  }
}

/// What a token may do, if it was not given a role.
package enum TokenScope: String, Sendable, CaseIterable {
  case read
  case sendDevelopment = "send-development"
  case sendProduction = "send-production"
  /// Devices, tags, segments, topics, channels, and the simulator's phones.
  case devices
  case certificates
  /// Everything.
  case admin

  package static func send(_ environment: Environment) -> TokenScope {
    environment == .development ? .sendDevelopment : .sendProduction
  }
}

/// What the path of a call names by its ID, and whose app decides whether a token sees it.
package enum TokenSubject: Sendable, Hashable {
  case push(String)
  case schedule(String)
  case device(Int64)
  case incident(Int64)
  case smokeTest(Int64)
  case certificate(Int64)

  /// The apps that it belongs to, and the environment in which what is sent reaches phones (``ProductionGuard``); nil:
  /// nothing has this ID.
  package func owners(_ database: Database) throws -> (apps: Set<Int64>, environment: Environment?)? {
    func one(
      _ columns: String, _ table: String, _ id: any SQLiteBindable
    ) throws -> (apps: Set<Int64>, environment: Environment?)? {
      let found = try database.fetchOne("SELECT \(columns) FROM \(table) = ?", id) { row in
        (app: row.int64(0), named: row.optionalText(1).flatMap(Environment.init), draft: row.optionalText(2))
      }
      guard let found else { return nil }
      guard let named = found.named, let draft = found.draft else { return ([found.app], found.named) }
      return (
        [found.app], try ProductionGuard(database, app: found.app, named, draftJSON: draft).environment
      )
    }
    switch self {
    case .push(let uid): return try one("app_id, environment, draft", "pushes WHERE uid", uid)
    case .schedule(let uid): return try one("app_id, environment, draft", "schedules WHERE uid", uid)
    case .device(let id): return try one("app_id, NULL, NULL", "devices WHERE id", id)
    case .incident(let id): return try one("app_id, environment, NULL", "incidents WHERE id", id)
    case .smokeTest(let id): return try one("app_id, draft ->> '$.environment', draft", "smoke_tests WHERE id", id)
    case .certificate(let id):
      guard let found = try TrackedCertificate.find(database, id: id) else { return nil }
      let users = try TrackedCertificate.uses(database, id: id)[id] ?? []
      return (Set(users.map(\.appID) + [found.details.appID].compactMap { $0 }), nil)
    }
  }
}
