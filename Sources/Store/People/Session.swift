package import Foundation
package import SQLite

/// A signed-in browser. Its ID is stored as a hash, so that reading the file grants no access.
package struct Session: Sendable, Hashable {
  /// SHA-256 of the cookie's value.
  package let idHash: [UInt8]
  package let userID: Int64
  package let csrf: String
  package let createdAt: Date
  /// When the person last proved their identity: at sign-in, or by password since.
  package var provedAt: Date
  /// Accurate to a minute.
  package let seenAt: Date
  /// The absolute end.
  package let expiresAt: Date
  package let address: String?
  package let userAgent: String?
  /// Shown at the sign-in, or since; nil: none.
  package var secondStep: SecondStep?
  /// Who must have shown one.
  package let rule: SecondStepRule

  /// What a session was opened with beside a password. Stored as text.
  package enum SecondStep: String, Sendable, CaseIterable {
    /// A code or a passkey.
    case own
    /// Whatever the provider of OpenID Connect asked for.
    case provider
  }

  static let columns = """
    s.id_hash, s.user_id, s.csrf, s.created_at, s.seen_at, s.expires_at, s.address, s.user_agent,
    s.proved_at, s.second_step, (SELECT value FROM settings WHERE key = '\(SecondStepRule.key)')
    """
  static let columnCount = 11

  init(_ row: borrowing Row) {
    idHash = row.blob(0)
    userID = row.int64(1)
    csrf = row.text(2)
    createdAt = row.date(3)
    seenAt = row.date(4)
    expiresAt = row.date(5)
    address = row.optionalText(6)
    userAgent = row.optionalText(7)
    provedAt = row.optionalDate(8) ?? createdAt
    secondStep = row.optionalText(9).flatMap(SecondStep.init)
    rule = SecondStepRule(row.optionalText(10))
  }

  /// Whether a person with this role must show a second step before anything else.
  package func lacksSecondStep(_ role: User.Role) -> Bool { rule.isRequired(of: role) && !rule.accepts(secondStep) }

  package static func open(
    _ database: Database, idHash: [UInt8], user: Int64, csrf: String, lifetime: TimeInterval, address: String? = nil,
    userAgent: String? = nil, secondStep: SecondStep? = nil, now: Date
  ) throws {
    try database.run(
      """
      INSERT INTO sessions(id_hash, user_id, csrf, created_at, seen_at, expires_at, address, user_agent, second_step)
      VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8)
      """, idHash, user, csrf, now, now.addingTimeInterval(lifetime), address, userAgent, secondStep?.rawValue)
    try database.run("UPDATE users SET signed_in_at = ? WHERE id = ?", now, user)
  }

  /// A cookie's session with its person; nil if there is none, it has ended, was unused for `idle` seconds, or the
  /// person is disabled.
  package static func find(
    _ database: Database, idHash: [UInt8], idle: TimeInterval, now: Date
  ) throws -> (session: Session, user: User)? {
    try database.fetchOne(
      """
      SELECT \(columns), \(User.columns) FROM sessions s JOIN users u ON u.id = s.user_id
      WHERE s.id_hash = ? AND s.expires_at > ? AND s.seen_at > ? AND u.disabled_at IS NULL
      """, idHash, now, now.addingTimeInterval(-idle)
    ) { (Session($0), try User($0, from: columnCount)) }
  }

  /// Whether a session found before, and unchanged since, is still valid.
  func isGood(idle: TimeInterval, now: Date) -> Bool {
    expiresAt.milliseconds > now.milliseconds
      && seenAt.milliseconds > now.addingTimeInterval(-idle).milliseconds
  }

  /// Records its use.
  package static func touch(_ database: Database, idHash: [UInt8], now: Date) throws {
    try database.run("UPDATE sessions SET seen_at = ?1 WHERE id_hash = ?2 AND seen_at < ?1", now, idHash)
  }

  /// Records a proof of who is there, under a new ID: the former one is worthless from now on. The form token stays,
  /// so that forms in other tabs can still be sent.
  ///
  /// - Parameter secondStep: the second step that was used; nil leaves it unchanged.
  /// - Returns: false if the session has ended meanwhile.
  package static func renew(
    _ database: Database, idHash: [UInt8], to newHash: [UInt8], secondStep: SecondStep?, now: Date
  ) throws -> Bool {
    try database.run(
      """
      UPDATE sessions SET id_hash = ?1, proved_at = ?2, second_step = coalesce(?3, second_step) WHERE id_hash = ?4
      """, newHash, now, secondStep?.rawValue, idHash) == 1
  }

  /// Records that a second step was set up in this session: it was shown, too.
  package static func note(_ database: Database, idHash: [UInt8], secondStep: SecondStep) throws {
    try database.run("UPDATE sessions SET second_step = ? WHERE id_hash = ?", secondStep.rawValue, idHash)
  }

  package static func all(_ database: Database, user: Int64) throws -> [Session] {
    try database.fetchAll("SELECT \(columns) FROM sessions s WHERE s.user_id = ? ORDER BY s.seen_at DESC", user) {
      Session($0)
    }
  }

  package static func end(_ database: Database, idHash: [UInt8]) throws {
    try database.run("DELETE FROM sessions WHERE id_hash = ?", idHash)
  }

  /// Ends all sessions of a person except one.
  package static func endAll(_ database: Database, user: Int64, except kept: [UInt8]? = nil) throws {
    try database.run("DELETE FROM sessions WHERE user_id = ? AND id_hash IS NOT ?", user, kept)
  }

  /// Deletes ended sessions.
  ///
  /// - Returns: how many.
  @discardableResult
  package static func deleteEnded(_ database: Database, idle: TimeInterval, now: Date) throws -> Int {
    try database.run(
      "DELETE FROM sessions WHERE expires_at <= ? OR seen_at <= ?", now, now.addingTimeInterval(-idle))
  }
}
