package import Foundation
package import SQLite

extension User {
  /// Adds a person.
  ///
  /// - Throws: `StoreError.taken` if the name exists.
  @discardableResult
  package static func add(
    _ database: Database, name: String, role: Role, passwordHash: String? = nil, language: String? = nil, now: Date
  ) throws -> User {
    do {
      try database.run(
        "INSERT INTO users(name, password_hash, role, language, created_at) VALUES (?, ?, ?, ?, ?)", name,
        passwordHash, role.rawValue, language, now)
    } catch let error as SQLiteError where error.isUniqueViolation {
      throw StoreError.taken(noun: "user", field: "name")
    }
    return try get(database, id: database.lastInsertedID)
  }

  package static func all(_ database: Database) throws -> [User] {
    try database.fetchAll("SELECT \(columns) FROM users u ORDER BY u.name") { try User($0) }
  }

  /// How many people can sign in; 0 on the first start.
  package static func activeCount(_ database: Database, role: Role? = nil) throws -> Int {
    try database.int(
      """
      SELECT count(*) FROM users u WHERE disabled_at IS NULL AND (?1 IS NULL OR role = ?1)
        AND (password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id))
      """, role?.rawValue)
  }

  /// Who may send to production, and so approve what another of them sends there.
  package static func approvers(_ database: Database) throws -> [User] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM users u WHERE disabled_at IS NULL AND sends_production = 1 AND role <> ?
        AND (password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id))
      ORDER BY u.name
      """, Role.viewer.rawValue
    ) { try User($0) }
  }

  package static func find(_ database: Database, id: Int64) throws -> User? {
    try database.fetchOne("SELECT \(columns) FROM users u WHERE u.id = ?", id) { try User($0) }
  }

  package static func find(_ database: Database, name: String) throws -> User? {
    try database.fetchOne("SELECT \(columns) FROM users u WHERE u.name = ?", name) { try User($0) }
  }

  package static let noun = "user"

  @discardableResult
  package static func update(_ database: Database, id: Int64, role: Role, language: String?) throws -> User {
    try database.run("UPDATE users SET role = ?, language = ? WHERE id = ?", role.rawValue, language, id)
    return try get(database, id: id)
  }

  /// Sets the language of the person's pages, such as `zh-Hans`, and nothing else: the role may change meanwhile.
  package static func setLanguage(_ database: Database, id: Int64, _ language: String) throws {
    try database.run("UPDATE users SET language = ? WHERE id = ?", language, id)
  }

  /// Sets the password, and ends all other sessions and all links of the person.
  package static func setPassword(
    _ database: Database, id: Int64, hash: String, keepingSession session: [UInt8]? = nil
  ) throws {
    guard try database.run("UPDATE users SET password_hash = ? WHERE id = ?", hash, id) == 1 else {
      throw StoreError.notFound(noun: "user", id: "\(id)")
    }
    try Session.endAll(database, user: id, except: session)
    try SignInLink.endAll(database, user: id)
  }

  /// Stores a new hash of the same password, unless the password was changed meanwhile.
  package static func rehash(_ database: Database, id: Int64, from former: String, to hash: String) throws {
    try database.run("UPDATE users SET password_hash = ? WHERE id = ? AND password_hash = ?", hash, id, former)
  }

  /// Disables a person, ending all sessions and links and revoking all tokens; or enables the person again.
  @discardableResult
  package static func setDisabled(_ database: Database, id: Int64, _ isDisabled: Bool, now: Date) throws -> User {
    try database.run("UPDATE users SET disabled_at = ? WHERE id = ?", isDisabled ? now : nil, id)
    if isDisabled {
      try Session.endAll(database, user: id)
      try SignInLink.endAll(database, user: id)
      try database.run("UPDATE tokens SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL", now, id)
    }
    return try get(database, id: id)
  }

  /// Deletes a person with sessions, links and tokens. The activity log keeps the person's actions.
  ///
  /// - Returns: whether the person existed.
  @discardableResult
  package static func delete(_ database: Database, id: Int64) throws -> Bool {
    try database.run("DELETE FROM users WHERE id = ?", id) == 1
  }
}
