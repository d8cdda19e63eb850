import Foundation
import OpenSSL
import Model

/// One look at a file: what came with it besides its bytes.
struct FileInspection {
  let fileName: String?
  let password: String?
  /// Which of several certificates is meant.
  let take: String?

  /// A certificate, with or without its key.
  func certificate(
    _ certificate: Certificate, key: PrivateKey?, others: [Certificate], format: InspectedFile.Format
  ) -> InspectedFile {
    let (role, environments) = CertificateRole.of(certificate)
    return InspectedFile(
      format: format, kind: role.kind, role: role, name: CertificateSummary(certificate).name,
      topics: topics(of: certificate), environments: environments,
      teamID: role == .other ? nil : certificate.organizationalUnit.flatMap(teamID), keyID: nil,
      certificate: certificate, otherCertificates: others, privateKey: key, profile: nil)
  }

  /// A key alone, which must be one for APNs.
  func key(_ key: PrivateKey, format: InspectedFile.Format) throws(FileProblem) -> InspectedFile {
    guard key.algorithm == .p256 else {
      // An RSA key is what belongs to push certificates: without one it is half of something, unless it came as a .p8.
      if case .rsa = key.algorithm, !isNamedLikeKey { throw .noCertificate }
      throw .wrongKeyKind(found: key.algorithm.description)
    }
    guard key.isSound else { throw .unsoundKey }
    return InspectedFile(
      format: format, kind: .apnsKey, role: nil, name: keyID.map { "AuthKey_\($0)" } ?? "APNs key", topics: [],
      environments: [.development, .production], teamID: nil, keyID: keyID, certificate: nil, otherCertificates: [],
      privateKey: key, profile: nil, isForOtherService: isNamedForOtherService)
  }

  private var isNamedLikeKey: Bool { fileName?.lowercased().hasSuffix(".p8") == true }

  /// As Apple names its keys for in-app purchase and App Store Connect, which APNs refuses.
  private var isNamedForOtherService: Bool {
    fileName?.contains(/(SubscriptionKey|ApiKey)_[A-Z0-9]{10}/) == true
  }

  /// `AuthKey_ABC123DEFG.p8`, also as browsers name a second download: `AuthKey_ABC123DEFG (1).p8`.
  private var keyID: String? {
    fileName?.firstMatch(of: /AuthKey_([A-Z0-9]{10})(?![A-Za-z0-9])/).map { String($0.1) }
  }

  /// In certificates of Apple the unit is the team id: 10 characters.
  private func teamID(_ unit: String) -> String? {
    unit.wholeMatch(of: /[A-Z0-9]{10}/) == nil ? nil : unit
  }

  /// The list in Apple's extension if there is one: then it is the whole truth, also if it cannot be read. Else the
  /// subject names the only one.
  func topics(of certificate: Certificate) -> [AppleExtensions.Topic] {
    let apple = certificate.appleExtensions
    if let topics = apple.topics { return topics }
    if apple.hasTopicList { return [] }
    let kind: String
    switch CertificateRole.of(certificate).role {
    case .push, .macPush, .watchKit: kind = "app"
    case .voip: kind = "voip"
    case .websitePush: kind = "website"
    case .passType: kind = "pass"
    case .deviceManagement: kind = "device-management"
    case .developmentSigning, .distributionSigning, .other: return []
    }
    let named = certificate.commonName?.split(separator: ": ", maxSplits: 1).dropFirst().first.map(String.init)
    return (certificate.userID ?? named).map { name in
      // PushKit's topic is the bundle id with this behind it (Apple, Sending notification requests to APNs).
      let topic = kind == "voip" && !name.hasSuffix(".voip") ? "\(name).voip" : name
      return [.init(name: topic, kinds: [kind])]
    } ?? []
  }
}
