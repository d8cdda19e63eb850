package import Foundation
package import OpenSSL

/// The certificate authority of a simulator, as others have to trust it.
package enum SimulatorAuthority {
  /// What it is called in certificate lists.
  package static let name = "Signalbox simulator"
  /// Ten years: kept in a file, it outlives the tests that trust it.
  static let lifetime: TimeInterval = 3652 * 86_400

  /// Makes a new one.
  ///
  /// - Throws: `CertificateError`.
  package static func make(now: Date = Date()) throws(CertificateError) -> CertificateAuthority {
    try CertificateAuthority(
      subject: [.commonName(name)], notBefore: now.addingTimeInterval(-86_400),
      notAfter: now.addingTimeInterval(lifetime))
  }

  /// As ``read(_:)`` takes it up again: the certificate and its private key.
  ///
  /// - Returns: PEM text.
  package static func text(_ authority: CertificateAuthority) -> String {
    authority.certificate.pem + authority.key.pkcs8PEM
  }

  /// Takes up one that was kept by ``text(_:)``.
  ///
  /// - Throws: as ``read(certificatePEM:keyPEM:)``.
  package static func read(_ pem: String) throws -> CertificateAuthority {
    try read(certificatePEM: pem, keyPEM: pem)
  }

  /// Takes up one that was kept, so that who trusted it before a restart still does.
  ///
  /// - Throws: `CertificateError`, `PrivateKeyError`, ``SimulatorAuthorityError``.
  package static func read(certificatePEM: String, keyPEM: String) throws -> CertificateAuthority {
    let certificate = try Certificate(pem: certificatePEM)
    let key = try PrivateKey(pem: keyPEM)
    guard key.matches(certificate) else { throw SimulatorAuthorityError.keyDoesNotFit }
    return CertificateAuthority(certificate: certificate, key: key)
  }
}

/// Why a kept authority cannot be used.
package enum SimulatorAuthorityError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Certificate and key belong to different pairs.
  case keyDoesNotFit

  /// What happened, and what to do.
  package var description: String {
    "The simulator's private key does not match its certificate. Delete both files to create new ones."
  }
}
