import Certificates
import Foundation
import JSON
import Model
import Store
import Text

/// What `certificates show` prints of a stored file: one fact per line, as `inspect` does.
struct StoredFileText {
  let certificate: TrackedCertificate
  /// The bundle ID of the app that it was uploaded for.
  let app: String?
  let uses: [TrackedCertificate.Use]
  let contents: CertificateContents?
  let taken: Acknowledgement?

  private typealias Facts = [(label: Message, value: String?)]

  func lines(_ io: CommandIO, now: Date) -> [String] {
    let facts: Facts = place(io) + file(io) + life(io, now: now) + people(io)
    return facts.compactMap { label, value in value.map { io.text("\(label):").padded(to: 14) + singleLine($0) } }
  }

  private func list(_ names: [String], _ io: CommandIO) -> String? { names.isEmpty ? nil : io.list(names) }

  private func place(_ io: CommandIO) -> Facts {
    let details = certificate.details
    let kind = CertificateKind(rawValue: details.kind)
    let kindWords: String = kind.map { io.text($0.words) } ?? details.kind
    let users: [String] = uses.map { io.text("\($0.bundleID) (\(io.word($0.environment)))") }
    let environments: [String] = details.environments.map { io.word($0) }
    let keyLabel: Message = kind == .jpushKeyPair ? "AppKey" : "Key ID"
    return [
      ("ID", "\(certificate.id)"), ("Kind", kindWords), ("Name", details.name), ("App", app),
      ("Used by", list(users, io)), ("Topics", list(details.topics, io)), ("Environment", list(environments, io)),
      ("Team", details.teamID), (keyLabel, details.keyID),
    ]
  }

  /// What the file itself says.
  private func file(_ io: CommandIO) -> Facts {
    let details = certificate.details
    let says = contents?.says ?? .null
    let (own, profile, account) = (says["certificate"], says["profile"], says["service_account"])
    let distribution: String? = profile?["distribution"]?.string?.replacing("_", with: " ")
    let devices: String? = profile?["devices"]?.integer.map { "\($0)" }
    var facts: Facts = [
      ("Project", account?["project_id"]?.string), ("Client", account?["client_email"]?.string),
      ("Subject", details.subject), ("Issuer", details.issuer), ("Serial", details.serial),
      ("Signature", own?["signature"]?.string), ("SHA-1", own?["sha1"]?.string),
      ("App ID", profile?["app_id"]?.string), ("Distribution", distribution), ("Devices", devices),
      ("UUID", profile?["uuid"]?.string),
    ]
    let entitlements = (profile?["entitlements"]?.object ?? [:]).sorted { $0.key < $1.key }
    for (name, value) in entitlements { facts.append(("Entitlement", "\(name) = \(value.string ?? value.text())")) }
    for signer in profile?["certificates"]?.array ?? [] {
      let (name, end) = (signer["subject"]?.string ?? "", signer["not_after"]?.string ?? "")
      facts.append(("Signed by", io.text("\(name), until \(end)")))
    }
    facts.append(("SHA-256", details.sha256))
    return facts
  }

  private func life(_ io: CommandIO, now: Date) -> Facts {
    let details = certificate.details
    let says = contents?.says ?? .null
    let hasOwnKey = ![CertificateKind.provisioningProfile, .jpushKeyPair].map(\.rawValue).contains(details.kind)
    let algorithm: String? = says["key"]?.string
    var key: Message = "no"
    if details.hasPrivateKey { key = algorithm.map { "yes, \($0)" } ?? "yes" }
    let end: String = details.notAfter?.text ?? io.text("never expires")
    let days = io.daysLeft(notAfter: details.notAfter, now: now)
    let isOver = Expiry.band(notBefore: nil, notAfter: details.notAfter, now: now) == .expired
    let term: Message = isOver ? "Expired" : "Days left"
    let encryption: [String] = (says["encryption"]?.array ?? []).compactMap(\.string)
    return [
      ("Valid from", details.notBefore?.text), ("Valid until", end),
      (term, days),
      ("Private key", hasOwnKey ? io.text(key) : nil), ("Encryption", list(encryption, io)),
    ]
  }

  private func people(_ io: CommandIO) -> Facts {
    let successor: String? = certificate.replacement.map {
      io.text("certificate \($0.by), kept until \($0.keptUntil.text)")
    }
    let handler: String? = taken.map { io.text("\($0.by) until \($0.until.text)") }
    return [
      ("File", certificate.details.fileName), ("Uploaded by", certificate.uploadedBy),
      ("Uploaded", certificate.createdAt.text), ("Apple ID", contents?.notes.madeBy), ("Note", contents?.notes.note),
      ("Replaced by", successor), ("Handled by", handler),
    ]
  }
}

extension CommandIO {
  /// The whole days until an expiry, or how long ago it was; nil: never.
  func daysLeft(notAfter: Date?, now: Date) -> String? {
    Expiry.daysLeft(notAfter: notAfter, now: now).map { text(Expiry.message(daysLeft: $0)) }
  }

  /// The same for a column of a list.
  func expires(notAfter: Date?, now: Date) -> String? {
    Expiry.daysLeft(notAfter: notAfter, now: now).map { text(Expiry.distance(daysLeft: $0)) }
  }
}
