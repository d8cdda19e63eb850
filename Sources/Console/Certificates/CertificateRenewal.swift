import Certificates
import Foundation
import Mustache
import Model
import SQLite
import Store

/// The replacement section of a certificate's page: what replaced it, or the form to upload a replacement.
struct CertificateRenewal: Sendable {
  private let certificate: TrackedCertificate
  private let successor: TrackedCertificate?
  private let replaced: [TrackedCertificate]
  private let isUsed: Bool
  private let closed: ClosedReason?
  /// The signing requests made here for its renewal.
  let requests: [SigningRequest]

  /// The state of a refused upload form.
  struct Upload: Sendable {
    var problem: String?
    /// What is asked for before the file can be read.
    var question: String?
    var errors = FieldErrors()
    /// The held file.
    var locked: (uid: String, name: String)?
  }

  static let fields = ["successor", "password", "key_id", "team_id", "app_key", "master_secret"]

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

  /// The names of replaced certificates that raise alarms again if this one is deleted.
  var wakes: [String] { successor == nil ? replaced.map(\.details.name) : [] }

  /// Whether it was replaced, and can still take its place again.
  var mayReturn: Bool { successor != nil }

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
      hasForm: mayChange && (successor == nil || isUsed), kind: CertificateKind(rawValue: certificate.details.kind),
      upload: upload, form: page.form)
  }
}

/// The view of ``CertificateRenewal``, for `certificates/_replacement` and `certificates/_successor`.
struct RenewalView: View {
  let closed: String?
  let replacement: ReplacementRow?
  let replaced: [ReplacementRow]
  let hasForm: Bool
  /// The kind of the file to replace; nil if this version does not know it.
  let kind: CertificateKind?
  let upload: CertificateRenewal.Upload
  let form: Form

  static let fields: [Field<RenewalView>] =
    CertificateRenewal.fields.map { name in
      .view(name) { view -> FieldView in
        let isKept = ["key_id", "team_id", "app_key"].contains(name)
        return FieldView(value: isKept ? view.form.raw(name) : "", error: view.upload.errors[name])
      }
    } + [
      .optional("closed") { $0.closed },
      .view("replacement") { $0.replacement },
      .list("replaced") { $0.replaced },
      .flag("has_replaced") { !$0.replaced.isEmpty },
      .flag("has_form") { $0.hasForm },
      .flag("is_jpush") { $0.kind == .jpushKeyPair },
      .flag("is_service_account") { $0.kind == .fcmServiceAccount },
      .flag("asks_password") { $0.asks(["password"], unless: [.fcmServiceAccount, .provisioningProfile]) },
      .flag("asks_key") {
        $0.asks(
          ["key_id", "team_id"], unless: [.fcmServiceAccount, .provisioningProfile, .appleCertificate, .tlsCertificate])
      },
      .optional("problem") { $0.upload.problem },
      .optional("question") { $0.upload.question },
      .view("locked") { $0.upload.locked.map { LockedFileView(uid: $0.uid, name: $0.name) } },
    ]

  /// Whether the form has these fields: files of some kinds never need them, until one is refused for it.
  private func asks(_ names: [String], unless kinds: [CertificateKind]) -> Bool {
    kind.map { !kinds.contains($0) } ?? true || names.contains { !upload.errors[$0].isEmpty }
  }
}

/// A held file, shown under a form whose other fields are wrong.
struct LockedFileView: View {
  let uid: String
  let name: String

  static let fields: [Field<Self>] = [.text("uid") { $0.uid }, .text("name") { $0.name }]
}

/// The certificate that replaced another, or the one that was replaced.
struct ReplacementRow: View {
  let replacement: TrackedCertificate.Replacement
  /// The one of the two that is shown.
  let shown: TrackedCertificate
  /// The row ID of the replaced certificate.
  let old: Int64
  let mayUndo: Bool
  /// Whether a credential uses the replaced certificate again.
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
