import Foundation
import OpenSSL
import Model

// Who may push (docs/protocols.md §1.5, §1.9).

extension APNsValidator {
  /// What authorised a request.
  enum Credential {
    case certificate(APNsConnectionIdentity.PushCertificate)
    case token(ProviderToken)

    var isProviderToken: Bool { if case .token = self { true } else { false } }

    /// The topic of a request without one, if there is a single one.
    var onlyTopic: String? { if case .certificate(let certificate) = self { certificate.onlyTopic } else { nil } }

    /// Whether it may push to a topic. A certificate lists its topics, but never allows location pushes; a token is
    /// valid for all apps of its team, unless its key is restricted, but not for device management, whose topic belongs
    /// to a certificate.
    func opens(_ topic: APNsTopic, _ type: PushType?) -> Bool {
      switch self {
      case .certificate(let certificate): topic.suffixType != .location && certificate.topics.contains(topic.name)
      case .token(let token): type != .mdm && token.scope.bundleIDs?.contains(topic.bundleID) != false
      }
    }
  }

  /// Seconds for which a provider token is valid (Apple: "not within the last hour").
  static let tokenLifetime: Int64 = 3600
  /// Tolerance for the sender's clock in seconds. Our choice: Apple does not say (RFC 7519 §4.1.4: "a few minutes").
  static let clockLeeway: Int64 = 60

  func credential(
    _ fields: APNsFields, _ identity: APNsConnectionIdentity, _ ledger: inout APNsLedger, _ now: Date
  ) throws(APNsRejection) -> Credential {
    // With a certificate the authorization field is ignored.
    if let certificate = identity.certificate {
      guard !certificate.environments.isEmpty, !certificate.topics.isEmpty, certificate.notBefore <= now,
        now <= certificate.notAfter
      else { throw APNsRejection("BadCertificate") }
      guard certificate.environments.contains(environment) else { throw APNsRejection("BadCertificateEnvironment") }
      return .certificate(certificate)
    }
    guard let authorization = fields.authorization else { throw APNsRejection("MissingProviderToken") }
    if let token = ledger.accepted(authorization) {
      try checkAge(of: token, now)
      return .token(token)
    }
    guard let text = Self.bearerToken(authorization) else { throw APNsRejection("MissingProviderToken") }
    let token = ledger.token(authorization) { ProviderToken(text, keys: knownKeys) }
    guard let token else { throw APNsRejection("InvalidProviderToken") }
    try checkAge(of: token, now)
    // Apple's page says KeyId, its service sends Key (docs/protocols.md §1.6).
    if let only = token.environment, only != environment { throw APNsRejection("BadEnvironmentKeyInToken") }
    if let scope = ledger.scope, scope != token.scope { throw APNsRejection("UnrelatedKeyIdInToken") }
    guard ledger.use(token, authorization, now: now) else { throw APNsRejection("TooManyProviderTokenUpdates") }
    return .token(token)
  }

  /// "If the timestamp for token issue is not within the last hour, APNs rejects" (Apple, Communicating with APNs), so
  /// a future time is refused like an old one.
  private func checkAge(of token: ProviderToken, _ now: Date) throws(APNsRejection) {
    let age = now.timeIntervalSince1970 - Double(token.issuedAt)
    guard age <= Double(Self.tokenLifetime), age >= -Double(Self.clockLeeway) else {
      throw APNsRejection("ExpiredProviderToken")
    }
  }

  /// The text after `bearer`, in any case (RFC 9110 §11.1), nil if there is none. Apple answers MissingProviderToken
  /// also where "no provider token is specified".
  private static func bearerToken(_ authorization: String) -> Substring? {
    guard authorization.prefix(7).lowercased() == "bearer " else { return nil }
    let text = authorization.dropFirst(7).drop { $0 == " " }
    return text.isEmpty ? nil : text
  }
}
