import COpenSSL
import Glibc

/// One TLS connection over a non-blocking socket. Belongs to one thread at a time; does not close the socket.
package final class TLSConnection {
  package enum HandshakeResult: Sendable, Equatable {
    case done, wantsRead, wantsWrite
  }

  package enum IOResult: Sendable, Equatable {
    /// At least one.
    case bytes(Int)
    /// Call again when the socket is readable; this can also happen for a write.
    case wantsRead
    /// Call again when the socket is writable; this can also happen for a read.
    case wantsWrite
    case end
  }

  private let context: TLSContext
  let pointer: OpaquePointer
  private let host: String?

  /// Nothing is sent before ``handshake()``.
  ///
  /// - Parameters:
  ///   - descriptor: a connected, non-blocking socket; the caller keeps it.
  ///   - serverName: for a client, the host name or IP address to verify; a name is also sent (SNI, RFC 6066 §3). Nil for
  ///     a server.
  package init(_ context: TLSContext, descriptor: Int32, serverName: String? = nil) throws(TLSError) {
    precondition((context.role == .client) == (serverName != nil), "a client names its server, a server does not")
    ERR_clear_error()
    guard let pointer = SSL_new(context.pointer) else {
      throw TLSError(.other, "TLS cannot be set up: \(TLSError.takeMessage()).")
    }
    self.context = context
    self.pointer = pointer
    host = serverName
    guard SSL_set_fd(pointer, descriptor) == 1 else {
      throw TLSError(.other, "TLS cannot use the socket: \(TLSError.takeMessage()).")
    }
    switch context.role {
    case .server: SSL_set_accept_state(pointer)
    case .client:
      SSL_set_connect_state(pointer)
      if let serverName { try expect(serverName) }
    }
  }

  deinit { SSL_free(pointer) }

  private func expect(_ serverName: String) throws(TLSError) {
    if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(pointer), serverName) == 1 {
      // An inspecting client verifies no name.
      if !context.judges { X509_VERIFY_PARAM_set1_ip(SSL_get0_param(pointer), nil, 0) }
      return
    }
    ERR_clear_error()
    guard context.judges else {
      guard tls_set_server_name(pointer, serverName) == 1 else {
        throw TLSError(.wrongHost, "\(serverName) is not a host name: \(TLSError.takeMessage()).")
      }
      return
    }
    SSL_set_hostflags(pointer, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    guard SSL_set1_host(pointer, serverName) == 1, tls_set_server_name(pointer, serverName) == 1 else {
      throw TLSError(.wrongHost, "\(serverName) is not a host name: \(TLSError.takeMessage()).")
    }
  }

  /// Continues the handshake as far as possible without waiting.
  ///
  /// - Throws: ``TLSError``, also for the peer's certificate.
  package func handshake() throws(TLSError) -> HandshakeResult {
    ERR_clear_error()
    errno = 0
    let result = SSL_do_handshake(pointer)
    if result == 1 { return .done }
    switch SSL_get_error(pointer, result) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    case SSL_ERROR_ZERO_RETURN:
      throw TLSError(.connection, "The peer closed the connection during the handshake.")
    case let code: throw failure(code)
    }
  }

  /// Reads at most `buffer.count` bytes.
  ///
  /// Repeat until `wantsRead`: bytes that OpenSSL has read ahead cause no readiness.
  /// - Throws: ``TLSError``; with TLS 1.3 also `identityRefused`.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> IOResult {
    guard !buffer.isEmpty else { return .bytes(0) }
    ERR_clear_error()
    errno = 0
    let count = SSL_read(pointer, buffer.baseAddress, Int32(clamping: buffer.count))
    return try result(count)
  }

  /// Writes at most `buffer.count` bytes, usually one TLS record (16 384 bytes).
  ///
  /// After `wantsRead` or `wantsWrite` the next write must begin with the same bytes.
  package func write(from buffer: UnsafeRawBufferPointer) throws(TLSError) -> IOResult {
    guard !buffer.isEmpty else { return .bytes(0) }
    ERR_clear_error()
    errno = 0
    let count = SSL_write(pointer, buffer.baseAddress, Int32(clamping: buffer.count))
    return try result(count)
  }

  private func result(_ count: Int32) throws(TLSError) -> IOResult {
    if count > 0 { return .bytes(Int(count)) }
    switch SSL_get_error(pointer, count) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    case SSL_ERROR_ZERO_RETURN: return .end
    case let code: throw failure(code)
    }
  }

  private func failure(_ code: Int32) -> TLSError {
    if code == SSL_ERROR_SYSCALL, errno != 0 {
      return TLSError(.connection, "The connection broke: \(String(cString: strerror(errno))).")
    }
    let verification = SSL_get_verify_result(pointer)
    let number = ERR_peek_error()
    ERR_clear_error()
    if verification != Int(X509_V_OK), tls_error_reason(number) == SSL_R_CERTIFICATE_VERIFY_FAILED {
      return .verification(verification, host: host)
    }
    guard number != 0 else { return TLSError(.connection, "The peer closed the connection.") }
    return .queued(number, hasIdentity: context.hasIdentity)
  }

  /// Whether bytes are buffered inside OpenSSL.
  package var hasPending: Bool { SSL_has_pending(pointer) == 1 }

  /// The negotiated application protocol, nil if none was.
  package var alpn: String? {
    var bytes: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(pointer, &bytes, &count)
    guard let bytes, count > 0 else { return nil }
    return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
  }

  /// As `TLSv1.3`.
  package var version: String { String(cString: SSL_get_version(pointer)) }

  /// The peer's certificate, nil if there is none.
  package var peerCertificateDER: [UInt8]? {
    guard let certificate = SSL_get1_peer_certificate(pointer) else { return nil }
    defer { X509_free(certificate) }
    let size = i2d_X509(certificate, nil)
    guard size > 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      var next = buffer.baseAddress
      count = Int(max(0, i2d_X509(certificate, &next)))
    }
  }

  /// Sends close_notify. Does not wait for the peer's.
  package func shutdown() {
    ERR_clear_error()
    // After a fatal error, or before the handshake, close_notify is not allowed (SSL_shutdown(3)).
    if SSL_is_init_finished(pointer) == 1 { _ = SSL_shutdown(pointer) }
    ERR_clear_error()
  }
}
