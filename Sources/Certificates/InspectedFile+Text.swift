public import Foundation
import OpenSSL
import Push

extension InspectedFile {
  /// What the file is, for a terminal: one fact a line, then the warnings.
  ///
  /// - Parameter keyID: the key id that somebody gave with the file.
  public func lines(now: Date, keyID given: String? = nil) -> [String] {
    var facts: [(String, String?)] = [
      ("Kind", kindText),
      ("Name", name),
      ("Topics", topics.isEmpty ? nil : topics.map(\.text).joined(separator: ", ")),
      ("Environment", environments.isEmpty ? nil : environments.map(\.rawValue).joined(separator: ", ")),
      ("Team", teamID),
      (kind == .jpushKeyPair ? "App key" : "Key id", keyID ?? given),
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
        ("App id", profile.appID), ("Distribution", profile.distribution.rawValue.replacing("_", with: " ")),
        ("Devices", "\(profile.deviceCount)"), ("UUID", profile.uuid),
      ]
      facts += profile.entitlements.sorted { $0.key < $1.key }.map { ("Entitlement", "\($0.key) = \($0.value)") }
      facts += profile.certificates.map { ("Signed by", "\($0.name), until \($0.notAfter.utcText)") }
    }
    facts += [
      ("SHA-256", sha256), ("Valid from", notBefore?.utcText), ("Valid until", notAfter?.utcText ?? "does not expire"),
      ("Days left", Expiry.daysLeft(notAfter: notAfter, now: now).map(String.init)),
      ("Private key", profile == nil && keyPair == nil ? privateKey.map { "yes, \($0.algorithm)" } ?? "no" : nil),
      ("Encryption", encryption.isEmpty ? nil : encryption.joined(separator: ", ")),
    ]
    let lines = facts.compactMap { label, value in
      value.map { "\(label):".padding(toLength: 14, withPad: " ", startingAt: 0) + $0.singleLine }
    }
    return lines + warnings(now: now, keyID: given).map { "Warning:      \($0.problem.text.singleLine)" }
  }

  private var kindText: String {
    switch kind {
    case .apnsCertificate: "APNs certificate"
    case .voipCertificate: "APNs certificate for VoIP"
    case .appleCertificate: "certificate of Apple, not for pushes to apps"
    case .apnsKey: "APNs key"
    case .provisioningProfile: "provisioning profile"
    case .fcmServiceAccount: "service account of Google, for FCM"
    case .jpushKeyPair: "keys of JPush"
    case .tlsCertificate: "certificate, not of Apple"
    case .host: "certificate of a host"
    }
  }
}
