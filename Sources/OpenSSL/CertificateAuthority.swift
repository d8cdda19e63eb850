import COpenSSL
package import Foundation

/// Creates certificates for the simulator's servers, for demos and for tests.
package struct CertificateAuthority: Sendable {
  package let certificate: Certificate
  package let key: PrivateKey

  package init(certificate: Certificate, key: PrivateKey) {
    self.certificate = certificate
    self.key = key
  }

  /// Creates a self-signed authority with a P-256 key.
  package init(
    subject: [DistinguishedName.Attribute], notBefore: Date, notAfter: Date
  ) throws(CertificateError) {
    do { key = try PrivateKey.generateP256() } catch { throw .cannotBeMade(error) }
    certificate = try Self.selfSigned(
      CertificateBlueprint(subject: subject, notBefore: notBefore, notAfter: notAfter, purpose: .authority), key: key)
  }

  /// Signs a certificate for the owner of a key.
  ///
  /// - Throws: ``CertificateError``, as for a name that is too long.
  package func issue(_ blueprint: CertificateBlueprint, for key: PublicKey) throws(CertificateError) -> Certificate {
    try Self.make(blueprint, for: key, issuer: certificate, key: self.key)
  }

  /// Signs a certificate for a new P-256 key.
  package func issue(
    _ blueprint: CertificateBlueprint
  ) throws(CertificateError) -> (certificate: Certificate, key: PrivateKey) {
    let key: PrivateKey
    do { key = try PrivateKey.generateP256() } catch { throw .cannotBeMade(error) }
    return (try issue(blueprint, for: key.publicKey), key)
  }

  /// Signs a certificate for a TLS server.
  ///
  /// - Parameter names: host names, and addresses as `127.0.0.1` or `::1`; the first is the common name too.
  package func issueServer(
    names: [String], notBefore: Date, notAfter: Date
  ) throws(CertificateError) -> (certificate: Certificate, key: PrivateKey) {
    try issue(
      CertificateBlueprint(
        subject: names.prefix(1).map { .commonName(String($0.prefix(64))) }, notBefore: notBefore, notAfter: notAfter,
        purpose: .server, alternativeNames: names))
  }

  /// Creates a certificate signed by its own key.
  package static func selfSigned(
    _ blueprint: CertificateBlueprint, key: PrivateKey
  ) throws(CertificateError) -> Certificate {
    try make(blueprint, for: key.publicKey, issuer: nil, key: key)
  }

  /// - Parameter issuer: nil: self-signed.
  private static func make(
    _ blueprint: CertificateBlueprint, for publicKey: PublicKey, issuer: Certificate?, key: PrivateKey
  ) throws(CertificateError) -> Certificate {
    OpenSSLError.clear()
    guard let x509 = X509_new() else { throw .cannotBeMade(OpenSSLError("creating a certificate")) }
    let builder = CertificateBuilder(x509: x509)
    let issuerName = issuer.map { X509_get_subject_name($0.x509) } ?? X509_get_subject_name(x509)
    let made =
      X509_set_version(x509, 2) == 1 && builder.setRandomSerialNumber()
      && builder.setDates(blueprint.notBefore, blueprint.notAfter)
      && CertificateBuilder.addNames(blueprint.subject, to: X509_get_subject_name(x509))
      && X509_set_issuer_name(x509, issuerName) == 1
      && X509_set_pubkey(x509, publicKey.handle) == 1
      && builder.addExtensions(of: blueprint, issuer: issuer?.complete)
      && X509_sign(x509, key.handle, key.signingDigest) > 0
    guard made, let der = derEncoded({ i2d_X509(x509, $0) }) else {
      X509_free(x509)
      throw .cannotBeMade(OpenSSLError("creating a certificate"))
    }
    withExtendedLifetime((issuer, publicKey, key)) {}
    X509_free(x509)
    return try Certificate(der: der)
  }
}

extension PrivateKey {
  /// SHA-256, or none for keys with a built-in digest (Ed25519).
  var signingDigest: OpaquePointer? {
    switch algorithm {
    case .ellipticCurve, .rsa: EVP_sha256()
    case .other: nil
    }
  }
}
