package import Foundation
import JSON
package import Model
package import SQLite
package import Store

/// What was found before a replacement is taken back.
package struct CertificateReturn: Sendable {
  /// What returns.
  package let old: TrackedCertificate
  /// The row id of what stands in its place.
  package let successor: Int64
  /// What the push service says of the old one, for each credential that returns.
  package let attempts: [CredentialAttempt]
  /// How far it came.
  package let outcome: CertificateSwitch.Outcome

  /// Why it goes no further, nil if it may.
  package var problems: Problems? {
    outcome == .ready ? nil : Problems(attempts.compactMap { $0.problem(at: "certificate") })
  }

  /// Takes the replacement back, in the transaction around it, with a line of the audit.
  ///
  /// - Returns: the credentials that are back; nil if it is not replaced any more.
  package func commit(
    _ database: Database, by actor: String, address: String? = nil, now: Date
  ) throws -> [Int64]? {
    guard let back = try TrackedCertificate.undoReplacement(database, id: old.id) else { return nil }
    try AuditEntry.add(
      database,
      NewAuditEntry(
        actor: actor, action: "certificate.undo", subject: "certificate \(old.id)",
        detail: [
          "successor": .integer(successor), "credentials": .array(back.map { .integer($0) }),
          "trials": JSONValue(written: attempts),
        ], address: address), now: now)
    return back
  }
}

extension CertificateSwitch {
  /// Tries the old one with the push service before everything goes back to it: it may have been revoked, or have
  /// expired, since it was replaced. Changes nothing.
  ///
  /// - Parameter allowsUntried: whether it may go back although the push service could not be asked.
  /// - Returns: nil if it is not replaced.
  /// - Throws: `StoreError.notFound`.
  package func lookBack(_ id: Int64, allowsUntried: Bool) async throws -> CertificateReturn? {
    let sealer = store.sealer
    let found = try await store.read { database -> (TrackedCertificate, Int64, [Int64], [UInt8])? in
      let old = try TrackedCertificate.get(database, id: id)
      guard let replacement = old.replacement, let back = try TrackedCertificate.returning(database, id: id) else {
        return nil
      }
      // A key that does not open makes no connection: the trial is refused for it.
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
