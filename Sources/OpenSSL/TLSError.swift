import COpenSSL

/// Why a TLS connection failed. Errors are equal if their codes are.
package struct TLSError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: Sendable, Hashable {
    /// No trusted authority issued the peer's certificate.
    case unknownAuthority
    case expired
    case notYetValid
    case wrongHost
    /// The peer's certificate was refused for another reason.
    case badCertificate
    /// The peer refuses our certificate, or requires one and got none.
    ///
    /// With TLS 1.3 a client learns of it at its first read, after its handshake (RFC 8446 §4.4.2.4).
    case identityRefused
    /// The two sides have no TLS version in common; ours are 1.2 and 1.3.
    case protocolVersion
    /// The two sides have no application protocol (ALPN) in common.
    case applicationProtocol
    /// The peer ended the connection with another alert.
    case alert
    /// The peer does not speak TLS.
    case notTLS
    /// The connection broke: reset, or closed during the handshake.
    case connection
    /// Our own certificate chain or private key is unusable.
    case identity
    /// The trusted certificates are unreadable.
    case trust
    case other
  }

  package let code: Code
  /// For a person.
  package let message: String
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }

  /// Messages change with OpenSSL's version.
  package static func == (one: TLSError, other: TLSError) -> Bool { one.code == other.code }
}

extension TLSError {
  /// The last entry of this thread's error queue; empties the queue.
  static func takeMessage() -> String {
    let number = ERR_peek_last_error()
    ERR_clear_error()
    guard number != 0 else { return "no reason given" }
    guard let text = ERR_reason_error_string(number) else { return "error \(number)" }
    return String(cString: text)
  }

  /// The meaning of a failed verification (`SSL_get_verify_result`).
  static func verification(_ result: Int, host: String?) -> TLSError {
    let words = String(cString: X509_verify_cert_error_string(result))
    switch Int32(truncatingIfNeeded: result) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
      return TLSError(
        .unknownAuthority,
        "The peer's certificate was issued by a certificate authority that is not trusted here (\(words)).")
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return TLSError(.expired, "The peer's certificate has expired.")
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return TLSError(.notYetValid, "The peer's certificate is not valid yet. Check both clocks.")
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      return TLSError(.wrongHost, "The peer's certificate is not for \(host ?? "this host").")
    default:
      return TLSError(.badCertificate, "The peer's certificate was refused: \(words).")
    }
  }

  /// The meaning of an entry of OpenSSL's error queue. Alerts are listed in RFC 8446 §6.2.
  ///
  /// - Parameter hasIdentity: whether we have a certificate.
  static func queued(_ number: UInt, hasIdentity: Bool) -> TLSError {
    let words = ERR_reason_error_string(number).map { String(cString: $0) } ?? "error \(number)"
    guard tls_error_library(number) == ERR_LIB_SSL else { return TLSError(.other, "TLS failed: \(words).") }
    let reason = tls_error_reason(number)
    if reason > SSL_AD_REASON_OFFSET, reason <= SSL_AD_REASON_OFFSET + 255 {
      return alert(reason - SSL_AD_REASON_OFFSET, hasIdentity: hasIdentity)
    }
    switch reason {
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_UNKNOWN_PROTOCOL,
      SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_VERSION_TOO_LOW:
      return TLSError(.protocolVersion, "The peer's TLS version is not one of 1.2 and 1.3 (\(words)).")
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG,
      SSL_R_BAD_PACKET_LENGTH, SSL_R_RECORD_LENGTH_MISMATCH:
      return TLSError(.notTLS, "The peer does not use TLS (\(words)).")
    case SSL_R_UNEXPECTED_EOF_WHILE_READING:
      return TLSError(.connection, "The peer closed the connection during the handshake.")
    case SSL_R_NO_APPLICATION_PROTOCOL:
      return TLSError(.applicationProtocol, "The peer supports none of the offered application protocols.")
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return TLSError(.badCertificate, "The peer sent no certificate, but one is required.")
    default:
      return TLSError(.other, "TLS failed: \(words).")
    }
  }

  private static func alert(_ number: Int32, hasIdentity: Bool) -> TLSError {
    let name = String(cString: SSL_alert_desc_string_long(number))
    switch number {
    // bad_certificate … unknown_ca, access_denied, certificate_required
    case 41...46, 48, 49, 116:
      guard hasIdentity else {
        return TLSError(
          .identityRefused,
          "The peer requires a client certificate, but none is configured (alert: \(name)).")
      }
      return TLSError(.identityRefused, "The peer refused the client certificate (alert: \(name)).")
    case 70:
      return TLSError(.protocolVersion, "The peer supports neither TLS 1.2 nor 1.3 (alert: \(name)).")
    case 120:
      return TLSError(
        .applicationProtocol,
        "The peer supports none of the offered application protocols (alert: \(name)).")
    default:
      return TLSError(.alert, "The peer ended the connection (alert: \(name)).")
    }
  }
}
