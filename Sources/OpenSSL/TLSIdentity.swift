import COpenSSL

/// A certificate with its chain and private key, as one side of a TLS connection presents it.
package struct TLSIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  let certificateChainPEM: [UInt8]
  let privateKeyPEM: [UInt8]

  /// Takes PEM text, which is parsed when a ``TLSContext`` is created with it.
  ///
  /// - Parameters:
  ///   - certificateChainPEM: the own certificate first, then its issuers; the root may be left out.
  ///   - privateKeyPEM: PKCS#8, PKCS#1 or SEC 1, not encrypted.
  package init(certificateChainPEM: [UInt8], privateKeyPEM: [UInt8]) {
    self.certificateChainPEM = certificateChainPEM
    self.privateKeyPEM = privateKeyPEM
  }

  /// Never the key.
  package var description: String { "TLSIdentity" }
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
      // An encrypted key would prompt on the terminal: a callback without a password makes it an error.
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

/// Certificates in PEM text as OpenSSL objects.
enum PEMCertificates {
  /// Reads all certificates, skipping other text. The caller frees each.
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

extension TLSIdentity {
  /// - Parameter chain: the own certificate first, then its issuers.
  package init(chain: [Certificate], key: PrivateKey) {
    self.init(certificateChainPEM: Array(chain.map(\.pem).joined().utf8), privateKeyPEM: Array(key.pkcs8PEM.utf8))
  }
}

/// Which authorities are trusted.
package enum TLSTrust: Sendable, Hashable {
  /// The system's authorities (Debian: package ca-certificates), or `SSL_CERT_FILE`.
  case system
  /// The system's authorities, and the certificates of a PEM file; they need not be roots.
  case systemAnd(file: String)
  /// Only these certificates, in PEM form; they need not be roots.
  case pem([UInt8])

  /// - Parameter file: nil: only the system's.
  package static func system(and file: String?) -> TLSTrust { file.map { .systemAnd(file: $0) } ?? .system }

  private static func installSystem(in context: OpaquePointer) throws(TLSError) {
    guard SSL_CTX_set_default_verify_paths(context) == 1 else {
      throw TLSError(.trust, "The system's trusted certificates cannot be read: \(TLSError.takeMessage()).")
    }
  }

  /// - Throws: ``TLSError`` with code `trust`.
  func install(in context: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    switch self {
    case .system: try Self.installSystem(in: context)
    case .systemAnd(let file):
      try Self.installSystem(in: context)
      guard SSL_CTX_load_verify_file(context, file) == 1 else {
        throw TLSError(.trust, "The trusted certificates of \(file) cannot be read: \(TLSError.takeMessage()).")
      }
      X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), UInt(X509_V_FLAG_PARTIAL_CHAIN))
    case .pem(let text):
      let certificates = PEMCertificates.read(text)
      defer { certificates.forEach { X509_free($0) } }
      guard !certificates.isEmpty else {
        throw TLSError(.trust, "The trusted certificates contain no PEM certificate.")
      }
      let store = SSL_CTX_get_cert_store(context)
      for certificate in certificates where X509_STORE_add_cert(store, certificate) != 1 {
        throw TLSError(.trust, "A trusted certificate cannot be used: \(TLSError.takeMessage()).")
      }
      X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), UInt(X509_V_FLAG_PARTIAL_CHAIN))
    }
  }
}
