import Foundation
import SQLite

extension Revocations {
  /// Authenticator apps and recovery codes of the database that is set aside.
  struct SecondSteps: Sendable {
    private struct App: Sendable {
      let id: Int64
      let sealed: [UInt8]
      let createdAt: Date
      let confirmedAt: Date
      let usedStep: Int64
    }

    /// Those in use, by person.
    private let apps: [Int64: App]
    /// The hashes of unused codes, by person.
    private let codes: [Int64: Set<[UInt8]>]
    /// The identifier of the key that seals the apps' secrets.
    private let key: String?

    init(_ database: Database) throws {
      let rows = try database.fetchAll(
        """
        SELECT user_id, id, sealed, created_at, confirmed_at, used_step FROM authenticators
        WHERE confirmed_at IS NOT NULL
        """
      ) { row in
        (
          row.int64(0),
          App(
            id: row.int64(1), sealed: row.blob(2), createdAt: row.date(3), confirmedAt: row.date(4),
            usedStep: row.int64(5))
        )
      }
      apps = Dictionary(rows) { first, _ in first }
      codes = try database.fetchAll("SELECT user_id, hash FROM recovery_codes") { ($0.int64(0), $0.blob(1)) }
        .reduce(into: [:]) { $0[$1.0, default: []].insert($1.1) }
      key = try Sealing.identifier(database)
    }

    /// Removes a person's authenticator app if it was removed. If it was replaced, puts its replacement there, because a
    /// password alone would be worth less than either; the old one stays if the replacement is sealed with another key.
    ///
    /// - Returns: whether something changed.
    func applyApp(to database: Database, user: Int64) throws -> Bool {
      guard let present = try Authenticator.find(database, user: user), present.confirmedAt != nil else { return false }
      guard let app = apps[user] else {
        try SecondStep.removeAuthenticator(database, user: user)
        return true
      }
      guard app.createdAt != present.createdAt, try Sealing.identifier(database) == key else { return false }
      // Its secret is sealed for this ID.
      guard try database.int("SELECT count(*) FROM authenticators WHERE id = ? AND user_id <> ?", app.id, user) == 0
      else { return false }
      try database.run("DELETE FROM authenticators WHERE user_id = ?", user)
      try database.run(
        """
        INSERT INTO authenticators(id, user_id, sealed, created_at, confirmed_at, used_step) VALUES (?, ?, ?, ?, ?, ?)
        """, app.id, user, app.sealed, app.createdAt, app.confirmedAt, app.usedStep)
      return true
    }

    /// Replaces a person's recovery codes with those that were left. Without an authenticator app, none are needed.
    ///
    /// - Returns: whether a code became invalid.
    func applyCodes(to database: Database, user: Int64) throws -> Bool {
      guard try Authenticator.isOn(database, user: user) else { return false }
      let left = codes[user] ?? []
      let present = Set(
        try database.fetchAll("SELECT hash FROM recovery_codes WHERE user_id = ?", user) { $0.blob(0) })
      guard present != left else { return false }
      try database.run("DELETE FROM recovery_codes WHERE user_id = ?", user)
      for hash in left { try database.run("INSERT INTO recovery_codes(user_id, hash) VALUES (?, ?)", user, hash) }
      return !present.isSubset(of: left)
    }
  }
}
