import COpenSSL

/// Whether a certificate chain leads to a trusted authority. Dates and names are not checked.
package enum TLSChainTrust: String, Sendable, Hashable, Codable, CaseIterable {
  case trusted
  /// A single certificate signed with its own key.
  case selfSigned = "self_signed"
  /// The last certificate's issuer is neither included nor trusted: an intermediate is missing, or the authority is
  /// private.
  case incomplete
  /// The root is not trusted.
  case unknownAuthority = "unknown_authority"
  /// An invalid chain, for instance with a certificate that may not be a server's.
  case invalid

  /// - Parameter result: of `SSL_get_verify_result`.
  init(_ result: Int) {
    switch Int32(truncatingIfNeeded: result) {
    case X509_V_OK: self = .trusted
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: self = .selfSigned
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED: self = .unknownAuthority
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      self = .incomplete
    default: self = .invalid
    }
  }
}

extension TLSConnection {
  /// The certificates that a server sent, in its order; unreadable ones are left out. Empty before the handshake, and
  /// at a server.
  package var peerChain: [Certificate] {
    guard let stack = SSL_get_peer_cert_chain(pointer) else { return [] }
    return (0..<pki_certificates_count(stack)).compactMap { index in
      guard let x509 = pki_certificates_at(stack, index), let der = derEncoded({ i2d_X509(x509, $0) }) else {
        return nil
      }
      return try? Certificate(der: der)  // unreadable certificates are ignored
    }
  }

  /// Whether the server's chain leads to an authority that the context trusts.
  package var chainTrust: TLSChainTrust { TLSChainTrust(SSL_get_verify_result(pointer)) }
}

extension Certificate {
  /// Whether it is valid for a host name or an IP address; the common name does not count (RFC 9525 §6.3).
  package func isFor(host: String) -> Bool {
    defer { OpenSSLError.clear() }
    // 1: it is; 0: it is not; -2: that is no address.
    let byAddress = X509_check_ip_asc(x509, host, 0)
    if byAddress >= 0 { return byAddress == 1 }
    let flags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
    return X509_check_host(x509, host, host.utf8.count, flags, nil) == 1
  }
}
