import COpenSSL

/// Whose signature under a peer's certificate counts.
package enum TLSTrust: Sendable, Hashable {
  /// The authorities that the system trusts (Debian: package ca-certificates), or `SSL_CERT_FILE`.
  case system
  /// Only these certificates, in PEM form; one that is not a root counts too.
  case pem([UInt8])

  /// - Throws: ``TLSError`` with code `trust`.
  func install(in context: OpaquePointer) throws(TLSError) {
    ERR_clear_error()
    switch self {
    case .system:
      guard SSL_CTX_set_default_verify_paths(context) == 1 else {
        throw TLSError(.trust, "The system's trusted certificates cannot be read: \(TLSError.takeMessage()).")
      }
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
