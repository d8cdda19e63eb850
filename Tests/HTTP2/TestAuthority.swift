import Foundation
import OpenSSL

/// A certificate authority for one test.
struct TestAuthority {
  let authority: CertificateAuthority
  var pem: [UInt8] { Array(authority.certificate.pem.utf8) }

  init() throws {
    authority = try CertificateAuthority(
      subject: [.commonName("Authority")], notBefore: Date(timeIntervalSinceNow: -86_400 * 30),
      notAfter: Date(timeIntervalSinceNow: 86_400 * 30))
  }

  /// Issues a certificate; negative days make it expired.
  func identity(_ name: String = "localhost", names: [String] = ["localhost", "127.0.0.1"], days: Double = 1) throws
    -> TLSIdentity
  {
    let (certificate, key) = try issue(name, names: names, days: days)
    return TLSIdentity(chain: [certificate], key: key)
  }

  func issue(_ name: String = "localhost", names: [String] = ["localhost", "127.0.0.1"], days: Double = 1) throws -> (
    certificate: Certificate, key: PrivateKey
  ) {
    try authority.issue(
      CertificateBlueprint(
        subject: [.commonName(name)], notBefore: Date(timeIntervalSinceNow: -86_400 * 10),
        notAfter: Date(timeIntervalSinceNow: 86_400 * days), alternativeNames: names))
  }
}
