package import Foundation
internal import JSON
package import Model
package import SQLite

/// Who a person is at a provider of OpenID Connect. Made at the first sign-in there, and decides from then on.
package struct Identity: Sendable, Hashable {
  package let userID: Int64
  package let issuer: String

  private static let columns = "user_id, issuer"

  private init(_ row: borrowing Row) { (userID, issuer) = (row.int64(0), row.text(1)) }

  /// - Parameter subject: the provider's own name for the person, which never changes.
  package static func find(_ database: Database, issuer: String, subject: String) throws -> Identity? {
    try database.fetchOne("SELECT \(columns) FROM identities WHERE issuer = ? AND subject = ?", issuer, subject) {
      Identity($0)
    }
  }

  /// Those of a person, one for each provider.
  package static func all(_ database: Database, user: Int64) throws -> [Identity] {
    try database.fetchAll("SELECT \(columns) FROM identities WHERE user_id = ? ORDER BY id", user) { Identity($0) }
  }

  /// Whether an admin who is not disabled has signed in with a provider.
  package static func hasAdmin(_ database: Database, issuer: String) throws -> Bool {
    try database.int(
      """
      SELECT count(*) FROM identities i JOIN users u ON u.id = i.user_id
      WHERE i.issuer = ? AND u.role = 'admin' AND u.disabled_at IS NULL
      """, issuer) > 0
  }

  /// Removes those of a person.
  static func removeAll(_ database: Database, user: Int64) throws {
    try database.run("DELETE FROM identities WHERE user_id = ?", user)
  }

  /// An account at a provider, and the person to whom it belongs.
  struct Account: Sendable, Hashable {
    let userID: Int64
    let issuer: String
    let subject: String
  }

  static func accounts(_ database: Database) throws -> [Account] {
    try database.fetchAll("SELECT user_id, issuer, subject FROM identities ORDER BY id") {
      Account(userID: $0.int64(0), issuer: $0.text(1), subject: $0.text(2))
    }
  }

  /// The person can no longer sign in with the account, unless the email address lets it in anew.
  static func remove(_ database: Database, _ account: Account) throws {
    try database.run("DELETE FROM identities WHERE issuer = ? AND subject = ?", account.issuer, account.subject)
  }

  private static func add(_ database: Database, user: Int64, issuer: String, subject: String, now: Date) throws {
    try database.run(
      "INSERT INTO identities(user_id, issuer, subject, created_at, used_at) VALUES (?1, ?2, ?3, ?4, ?4)", user, issuer,
      subject, now)
  }

  // MARK: Sign-in

  /// The person who signs in with a provider whose word was checked: linked before, invited with this email address, or
  /// new if the settings say so. Run in the transaction that opens the session.
  ///
  /// - Parameter address: of the browser, for the activity log.
  /// - Throws: a `Problem` that says why nobody is let in.
  package static func admit(
    _ database: Database, _ person: OIDCPerson, _ settings: OIDCSettings, address: String?, now: Date
  ) throws -> User {
    let issuer = settings.issuer
    var user: User
    if let known = try find(database, issuer: issuer, subject: person.subject) {
      user = try User.get(database, id: known.userID)
      if user.state == .disabled { throw Problem("", OIDCMessage.disabled) }
      try database.run(
        "UPDATE identities SET used_at = ? WHERE issuer = ? AND subject = ?", now, issuer, person.subject)
    } else {
      user = try byEmail(database, person, settings, address: address, now: now)
      try add(database, user: user.id, issuer: issuer, subject: person.subject, now: now)
      let detail: JSONValue = ["issuer": .string(issuer), "subject": .string(person.subject)]
      try AuditEntry.add(
        database, by: user.name, "user.link_identity", "user \(user.name)", ["before": .null, "after": detail],
        from: address, now: now)
    }
    return try applyRole(database, user, person, settings, address: address, now: now)
  }

  /// The person with the email address that the provider tells.
  private static func byEmail(
    _ database: Database, _ person: OIDCPerson, _ settings: OIDCSettings, address: String?, now: Date
  ) throws -> User {
    guard let email = person.email, AccountName.problem(email) == nil else {
      throw Problem("", settings.scopes.contains("email") ? OIDCMessage.noEmail : OIDCMessage.noEmailScope)
    }
    guard !person.isUnverified else { throw Problem("", OIDCMessage.unverified, ["email": email]) }
    if let user = try User.find(database, name: email) {
      if user.state == .disabled { throw Problem("", OIDCMessage.disabled) }
      guard try all(database, user: user.id).allSatisfy({ $0.issuer != settings.issuer }) else {
        throw Problem("", OIDCMessage.otherAccount, ["email": email])
      }
      return user
    }
    guard settings.admits(email) else { throw Problem("", OIDCMessage.stranger, ["email": email]) }
    let user = try User.add(database, name: email, role: settings.newRole, now: now)
    let detail: JSONValue = ["role": .string(user.role.rawValue), "issuer": .string(settings.issuer)]
    try AuditEntry.add(
      database, by: "signalbox", "user.create", "user \(email)", ["before": .null, "after": detail], from: address,
      now: now)
    return user
  }

  /// Gives the role that the provider's claim stands for. The last admin keeps the role, and so does everybody whose values
  /// the provider left out: no value is another answer than none that can be read.
  private static func applyRole(
    _ database: Database, _ user: User, _ person: OIDCPerson, _ settings: OIDCSettings, address: String?, now: Date
  ) throws -> User {
    guard !person.leavesValuesOut, let role = settings.role(for: person.values), role != user.role else {
      return try User.get(database, id: user.id)
    }
    do {
      try PersonChange.role(role).apply(
        database, to: user.id, by: nil,
        audit: NewAuditEntry(actor: "signalbox", action: "", subject: "", address: address), now: now)
    } catch is Problems {
      // The only admin stays one.
    }
    return try User.get(database, id: user.id)
  }
}
