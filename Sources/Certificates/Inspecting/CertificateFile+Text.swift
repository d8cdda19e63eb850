package import Foundation
import OpenSSL
import Model
import Providers
package import Text

extension CertificateFile {
  /// A description for a terminal: one fact per line, then the warnings.
  ///
  /// - Parameters:
  ///   - keyID: the key ID entered with the file.
  ///   - translation: the language; nil: English.
  package func lines(now: Date, keyID given: String? = nil, in translation: (any Translation)? = nil) -> [String] {
    func text(_ message: Message) -> String { message.text(in: translation) }
    var facts: [(label: Message, value: String?)] = [
      ("Kind", text(kind.words)),
      ("Name", name),
      ("Topics", topics.isEmpty ? nil : topics.map(\.text).joined(separator: ", ")),
      ("Environment", environments.isEmpty ? nil : Array(environments).text(in: translation)),
      ("Team", teamID),
      (kind == .jpushKeyPair ? "AppKey" : "Key ID", keyID ?? given),
    ]
    if let serviceAccount {
      facts += [("Project", serviceAccount.projectID), ("Client", serviceAccount.clientEmail)]
    }
    if let summary {
      facts += [
        ("Subject", summary.subject), ("Issuer", summary.issuer), ("Serial", summary.serial),
        ("Signature", summary.signatureAlgorithm), ("SHA-1", summary.sha1),
      ]
    }
    if let profile {
      facts += [
        ("App ID", profile.appID), ("Distribution", profile.distribution.rawValue.replacing("_", with: " ")),
        ("Devices", "\(profile.deviceCount)"), ("UUID", profile.uuid),
      ]
      facts += profile.entitlements.sorted { $0.key < $1.key }.map { ("Entitlement", "\($0.key) = \($0.value)") }
      facts += profile.certificates.map { ("Signed by", text("\($0.name), until \($0.notAfter.utcText)")) }
    }
    let left = Expiry.daysLeft(notAfter: notAfter, now: now)
    let term: Message = Expiry.daysSince(daysLeft: left) == nil ? "Days left" : "Expired"
    facts += [
      ("SHA-256", sha256), ("Valid from", notBefore?.utcText),
      ("Valid until", notAfter?.utcText ?? text("never expires")),
      (term, left.map { text(Expiry.message(daysLeft: $0)) }),
      ("Private key", profile == nil && keyPair == nil ? text(keyText) : nil),
      ("Encryption", encryption.isEmpty ? nil : encryption.joined(separator: ", ")),
    ]
    for other in otherCertificates.map(CertificateSummary.init) {
      facts.append((label: "Also holds", value: text("\(other.name), until \(other.notAfter.utcText)")))
    }
    let lines = facts.compactMap { label, value in value.map { text("\(label):").padded(to: 14) + $0.singleLine } }
    return lines
      + warnings(now: now, keyID: given).map { text("Warning:").padded(to: 14) + text("\($0.problem)").singleLine }
  }

  private var keyText: Message { privateKey.map { "yes, \($0.algorithm)" } ?? "no" }
}

extension CertificateKind {
  /// As a terminal shows it.
  package var words: Message {
    switch self {
    case .apnsCertificate: "APNs certificate"
    case .voipCertificate: "VoIP certificate"
    case .appleCertificate: "Other Apple certificate"
    case .apnsKey: "APNs key"
    case .provisioningProfile: "Provisioning profile"
    case .fcmServiceAccount: "Google service account (FCM)"
    case .jpushKeyPair: "JPush keys"
    case .tlsCertificate: "TLS certificate"
    case .host: "Host certificate"
    }
  }
}
