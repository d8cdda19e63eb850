public import Foundation
public import OpenSSL
public import Push

/// What a file holds that somebody dropped on the Certificates page or named to `signalbox inspect`.
public struct InspectedFile: Sendable {
  /// In which form it came.
  public enum Format: String, Sendable, Hashable, Codable {
    case pkcs12 = "p12"
    case pem
    case der
    case mobileProvision = "mobileprovision"
  }

  /// In which form it came.
  public let format: Format
  /// What sort of thing it is.
  public let kind: CertificateKind
  /// What Apple issued it for; nil for keys and profiles.
  public let role: CertificateRole?
  /// What to call it: the certificate's name, the profile's name, the key's id.
  public let name: String
  /// The topics that it may be sent to. Empty for keys, which may send to every topic of their team.
  public let topics: [AppleExtensions.Topic]
  /// For which of Apple's servers it is good.
  public let environments: [Push.Environment]
  /// Apple's id of the team, if the file tells it; a `.p8` does not.
  public let teamID: String?
  /// Apple's id of a `.p8`, if the file name tells it.
  public let keyID: String?
  /// The certificate that the file is about.
  public let certificate: Certificate?
  /// All others in the file: issuers, or further ones.
  public let otherCertificates: [Certificate]
  /// The private key, if there is one; it fits the certificate. A secret.
  public let privateKey: PrivateKey?
  /// What a provisioning profile says.
  public let profile: ProvisioningProfile?

  /// The certificate in words.
  public var summary: CertificateSummary? { certificate.map(CertificateSummary.init) }
  /// Whether pushes can be sent with it, dates aside.
  public var canSend: Bool { privateKey != nil && (kind == .apnsKey || kind.isForAPNs) }
  /// The first second in which it is valid, nil for keys.
  public var notBefore: Date? { certificate?.notBefore ?? profile?.creationDate }
  /// The last second in which it is valid, nil for keys.
  public var notAfter: Date? { certificate?.notAfter ?? profile?.expirationDate }
  /// SHA-256 of the certificate, or of a key's public half, as `AB:CD:…`; nil for profiles.
  public var sha256: String? {
    certificate?.sha256Fingerprint
      ?? privateKey.map { key in
        Digest.sha256(key.publicKey.der).map { String(format: "%02X", $0) }.joined(separator: ":")
      }
  }

  /// The same with the private key that fits it.
  public func joined(with key: PrivateKey) -> InspectedFile {
    InspectedFile(
      format: format, kind: kind, role: role, name: name, topics: topics, environments: environments, teamID: teamID,
      keyID: keyID, certificate: certificate, otherCertificates: otherCertificates, privateKey: key, profile: profile)
  }

  /// What is watched of it.
  ///
  /// - Parameter app: the name under which people know whom it is for.
  public func expiry(app: String?) -> TrackedExpiry {
    TrackedExpiry(
      name: name, kind: kind, app: app, topics: topics.map(\.name), environments: environments,
      serial: certificate?.serialNumber, sha256: sha256, notBefore: notBefore, notAfter: notAfter)
  }
}

extension CertificateKind {
  /// Whether it is a certificate for a connection to APNs.
  public var isForAPNs: Bool { self == .apnsCertificate || self == .voipCertificate }
}
