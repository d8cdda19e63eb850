package import Foundation
package import SQLite

/// Withdrawn access rights: read from a database that is set aside, and applied to the older one that replaces it.
///
/// A row is identified by its ID and creation time: IDs are unique within a database, but another installation starts
/// with the same ones.
package struct Revocations: Sendable {
  /// The applied revocations by name.
  package struct Report: Sendable, Hashable {
    /// Browsers that were signed in.
    package var sessions = 0
    /// Valid sign-in links.
    package var links = 0
    /// Removed people.
    package var removed: [String] = []
    /// Disabled people.
    package var disabled: [String] = []
    /// People with a changed password, which stays in force.
    package var passwords: [String] = []
    /// People with a lower role, which stays in force.
    package var roles: [String] = []
    /// People who no longer may send to production.
    package var production: [String] = []
    /// People with removed passkeys.
    package var passkeys: [String] = []
    /// People whose authenticator app was removed or replaced.
    package var authenticators: [String] = []
    /// People with used or replaced recovery codes.
    package var recoveryCodes: [String] = []
    /// People whose account at a provider of OpenID Connect is no longer theirs here.
    package var identities: [String] = []
    /// Revoked tokens.
    package var tokens: [String] = []
    /// People whose calendar address was changed or deleted.
    package var calendars: [String] = []
    /// Apps whose JPush keys were replaced or removed.
    package var jpushKeys: [String] = []
    /// Whether no administrator who can sign in is left.
    package var lacksAdmin = false

    package init() {}
  }

  private struct Key: Hashable {
    let id: Int64
    let createdAt: Date

    init(_ user: User) { (id, createdAt) = (user.id, user.createdAt) }
  }

  private let people: [Key: User]
  /// The last removal by name.
  private let removals: [String: Date]
  private let tokens: [[UInt8]: Date]
  /// What passkeys are known by.
  private let passkeys: Set<[UInt8]>
  private let secondSteps: SecondSteps
  /// Accounts at a provider of OpenID Connect.
  private let identities: Set<Identity.Account>
  /// Hashes of calendar addresses by person.
  private let calendars: [Int64: [UInt8]]
  /// Apps by row and creation, with the hash of their JPush secret if they have one.
  private let jpushKeys: [AppKey: [UInt8]?]

  private struct AppKey: Hashable {
    let id: Int64
    let bundleID: String
    let createdAt: Date

    init(_ app: App) { (id, bundleID, createdAt) = (app.id, app.bundleID, app.createdAt) }
  }

  /// - Throws: if the database is of a version before `users.sends_production`: it is not migrated before it is set
  /// aside.
  package init(_ database: Database) throws {
    people = Dictionary(try User.all(database).map { (Key($0), $0) }) { first, _ in first }
    removals = Dictionary(
      try database.fetchAll("SELECT subject, max(at) FROM audit WHERE action = 'user.delete' GROUP BY subject") {
        (String($0.text(0).dropFirst("user ".count)), $0.date(1))
      }
    ) { first, _ in first }
    tokens = Dictionary(
      try database.fetchAll("SELECT hash, revoked_at FROM tokens WHERE revoked_at IS NOT NULL") {
        ($0.blob(0), $0.date(1))
      }
    ) { first, _ in first }
    passkeys = Set(try database.fetchAll("SELECT credential FROM passkeys") { $0.blob(0) })
    secondSteps = try SecondSteps(database)
    identities = Set(try Identity.accounts(database))
    calendars = try Self.calendars(database)
    jpushKeys = try Self.jpushKeys(database)
  }

  private static func jpushKeys(_ database: Database) throws -> [AppKey: [UInt8]?] {
    Dictionary(
      try App.all(database).map { (AppKey($0), try JPushKey.find(database, app: $0.id)?.secretHash) }
    ) { first, _ in first }
  }

  private static func calendars(_ database: Database) throws -> [Int64: [UInt8]] {
    Dictionary(try database.fetchAll("SELECT user_id, hash FROM calendar_feeds") { ($0.int64(0), $0.blob(1)) }) {
      first, _ in first
    }
  }

  /// Ends every session and sign-in link in a backup.
  package static func endAccess(_ database: Database, now: Date) throws -> Report {
    var report = Report()
    report.sessions = try database.run("DELETE FROM sessions")
    report.links = try database.int(
      "SELECT count(*) FROM sign_in_links WHERE used_at IS NULL AND expires_at > ?", now)
    try database.run("DELETE FROM sign_in_links")
    return report
  }

  /// Applies the revocations to a database.
  package func apply(to database: Database, _ report: inout Report) throws {
    let hadAdmin = try User.activeCount(database, role: .admin) > 0
    for user in try User.all(database) {
      guard let present = people[Key(user)] else {
        // Of another installation, or added after the removal: not affected.
        guard let removed = removals[user.name], removed >= user.createdAt else { continue }
        try User.delete(database, id: user.id)
        report.removed.append(user.name)
        continue
      }
      try apply(present, to: user, database, &report)
    }
    for (id, name, hash) in try Self.goodTokens(database) {
      guard let revoked = tokens[hash] else { continue }
      try APIToken.revoke(database, id: id, now: revoked)
      report.tokens.append(name)
    }
    for app in try App.all(database) {
      guard let key = try JPushKey.find(database, app: app.id), let present = jpushKeys[AppKey(app)],
        present != key.secretHash
      else { continue }
      try JPushKey.remove(database, appID: app.id)
      report.jpushKeys.append(app.bundleID)
    }
    report.lacksAdmin = try hadAdmin && User.activeCount(database, role: .admin) == 0
  }

  private func apply(_ present: User, to user: User, _ database: Database, _ report: inout Report) throws {
    if let since = present.disabledAt, user.disabledAt == nil {
      try User.setDisabled(database, id: user.id, true, now: since)
      report.disabled.append(user.name)
    }
    if let hash = present.passwordHash, hash != user.passwordHash {
      try User.setPassword(database, id: user.id, hash: hash)
      report.passwords.append(user.name)
    }
    if present.role < user.role {
      try User.update(database, id: user.id, role: present.role, language: user.language)
      report.roles.append(user.name)
    }
    if !present.sendsToProduction, user.sendsToProduction {
      try database.run("UPDATE users SET sends_production = 0 WHERE id = ?", user.id)
      report.production.append(user.name)
    }
    let removed = try Passkey.all(database, user: user.id).filter { !passkeys.contains($0.credential) }
    for passkey in removed { _ = try Passkey.remove(database, id: passkey.id, user: user.id) }
    if !removed.isEmpty { report.passkeys.append(user.name) }
    if try secondSteps.applyApp(to: database, user: user.id) { report.authenticators.append(user.name) }
    if try secondSteps.applyCodes(to: database, user: user.id) { report.recoveryCodes.append(user.name) }
    let unlinked = try Identity.accounts(database).filter { $0.userID == user.id && !identities.contains($0) }
    for account in unlinked { try Identity.remove(database, account) }
    if !unlinked.isEmpty { report.identities.append(user.name) }
    if let hash = try Self.calendars(database)[user.id], hash != calendars[user.id] {
      try CalendarFeed.remove(database, user: user.id)
      report.calendars.append(user.name)
    }
  }

  private static func goodTokens(_ database: Database) throws -> [(Int64, String, [UInt8])] {
    try database.fetchAll("SELECT id, name, hash FROM tokens WHERE revoked_at IS NULL ORDER BY id") {
      ($0.int64(0), $0.text(1), $0.blob(2))
    }
  }
}
