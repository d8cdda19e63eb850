package import Foundation
import JSON
package import Model
package import SQLite
package import Store

/// The result of the check before a replacement is undone.
package struct CertificateReturn: Sendable {
  /// The certificate that returns.
  package let old: TrackedCertificate
  /// The row ID of its replacement.
  package let successor: Int64
  /// The push service's answer about the old certificate for each credential that moves back.
  package let attempts: [CredentialAttempt]
  package let outcome: CertificateSwitch.Outcome

  /// Why the undo stops; nil if it may go ahead.
  package var problems: Problems? {
    outcome == .ready ? nil : Problems(attempts.compactMap { $0.problem(at: "certificate") })
  }

  /// Undoes the replacement, with an audit entry. Runs in the caller's transaction.
  ///
  /// - Returns: the credentials that moved back; nil if the certificate is no longer replaced.
  package func commit(_ database: Database, by actor: String, address: String? = nil, now: Date) throws -> [Int64]? {
    guard let back = try TrackedCertificate.undoReplacement(database, id: old.id) else { return nil }
    let detail: JSONValue = [
      "successor": .integer(successor), "credentials": .array(back.map { .integer($0) }),
      "trials": JSONValue(written: attempts),
    ]
    try AuditEntry.add(
      database, by: actor, "certificate.undo", "certificate \(old.id)", detail, from: address, now: now)
    return back
  }
}

extension CertificateSwitch {
  /// Tries the old certificate with the push service before credentials move back to it: it may have expired or been
  /// revoked since it was replaced. Changes nothing.
  ///
  /// - Parameter allowsUntried: whether the undo may go ahead if the push service could not be asked.
  /// - Returns: nil if the certificate is not replaced.
  /// - Throws: `StoreError.notFound`.
  package func lookBack(_ id: Int64, allowsUntried: Bool) async throws -> CertificateReturn? {
    let sealer = store.sealer
    let found = try await store.read { database -> (TrackedCertificate, Int64, [Int64], [UInt8])? in
      let old = try TrackedCertificate.get(database, id: id)
      guard let replacement = old.replacement, let back = try TrackedCertificate.returning(database, id: id) else {
        return nil
      }
      // A key that does not open makes no connection, so the trial is refused.
      let material = try Sealing.opened { try TrackedCertificate.material(database, id: id, sealer: sealer) }
      return (old, replacement.by, back, back.isEmpty ? [] : material ?? [])
    }
    guard let (old, successor, back, material) = found else { return nil }
    let attempts = try await CredentialAttempt.all(
      store, credentials: back, details: old.details, material: material, attempt: attempt)
    return CertificateReturn(
      old: old, successor: successor, attempts: attempts,
      outcome: Self.outcome(attempts, allowsUntried: allowsUntried))
  }
}
