package import Foundation
internal import OpenSSL
package import SQLite

/// A file that is to replace a certificate and waits for somebody's word: kept sealed, for a day, because a browser
/// does not hand over a file twice.
package struct CertificateCandidate: Sendable, Hashable, Identifiable {
  /// Row id.
  package let id: Int64
  /// In addresses.
  package let uid: String
  /// What it is to replace.
  package let certificateID: Int64
  /// Who brought it.
  package let createdBy: String
  /// When.
  package let createdAt: Date

  /// How long it is kept, in seconds.
  package static let lifetime: TimeInterval = 86_400

  /// Keeps one; a former one of the same person for the same certificate goes, and all that are too old.
  ///
  /// - Parameter content: whatever the Certificates room needs to read it again.
  package static func add(
    _ database: Database, certificate: Int64, content: [UInt8], sealer: any Sealer, by user: String, now: Date
  ) throws -> CertificateCandidate {
    try sweep(database, now: now)
    try database.run(
      "DELETE FROM certificate_candidates WHERE certificate_id = ? AND created_by = ?", certificate, user)
    let uid = Random.token(bytes: 12)
    try database.run(
      """
      INSERT INTO certificate_candidates(uid, certificate_id, created_by, created_at, sealed) VALUES (?, ?, ?, ?, x'')
      """, uid, certificate, user, now)
    let id = database.lastInsertedID
    let sealed = try Sealing.seal(database, content, "certificate_candidates", id, sealer, now: now)
    try database.run("UPDATE certificate_candidates SET sealed = ? WHERE id = ?", sealed, id)
    return CertificateCandidate(id: id, uid: uid, certificateID: certificate, createdBy: user, createdAt: now)
  }

  /// One of them with its content, nil if there is none or its day is over.
  package static func find(
    _ database: Database, uid: String, sealer: any Sealer, now: Date
  ) throws -> (candidate: CertificateCandidate, content: [UInt8])? {
    let found = try database.fetchOne(
      "SELECT id, uid, certificate_id, created_by, created_at, sealed FROM certificate_candidates WHERE uid = ?", uid
    ) { row in
      (
        CertificateCandidate(
          id: row.int64(0), uid: row.text(1), certificateID: row.int64(2), createdBy: row.text(3),
          createdAt: row.date(4)), row.blob(5)
      )
    }
    guard let (candidate, sealed) = found, now.timeIntervalSince(candidate.createdAt) < lifetime else { return nil }
    return (candidate, try sealer.open(sealed, associatedData: place("certificate_candidates", candidate.id)))
  }

  /// Removes one.
  package static func delete(_ database: Database, id: Int64) throws {
    try database.run("DELETE FROM certificate_candidates WHERE id = ?", id)
  }

  /// Removes those whose day is over.
  package static func sweep(_ database: Database, now: Date) throws {
    try database.run(
      "DELETE FROM certificate_candidates WHERE created_at <= ?", now.addingTimeInterval(-lifetime))
  }
}
