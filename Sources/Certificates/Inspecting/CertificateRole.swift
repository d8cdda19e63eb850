package import OpenSSL
package import Model

/// What Apple issued a certificate for, by its extensions, else by the beginning of its name.
///
/// The issuer's signature is not checked: Apple's intermediates are not in the system's trust store, and APNs refuses a
/// forged certificate at the first use.
package enum CertificateRole: String, Sendable, Hashable, Codable, CaseIterable {
  case push
  case voip
  case watchKit = "watch_kit"
  case websitePush = "website_push"
  case passType = "pass_type"
  case macPush = "mac_push"
  case deviceManagement = "device_management"
  /// Signs builds for the developer's own devices.
  case developmentSigning = "development_signing"
  /// Signs builds for the App Store, TestFlight or an enterprise.
  case distributionSigning = "distribution_signing"
  /// Not issued by Apple, or for another purpose.
  case other

  /// Beginnings of common names (docs/protocols.md §1.9: Buford, node-apn, Knuff; signing names as Xcode shows them).
  private static let beginnings: [(String, CertificateRole, [Environment])] = [
    ("Apple Development IOS Push Services: ", .push, [.development]),
    ("Apple Sandbox Push Services: ", .push, [.development]),
    ("Apple Production IOS Push Services: ", .push, [.production]),
    ("Apple Push Services: ", .push, [.development, .production]),
    ("VoIP Services: ", .voip, [.development, .production]),
    ("WatchKit Services: ", .watchKit, [.development, .production]),
    ("Website Push ID: ", .websitePush, [.production]),
    ("Pass Type ID: ", .passType, [.production]),
    ("Apple Development Mac Push Services: ", .macPush, [.development]),
    ("Apple Production Mac Push Services: ", .macPush, [.production]),
    ("APSP:", .deviceManagement, [.production]),
    ("iPhone Developer: ", .developmentSigning, []),
    ("Apple Development: ", .developmentSigning, []),
    ("Mac Developer: ", .developmentSigning, []),
    ("iPhone Distribution: ", .distributionSigning, []),
    ("Apple Distribution: ", .distributionSigning, []),
    ("3rd Party Mac Developer Application: ", .distributionSigning, []),
    ("Developer ID Application: ", .distributionSigning, []),
  ]

  /// The role, and the APNs environments.
  ///
  /// Apple's extensions decide. The name is used only for what they leave open, and only without an extension that
  /// would decide it.
  package static func of(_ certificate: Certificate) -> (role: CertificateRole, environments: [Environment]) {
    let name = certificate.commonName ?? ""
    let apple = certificate.appleExtensions
    let named = beginnings.first { name.hasPrefix($0.0) } ?? byTopic(certificate)
    var marked: [Environment] = []
    if apple.isDevelopment { marked.append(.development) }
    if apple.isProduction { marked.append(.production) }
    let role = role(apple, isMarked: !marked.isEmpty, named: named?.1)
    if role == .developmentSigning || role == .distributionSigning { return (role, []) }
    if !marked.isEmpty { return (role, marked) }
    // Whatever the name.
    if role == .passType { return (role, [.production]) }
    if apple.hasTopicList { return (role, [.development, .production]) }
    return (role, named?.2 ?? (role == .other ? [] : [.development, .production]))
  }

  /// What the topic alone tells (docs/protocols.md §1.9).
  private static func byTopic(_ certificate: Certificate) -> (String, CertificateRole, [Environment])? {
    guard let topic = certificate.userID else { return nil }
    if AppName.isDeviceManagement(topic) { return ("", .deviceManagement, [.production]) }
    return AppName.isPassType(topic) && certificate.commonName?.contains(topic) != false
      ? ("", .passType, [.production]) : nil
  }

  private static func role(_ apple: AppleExtensions, isMarked: Bool, named: CertificateRole?) -> CertificateRole {
    if apple.isVoIP { return .voip }
    switch apple.signing {
    case .development: return .developmentSigning
    case .distribution: return .distributionSigning
    case .pass: return .passType
    case nil: break
    }
    if apple.hasTopicList { return .push }
    guard isMarked else { return named ?? .other }
    // Passes, websites and Macs have the same marks as push certificates, so the name decides; VoIP has its own marks.
    switch named {
    case .websitePush, .passType, .deviceManagement, .macPush, .watchKit: return named ?? .push
    case .push, .voip, .developmentSigning, .distributionSigning, .other, nil: return .push
    }
  }

  package var kind: CertificateKind {
    switch self {
    case .push, .macPush, .watchKit: .apnsCertificate
    case .voip: .voipCertificate
    case .websitePush, .passType, .deviceManagement, .developmentSigning, .distributionSigning: .appleCertificate
    case .other: .tlsCertificate
    }
  }
}
