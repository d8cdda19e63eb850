package import Foundation
package import OpenSSL
package import Model
package import Providers
import Text

/// The content of a file that was uploaded on the Certificates page or passed to `signalbox inspect`.
package struct CertificateFile: Sendable {
  package enum Format: String, Sendable, Hashable, Codable {
    case pkcs12 = "p12"
    case pem
    case der
    case mobileProvision = "mobileprovision"
    case json
    case text
  }

  /// The reason why one of several certificates was chosen.
  package enum Choice: String, Sendable, Hashable {
    /// The only certificate whose key is in the file.
    case onlyWithKey = "only_with_key"
    /// The only one that sends pushes to apps.
    case onlyForPush = "only_for_push"
    /// It expires last.
    case endsLast = "ends_last"
    /// The caller selected it.
    case asked
  }

  package let format: Format
  package let kind: CertificateKind
  /// Nil for keys and profiles.
  package let role: CertificateRole?
  /// The name of the certificate or profile, or the key's ID.
  package let name: String
  /// Allowed topics. Empty for keys, which may send to every topic of their team.
  package let topics: [AppleExtensions.Topic]
  /// The APNs environments in which it is valid.
  package let environments: [Model.Environment]
  /// Nil if the file does not contain it, as in a `.p8`.
  package let teamID: String?
  /// The key ID of a `.p8`, from the file name.
  package let keyID: String?
  /// The certificate that the file is about.
  package let certificate: Certificate?
  /// Of ``certificate``.
  package let summary: CertificateSummary?
  /// The other certificates: issuers, or further ones.
  package let otherCertificates: [Certificate]
  /// Matches ``certificate``. A secret.
  package private(set) var privateKey: PrivateKey?
  package let profile: ProvisioningProfile?
  package private(set) var serviceAccount: ServiceAccount?
  package private(set) var keyPair: JPushKeyPair?
  /// Whether the file name says that Apple made the key for another service than APNs.
  package private(set) var isForOtherService = false
  /// Nil if there is only one certificate.
  package internal(set) var choice: Choice?
  /// Names such as `PBE-SHA1-RC2-40`; empty if the file is not encrypted.
  package internal(set) var encryption: [String] = []

  /// - Parameter name: nil: the certificate's.
  init(
    format: Format, kind: CertificateKind, role: CertificateRole?, name: String?, topics: [AppleExtensions.Topic],
    environments: [Model.Environment], teamID: String?, keyID: String?, certificate: Certificate?,
    otherCertificates: [Certificate], privateKey: PrivateKey?, profile: ProvisioningProfile?,
    serviceAccount: ServiceAccount? = nil, keyPair: JPushKeyPair? = nil, isForOtherService: Bool = false
  ) {
    (self.format, self.kind, self.role) = (format, kind, role)
    summary = certificate.map(CertificateSummary.init)
    self.name = (name ?? summary?.name ?? "").singleLine.cut(to: 200)
    self.topics = topics.map { .init(name: $0.name.singleLine, kinds: $0.kinds) }
    (self.environments, self.teamID, self.keyID) = (environments, teamID, keyID)
    (self.certificate, self.otherCertificates, self.privateKey) = (certificate, otherCertificates, privateKey)
    (self.profile, self.serviceAccount, self.keyPair) = (profile, serviceAccount, keyPair)
    self.isForOtherService = isForOtherService
  }

  /// Whether it can send pushes, regardless of dates.
  package var canSend: Bool {
    switch kind {
    case .fcmServiceAccount, .jpushKeyPair: true
    default: privateKey != nil && (kind == .apnsKey || kind.isForAPNs(topics.map(\.name)))
    }
  }
  /// Whether the file has the secret half: a private key, or the master secret of JPush's pair.
  package var hasPrivateKey: Bool { privateKey != nil || keyPair != nil }
  /// The secret to seal, or empty; clear it with ``PrivateKey/wipe(_:)``.
  package var material: [UInt8] { serviceAccount?.material ?? keyPair?.material ?? privateKey?.pkcs8PEMBytes ?? [] }
  /// The first second of validity; nil for keys.
  package var notBefore: Date? { certificate?.notBefore ?? profile?.creationDate }
  /// The last second of validity; nil for keys.
  package var notAfter: Date? { certificate?.notAfter ?? profile?.expirationDate }
  /// SHA-256 of the certificate, of a key's public half, or of JPush's keys, as `AB:CD:…`; nil for profiles.
  package var sha256: String? {
    if let certificate { return certificate.sha256Fingerprint }
    // The secret has 96 random bits, so the digest does not reveal it.
    let bytes = privateKey.map { Array($0.publicKey.der) } ?? keyPair?.material
    return bytes.map { Hexadecimal.encode(Digest.sha256($0), separator: ":", uppercase: true) }
  }

  /// A copy with the private key that matches the certificate.
  package func joined(with key: PrivateKey) -> CertificateFile {
    var file = self
    file.privateKey = key
    return file
  }

  /// The file to keep until somebody decides: an opened `.p12` or `.p8` as PEM, so that its password is not needed
  /// again. The other kinds are not encrypted as a whole and stay as they are.
  package func opened(original: Data) -> Data {
    guard certificate != nil || kind == .apnsKey else { return original }
    let chain = ([certificate].compactMap(\.self) + otherCertificates).map(\.pem).joined()
    return Data(chain.utf8) + material
  }
}

extension CertificateKind {
  package var isForAPNs: Bool { self == .apnsCertificate || self == .voipCertificate }

  /// Whether a certificate of this kind with these topics sends through APNs: those for apps, and of Apple's others those
  /// for passes, websites and device management, which name a topic.
  package func isForAPNs(_ topics: [String]) -> Bool { isForAPNs || self == .appleCertificate && !topics.isEmpty }
}
