package import Model
package import SQLite
package import Store

extension CredentialScope {
  /// The scope of a stored file; nil if it cannot send to APNs.
  package init?(_ details: TrackedCertificate.Details) {
    guard let kind = CertificateKind(rawValue: details.kind), kind == .apnsKey || kind.isForAPNs else { return nil }
    // The scope of a certificate whose subject names no topic is unknown.
    guard kind == .apnsKey || !details.topics.isEmpty else { return nil }
    self.init(name: details.name, topics: kind == .apnsKey ? nil : details.topics, notAfter: details.notAfter)
  }

  /// The scope of an app's key or certificate for an environment; nil if there is none, as for the simulator.
  package static func find(
    _ database: Database, app: Int64, environment: Environment
  ) throws -> CredentialScope? {
    let credential = try Credential.find(database, app: app, provider: .apns, environment: environment)
    guard let id = credential?.certificateID, let kept = try TrackedCertificate.find(database, id: id) else {
      return nil
    }
    return CredentialScope(kept.details)
  }
}
