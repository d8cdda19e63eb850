public import Foundation
import OpenSSL
public import Model
public import Store

/// What a renewal compares: the same of a file that is kept and of one that is brought.
public struct RenewalSubject: Sendable, Hashable {
  /// What it is; nil: something that this version does not know.
  public var kind: CertificateKind?
  /// What it is called.
  public var name: String
  /// Each topic with the kinds of pushes that may go to it; none if they are not known.
  public var topics: [String: Set<String>]
  /// Where it may send.
  public var environments: Set<Model.Environment>
  /// Ten characters.
  public var teamID: String?
  /// Of a `.p8`.
  public var keyID: String?
  /// Fingerprint, as `AB:CD:…`.
  public var sha256: String?
  /// The public half of its key.
  public var publicKey: Data?
  /// Whether the private key is with it.
  public var hasPrivateKey: Bool
  /// The first second of its validity.
  public var notBefore: Date?
  /// The last second of its validity; nil: it has no end.
  public var notAfter: Date?

  /// Creates one.
  public init(
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
  public init(_ file: InspectedFile, _ details: TrackedCertificate.Details) {
    self.init(
      kind: file.kind, name: details.name,
      topics: Dictionary(file.topics.map { ($0.name, Set($0.kinds)) }) { $0.union($1) },
      environments: Set(file.environments), teamID: details.teamID, keyID: details.keyID, sha256: file.sha256,
      publicKey: file.certificate?.publicKeyDER ?? file.privateKey?.publicKey.der,
      hasPrivateKey: file.privateKey != nil, notBefore: file.notBefore, notAfter: file.notAfter)
  }

  /// Of what is kept.
  public init(_ details: TrackedCertificate.Details) {
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
