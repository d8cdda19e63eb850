package import Foundation
internal import OpenSSL
package import SQLite

/// A certificate's replacement that waits for confirmation: kept sealed for a day, because a browser does not upload a
/// file twice by itself.
package struct CertificateCandidate: Sendable, Hashable, Identifiable {
  package let id: Int64
  /// The public ID.
  package let uid: String
  /// The certificate to be replaced.
  package let certificateID: Int64
  package let createdBy: String
  package let createdAt: Date

  /// In seconds.
  package static let lifetime: TimeInterval = 86_400

  /// Replaces the person's previous candidate for the certificate, and deletes expired ones.
  ///
  /// - Parameter content: the Certificates room's own format.
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
    try Sealing.keep(database, content, "certificate_candidates", id, sealer, now: now)
    return CertificateCandidate(id: id, uid: uid, certificateID: certificate, createdBy: user, createdAt: now)
  }

  /// A candidate with its content, nil if there is none or it has expired.
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

  package static func delete(_ database: Database, id: Int64) throws {
    try database.run("DELETE FROM certificate_candidates WHERE id = ?", id)
  }

  /// Deletes expired candidates.
  package static func sweep(_ database: Database, now: Date) throws {
    try database.run(
      "DELETE FROM certificate_candidates WHERE created_at <= ?", now.addingTimeInterval(-lifetime))
  }
}
