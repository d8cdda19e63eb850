package import Foundation
import OpenSSL
package import Model
package import SQLite
package import Store

/// What to put in a signing request.
package struct SigningOrder: Sendable, Hashable {
  package var purpose: SigningRequest.Purpose
  /// The row ID of the certificate to renew.
  package var certificateID: Int64?
  /// The row ID of the app.
  package var appID: Int64?
  /// A topic, or the first name of a host.
  package var commonName: String
  /// The names and addresses of a host.
  package var hosts: [String] = []
  /// The requester's email address. Apple expects one, but puts its own names in the certificate.
  package var email: String?
  package var algorithm: SigningRequest.Algorithm

  /// For a push certificate. The key is RSA because Apple accepts no other.
  package static func push(
    topic: String, certificate: Int64? = nil, app: Int64? = nil, email: String? = nil
  ) -> SigningOrder {
    SigningOrder(
      purpose: .push, certificateID: certificate, appID: app, commonName: topic, email: email, algorithm: .rsa2048)
  }

  package static func host(_ names: [String], certificate: Int64? = nil) -> SigningOrder {
    SigningOrder(
      purpose: .host, certificateID: certificate, commonName: names.first ?? "", hosts: names, algorithm: .p256)
  }

  /// The request to renew a certificate, for the same topic or host; nil for kinds that are not renewed with a request.
  package static func renewing(_ certificate: TrackedCertificate, uses: [TrackedCertificate.Use], email: String?)
    -> SigningOrder?
  {
    let details = certificate.details
    switch CertificateKind(rawValue: details.kind) {
    case .apnsCertificate, .voipCertificate, .appleCertificate:
      let topic = details.topics.first ?? uses.first?.bundleID ?? details.name
      return .push(topic: topic, certificate: certificate.id, app: details.appID ?? uses.first?.appID, email: email)
    case .tlsCertificate:
      let own = details.publicPEM.flatMap { try? Certificate(pem: $0) }  // nil: the name is used
      return .host([own?.commonName ?? details.name], certificate: certificate.id)
    case .apnsKey, .provisioningProfile, .fcmServiceAccount, .jpushKeyPair, .host, nil: return nil
    }
  }

  /// What is wrong with the order; nil if it is valid.
  package var problem: Problem? {
    let names = purpose == .host ? hosts : [commonName]
    let isFine = !names.isEmpty && names.count <= 100 && names.allSatisfy(Self.isName)
    guard !isFine else { return nil }
    return purpose == .host
      ? Problem(
        "host", code: "request.host",
        "Enter the host names, e.g. push.example.com: letters, digits, dots, and hyphens, at most 64 characters each.")
      : Problem("app", code: "request.topic", "Choose the app that the certificate is for.")
  }

  /// A common name has at most 64 characters (RFC 5280, ub-common-name).
  private static func isName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
          || Array("-._*:".utf8).contains(byte)
      }
  }
}

extension SigningRequest {
  /// A request with its key, not stored yet. Generating an RSA key takes some tenths of a second.
  package struct Made: Sendable {
    /// The part that is stored unsealed.
    package let details: Details
    let key: PrivateKey
  }

  /// Generates the key and the request.
  ///
  /// - Throws: `Problems`, `CertificateError`, `OpenSSLError`.
  package static func make(_ order: SigningOrder) throws -> Made {
    if let problem = order.problem { throw Problems([problem]) }
    let key = order.algorithm == .rsa2048 ? try PrivateKey.generateRSA() : try PrivateKey.generateP256()
    var subject: [DistinguishedName.Attribute] = []
    // PKCS#9 emailAddress: ASCII only.
    if let email = order.email, email.contains("@"), email.utf8.count <= 128, email.utf8.allSatisfy({ $0 < 0x80 }) {
      subject.append(.init(oid: "1.2.840.113549.1.9.1", value: email))
    }
    subject.append(.commonName(order.commonName))
    let request = try CertificateRequest(subject: subject, key: key, alternativeNames: order.hosts)
    let details = Details(
      purpose: order.purpose, certificateID: order.certificateID, appID: order.appID,
      subject: request.subject.description, algorithm: order.algorithm,
      publicKeySHA256: KeyFinder.fingerprint(key.publicKey.der), pem: request.pem)
    return Made(details: details, key: key)
  }

  /// Stores the request with its key sealed.
  package static func keep(
    _ database: Database, _ made: Made, sealer: any Sealer, by user: String, now: Date
  ) throws -> SigningRequest {
    try add(database, made.details, key: Array(made.key.pkcs8PEM.utf8), sealer: sealer, by: user, now: now)
  }
}
