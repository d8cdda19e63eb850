import Certificates
import Foundation
import Mustache
import Model
import SQLite
import Store

/// What a certificate's page says about its replacement: what took its place, or the form to upload one.
struct CertificateRenewal: Sendable {
  private let certificate: TrackedCertificate
  private let successor: TrackedCertificate?
  private let replaced: [TrackedCertificate]
  private let isUsed: Bool
  private let closed: ClosedReason?
  /// Requests that were made here for its renewal.
  let requests: [SigningRequest]

  /// What the form came back with.
  struct Upload: Sendable {
    var problem: String?
    var errors = FieldErrors()
    /// The file that waits for a better answer, and how it is called.
    var locked: (uid: String, name: String)?
  }

  static let fields = ["successor", "password", "key_id", "team_id"]

  init(_ database: Database, _ certificate: TrackedCertificate, isUsed: Bool, sealer: any Sealer) throws {
    self.certificate = certificate
    self.isUsed = isUsed
    successor = try certificate.replacement.flatMap { try TrackedCertificate.find(database, id: $0.by) }
    replaced = try TrackedCertificate.replaced(database, by: certificate.id)
    requests = try SigningRequest.all(database, certificate: certificate.id)
    let isClosed =
      try certificate.details.hasPrivateKey
      && Sealing.isClosed(database, in: "certificates", id: certificate.id, sealer)
    closed = isClosed ? ClosedReason(try Sealing.state(database, sealer)) : nil
  }

  /// What raises its alarms again if this one is removed.
  var wakes: [String] { successor == nil ? replaced.map(\.details.name) : [] }

  func view(_ page: PageContext, _ upload: Upload) -> RenewalView {
    let texts = page.texts
    let mayChange = page.may(.admin)
    return RenewalView(
      closed: closed.map { texts.text($0.problem) },
      replacement: certificate.replacement.flatMap { replacement in
        successor.map {
          ReplacementRow(replacement: replacement, shown: $0, old: certificate.id, mayUndo: mayChange, isInUse: isUsed)
        }
      },
      replaced: replaced.compactMap { old in
        old.replacement.map { ReplacementRow(replacement: $0, shown: old, old: old.id, mayUndo: mayChange) }
      },
      hasForm: mayChange && (successor == nil || isUsed), upload: upload, form: page.form)
  }
}

/// What ``CertificateRenewal`` shows, for `certificates/_replacement` and `certificates/_successor`.
struct RenewalView: View {
  let closed: String?
  let replacement: ReplacementRow?
  let replaced: [ReplacementRow]
  let hasForm: Bool
  let upload: CertificateRenewal.Upload
  let form: Form

  static let fields: [Field<RenewalView>] =
    CertificateRenewal.fields.map { name in
      .view(name) { view -> FieldView in
        let isKept = name == "key_id" || name == "team_id"
        return FieldView(value: isKept ? view.form.raw(name) : "", error: view.upload.errors[name])
      }
    } + [
      .optional("closed") { $0.closed },
      .view("replacement") { $0.replacement },
      .list("replaced") { $0.replaced },
      .flag("has_replaced") { !$0.replaced.isEmpty },
      .flag("has_form") { $0.hasForm },
      .optional("problem") { $0.upload.problem },
      .view("locked") { $0.upload.locked.map { LockedFileView(uid: $0.uid, name: $0.name) } },
    ]
}

/// A file that waits under a form for what was wrong beside it.
struct LockedFileView: View {
  let uid: String
  let name: String

  static let fields: [Field<Self>] = [.text("uid") { $0.uid }, .text("name") { $0.name }]
}

/// A certificate that took another one's place, or the one whose place was taken.
struct ReplacementRow: View {
  let replacement: TrackedCertificate.Replacement
  /// Which of both is shown.
  let shown: TrackedCertificate
  /// The row id of the old one.
  let old: Int64
  let mayUndo: Bool
  /// Whether something sends with the old one again.
  var isInUse = false

  static let fields: [Field<ReplacementRow>] = [
    .written("certificate_id") { $1.write(Int($0.shown.id)) },
    .written("old_id") { $1.write(Int($0.old)) },
    .text("name") { $0.shown.details.name },
    .optional("serial") { $0.shown.details.serial ?? $0.shown.details.keyID },
    .view("replaced_on") { EndDay(date: $0.replacement.at) },
    .view("undo_until") { EndDay(date: $0.replacement.keptUntil) },
    .flag("may_undo") { $0.mayUndo },
    .flag("in_use") { $0.isInUse },
  ]
}
