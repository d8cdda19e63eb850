public import OpenSSL
public import Push

/// What Apple issued a certificate for, by its extensions and, failing them, by the beginning of its name.
///
/// Who really signed it is not checked: Apple's intermediates are not in the system's trust store, and an
/// upload that APNs refuses shows soon.
public enum CertificateRole: String, Sendable, Hashable, Codable, CaseIterable {
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
  /// None of Apple's.
  case other

  /// Beginnings of the common name (PROTOCOLS: Buford, node-apn, Knuff; signing names as Xcode shows them).
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

  /// What a certificate is for, and for which of Apple's servers.
  public static func of(_ certificate: Certificate) -> (role: CertificateRole, environments: [Environment]) {
    let name = certificate.commonName ?? ""
    let apple = certificate.appleExtensions
    let named = beginnings.first { name.hasPrefix($0.0) }
    var marked: [Environment] = []
    if apple.isDevelopment { marked.append(.development) }
    if apple.isProduction { marked.append(.production) }
    let role = apple.isVoIP ? .voip : named?.1 ?? (marked.isEmpty && apple.topics == nil ? .other : .push)
    if !marked.isEmpty { return (role, marked) }
    return (role, named?.2 ?? (role == .other ? [] : [.development, .production]))
  }

  /// What sort of thing it is to us.
  public var kind: CertificateKind {
    switch self {
    case .push, .macPush, .watchKit: .apnsCertificate
    case .voip: .voipCertificate
    case .websitePush, .passType, .deviceManagement, .developmentSigning, .distributionSigning: .appleCertificate
    case .other: .tlsCertificate
    }
  }
}
