package import Foundation
internal import OpenSSL
package import SQLite

/// A person's authenticator app: its codes are asked for after the password. The secret is sealed.
package struct Authenticator: Sendable, Hashable {
  private let id: Int64
  package let createdAt: Date
  /// Nil: no code was entered yet, so none is asked for.
  package let confirmedAt: Date?
  private let usedStep: Int64

  package static func find(_ database: Database, user: Int64) throws -> Authenticator? {
    try database.fetchOne(
      "SELECT id, created_at, confirmed_at, used_step FROM authenticators WHERE user_id = ?", user
    ) { row in
      Authenticator(id: row.int64(0), createdAt: row.date(1), confirmedAt: row.optionalDate(2), usedStep: row.int64(3))
    }
  }

  /// Whether a code is asked for.
  package static func isOn(_ database: Database, user: Int64) throws -> Bool {
    try find(database, user: user)?.confirmedAt != nil
  }

  /// Makes a new secret that waits for its first code. A confirmed one stays.
  package static func begin(_ database: Database, user: Int64, sealer: any Sealer, now: Date) throws {
    guard try !isOn(database, user: user) else { return }
    try database.run("DELETE FROM authenticators WHERE user_id = ?", user)
    try database.run(
      "INSERT INTO authenticators(user_id, sealed, created_at) VALUES (?, x'', ?)", user, now)
    let id = database.lastInsertedID
    try Sealing.keep(database, OneTimeCode.newSecret(), "authenticators", id, sealer, now: now)
  }

  /// The secret, for the page that sets it up.
  ///
  /// - Throws: the sealer's error if the key file is another one.
  package func secret(_ database: Database, sealer: any Sealer) throws -> [UInt8] {
    let sealed = try database.fetchOne("SELECT sealed FROM authenticators WHERE id = ?", id) { $0.blob(0) }
    return try sealer.open(sealed ?? [], associatedData: place("authenticators", id))
  }

  /// Accepts a code, each only once. The first one confirms the authenticator.
  ///
  /// - Returns: false for a wrong code, and for all codes if the secret cannot be unsealed.
  package func accept(_ code: String, _ database: Database, sealer: any Sealer, now: Date) throws -> Bool {
    let digits = code.filter { !$0.isWhitespace }
    guard let secret = try Sealing.opened({ try self.secret(database, sealer: sealer) }),
      let step = OneTimeCode.step(of: digits, secret, after: usedStep, now: now)
    else { return false }
    // With the condition, a code that two requests bring at once counts for one of them.
    return try database.run(
      """
      UPDATE authenticators SET used_step = ?1, confirmed_at = coalesce(confirmed_at, ?2)
      WHERE id = ?3 AND used_step < ?1
      """, step, now, id) == 1
  }
}

/// Codes for somebody who has lost the authenticator app: each works once. Stored as hashes, shown once.
package enum RecoveryCode {
  private static let count = 10
  /// Without letters and digits that look alike.
  private static let alphabet = Array("23456789abcdefghjkmnpqrstuvwxyz")

  /// Replaces all codes of a person.
  ///
  /// - Returns: the new ones, seven groups of four as `abcd-efgh-…`: 138 bits each.
  package static func renew(_ database: Database, user: Int64) throws -> [String] {
    try database.run("DELETE FROM recovery_codes WHERE user_id = ?", user)
    let codes = (0..<count).map { _ in
      let letters = (0..<28).map { _ in alphabet.randomElement() ?? "2" }
      return stride(from: 0, to: 28, by: 4).map { String(letters[$0..<$0 + 4]) }.joined(separator: "-")
    }
    for code in codes {
      try database.run("INSERT INTO recovery_codes(user_id, hash) VALUES (?, ?)", user, hash(code, user))
    }
    return codes
  }

  /// Uses a code up, written in any case, with or without dashes.
  ///
  /// - Returns: whether it was good.
  package static func use(_ code: String, _ database: Database, user: Int64) throws -> Bool {
    try database.run("DELETE FROM recovery_codes WHERE user_id = ? AND hash = ?", user, hash(code, user)) == 1
  }

  /// How many are left.
  package static func left(_ database: Database, user: Int64) throws -> Int {
    try database.int("SELECT count(*) FROM recovery_codes WHERE user_id = ?", user)
  }

  private static func hash(_ code: String, _ user: Int64) -> [UInt8] {
    Secret.hash("\(user) " + code.lowercased().filter { $0.isLetter || $0.isNumber })
  }
}

/// What is asked for beside the password, or in its place.
package enum SecondStep {
  /// Removes the authenticator app with its recovery codes.
  package static func removeAuthenticator(_ database: Database, user: Int64) throws {
    for table in ["authenticators", "recovery_codes"] {
      try database.run("DELETE FROM \(table) WHERE user_id = ?", user)
    }
    try forget(database, user: user)
  }

  /// Removes the authenticator app, the recovery codes, and all passkeys.
  static func remove(_ database: Database, user: Int64) throws {
    try removeAuthenticator(database, user: user)
    try database.run("DELETE FROM passkeys WHERE user_id = ?", user)
    try forget(database, user: user)
  }

  /// Once the last one is removed, sessions count as without it: who must have one sets up another.
  static func forget(_ database: Database, user: Int64) throws {
    try database.run(
      """
      UPDATE sessions SET second_step = NULL WHERE user_id = ?1 AND second_step = '\(Session.SecondStep.own.rawValue)'
      AND NOT EXISTS (SELECT 1 FROM authenticators WHERE user_id = ?1 AND confirmed_at IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM passkeys WHERE user_id = ?1)
      """, user)
  }
}
