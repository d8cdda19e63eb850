package import Foundation
package import OpenSSL
import Model
import Text

/// What a person wants to know of a certificate. Its texts come from strangers: escape them.
package struct CertificateSummary: Sendable, Hashable {
  /// As `UID=com.example.app, CN=Apple Push Services: com.example.app, …`.
  package let subject: String
  /// The `CN` of the subject; the whole subject if it has none.
  package let name: String
  /// As the subject.
  package let issuer: String
  /// Upper-case hexadecimal digits.
  package let serial: String
  /// As `AB:CD:…`.
  package let sha256: String
  /// As `AB:CD:…`; Keychain Access and old tools show it.
  package let sha1: String
  /// As `RSA of 2048 bits`.
  package let keyAlgorithm: String
  /// With which algorithm its issuer signed it, as `sha256WithRSAEncryption`.
  package let signatureAlgorithm: String
  /// The first second in which it is valid.
  package let notBefore: Date
  /// The last second in which it is valid.
  package let notAfter: Date

  /// Reads it off a certificate.
  package init(_ certificate: Certificate) {
    subject = certificate.subject.description.singleLine.cut(to: Self.textLimit)
    name = (certificate.commonName ?? certificate.subject.description).singleLine.cut(to: Self.nameLimit)
    issuer = certificate.issuer.description.singleLine.cut(to: Self.textLimit)
    serial = certificate.serialNumber.cut(to: Self.textLimit)
    sha256 = certificate.sha256Fingerprint
    sha1 = certificate.sha1Fingerprint
    keyAlgorithm = certificate.publicKey.map { "\($0.algorithm)" } ?? "unknown"
    signatureAlgorithm = certificate.signatureAlgorithm
    notBefore = certificate.notBefore
    notAfter = certificate.notAfter
  }

  /// X.520 limits a common name to 64 characters; a stranger's may have a million.
  private static let nameLimit = 200
  private static let textLimit = 2000
}

extension String {
  /// At most so many characters.
  func cut(to limit: Int) -> String { unicodeScalars.count <= limit ? self : String(prefix(limit - 1)) + "…" }
}
