import Mustache
import Model
import Store

/// `/certificates/:id/remove`: asks before a certificate is deleted, or says what still sends with it.
struct CertificateRemovalView: PageView {
  static let template = "certificates/remove"
  static let section: Section? = .certificates

  let certificate: TrackedCertificate
  let uses: [CertificateUseLink]
  /// The names of those that it replaced, which raise their alarms again.
  let wakes: [String]

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.certificate.id)) },
    .text("name") { $0.certificate.details.name },
    .list("uses") { $0.uses },
    .flag("has_uses") { !$0.uses.isEmpty },
    .text("names") { $0.wakes.joined(separator: ", ") },
  ]
}

/// An app and environment that a certificate sends for.
struct CertificateUseLink: View {
  let use: TrackedCertificate.Use
  let app: String
  let environment: String

  static let fields: [Field<Self>] = [
    .written("app_id") { $1.write(Int($0.use.appID)) },
    .text("app") { $0.app },
    .text("environment") { $0.environment },
    .number("devices") { $0.use.activeDevices },
  ]
}
