package import Foundation
import OpenSSL

extension CertificateFile {
  /// Warnings, the most important first.
  ///
  /// - Parameter keyID: the key ID entered with the file; the file name then need not contain it.
  package func warnings(now: Date, keyID given: String? = nil) -> [FileWarning] {
    var warnings: [FileWarning] = []
    switch Expiry.band(notBefore: notBefore, notAfter: notAfter, now: now) {
    case .expired:
      // What was never valid may end on a later day.
      if let notAfter, notAfter < now { warnings.append(.expired(notAfter, kind)) }
    case .notYetValid: warnings += notBefore.map { [.notYetValid($0)] } ?? []
    case .fine, .soon, .urgent, .neverExpires: break
    }
    if let notBefore, let notAfter, Expiry.isNeverValid(notBefore, notAfter) {
      warnings.append(.neverValid(notBefore, notAfter))
    }
    switch role {
    case .developmentSigning, .distributionSigning: warnings.append(.signingInsteadOfPush)
    case .websitePush, .passType, .deviceManagement: warnings.append(.otherPurpose)
    default: break
    }
    if kind.isForAPNs(topics.map(\.name)), privateKey == nil { warnings.append(.noPrivateKey) }
    if let certificate, role != .other, !certificate.isIssuedByApple {
      warnings.append(.notFromApple(issuer: summary?.issuer ?? ""))
    }
    if isForOtherService { warnings.append(.keyOfOtherService) }
    if kind == .apnsKey && keyID == nil && given?.isEmpty != false { warnings.append(.keyIDUnknown) }
    if let certificate { warnings += chainWarnings(certificate, now: now) }
    if let profile { warnings += profile.warnings(now: now) }
    return warnings
  }

  private func chainWarnings(_ certificate: Certificate, now: Date) -> [FileWarning] {
    var warnings: [FileWarning] = []
    let others = otherCertificates.filter { !$0.isAuthority && $0 != certificate }
    if !others.isEmpty {
      warnings.append(.severalCertificates(count: others.count + 1, taken: name, choice ?? .onlyWithKey))
    }
    let apple = certificate.appleExtensions
    if apple.hasTopicList, apple.topics == nil { warnings.append(.topicListUnreadable) }
    return warnings + issuerWarning(certificate, now: now)
  }

  private func issuerWarning(_ certificate: Certificate, now: Date) -> [FileWarning] {
    // Compare names first: verifying a signature costs a thousand times as much.
    let issuers = otherCertificates.filter { issuer in
      issuer.isAuthority && issuer.subject == certificate.issuer && certificate.isSigned(by: issuer)
    }
    // An issuer has several certificates of the same key, one after the other: the last one counts.
    guard let issuer = issuers.max(by: { $0.notAfter < $1.notAfter }), issuer.notAfter < certificate.notAfter,
      Expiry.band(notBefore: nil, notAfter: certificate.notAfter, now: now) != .expired
    else { return [] }
    let name = CertificateSummary(issuer).name
    let isExpired = Expiry.band(notBefore: nil, notAfter: issuer.notAfter, now: now) == .expired
    return [
      isExpired ? .issuerExpired(name: name, issuer.notAfter) : .issuerExpiresEarlier(name: name, issuer.notAfter)
    ]
  }
}

extension Certificate {
  /// Whether the issuer is named like Apple's authorities. The signature is not checked: APNs refuses a forged
  /// certificate.
  fileprivate var isIssuedByApple: Bool { issuer.organization?.hasPrefix("Apple ") == true && !isSelfSigned }
}

extension ProvisioningProfile {
  func warnings(now: Date) -> [FileWarning] {
    var warnings: [FileWarning] = []
    if !isIntact { warnings.append(.signatureBroken) }
    if isWildcard {
      warnings.append(.wildcardProfile)
    } else if apsEnvironment == nil {
      warnings.append(.profileWithoutPush)
    }
    for certificate in certificates
    where Expiry.band(notBefore: nil, notAfter: certificate.notAfter, now: now) == .expired {
      warnings.append(.profileCertificateExpired(name: certificate.name, certificate.notAfter))
    }
    return warnings
  }
}
