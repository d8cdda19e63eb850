package import Foundation
package import SQLite

/// The password of the mail server. It stands apart from the server's other settings because it is sealed.
package enum MailPassword {
  /// There is one mail server.
  private static let id: Int64 = 1

  /// The password, nil if none is kept.
  ///
  /// - Throws: what the sealer throws if it was sealed with another key.
  package static func find(_ database: Database, sealer: any Sealer) throws -> String? {
    let sealed = try database.fetchOne("SELECT sealed FROM mail_passwords WHERE id = ?", id) { $0.blob(0) }
    guard let sealed else { return nil }
    return String(decoding: try sealer.open(sealed, associatedData: place("mail_passwords", id)), as: UTF8.self)
  }

  /// Keeps it; nil takes it away.
  ///
  /// - Throws: ``SealingMismatch`` if the database is sealed with another key.
  package static func set(_ database: Database, _ password: String?, sealer: any Sealer, now: Date) throws {
    guard let password else {
      try database.run("DELETE FROM mail_passwords WHERE id = ?", id)
      return
    }
    let sealed = try Sealing.seal(database, Array(password.utf8), "mail_passwords", id, sealer, now: now)
    try database.run(
      "INSERT INTO mail_passwords(id, sealed) VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET sealed = excluded.sealed", id,
      sealed)
  }
}
