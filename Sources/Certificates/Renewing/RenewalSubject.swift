package import Foundation
import OpenSSL
package import Model
package import Store

/// What a renewal compares: the same of a file that is kept and of one that is brought.
package struct RenewalSubject: Sendable, Hashable {
  /// What it is; nil: something that this version does not know.
  package var kind: CertificateKind?
  /// What it is called.
  package var name: String
  /// Each topic with the kinds of pushes that may go to it; none if they are not known.
  package var topics: [String: Set<String>]
  /// Where it may send.
  package var environments: Set<Model.Environment>
  /// Ten characters.
  package var teamID: String?
  /// Of a `.p8`.
  package var keyID: String?
  /// Fingerprint, as `AB:CD:…`.
  package var sha256: String?
  /// The public half of its key.
  package var publicKey: Data?
  /// Whether the private key is with it.
  package var hasPrivateKey: Bool
  /// The first second of its validity.
  package var notBefore: Date?
  /// The last second of its validity; nil: it has no end.
  package var notAfter: Date?
  package init(
    kind: CertificateKind?, name: String, topics: [String: Set<String>] = [:],
    environments: Set<Model.Environment> = [], teamID: String? = nil, keyID: String? = nil, sha256: String? = nil,
    publicKey: Data? = nil, hasPrivateKey: Bool = true, notBefore: Date? = nil, notAfter: Date? = nil
  ) {
    self.kind = kind
    self.name = name
    self.topics = topics
    self.environments = environments
    self.teamID = teamID
    self.keyID = keyID
    self.sha256 = sha256
    self.publicKey = publicKey
    self.hasPrivateKey = hasPrivateKey
    self.notBefore = notBefore
    self.notAfter = notAfter
  }

  /// Of a file that was looked into.
  package init(_ file: InspectedFile, _ details: TrackedCertificate.Details) {
    self.init(
      kind: file.kind, name: details.name,
      topics: Dictionary(file.topics.map { ($0.name, Set($0.kinds)) }) { $0.union($1) },
      environments: Set(file.environments), teamID: details.teamID, keyID: details.keyID, sha256: file.sha256,
      publicKey: file.certificate?.publicKeyDER ?? file.privateKey?.publicKey.der,
      hasPrivateKey: file.privateKey != nil, notBefore: file.notBefore, notAfter: file.notAfter)
  }

  /// Of what is kept.
  package init(_ details: TrackedCertificate.Details) {
    // The chain says what each topic is for; without it the columns must do.
    let chain = details.publicPEM.flatMap { try? CertificateFile.inspect(data: Data($0.utf8)) }
    let topics = chain.map { $0.topics.map { ($0.name, Set($0.kinds)) } } ?? details.topics.map { ($0, []) }
    self.init(
      kind: CertificateKind(rawValue: details.kind), name: details.name, topics: Dictionary(topics) { $0.union($1) },
      environments: Set(details.environments), teamID: details.teamID, keyID: details.keyID, sha256: details.sha256,
      publicKey: chain?.certificate?.publicKeyDER, hasPrivateKey: details.hasPrivateKey,
      notBefore: details.notBefore, notAfter: details.notAfter)
  }

  /// Whether pushes are sent with things of this kind.
  var isForPushes: Bool { kind == .apnsKey || kind?.isForAPNs == true }

  /// Whether a push to an app's topic, or to one that it begins, may go with it.
  func reaches(_ bundleID: String) -> Bool {
    kind == .apnsKey || topics.isEmpty || topics.keys.contains { $0 == bundleID || $0.hasPrefix(bundleID + ".") }
  }
}
