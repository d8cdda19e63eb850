package import Foundation
import JSON
internal import Model
package import SQLite

extension TrackedCertificate {
  /// How long a replaced certificate is kept for undo, in seconds.
  package static let undoTime: TimeInterval = 30 * 86_400

  /// Replaces a certificate: credentials that use it use the successor from now on.
  ///
  /// - Returns: the switched credentials.
  /// - Throws: `StoreError.notFound`.
  @discardableResult
  package static func replace(_ database: Database, id: Int64, by successor: Int64, now: Date) throws -> [Int64] {
    let old = try get(database, id: id)
    _ = try get(database, id: successor)
    guard id != successor else { throw StoreError.taken(noun: "certificate", field: "id") }
    let before = try database.fetchAll(
      "SELECT id, last_accepted_at FROM credentials WHERE certificate_id = ? ORDER BY id", id
    ) { (id: $0.int64(0), accepted: $0.optionalInt64(1)) }
    let moved = before.map(\.id)
    let accepted = before.reduce(into: [String: JSONValue]()) { all, one in
      all[String(one.id)] = one.accepted.map { .integer($0) }
    }
    try move(database, moved, to: successor)
    // The successor is in use now: it counts as replaced no longer.
    try wake(database, id: successor)
    try database.run("UPDATE certificates SET replaced_by = ?1 WHERE replaced_by = ?2", successor, id)
    try database.run(
      """
      UPDATE certificates SET replaced_by = ?, replaced_at = ?, kept_until = ?, moved = ?, accepted_before = ?
      WHERE id = ?
      """, successor, now, now.addingTimeInterval(undoTime), JSONValue.array(moved.map { .integer($0) }).text(),
      JSONValue.object(accepted).text(), id)
    try database.run("UPDATE certificates SET app_id = coalesce(app_id, ?) WHERE id = ?", old.details.appID, successor)
    return moved
  }

  /// Resets the health, which belongs to the former certificate: to what it was before if this one was replaced.
  private static func move(_ database: Database, _ credentials: [Int64], to certificate: Int64) throws {
    let before = try database.fetchOne("SELECT accepted_before FROM certificates WHERE id = ?", certificate) {
      $0.text(0)
    }
    let accepted = try json(before, "certificates.accepted_before")
    for credential in credentials {
      try database.run(
        """
        UPDATE credentials SET certificate_id = ?, last_accepted_at = ?, last_refused_at = NULL, last_refusal = NULL
        WHERE id = ?
        """, certificate, accepted?[String(credential)]?.integer, credential)
    }
  }

  private static func wake(_ database: Database, id: Int64) throws {
    try database.run(
      """
      UPDATE certificates SET replaced_by = NULL, replaced_at = NULL, kept_until = NULL, moved = '[]',
        accepted_before = '{}'
      WHERE id = ?
      """, id)
  }

  /// Re-seals the secret after the old key was lost, or seals it for the first time.
  ///
  /// - Parameter publicPEM: the file's certificates; nil: keep the stored ones.
  package static func refill(
    _ database: Database, id: Int64, material: [UInt8], publicPEM: String? = nil, sealer: any Sealer, now: Date
  ) throws {
    let sealed = try Sealing.seal(database, material, "certificates", id, sealer, now: now)
    try database.run(
      """
      UPDATE certificates SET sealed = ?, has_private_key = 1, public_pem = coalesce(?, public_pem) WHERE id = ?
      """, sealed, publicPEM, id)
  }

  /// Undoes a replacement: the switched credentials return, except those assigned to another certificate since.
  ///
  /// - Returns: the returned credentials; nil if it was not replaced.
  package static func undoReplacement(_ database: Database, id: Int64) throws -> [Int64]? {
    guard let back = try returning(database, id: id) else { return nil }
    try move(database, back, to: id)
    try wake(database, id: id)
    return back
  }

  /// The credentials that an undo would return; nil if it was not replaced.
  package static func returning(_ database: Database, id: Int64) throws -> [Int64]? {
    guard let replacement = try get(database, id: id).replacement else { return nil }
    return try replacement.credentials.filter { credential in
      try database.int(
        "SELECT count(*) FROM credentials WHERE id = ? AND certificate_id = ?", credential, replacement.by) == 1
    }
  }

  /// The certificates that it replaces, latest first.
  package static func replaced(_ database: Database, by id: Int64) throws -> [TrackedCertificate] {
    try database.fetchAll(
      "SELECT \(columns) FROM certificates t WHERE t.replaced_by = ? ORDER BY t.replaced_at DESC, t.id", id
    ) { try TrackedCertificate($0) }
  }

  /// Deletes replaced certificates whose undo time has ended, with an activity log entry each, unless a credential uses
  /// them again.
  ///
  /// - Returns: the deleted ones.
  @discardableResult
  package static func sweepReplaced(_ database: Database, now: Date) throws -> [TrackedCertificate] {
    let over = try database.fetchAll(
      """
      SELECT \(columns) FROM certificates t WHERE t.kept_until <= ? AND t.replaced_by IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM credentials c WHERE c.certificate_id = t.id)
      ORDER BY t.kept_until
      """, now
    ) { try TrackedCertificate($0) }
    for certificate in over {
      try delete(database, id: certificate.id)
      let detail: JSONValue = [
        "name": .string(certificate.details.name), "serial": .optional(certificate.details.serial),
        "replaced_by": certificate.replacement.map { .integer($0.by) } ?? .null, "reason": "the undo period has ended",
      ]
      try AuditEntry.add(
        database, by: "signalbox", "certificate.sweep", "certificate \(certificate.id)", detail, now: now)
    }
    return over
  }
}
