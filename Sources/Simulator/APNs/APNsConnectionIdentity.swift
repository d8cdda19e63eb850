import Certificates
import Foundation
import OpenSSL
import Model

/// Who speaks on a connection: the owner of a push certificate, or nobody yet, and then each request needs a provider
/// token.
///
/// Whether a certificate is signed by an authority that the server trusts is decided when TLS begins, not here.
struct APNsConnectionIdentity: Sendable, Hashable {
  /// What a client certificate says that matters to APNs.
  struct PushCertificate: Sendable, Hashable {
    /// Every topic that it opens: its list if it has one, otherwise that of its subject (docs/protocols.md §1.9).
    let topics: Set<String>
    /// Where it may be used; empty: it is no push certificate.
    let environments: Set<Environment>
    /// The first second in which it is valid.
    let notBefore: Date
    /// The last second in which it is valid.
    let notAfter: Date

    /// The topic of a request that names none: only if there is no choice (Apple, MissingTopic: "mandatory when the
    /// client is connected using a certificate that supports multiple topics").
    var onlyTopic: String? { topics.count == 1 ? topics.first : nil }
  }

  /// Nil: provider tokens.
  let certificate: PushCertificate?

  /// - Parameter certificate: the client's, nil if it showed none.
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
    // Certificates for one service only, as VoIP, open both environments and need not carry the marks.
    if environments.isEmpty, apple.isVoIP || apple.topics != nil { environments = Set(Environment.allCases) }
    self.environments = environments
  }

  /// `UID`, or what follows the colon in `Apple Push Services: com.example.app`.
  private static func topic(ofSubject certificate: Certificate, isVoIP: Bool) -> String? {
    let name = certificate.commonName?.split(separator: ": ", maxSplits: 1).last.map(String.init)
    guard let topic = certificate.userID ?? name else { return nil }
    let suffix = PushType.voip.topicSuffix
    return isVoIP && !topic.hasSuffix(suffix) ? topic + suffix : topic
  }
}
