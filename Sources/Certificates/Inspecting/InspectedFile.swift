package import Foundation
package import OpenSSL
package import Model
import Text

/// What a file holds that somebody dropped on the Certificates page or named to `signalbox inspect`.
package struct InspectedFile: Sendable {
  /// In which form it came.
  package enum Format: String, Sendable, Hashable, Codable {
    case pkcs12 = "p12"
    case pem
    case der
    case mobileProvision = "mobileprovision"
    case json
    case text
  }

  /// Why of several certificates this one was taken.
  package enum Choice: String, Sendable, Hashable {
    /// Of the others, no key is in the file.
    case onlyWithKey = "only_with_key"
    /// The others send no pushes to apps.
    case onlyForPush = "only_for_push"
    /// It ends last.
    case endsLast = "ends_last"
    /// Somebody said so.
    case asked
  }
  /// In which form it came.
  package let format: Format
  /// What sort of thing it is.
  package let kind: CertificateKind
  /// What Apple issued it for; nil for keys and profiles.
  package let role: CertificateRole?
  /// What to call it: the certificate's name, the profile's name, the key's id.
  package let name: String
  /// The topics that it may be sent to. Empty for keys, which may send to every topic of their team.
  package let topics: [AppleExtensions.Topic]
  /// For which of Apple's servers it is good.
  package let environments: [Model.Environment]
  /// Apple's id of the team, if the file tells it; a `.p8` does not.
  package let teamID: String?
  /// Apple's id of a `.p8`, if the file name tells it.
  package let keyID: String?
  /// The certificate that the file is about.
  package let certificate: Certificate?
  /// All others in the file: issuers, or further ones.
  package let otherCertificates: [Certificate]
  /// The private key, if there is one; it fits the certificate. A secret.
  package let privateKey: PrivateKey?
  /// What a provisioning profile says.
  package let profile: ProvisioningProfile?
  /// What a service account says.
  package private(set) var serviceAccount: ServiceAccount?
  /// JPush's keys.
  package private(set) var keyPair: JPushKeyPair?
  /// Whether the name of a key says that Apple made it for another service than APNs.
  package private(set) var isForOtherService = false
  /// Why of several certificates this one was taken, nil if there is one only.
  package internal(set) var choice: Choice?
  /// With which algorithms the file is encrypted, as `PBE-SHA1-RC2-40`; empty if it is not.
  package internal(set) var encryption: [String] = []

  init(
    format: Format, kind: CertificateKind, role: CertificateRole?, name: String, topics: [AppleExtensions.Topic],
    environments: [Model.Environment], teamID: String?, keyID: String?, certificate: Certificate?,
    otherCertificates: [Certificate], privateKey: PrivateKey?, profile: ProvisioningProfile?,
    serviceAccount: ServiceAccount? = nil, keyPair: JPushKeyPair? = nil, isForOtherService: Bool = false
  ) {
    self.format = format
    self.kind = kind
    self.role = role
    self.name = name.singleLine.cut(to: 200)
    self.topics = topics.map { .init(name: $0.name.singleLine, kinds: $0.kinds) }
    self.environments = environments
    self.teamID = teamID
    self.keyID = keyID
    self.certificate = certificate
    self.otherCertificates = otherCertificates
    self.privateKey = privateKey
    self.profile = profile
    self.serviceAccount = serviceAccount
    self.keyPair = keyPair
    self.isForOtherService = isForOtherService
  }

  /// The certificate in words.
  package var summary: CertificateSummary? { certificate.map(CertificateSummary.init) }
  /// Whether pushes can be sent with it, dates aside.
  package var canSend: Bool {
    switch kind {
    case .fcmServiceAccount, .jpushKeyPair: true
    default: privateKey != nil && (kind == .apnsKey || kind.isForAPNs)
    }
  }
  /// What has to be sealed to use it again: a secret; see ``PrivateKey/wipe(_:)``. Empty if nothing in it is one.
  package var material: [UInt8] {
    serviceAccount?.material ?? keyPair?.material ?? privateKey?.pkcs8PEMBytes ?? []
  }
  /// The first second in which it is valid, nil for keys.
  package var notBefore: Date? { certificate?.notBefore ?? profile?.creationDate }
  /// The last second in which it is valid, nil for keys.
  package var notAfter: Date? { certificate?.notAfter ?? profile?.expirationDate }
  /// SHA-256 of the certificate, of a key's public half, or of JPush's keys, as `AB:CD:…`; nil for profiles.
  package var sha256: String? {
    if let certificate { return certificate.sha256Fingerprint }
    // 96 random bits are in the secret: nobody finds it by its digest.
    let bytes = privateKey.map { Array($0.publicKey.der) } ?? keyPair?.material
    return bytes.map { Digest.sha256($0).map { String(format: "%02X", $0) }.joined(separator: ":") }
  }

  /// The same with the private key that fits it.
  package func joined(with key: PrivateKey) -> InspectedFile {
    InspectedFile(
      format: format, kind: kind, role: role, name: name, topics: topics, environments: environments, teamID: teamID,
      keyID: keyID, certificate: certificate, otherCertificates: otherCertificates, privateKey: key, profile: profile)
  }

  /// What is watched of it.
  ///
  /// - Parameter app: the name under which people know whom it is for.
  package func expiry(app: String?) -> TrackedExpiry {
    TrackedExpiry(
      name: name, kind: kind, app: app, topics: topics.map(\.name), environments: environments,
      serial: certificate?.serialNumber, sha256: sha256, notBefore: notBefore, notAfter: notAfter)
  }
}

extension CertificateKind {
  /// Whether it is a certificate for a connection to APNs.
  package var isForAPNs: Bool { self == .apnsCertificate || self == .voipCertificate }
}
