package import Foundation
import JSON
package import Model
package import SQLite
package import Store

/// The labels that people give a stored file, by form or API.
package struct CertificateLabels: Sendable {
  /// In bytes.
  package static let nameLimit = 200

  package var name: String
  package var appID: Int64?
  package var madeBy: String?
  package var note: String?

  /// Reads the stored labels.
  package init(_ database: Database, _ certificate: TrackedCertificate) throws {
    let notes = try CertificateContents.find(database, certificate: certificate.id)?.notes
    (name, appID) = (certificate.details.name, certificate.details.appID)
    (madeBy, note) = (notes?.madeBy, notes?.note)
  }

  /// Takes the labels as typed; ``checked()`` validates them.
  package init(name: String, appID: Int64?, madeBy: String, note: String) {
    (self.name, self.appID, self.madeBy, self.note) = (name, appID, madeBy, note)
  }

  /// Validates the labels and returns the notes.
  ///
  /// - Throws: every problem, each under its field.
  package func checked() throws(Problems) -> CertificateContents.Notes {
    var problems: [Problem] = []
    if let problem = AppName.problem(withRequiredName: name, limit: Self.nameLimit) {
      problems.append(problem.under("name"))
    }
    var notes: CertificateContents.Notes?
    do { notes = try CertificateContents.Notes(madeBy: madeBy, note: note) } catch { problems += error.all }
    guard problems.isEmpty, let notes else { throw Problems(problems) }
    return notes
  }

  /// Stores the labels, with an audit entry of the values before and after.
  ///
  /// - Throws: `Problems`, `StoreError.notFound`.
  package func keep(_ database: Database, _ certificate: Int64, audit: NewAuditEntry, now: Date) throws {
    let notes = try checked()
    let before = try CertificateLabels(database, try TrackedCertificate.get(database, id: certificate))
    try TrackedCertificate.update(database, id: certificate, name: name, app: appID)
    try CertificateContents.update(database, certificate: certificate, notes)
    var after = self
    (after.madeBy, after.note) = (notes.madeBy, notes.note)
    let entry = audit.changing(try before.audited(database), to: try after.audited(database))
    try AuditEntry.add(database, entry, now: now)
  }

  private func audited(_ database: Database) throws -> JSONValue {
    [
      "name": .string(name), "app": .optional(try appID.flatMap { try App.find(database, id: $0)?.bundleID }),
      "made_by": .optional(madeBy), "note": .optional(note),
    ]
  }
}
