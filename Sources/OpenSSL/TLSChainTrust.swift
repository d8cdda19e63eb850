import COpenSSL
import Foundation

/// Whether a server's certificate leads to a trusted authority. Dates and names are not checked.
package enum TLSChainTrust: String, Sendable, Hashable, Codable, CaseIterable {
  case trusted
  /// A single certificate signed with its own key.
  case selfSigned = "self_signed"
  /// The last certificate's issuer is neither sent nor trusted: an intermediate is missing, or the authority is private.
  case incomplete
  /// The root is not trusted.
  case unknownAuthority = "unknown_authority"
  /// An invalid chain, for instance with a certificate that may not be a server's.
  case invalid

  /// - Parameter result: of `X509_STORE_CTX_get_error`.
  init(_ result: Int32) {
    switch result {
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

  /// The way from the server's certificate to an authority: of those that are possible with what it sent, a trusted one
  /// that is valid for the longest time. Clients build a way too (RFC 4158 §2.4): if a certificate on it has expired,
  /// they take another. Certificates in the wrong order or beside the way do no harm. Nil before the handshake.
  package var path: TLSPath? {
    let sent = peerChain
    guard let own = sent.first else { return nil }
    // A way ends with one of its certificates. At each of these times OpenSSL looks for one that is still valid then.
    var times = Set(sent.prefix(Self.pathTries).map(\.notAfter).filter { $0 <= own.notAfter })
    var untrusted: TLSPath?
    for _ in 0..<Self.pathTries {
      guard let time = times.max() else { break }
      times.remove(time)
      guard let way = way(at: time) else { return nil }
      if way.certificates.allSatisfy({ $0.notBefore <= time && time <= $0.notAfter }) {
        let found = TLSPath(way, sent: sent)
        if found.trust == .trusted { return found }
        untrusted = untrusted ?? found
      }
      // An authority of this machine may end before all that was sent.
      times.formUnion(way.certificates.map(\.notAfter).filter { $0 < time })
    }
    return untrusted ?? way(at: nil).map { TLSPath($0, sent: sent) }
  }

  /// Servers send two or three certificates. The limit bounds the work.
  private static let pathTries = 20

  fileprivate typealias Way = (certificates: [Certificate], trust: TLSChainTrust)

  /// The way that OpenSSL finds.
  ///
  /// - Parameter time: when it is to be valid if there is such a way; nil: dates do not matter.
  private func way(at time: Date?) -> Way? {
    let sent = SSL_get_peer_cert_chain(pointer)
    guard pki_certificates_count(sent) > 0, let own = pki_certificates_at(sent, 0),
      let context = X509_STORE_CTX_new()
    else { return nil }
    defer { X509_STORE_CTX_free(context) }
    OpenSSLError.clear()
    defer { OpenSSLError.clear() }
    guard X509_STORE_CTX_init(context, SSL_CTX_get_cert_store(SSL_get_SSL_CTX(pointer)), own, sent) == 1,
      X509_STORE_CTX_set_default(context, "ssl_server") == 1
    else { return nil }
    let parameters = X509_STORE_CTX_get0_param(context)
    X509_VERIFY_PARAM_set1(parameters, SSL_get0_param(pointer))
    if let time {
      X509_VERIFY_PARAM_clear_flags(parameters, UInt(X509_V_FLAG_NO_CHECK_TIME))
      X509_VERIFY_PARAM_set_time(parameters, time_t(time.timeIntervalSince1970))
    }
    // Dates decide which way is taken, not whether it is trusted.
    X509_STORE_CTX_set_verify_cb(context) { isFine, context in
      switch X509_STORE_CTX_get_error(context) {
      case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: 1
      default: isFine
      }
    }
    let isTrusted = X509_verify_cert(context) == 1
    let chain = X509_STORE_CTX_get0_chain(context)
    let certificates = (0..<pki_certificates_count(chain)).compactMap { index in
      pki_certificates_at(chain, index).flatMap { x509 in derEncoded { i2d_X509(x509, $0) } }
        .flatMap { try? Certificate(der: $0) }  // unreadable certificates are ignored, as in the chain
    }
    return (certificates, isTrusted ? .trusted : TLSChainTrust(X509_STORE_CTX_get_error(context)))
  }
}

/// How a server's certificate leads to an authority.
package struct TLSPath: Sendable {
  /// Those that the server sent, its own first.
  package let certificates: [Certificate]
  package let trust: TLSChainTrust

  fileprivate init(_ way: TLSConnection.Way, sent: [Certificate]) {
    let known = Set(sent.map(\.der))
    // An authority of this machine is not the server's to renew.
    certificates = way.certificates.filter { known.contains($0.der) }
    trust = way.trust
  }
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
