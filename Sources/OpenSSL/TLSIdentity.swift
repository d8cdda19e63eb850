import COpenSSL

/// A certificate with its chain and private key: what one side of a TLS connection shows the other.
package struct TLSIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  let certificateChainPEM: [UInt8]
  let privateKeyPEM: [UInt8]

  /// Takes PEM text; it is read when a ``TLSContext`` is made of it.
  ///
  /// - Parameters:
  ///   - certificateChainPEM: the own certificate first, then its issuers; the root may be left out.
  ///   - privateKeyPEM: PKCS#8, PKCS#1 or SEC 1, not encrypted.
  package init(certificateChainPEM: [UInt8], privateKeyPEM: [UInt8]) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  /// Says nothing of the key.
  package var description: String { "TLSIdentity" }
  /// Says nothing of the key.
  package var debugDescription: String { description }

  /// - Throws: ``TLSError`` with code `identity`.
  func install(in context: OpaquePointer) throws(TLSError) {
    let chain = PEMCertificates.read(certificateChainPEM)
    defer { chain.forEach { X509_free($0) } }
    guard let own = chain.first else {
      throw TLSError(.identity, "The certificate chain contains no PEM certificate.")
    }
    ERR_clear_error()
    guard SSL_CTX_use_certificate(context, own) == 1 else {
      throw TLSError(.identity, "The certificate cannot be used: \(TLSError.takeMessage()).")
    }
    for issuer in chain.dropFirst() where tls_context_add_chain_certificate(context, issuer) != 1 {
      throw TLSError(.identity, "The certificate chain cannot be used: \(TLSError.takeMessage()).")
    }
    let key = privateKeyPEM.withUnsafeBytes { bytes -> OpaquePointer? in
      guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer { BIO_free(memory) }
      // An encrypted key would ask on the terminal: a callback that has no password makes it an error.
      return PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil)
    }
    guard let key else {
      throw TLSError(.identity, "The private key cannot be read: \(TLSError.takeMessage()).")
    }
    defer { EVP_PKEY_free(key) }
    guard SSL_CTX_use_PrivateKey(context, key) == 1, SSL_CTX_check_private_key(context) == 1 else {
      throw TLSError(.identity, "The private key does not match the certificate: \(TLSError.takeMessage()).")
    }
  }
}

/// Certificates in PEM text, as OpenSSL's own objects.
enum PEMCertificates {
  /// Reads all certificates; other blocks and text between them are passed over. The caller frees each.
  static func read(_ pem: [UInt8]) -> [OpaquePointer] {
    pem.withUnsafeBytes { bytes in
      guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return [] }
      defer { BIO_free(memory) }
      var found: [OpaquePointer] = []
      while let certificate = PEM_read_bio_X509(memory, nil, nil, nil) { found.append(certificate) }
      // The end of the text is reported as an error (PEM_R_NO_START_LINE).
      ERR_clear_error()
      return found
    }
  }
}
