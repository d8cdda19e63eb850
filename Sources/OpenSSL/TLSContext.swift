import COpenSSL

/// Shared settings of TLS connections. Safe to use from any thread.
package final class TLSContext: @unchecked Sendable {
  // @unchecked Sendable because nothing changes after init, and "SSL_CTX … may be used by several threads" as long as
  // none changes it (https://www.openssl.org/docs/man3.0/man7/openssl-threads.html).

  package enum Role: Sendable {
    case client, server
  }

  /// Whether a server asks its clients for a certificate.
  package enum ClientCertificate: Sendable {
    case none
    /// Asks, continues without one, and accepts any: users of ``TLSConnection/peerCertificateDER`` verify it.
    case requestedNotRequired
    /// Refuses clients without a certificate from one of these authorities.
    case required(TLSTrust)
  }

  package enum Version: Int32, Sendable, CaseIterable {
    case tls12 = 0x0303
    case tls13 = 0x0304
  }

  /// The ciphers below TLS 1.3, whose suites all qualify: forward secrecy, and authenticated encryption (RFC 9325
  /// section 4.2).
  package static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

  package let role: Role
  /// Whether a client refuses servers whose certificate is not trusted.
  let judges: Bool
  /// Whether the context has a certificate of its own.
  let hasIdentity: Bool
  let pointer: OpaquePointer
  /// In the wire form of RFC 7301 §3.1: each protocol after a byte with its length.
  private let protocols: [UInt8]

  /// Settings for connecting to servers, whose certificate and host name are always verified. Below TLS 1.3 only with
  /// ECDHE and authenticated encryption.
  ///
  /// - Parameters:
  ///   - trust: whose servers are trusted.
  ///   - identity: the client certificate to show when asked.
  ///   - alpn: application protocols, best first, such as `h2`.
  ///   - versions: TLS versions; for tests.
  /// - Throws: ``TLSError`` with code `identity` or `trust`.
  package static func client(
    trust: TLSTrust, identity: TLSIdentity? = nil, alpn: [String] = [],
    versions: ClosedRange<Version> = .tls12 ... .tls13
  ) throws(TLSError) -> TLSContext {
    let context = try TLSContext(role: .client, identity: identity, alpn: alpn, versions: versions)
    try context.limitCiphers()
    try trust.install(in: context.pointer)
    SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
    if !context.protocols.isEmpty,
      SSL_CTX_set_alpn_protos(context.pointer, context.protocols, UInt32(context.protocols.count)) != 0
    {
      throw TLSError(.other, "The application protocols cannot be set: \(TLSError.takeMessage()).")
    }
    return context
  }

  /// Settings for inspecting servers' certificates: every handshake is completed, and ``TLSConnection/peerChain`` and
  /// ``TLSConnection/path`` tell the result. For nothing else: data on such a connection is not protected.
  ///
  /// Also speaks old versions with old ciphers if this OpenSSL supports them.
  ///
  /// - Parameter trust: for ``TLSConnection/path``; dates and names are not checked.
  /// - Throws: ``TLSError`` with code `trust`.
  package static func inspecting(trust: TLSTrust) throws(TLSError) -> TLSContext {
    let context = try TLSContext(role: .client, identity: nil, alpn: [], versions: .tls12 ... .tls13, judges: false)
    tls_context_allow_old(context.pointer)
    try trust.install(in: context.pointer)
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.pointer), UInt(X509_V_FLAG_NO_CHECK_TIME))
    // "The handshake will be continued regardless of the verification result", which is kept
    // (https://www.openssl.org/docs/man3.0/man3/SSL_CTX_set_verify.html).
    SSL_CTX_set_verify(context.pointer, SSL_VERIFY_NONE, nil)
    return context
  }

  /// Settings for accepting connections. Below TLS 1.3 only with ECDHE and authenticated encryption.
  ///
  /// - Parameters:
  ///   - identity: the server's certificate.
  ///   - alpn: application protocols, best first. A client that offers only others is refused; one that offers none is
  ///     served.
  ///   - clientCertificate: whether clients are asked for one.
  ///   - versions: TLS versions; for tests.
  /// - Throws: ``TLSError`` with code `identity` or `trust`.
  package static func server(
    identity: TLSIdentity, alpn: [String] = [], clientCertificate: ClientCertificate = .none,
    versions: ClosedRange<Version> = .tls12 ... .tls13
  ) throws(TLSError) -> TLSContext {
    let context = try TLSContext(role: .server, identity: identity, alpn: alpn, versions: versions)
    try context.limitCiphers()
    // Without it a resumed session fails when client certificates are requested
    // (https://www.openssl.org/docs/man3.0/man3/SSL_CTX_set_session_id_context.html).
    let name = Array("signalbox".utf8)
    SSL_CTX_set_session_id_context(context.pointer, name, UInt32(name.count))
    context.selectProtocols()
    switch clientCertificate {
    case .none: SSL_CTX_set_verify(context.pointer, SSL_VERIFY_NONE, nil)
    case .requestedNotRequired:
      SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
      SSL_CTX_set_cert_verify_callback(context.pointer, { _, _ in 1 }, nil)
    case .required(let trust):
      try trust.install(in: context.pointer)
      SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }
    return context
  }

  private init(
    role: Role, identity: TLSIdentity?, alpn: [String], versions: ClosedRange<Version>, judges: Bool = true
  ) throws(TLSError) {
    self.role = role
    self.judges = judges
    hasIdentity = identity != nil
    protocols = alpn.flatMap { [UInt8(clamping: $0.utf8.count)] + $0.utf8 }
    ERR_clear_error()
    guard let pointer = SSL_CTX_new(role == .client ? TLS_client_method() : TLS_server_method()) else {
      throw TLSError(.other, "TLS cannot be set up: \(TLSError.takeMessage()).")
    }
    self.pointer = pointer
    tls_context_set_mode(pointer)
    tls_context_set_options(pointer)
    // Lets one read(2) take up to four whole records.
    tls_context_set_read_ahead(pointer, 4 * 16_406 + 5)
    guard tls_context_set_versions(pointer, versions.lowerBound.rawValue, versions.upperBound.rawValue) == 1 else {
      throw TLSError(.protocolVersion, "The TLS versions cannot be set: \(TLSError.takeMessage()).")
    }
    try identity?.install(in: pointer)
  }

  deinit { SSL_CTX_free(pointer) }

  private func limitCiphers() throws(TLSError) {
    guard SSL_CTX_set_cipher_list(pointer, Self.ciphers) == 1 else {
      throw TLSError(.other, "The ciphers cannot be set: \(TLSError.takeMessage()).")
    }
  }

  /// Makes a server choose the first of its own protocols that the client offers.
  private func selectProtocols() {
    guard !protocols.isEmpty else { return }
    SSL_CTX_set_alpn_select_cb(
      pointer,
      { _, chosen, chosenLength, offered, offeredLength, argument in
        guard let argument, let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_NOACK }
        let context = Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
        let result = context.protocols.withUnsafeBufferPointer { own in
          // Declared as mutable, but only pointed into `own` or `offered`.
          chosen.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 1) {
            SSL_select_next_proto($0, chosenLength, own.baseAddress, UInt32(own.count), offered, offeredLength)
          }
        }
        return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
      },
      // Not retained: every connection holds its context during a handshake.
      Unmanaged.passUnretained(self).toOpaque())
  }
}

extension TLSContext.Version: Comparable {
  package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
