import Foundation
import OpenSSL
import Model
import Text

/// The inspection of one file, with the inputs besides its bytes.
struct FileInspection {
  let fileName: String?
  let password: String?
  /// Selects one of several certificates.
  let take: String?

  /// A certificate, with or without its key.
  func certificate(
    _ certificate: Certificate, key: PrivateKey?, others: [Certificate], format: CertificateFile.Format
  ) -> CertificateFile {
    let (role, environments) = CertificateRole.of(certificate)
    return CertificateFile(
      format: format, kind: role.kind, role: role, name: nil, topics: topics(of: certificate),
      environments: environments,
      teamID: role == .other ? nil : certificate.organizationalUnit.flatMap(teamID), keyID: nil,
      certificate: certificate, otherCertificates: others, privateKey: key, profile: nil)
  }

  /// A single key, which must be for APNs.
  func key(_ key: PrivateKey, format: CertificateFile.Format) throws(FileProblem) -> CertificateFile {
    guard key.algorithm == .p256 else {
      // RSA keys belong to push certificates: without one, a file is incomplete, unless it is named like a `.p8`.
      if case .rsa = key.algorithm, !isNamedLikeKey { throw .noCertificate }
      throw .wrongKeyKind(found: key.algorithm.description)
    }
    guard key.isSound else { throw .unsoundKey }
    let keyID = keyID
    return CertificateFile(
      format: format, kind: .apnsKey, role: nil, name: keyID.map { "AuthKey_\($0)" } ?? "APNs key", topics: [],
      environments: [.development, .production], teamID: nil, keyID: keyID, certificate: nil, otherCertificates: [],
      privateKey: key, profile: nil, isForOtherService: isNamedForOtherService)
  }

  private var isNamedLikeKey: Bool { fileName?.lowercased().hasSuffix(".p8") == true }

  /// The names of Apple's keys for in-app purchase and App Store Connect, which APNs refuses.
  private var isNamedForOtherService: Bool { id(behind: "SubscriptionKey_") != nil || id(behind: "ApiKey_") != nil }

  /// From `AuthKey_ABC123DEFG.p8`, or `AuthKey_ABC123DEFG (1).p8`, a browser's second download.
  private var keyID: String? { id(behind: "AuthKey_") { !ASCII.isAlphanumeric($0) } }

  /// The first ID of Apple's that follows `word` in the file name.
  ///
  /// By hand, as in ``teamID(_:)``: making a `Regex` takes longer than reading the key.
  ///
  /// - Parameter ends: whether a byte may follow the ID.
  private func id(behind word: String, ends: (UInt8) -> Bool = { _ in true }) -> String? {
    let (name, word) = (Array((fileName ?? "").utf8), Array(word.utf8))
    var position = 0
    while let found = name.offset(of: word, from: position) {
      position = found + word.count
      let rest = name[position...]
      if Self.isID(rest.prefix(10)), rest.dropFirst(10).first.map(ends) ?? true {
        return String(decoding: rest.prefix(10), as: UTF8.self)
      }
    }
    return nil
  }

  /// Ten capital letters or digits.
  private static func isID(_ text: some Collection<UInt8>) -> Bool {
    text.count == 10 && text.allSatisfy { ASCII.isAlphanumeric($0) && !(0x61...0x7a).contains($0) }
  }

  /// In Apple's certificates, the organizational unit is the team ID: 10 characters.
  private func teamID(_ unit: String) -> String? { Self.isID(unit.utf8) ? unit : nil }

  /// If Apple's extension has a list of topics, it alone counts, even if unreadable. Otherwise the subject names the
  /// only topic.
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
      // The topic for PushKit is the bundle ID plus `.voip` (Apple, Sending notification requests to APNs).
      let topic = kind == "voip" && !name.hasSuffix(".voip") ? "\(name).voip" : name
      return [.init(name: topic, kinds: [kind])]
    } ?? []
  }
}
