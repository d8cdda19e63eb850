public import Foundation
public import OpenSSL

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
  /// The first second in which it is valid.
  public let notBefore: Date
  /// The last second in which it is valid.
  public let notAfter: Date

  /// Reads it off a certificate.
  public init(_ certificate: Certificate) {
    subject = certificate.subject.description
    name = certificate.commonName ?? certificate.subject.description
    issuer = certificate.issuer.description
    serial = certificate.serialNumber
    sha256 = certificate.sha256Fingerprint
    notBefore = certificate.notBefore
    notAfter = certificate.notAfter
  }
}
