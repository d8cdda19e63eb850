public import Foundation
public import OpenSSL
import Model
import Text

/// What a person wants to know of a certificate. Its texts come from strangers: escape them.
public struct CertificateSummary: Sendable, Hashable {
  /// As `UID=com.example.app, CN=Apple Push Services: com.example.app, …`.
  public let subject: String
  /// The `CN` of the subject; the whole subject if it has none.
  public let name: String
  /// As the subject.
  public let issuer: String
  /// Upper-case hexadecimal digits.
  public let serial: String
  /// As `AB:CD:…`.
  public let sha256: String
  /// As `AB:CD:…`; Keychain Access and old tools show it.
  public let sha1: String
  /// As `RSA of 2048 bits`.
  public let keyAlgorithm: String
  /// With which algorithm its issuer signed it, as `sha256WithRSAEncryption`.
  public let signatureAlgorithm: String
  /// The first second in which it is valid.
  public let notBefore: Date
  /// The last second in which it is valid.
  public let notAfter: Date

  /// Reads it off a certificate.
  public init(_ certificate: Certificate) {
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
