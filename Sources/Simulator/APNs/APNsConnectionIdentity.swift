import Certificates
import Foundation
import OpenSSL
import Model

/// The identity of a connection: the owner of a push certificate, or nobody; then each request needs a provider token.
///
/// TLS has already checked whether a trusted authority signed the certificate.
struct APNsConnectionIdentity: Sendable, Hashable {
  /// The parts of a client certificate that matter to APNs.
  struct PushCertificate: Sendable, Hashable {
    /// Every topic that it allows: its list if it has one, otherwise its subject's (docs/protocols.md §1.9).
    let topics: Set<String>
    /// The environments that it allows; empty: it is no push certificate.
    let environments: Set<Environment>
    /// The first valid second.
    let notBefore: Date
    /// The last valid second.
    let notAfter: Date

    /// The topic of a request without one: only if there is a single one (Apple, MissingTopic: "mandatory when the
    /// client is connected using a certificate that supports multiple topics").
    var onlyTopic: String? { topics.count == 1 ? topics.first : nil }
  }

  /// Nil: provider tokens.
  let certificate: PushCertificate?

  /// - Parameter certificate: nil if the client sent none.
  init(certificate: Certificate?) { self.certificate = certificate.map(PushCertificate.init) }
}

extension APNsConnectionIdentity.PushCertificate {
  init(_ certificate: Certificate) {
    let apple = certificate.appleExtensions
    notBefore = certificate.notBefore
    notAfter = certificate.notAfter
    if let listed = apple.topics {
      topics = Set(listed.map(\.name))
    } else {
      topics = Self.topic(ofSubject: certificate, isVoIP: apple.isVoIP).map { [$0] } ?? []
    }
    var environments: Set<Environment> = []
    if apple.isDevelopment { environments.insert(.development) }
    if apple.isProduction { environments.insert(.production) }
    // Certificates for a single service, such as VoIP, allow both environments and may lack the markers. Those for passes,
    // websites and device management have a single environment, and markers of their own.
    if environments.isEmpty, apple.isVoIP || apple.topics != nil { environments = Set(Environment.allCases) }
    let (role, known) = CertificateRole.of(certificate)
    if environments.isEmpty, [.passType, .websitePush, .deviceManagement].contains(role) { environments = Set(known) }
    self.environments = environments
  }

  /// `UID`, or the text after the colon in `Apple Push Services: com.example.app`.
  private static func topic(ofSubject certificate: Certificate, isVoIP: Bool) -> String? {
    let name = certificate.commonName?.split(separator: ": ", maxSplits: 1).last.map(String.init)
    guard let topic = certificate.userID ?? name else { return nil }
    let suffix = PushType.voip.topicSuffix
    return isVoIP && !topic.hasSuffix(suffix) ? topic + suffix : topic
  }
}
