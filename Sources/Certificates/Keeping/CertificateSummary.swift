package import Foundation
package import OpenSSL
import Model
import Text

/// The readable contents of a certificate. The texts come from strangers: escape them.
package struct CertificateSummary: Sendable, Hashable {
  /// For example `UID=com.example.app, CN=Apple Push Services: com.example.app, …`.
  package let subject: String
  /// The `CN` of the subject; the whole subject if it has none.
  package let name: String
  /// In the format of ``subject``.
  package let issuer: String
  /// Upper-case hexadecimal digits.
  package let serial: String
  /// For example `AB:CD:…`.
  package let sha256: String
  /// For example `AB:CD:…`; Keychain Access and old tools show it.
  package let sha1: String
  /// For example `RSA of 2048 bits`.
  package let keyAlgorithm: String
  /// The algorithm of the issuer's signature, for example `sha256WithRSAEncryption`.
  package let signatureAlgorithm: String
  /// The first second of the validity.
  package let notBefore: Date
  /// The last second of the validity.
  package let notAfter: Date

  package init(_ certificate: Certificate) {
    subject = certificate.subject.description.singleLine.cut(to: Self.textLimit)
    name = (certificate.commonName ?? certificate.subject.description).singleLine.cut(to: Self.nameLimit)
    issuer = certificate.issuer.description.singleLine.cut(to: Self.textLimit)
    serial = certificate.serialNumber.cut(to: Self.textLimit)
    sha256 = certificate.sha256Fingerprint
    sha1 = certificate.sha1Fingerprint
    keyAlgorithm = certificate.keyAlgorithm.map { "\($0)" } ?? "unknown"
    signatureAlgorithm = certificate.signatureAlgorithm
    notBefore = certificate.notBefore
    notAfter = certificate.notAfter
  }

  /// X.520 limits a common name to 64 characters; a stranger's certificate may have a million.
  private static let nameLimit = 200
  private static let textLimit = 2000
}

extension String {
  /// Cuts the text to a number of characters, the last of which is an ellipsis.
  func cut(to limit: Int) -> String { unicodeScalars.count <= limit ? self : String(prefix(limit - 1)) + "…" }
}
