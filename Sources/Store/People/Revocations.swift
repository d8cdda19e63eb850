package import Foundation
package import SQLite

/// Whom and what a database no longer lets in: read from the one that is set aside, and applied to the older one that
/// takes its place.
///
/// A row is known by its number and the time at which it was made: numbers are never given twice in a database, but
/// another installation begins with the same ones.
package struct Revocations: Sendable {
  /// What was applied, by what people call it.
  package struct Report: Sendable, Hashable {
    /// How many browsers were signed in.
    package var sessions = 0
    /// How many sign-in links were good.
    package var links = 0
    /// People who had been removed.
    package var removed: [String] = []
    /// People who had been disabled.
    package var disabled: [String] = []
    /// People who had another password, which counts.
    package var passwords: [String] = []
    /// People who could do less, and can do no more than that.
    package var roles: [String] = []
    /// Tokens that had been revoked.
    package var tokens: [String] = []
    /// People whose calendar address had been changed or taken away.
    package var calendars: [String] = []
    /// Whether nobody is left of those who could sign in as an administrator.
    package var lacksAdmin = false

    /// Creates an empty one.
    package init() {}
  }

  private struct Key: Hashable {
    let id: Int64
    let createdAt: Date

    init(_ user: User) { (id, createdAt) = (user.id, user.createdAt) }
  }

  private let people: [Key: User]
  /// When somebody of this name was removed last.
  private let removals: [String: Date]
  private let tokens: [[UInt8]: Date]
  /// Hashes of calendars' addresses by the person.
  private let calendars: [Int64: [UInt8]]

  /// Reads a database.
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
    calendars = try Self.calendars(database)
  }

  private static func calendars(_ database: Database) throws -> [Int64: [UInt8]] {
    Dictionary(try database.fetchAll("SELECT user_id, hash FROM calendar_feeds") { ($0.int64(0), $0.blob(1)) }) {
      first, _ in first
    }
  }

  /// Ends every session and every sign-in link: what a backup holds of them is over.
  package static func endAccess(_ database: Database, now: Date) throws -> Report {
    var report = Report()
    report.sessions = try database.run("DELETE FROM sessions")
    report.links = try database.int(
      "SELECT count(*) FROM sign_in_links WHERE used_at IS NULL AND expires_at > ?", now)
    try database.run("DELETE FROM sign_in_links")
    return report
  }

  /// Takes away from a database what this one no longer allowed.
  package func apply(to database: Database, _ report: inout Report) throws {
    let hadAdmin = try User.activeCount(database, role: .admin) > 0
    for user in try User.all(database) {
      guard let present = people[Key(user)] else {
        // Of another installation, or of a time that the database set aside knew nothing of: it took nothing away.
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
