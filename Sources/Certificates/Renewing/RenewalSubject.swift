package import Foundation
import OpenSSL
package import Model
import Providers
package import Store

/// The values that a renewal compares, of a stored file or of an uploaded one.
package struct RenewalSubject: Sendable, Hashable {
  /// Nil for a kind that this version does not know.
  package var kind: CertificateKind?
  package var name: String
  /// Each topic with its push types. Topics and push types are empty if they are not known.
  package var topics: [String: Set<String>] = [:]
  /// Empty if they are not known.
  package var environments: Set<Model.Environment> = []
  /// Ten characters.
  package var teamID: String?
  /// Google's project or JPush's AppKey, to which device tokens belong.
  package var account: String?
  /// The fingerprint, for example `AB:CD:…`.
  package var sha256: String?
  /// In DER form.
  package var publicKey: Data?
  package var hasPrivateKey = true
  /// The first second of the validity.
  package var notBefore: Date?
  /// The last second of the validity; nil if it never expires.
  package var notAfter: Date?
}

extension RenewalSubject {
  /// From an inspected file.
  package init(_ file: CertificateFile, _ details: TrackedCertificate.Details) {
    self.init(
      kind: file.kind, name: details.name,
      topics: Dictionary(file.topics.map { ($0.name, Set($0.kinds)) }) { $0.union($1) },
      environments: Set(file.environments), teamID: details.teamID,
      account: file.serviceAccount?.projectID ?? file.keyPair?.appKey, sha256: file.sha256,
      publicKey: file.certificate?.publicKeyDER ?? file.privateKey?.publicKey.der,
      hasPrivateKey: file.hasPrivateKey, notBefore: file.notBefore, notAfter: file.notAfter)
  }

  /// From a stored file.
  ///
  /// - Parameter account: Google's project or JPush's AppKey.
  package init(_ details: TrackedCertificate.Details, account: String? = nil) {
    // The chain says what each topic is for; without it the columns are used.
    let chain = details.publicPEM.flatMap { try? CertificateFile.inspect(data: Data($0.utf8)) }
    let topics = chain.map { $0.topics.map { ($0.name, Set($0.kinds)) } } ?? details.topics.map { ($0, []) }
    self.init(
      kind: CertificateKind(rawValue: details.kind), name: details.name, topics: Dictionary(topics) { $0.union($1) },
      environments: Set(details.environments), teamID: details.teamID, account: account, sha256: details.sha256,
      publicKey: chain?.certificate?.publicKeyDER, hasPrivateKey: details.hasPrivateKey,
      notBefore: details.notBefore, notAfter: details.notAfter)
  }

  /// Whether this kind of file sends pushes.
  var isForPushes: Bool { kind == .apnsKey || kind?.isForAPNs(Array(topics.keys)) == true }

  /// Whether the file may send to an app's topic or to one below it. True if its topics are not known.
  func reaches(_ bundleID: String) -> Bool {
    kind == .apnsKey || topics.isEmpty || topics.keys.contains { $0 == bundleID || $0.hasPrefix(bundleID + ".") }
  }
}
