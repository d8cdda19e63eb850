package import Model
package import SQLite
package import Store

extension CredentialScope {
  /// What a kept file may send; nil if it is none for APNs.
  package init?(_ details: TrackedCertificate.Details) {
    guard let kind = CertificateKind(rawValue: details.kind), kind == .apnsKey || kind.isForAPNs else { return nil }
    // Without any topic nothing is known: a certificate whose subject names none.
    guard kind == .apnsKey || !details.topics.isEmpty else { return nil }
    self.init(name: details.name, topics: kind == .apnsKey ? nil : details.topics, notAfter: details.notAfter)
  }

  /// What an app's key or certificate for an environment may send; nil if there is none, as for the simulator.
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
