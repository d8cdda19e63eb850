import Certificates
import Foundation
import JSON
import Mustache
import Model
import SQLite
import Store

/// The part of a certificate's page about its successor: what took its place, or the form to bring one.
struct RenewalPanel: Sendable {
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

  func value(_ page: PageContext, _ upload: Upload) -> Value {
    let texts = page.texts
    let mayChange = page.may(.admin)
    return [
      "replaced": replacedValue(page, mayChange), "any_replaces": .bool(!replaced.isEmpty),
      "replaces": .list(
        replaced.map { old in
          [
            "href": .string("/certificates/\(old.id)"), "name": .string(old.details.name),
            "serial": .string(old.details.serial ?? old.details.keyID ?? ""),
            "undo_href": .string(mayChange ? "/certificates/\(old.id)/undo" : ""),
            "text": .string(
              texts("renewal.undo_until", ["date": old.replacement?.keptUntil.dayText ?? ""])),
          ]
        }),
      "can_replace": .bool(mayChange && (successor == nil || isUsed)),
      "closed": .string(closed.map { texts.text($0.problem) } ?? ""),
      "is_key": .bool(
        certificate.details.kind == CertificateKind.apnsKey.rawValue || certificate.details.topics.isEmpty),
      "problem": .string(upload.problem ?? ""), "locked": .string(upload.locked?.uid ?? ""),
      "remedy": .string(
        texts(upload.locked == nil ? "certificates.nothing_kept" : "certificates.nothing_kept_yet")),
      "locked_text": .string(upload.locked.map { texts("certificates.locked", ["name": $0.name]) } ?? ""),
      "form": page.form.value(["key_id", "team_id"]),
      "errors": upload.errors.value(Self.fields),
    ]
  }

  private func replacedValue(_ page: PageContext, _ mayChange: Bool) -> Value {
    guard let successor, let replacement = certificate.replacement else { return false }
    return [
      "text": .string(page.texts("renewal.replaced", ["date": replacement.at.dayText])),
      "name": .string(successor.details.name), "href": .string("/certificates/\(successor.id)"),
      "until": .string(page.texts("renewal.undo_until", ["date": replacement.keptUntil.dayText])),
      "in_use": .bool(isUsed),
      "undo_href": .string(mayChange ? "/certificates/\(certificate.id)/undo" : ""),
    ]
  }
}
