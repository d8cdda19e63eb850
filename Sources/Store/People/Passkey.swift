package import Foundation
package import SQLite

/// A passkey: it replaces password and second step. Only its public key is kept.
package struct Passkey: Sendable, Hashable, Identifiable {
  /// The most per person.
  package static let limit = 20

  package let id: Int64
  package let userID: Int64
  package let name: String
  /// The ID that the authenticator chose.
  package let credential: [UInt8]
  /// `subjectPublicKeyInfo`, DER.
  package let publicKey: [UInt8]
  /// Of the last signature; 0 if the authenticator does not count.
  package let counter: UInt32
  package let createdAt: Date
  package let usedAt: Date?

  private static let columns = "id, user_id, name, credential, public_key, counter, created_at, used_at"

  private init(_ row: borrowing Row) {
    id = row.int64(0)
    userID = row.int64(1)
    name = row.text(2)
    credential = row.blob(3)
    publicKey = row.blob(4)
    counter = UInt32(clamping: row.int64(5))
    createdAt = row.date(6)
    usedAt = row.optionalDate(7)
  }

  package static func all(_ database: Database, user: Int64) throws -> [Passkey] {
    try database.fetchAll("SELECT \(columns) FROM passkeys WHERE user_id = ? ORDER BY id", user) { Passkey($0) }
  }

  package static func find(_ database: Database, credential: [UInt8]) throws -> Passkey? {
    try database.fetchOne("SELECT \(columns) FROM passkeys WHERE credential = ?", credential) { Passkey($0) }
  }

  /// - Returns: false if it is already registered, or the person has ``limit`` passkeys.
  package static func add(
    _ database: Database, user: Int64, name: String, credential: [UInt8], publicKey: [UInt8], counter: UInt32, now: Date
  ) throws -> Bool {
    guard try all(database, user: user).count < limit else { return false }
    return try database.run(
      """
      INSERT INTO passkeys(user_id, name, credential, public_key, counter, created_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT(credential) DO NOTHING
      """, user, name, credential, publicKey, Int64(counter), now) == 1
  }

  /// Records its use.
  ///
  /// - Returns: false if it was used meanwhile with this counter or a later one, or was removed.
  package func use(_ database: Database, counter: UInt32, now: Date) throws -> Bool {
    try database.run(
      "UPDATE passkeys SET counter = ?1, used_at = ?2 WHERE id = ?3 AND (counter < ?1 OR ?1 = 0)", Int64(counter), now,
      id)
      == 1
  }

  /// Removes a passkey of a person.
  ///
  /// - Returns: its name; nil if there was none.
  package static func remove(_ database: Database, id: Int64, user: Int64) throws -> String? {
    guard let found = try all(database, user: user).first(where: { $0.id == id }) else { return nil }
    try database.run("DELETE FROM passkeys WHERE id = ?", id)
    try SecondStep.forget(database, user: user)
    return found.name
  }
}
