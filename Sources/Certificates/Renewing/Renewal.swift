package import Foundation
package import JSON
import OpenSSL
package import Model
package import SQLite
package import Store

/// A successor that is to take the place of something that is kept.
package struct Renewal: Sendable {
  /// What it replaces.
  package let old: TrackedCertificate
  /// What sends with the old one, and goes over.
  package let uses: [TrackedCertificate.Use]
  /// The new file, with its key if one was found here.
  package let file: InspectedFile
  /// What is kept of it.
  package let details: TrackedCertificate.Details
  /// The same file where it is kept already; it is used then.
  package let known: TrackedCertificate?
  /// What there is to know, the gravest first.
  package let findings: [RenewalFinding]

  /// Whether it is the very file that is kept, whose key no longer opens or never came: then that is put where it
  /// belongs, and nothing is replaced.
  package let isRefill: Bool

  private let labels: CertificateTracker.Labels
  /// What is kept beside the successor: what was said with it, else what stands beside the old one.
  private let notes: CertificateContents.Notes

  /// Whether it cannot be put in place.
  package var isStopped: Bool { findings.contains { $0.level == .stop } }

  /// The reasons why it cannot.
  package var stops: [Problem] { findings.filter { $0.level == .stop }.map(\.problem) }

  /// The private key of the new file, as it is kept; empty if there is none. A secret.
  package var material: [UInt8] { file.material }

  /// Holds a file against what it is to replace. Changes nothing.
  ///
  /// - Throws: `StoreError.notFound`, `Problems` if a key comes without its ids, or a note is too long.
  package init(
    _ database: Database, replacing id: Int64, with file: InspectedFile, _ labels: CertificateTracker.Labels,
    sealer: any Sealer, now: Date
  ) throws {
    old = try TrackedCertificate.get(database, id: id)
    uses = try TrackedCertificate.uses(database, id: id)[id] ?? []
    var labels = labels
    // A team's second key: what is the same needs not be typed again.
    if file.teamID == nil, labels.teamID?.isEmpty != false { labels.teamID = old.details.teamID }
    labels.appID = labels.appID ?? old.details.appID
    let said = try CertificateContents.Notes(madeBy: labels.madeBy, note: labels.note)
    let before = try CertificateContents.find(database, certificate: id)?.notes
    (labels.madeBy, labels.note) = (said.madeBy ?? before?.madeBy, said.note ?? before?.note)
    self.labels = labels
    self.file = try KeyFinder.joined(database, file, sealer: sealer).file
    details = try CertificateTracker.details(self.file, labels)
    let hasKey = self.file.privateKey != nil
    let isSame = details.sha256 != nil && details.sha256 == old.details.sha256
    let isFirstKey = isSame && hasKey && !old.details.hasPrivateKey
    isRefill =
      try isFirstKey || isSame && hasKey && Sealing.isClosed(database, in: "certificates", id: id, sealer)
    known = try details.sha256.flatMap { try TrackedCertificate.find(database, sha256: $0) }?
      .first { $0.details.hasPrivateKey || !hasKey }
    // What people noted of a file that is kept already is theirs, unless they say something else now.
    let own = try known.flatMap { try CertificateContents.find(database, certificate: $0.id)?.notes }
    notes = try CertificateContents.Notes(
      madeBy: said.madeBy ?? own?.madeBy ?? before?.madeBy, note: said.note ?? own?.note ?? before?.note)
    let check = RenewalCheck(
      old: RenewalSubject(old.details), new: RenewalSubject(self.file, details), uses: uses, now: now)
    // What something sends with again may be replaced again.
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

  /// Whether it was replaced before: a matter of the order in which things came, not of the file.
  package var isReplacedAlready: Bool { findings.contains { $0.problem.code == RenewalMessage.replaced.rawValue } }

  /// What a switch did.
  package struct Switched: Sendable {
    /// The successor.
    package let successor: TrackedCertificate
    /// The credentials that went over.
    package let moved: [Int64]
    /// For the audit.
    package let audited: JSONValue
  }

  /// Puts it in place, in the transaction around it.
  ///
  /// - Throws: `Problems` if it cannot be.
  package func carryOut(
    _ database: Database, sealer: any Sealer, by user: String, now: Date
  ) throws -> Switched {
    if isStopped { throw Problems(stops) }
    if isRefill {
      try TrackedCertificate.refill(
        database, id: old.id, material: material, publicPEM: details.publicPEM, sealer: sealer, now: now)
      return Switched(successor: old, moved: [], audited: ["refilled": true, "sha256": .optional(details.sha256)])
    }
    let successor =
      try known ?? CertificateTracker.keep(database, file, labels, sealer: sealer, by: user, now: now)
    if known != nil { try CertificateContents.update(database, certificate: successor.id, notes) }
    let moved = try TrackedCertificate.replace(database, id: old.id, by: successor.id, now: now)
    let audited: JSONValue = [
      "successor": .integer(successor.id), "name": .string(successor.details.name),
      "serial": .optional(successor.details.serial), "sha256": .optional(successor.details.sha256),
      "replaced_serial": .optional(old.details.serial), "credentials": .array(moved.map { .integer($0) }),
      "warnings": .array(findings.filter { $0.level == .warn }.map { .string($0.problem.code) }),
    ]
    return Switched(
      successor: try TrackedCertificate.get(database, id: successor.id), moved: moved, audited: audited)
  }

  // MARK: Between two requests of a browser

  /// The file and what was said beside it, to be kept sealed until somebody decides.
  package func content(original: Data) -> [UInt8] {
    let pem = ([file.certificate].compactMap(\.self) + file.otherCertificates).map(\.pem).joined()
    let text = pem + String(decoding: material, as: UTF8.self)
    // A .p12 is kept without its password; what is no certificate and no .p8 is not encrypted as a whole.
    let isPEM = file.certificate != nil || file.kind == .apnsKey
    let data = isPEM ? Data(text.utf8) : original
    let members: JSONValue = [
      "file": .string(data.base64EncodedString()), "name": .string(labels.fileName),
      "key_id": .optional(labels.keyID), "team_id": .optional(labels.teamID),
    ]
    return Array(members.data())
  }

  /// Reads what ``content(original:)`` made.
  ///
  /// - Throws: `FileProblem`, `Problems`.
  package init(
    _ database: Database, replacing id: Int64, content: [UInt8], sealer: any Sealer, now: Date
  ) throws {
    let members = try JSONValue(parsing: Data(content))
    let name = members["name"]?.string ?? ""
    let labels = CertificateTracker.Labels(
      fileName: name, keyID: members["key_id"]?.string, teamID: members["team_id"]?.string)
    let file = try CertificateFile.inspect(
      data: Data(base64Encoded: members["file"]?.string ?? "") ?? Data(), fileName: name)
    try self.init(database, replacing: id, with: file, labels, sealer: sealer, now: now)
  }
}
