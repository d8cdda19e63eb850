package import Foundation
package import OpenSSL

/// The certificate authority of a simulator, which clients must trust.
package enum SimulatorAuthority {
  package static let name = "Signalbox simulator"
  /// Ten years, so that a stored authority outlives the tests that trust it.
  static let lifetime: TimeInterval = 3652 * 86_400

  package static func make(now: Date = Date()) throws(CertificateError) -> CertificateAuthority {
    try CertificateAuthority(
      subject: [.commonName(name)], notBefore: now.addingTimeInterval(-86_400),
      notAfter: now.addingTimeInterval(lifetime))
  }

  /// The certificate and its private key, as ``read(_:)`` reads them.
  ///
  /// - Returns: PEM text.
  package static func text(_ authority: CertificateAuthority) -> String {
    authority.certificate.pem + authority.key.pkcs8PEM
  }

  /// Reads the output of ``text(_:)``.
  ///
  /// - Throws: as ``read(certificatePEM:keyPEM:)``.
  package static func read(_ pem: String) throws -> CertificateAuthority { try read(certificatePEM: pem, keyPEM: pem) }

  /// Reads a stored authority, so that clients' trust survives a restart.
  ///
  /// - Throws: `CertificateError`, `PrivateKeyError`, ``SimulatorAuthorityError``.
  package static func read(certificatePEM: String, keyPEM: String) throws -> CertificateAuthority {
    let certificate = try Certificate(pem: certificatePEM)
    let key = try PrivateKey(pem: keyPEM)
    guard key.matches(certificate) else { throw SimulatorAuthorityError.keyDoesNotFit }
    return CertificateAuthority(certificate: certificate, key: key)
  }
}

/// Why a stored authority cannot be used.
package enum SimulatorAuthorityError: Error, Sendable, Hashable, CustomStringConvertible {
  case keyDoesNotFit

  package var description: String {
    "The simulator's private key does not match its certificate. Delete both files to create new ones."
  }
}
