package import Foundation
internal import JSON
internal import Model
package import SQLite

/// What an admin changes about a person. The console, the API and the command line share its rules.
package enum PersonChange: Sendable, Hashable {
  case role(User.Role)
  /// Whether the person and the person's tokens may send to production.
  case production(Bool)
  /// Ends all sessions and links, and revokes all tokens.
  case disable
  case enable
  case endSessions
  /// Removes the authenticator app, the recovery codes, and all passkeys.
  case resetSecondStep
  /// Forgets who the person is at providers of OpenID Connect; the next sign-in there goes by the email address again.
  case unlink
  case delete

  private var action: String {
    switch self {
    case .role: "user.update"
    case .production: "user.production"
    case .disable: "user.disable"
    case .enable: "user.enable"
    case .endSessions: "user.end_sessions"
    case .resetSecondStep: "user.reset_second_step"
    case .unlink: "user.unlink"
    case .delete: "user.delete"
    }
  }

  /// Whether a person may not do this to their own account, because it would end the session.
  private var isForOthers: Bool {
    switch self {
    case .disable, .delete, .endSessions: true
    case .role, .production, .enable, .resetSecondStep, .unlink: false
    }
  }

  /// Whether the only admin would be none any more.
  private func takesAdmin(_ user: User) -> Bool {
    switch self {
    case .disable, .delete: true
    case .role(let role): role != .admin
    case .unlink: user.passwordHash == nil
    case .production, .enable, .endSessions, .resetSecondStep: false
    }
  }

  /// Changes a person, and adds the entry of the activity log with before and after.
  ///
  /// - Parameters:
  ///   - own: the person who does it; nil for commands, and for tokens of nobody.
  ///   - audit: actor and address.
  /// - Throws: `StoreError.notFound`; `Problems` if it is one's own account or the last admin.
  package func apply(
    _ database: Database, to id: Int64, by own: Int64?, audit: NewAuditEntry, now: Date
  ) throws {
    let before = try Person.get(database, id: id)
    let user = before.user
    if isForOthers, own == id { throw Problems([Problem("", PersonMessage.own)]) }
    if takesAdmin(user), user.role == .admin, user.state == .active, try User.activeCount(database, role: .admin) == 1 {
      throw Problems([Problem("", PersonMessage.lastAdmin, ["name": user.name])])
    }
    let sessions = try Session.all(database, user: id).count
    switch self {
    case .role(let role): try User.update(database, id: id, role: role, language: user.language)
    case .production(let isAllowed):
      try database.run("UPDATE users SET sends_production = ? WHERE id = ?", isAllowed, id)
    case .disable: try User.setDisabled(database, id: id, true, now: now)
    case .enable: try User.setDisabled(database, id: id, false, now: now)
    case .endSessions: try Session.endAll(database, user: id)
    case .resetSecondStep: try SecondStep.remove(database, user: id)
    case .unlink: try Identity.removeAll(database, user: id)
    case .delete: try User.delete(database, id: id)
    }
    var entry = audit
    (entry.action, entry.subject) = (action, "user \(user.name)")
    if self == .endSessions {
      entry.detail = ["before": ["sessions": .integer(Int64(sessions))], "after": ["sessions": 0]]
    } else {
      let after: JSONValue = self == .delete ? .null : try Person.get(database, id: id).audited
      entry.detail = ["before": before.audited, "after": after]
    }
    try AuditEntry.add(database, entry, now: now)
  }
}

/// A person with what protects the account.
package struct Person: Sendable, Hashable, Identifiable {
  package let user: User
  /// Whether a code of an authenticator app is asked for.
  package let hasAuthenticator: Bool
  package let passkeys: Int

  package var id: Int64 { user.id }
  package var hasSecondStep: Bool { hasAuthenticator || passkeys > 0 }

  private static let columns = """
    \(User.columns),
    (SELECT count(*) FROM authenticators a WHERE a.user_id = u.id AND a.confirmed_at IS NOT NULL),
    (SELECT count(*) FROM passkeys p WHERE p.user_id = u.id)
    """

  private init(_ row: borrowing Row) throws {
    user = try User(row)
    hasAuthenticator = row.int(User.columnCount) > 0
    passkeys = row.int(User.columnCount + 1)
  }

  /// Everybody, by name.
  package static func all(_ database: Database) throws -> [Person] {
    try database.fetchAll("SELECT \(columns) FROM users u ORDER BY u.name") { try Person($0) }
  }

  /// - Throws: `StoreError.notFound`.
  package static func get(_ database: Database, id: Int64) throws -> Person {
    let found = try database.fetchOne("SELECT \(columns) FROM users u WHERE u.id = ?", id) { try Person($0) }
    guard let found else { throw StoreError.notFound(noun: "user", id: "\(id)") }
    return found
  }

  /// Adds a person without a password.
  ///
  /// - Parameter audit: actor and address.
  /// - Returns: the person, and the token of the one-time link that sets the password.
  /// - Throws: `Problems` at `name`.
  package static func invite(
    _ database: Database, name: String, role: User.Role, audit: NewAuditEntry, now: Date
  ) throws -> (person: Person, token: String) {
    if let problem = AccountName.problem(name) { throw Problems([problem]) }
    guard try User.find(database, name: name) == nil else {
      throw Problems([Problem("name", PersonMessage.known, ["name": name])])
    }
    let person = try get(database, id: try User.add(database, name: name, role: role, now: now).id)
    var entry = audit
    (entry.action, entry.subject) = ("user.create", "user \(name)")
    entry.detail = ["before": .null, "after": person.audited]
    try AuditEntry.add(database, entry, now: now)
    return (person, try SignInLink.make(database, for: person.user, now: now))
  }

  /// Makes a new one-time link that sets the person's password.
  ///
  /// - Returns: its token.
  /// - Throws: `Problems` if the person is disabled.
  package func link(_ database: Database, audit: NewAuditEntry, now: Date) throws -> String {
    guard user.state != .disabled else {
      throw Problems([Problem("", PersonMessage.disabled, ["name": user.name])])
    }
    var entry = audit
    (entry.action, entry.subject) = ("user.link", "user \(user.name)")
    try AuditEntry.add(database, entry, now: now)
    return try SignInLink.make(database, for: user, now: now)
  }

  fileprivate var audited: JSONValue {
    [
      "role": .string(user.role.rawValue), "state": .string(user.state.rawValue),
      "authenticator": .bool(hasAuthenticator), "passkeys": .integer(Int64(passkeys)),
      "linked": .bool(user.isLinked),
      "sends_to_production": .bool(user.sendsToProduction),
    ]
  }
}
