package import Foundation
package import JSON
import OpenSSL
package import Model
import Providers
package import SQLite
package import Store

/// A new file that is to replace a stored certificate.
package struct Renewal: Sendable {
  /// The certificate to replace.
  package let old: TrackedCertificate
  /// The credentials that use the old certificate and will move.
  package let uses: [TrackedCertificate.Use]
  /// The new file, with its key if one was found here.
  package let file: CertificateFile
  /// The columns to store for the new file.
  package let details: TrackedCertificate.Details
  /// The same file if it is stored already; then it is used.
  package let known: TrackedCertificate?
  /// Most severe first.
  package let findings: [RenewalFinding]

  /// Whether the file is the stored one, whose key no longer opens or never came: then only the key is stored, and
  /// nothing is replaced.
  package let isRefill: Bool

  private let labels: CertificateTracker.Labels
  /// The notes for the successor: those given now, else its own if it is stored already, else those of the old one.
  private let notes: CertificateContents.Notes

  /// Whether the file cannot replace the old one.
  package var isStopped: Bool { findings.contains { $0.level == .stop } }

  /// The reasons for ``isStopped``.
  package var stops: [Problem] { findings.filter { $0.level == .stop }.map(\.problem) }

  /// The private key of the new file in its stored form; empty if there is none. A secret.
  package var material: [UInt8] { file.material }

  /// Compares a file with the certificate that it is to replace. Changes nothing.
  ///
  /// - Throws: `StoreError.notFound`, `Problems` if a key comes without its IDs, or a note is too long.
  package init(
    _ database: Database, replacing id: Int64, with file: CertificateFile, _ labels: CertificateTracker.Labels,
    sealer: any Sealer, now: Date
  ) throws {
    old = try TrackedCertificate.get(database, id: id)
    uses = try TrackedCertificate.uses(database, id: id)[id] ?? []
    var labels = labels
    // For a team's second key, the team ID need not be typed again.
    if file.teamID == nil, labels.teamID?.isEmpty != false { labels.teamID = old.details.teamID }
    labels.appID = labels.appID ?? old.details.appID
    let said = try CertificateContents.Notes(madeBy: labels.madeBy, note: labels.note)
    let before = try CertificateContents.find(database, certificate: id)?.notes
    (labels.madeBy, labels.note) = (said.madeBy ?? before?.madeBy, said.note ?? before?.note)
    self.labels = labels
    self.file = try KeyFinder.joined(database, file, sealer: sealer).file
    details = try CertificateTracker.details(self.file, labels)
    let hasKey = details.hasPrivateKey
    let isSame = details.sha256 != nil && details.sha256 == old.details.sha256
    let isFirstKey = isSame && hasKey && !old.details.hasPrivateKey
    isRefill = try isFirstKey || isSame && hasKey && Sealing.isClosed(database, in: "certificates", id: id, sealer)
    known = try details.sha256.flatMap { try TrackedCertificate.find(database, sha256: $0) }?
      .first { $0.details.hasPrivateKey || !hasKey }
    // The notes of a file that is stored already stay unless new ones are given.
    let own = try known.flatMap { try CertificateContents.find(database, certificate: $0.id)?.notes }
    notes = try CertificateContents.Notes(
      madeBy: said.madeBy ?? own?.madeBy ?? before?.madeBy, note: said.note ?? own?.note ?? before?.note)
    let check = RenewalCheck(
      old: RenewalSubject(old.details, account: try Self.account(database, of: old, sealer: sealer)),
      new: RenewalSubject(self.file, details), uses: uses,
      warnings: self.file.warnings(now: now, keyID: labels.keyID), now: now)
    // A replaced certificate that is in use again may be replaced again.
    let taken = uses.isEmpty ? old.replacement : nil
    let successor = try taken.map { try TrackedCertificate.get(database, id: $0.by) }
    if isRefill {
      findings = [RenewalFinding(.fine, isFirstKey ? .complete : .refill)]
    } else if let taken, let successor {
      findings = [
        RenewalFinding(
          .stop, .replaced,
          [
            "date": taken.at.formatted(.iso8601.year().month().day()), "name": successor.details.name,
            "id": "\(successor.id)",
          ])
      ]
    } else {
      findings = check.findings
    }
  }

  /// Google's project or JPush's AppKey of a stored file; nil for other kinds, and if its secret does not open.
  private static func account(
    _ database: Database, of certificate: TrackedCertificate, sealer: any Sealer
  ) throws -> String? {
    let kind = CertificateKind(rawValue: certificate.details.kind)
    guard kind == .fcmServiceAccount || kind == .jpushKeyPair else { return nil }
    let says = try CertificateContents.find(database, certificate: certificate.id)?.says
    if let known = says?["service_account"]?["project_id"]?.string ?? says?["jpush_app_key"]?.string { return known }
    let material = try Sealing.opened {
      try TrackedCertificate.material(database, id: certificate.id, sealer: sealer)
    }
    guard let material else { return nil }
    if kind == .jpushKeyPair { return JPushKeyPair(material: material)?.appKey }
    return try? ServiceAccount(material: material).projectID  // nil: damaged
  }

  /// Whether the old certificate was replaced before. This depends on the order of events, not on the file.
  package var isReplacedAlready: Bool { findings.contains { $0.problem.code == RenewalMessage.replaced.rawValue } }

  /// The result of a switch.
  package struct Switched: Sendable {
    package let successor: TrackedCertificate
    /// The credentials that moved.
    package let moved: [Int64]
    /// The detail of the audit entry.
    package let audited: JSONValue
  }

  /// Puts the file in place, in the caller's transaction.
  ///
  /// - Throws: `Problems` if ``isStopped``.
  package func carryOut(_ database: Database, sealer: any Sealer, by user: String, now: Date) throws -> Switched {
    if isStopped { throw Problems(stops) }
    if isRefill {
      try TrackedCertificate.refill(
        database, id: old.id, material: material, publicPEM: details.publicPEM, sealer: sealer, now: now)
      return Switched(successor: old, moved: [], audited: ["refilled": true, "sha256": .optional(details.sha256)])
    }
    let successor = try known ?? CertificateTracker.keep(database, file, labels, sealer: sealer, by: user, now: now)
    if known != nil { try CertificateContents.update(database, certificate: successor.id, notes) }
    let moved = try TrackedCertificate.replace(database, id: old.id, by: successor.id, now: now)
    let audited: JSONValue = [
      "successor": .integer(successor.id), "name": .string(successor.details.name),
      "serial": .optional(successor.details.serial), "sha256": .optional(successor.details.sha256),
      "replaced_serial": .optional(old.details.serial), "credentials": .array(moved.map { .integer($0) }),
      "warnings": .array(findings.filter { $0.level == .warn }.map { .string($0.problem.code) }),
    ]
    return Switched(successor: try TrackedCertificate.get(database, id: successor.id), moved: moved, audited: audited)
  }

  // MARK: Between two requests of a browser

  /// The file and its labels, to be stored sealed until somebody decides.
  package func content(original: Data) -> [UInt8] {
    let data = file.opened(original: original)
    let members: JSONValue = [
      "file": .string(data.base64EncodedString()), "name": .string(labels.fileName),
      "key_id": .optional(labels.keyID), "team_id": .optional(labels.teamID),
    ]
    return Array(members.data())
  }

  /// Reads the result of ``content(original:)``.
  ///
  /// - Throws: `FileProblem`, `Problems`.
  package init(_ database: Database, replacing id: Int64, content: [UInt8], sealer: any Sealer, now: Date) throws {
    let members = try JSONValue(parsing: Data(content))
    let name = members["name"]?.string ?? ""
    let labels = CertificateTracker.Labels(
      fileName: name, keyID: members["key_id"]?.string, teamID: members["team_id"]?.string)
    let file = try CertificateFile.inspect(
      data: Data(base64Encoded: members["file"]?.string ?? "") ?? Data(), fileName: name)
    try self.init(database, replacing: id, with: file, labels, sealer: sealer, now: now)
  }
}
