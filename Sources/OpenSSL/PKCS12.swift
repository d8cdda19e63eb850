import COpenSSL
public import Foundation

/// What a `.p12` or `.pfx` file holds (RFC 7292).
public struct PKCS12: Sendable {
  /// The certificate that the key belongs to; without a key the first one. Nil if the file holds none of that kind.
  public let certificate: Certificate?
  /// The first private key.
  public let key: PrivateKey?
  /// All other certificates: issuers, or further identities.
  public let others: [Certificate]

  /// A file's certificate and key, and what else is in it.
  ///
  /// - Throws: ``PKCS12Error``: `noPrivateKey`, `noCertificate`, `keyDoesNotMatch`.
  public func identity() throws(PKCS12Error) -> (certificate: Certificate, key: PrivateKey) {
    guard let key else { throw certificate == nil && others.isEmpty ? .noCertificate : .noPrivateKey }
    guard let certificate else { throw others.isEmpty ? .noCertificate : .keyDoesNotMatch }
    return (certificate, key)
  }

  /// Opens a file, whatever it is encrypted with: also RC2-40, with which Keychain Access writes.
  ///
  /// Without a password, or with an empty one, both forms of "none" are tried: no bytes, and one empty string.
  /// May use a processor for up to some seconds, so it belongs on a thread that may block.
  ///
  /// - Parameters:
  ///   - data: the file; whoever calls limits its size.
  ///   - password: taken in UTF-8.
  /// - Throws: ``PKCS12Error``.
  public static func open(_ data: some DataProtocol, password: String?) throws(PKCS12Error) -> PKCS12 {
    let bytes = Array(data)
    switch DER.header(of: bytes[...]) {
    case .truncated where bytes.first == DER.sequence: throw .truncated
    case .whole(DER.sequence, _), .indefinite: break
    default: throw .notPKCS12
    }
    let context = try LegacyContext.context()
    OpenSSLError.clear()
    var handle = PKCS12_init_ex(NID_pkcs7_data, context, nil)
    let read = bytes.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_PKCS12(&handle, &position, buffer.count) != nil
    }
    // If it cannot be read, d2i_PKCS12 has freed it (d2i_X509(3), "the structure is freed").
    guard read, let handle else {
      OpenSSLError.clear()
      throw .notPKCS12
    }
    defer { PKCS12_free(handle) }
    guard KeyDerivationCost.isBearable(bytes), macRounds(handle) <= KeyDerivationCost.limit else { throw .tooCostly }
    let candidates: [String?] = password.map { $0.isEmpty ? ["", nil] : [$0] } ?? [nil, ""]
    let refusal = password.map(\.isEmpty) == false ? PKCS12Error.wrongPassword : .passwordNeeded
    if PKCS12_mac_present(handle) == 1 {
      for candidate in candidates where try matches(candidate, handle) {
        return try contents(handle, password: candidate, isChecked: true)
      }
      throw refusal
    }
    // Without a checksum only the decryption tells. PKCS12_parse of OpenSSL 3.0 insists on one, so it gets one.
    for candidate in candidates {
      guard setMAC(of: handle, password: candidate) else { throw .damaged(OpenSSLError("adding a checksum")) }
      do { return try contents(handle, password: candidate, isChecked: false) } catch .wrongPassword { continue }
    }
    throw refusal
  }

  private static func setMAC(of handle: OpaquePointer, password: String?) -> Bool {
    OpenSSLError.clear()
    return if let password { PKCS12_set_mac(handle, password, -1, nil, 0, 1, EVP_sha256()) == 1 } else {
      PKCS12_set_mac(handle, nil, 0, nil, 0, 1, EVP_sha256()) == 1
    }
  }

  private static func macRounds(_ handle: OpaquePointer) -> Int {
    var rounds: UnsafePointer<ASN1_INTEGER>?
    PKCS12_get0_mac(nil, nil, nil, &rounds, handle)
    guard let rounds else { return 1 }
    let value = ASN1_INTEGER_get(rounds)
    OpenSSLError.clear()
    // -1 stands for a number that does not fit.
    return value < 0 ? .max : value
  }

  /// Whether a password fits the file's checksum.
  private static func matches(_ password: String?, _ handle: OpaquePointer) throws(PKCS12Error) -> Bool {
    OpenSSLError.clear()
    let fits =
      if let password { PKCS12_verify_mac(handle, password, Int32(clamping: password.utf8.count)) } else {
        PKCS12_verify_mac(handle, nil, 0)
      }
    if fits == 1 { return true }
    let error = OpenSSLError("checking the password")
    if let algorithm = error.unsupportedAlgorithm { throw .unsupported(algorithm: algorithm) }
    return false
  }

  /// - Parameter isChecked: whether the file's own checksum said that the password is right.
  private static func contents(
    _ handle: OpaquePointer, password: String?, isChecked: Bool
  ) throws(PKCS12Error) -> PKCS12 {
    OpenSSLError.clear()
    var key: OpaquePointer?
    var certificate: OpaquePointer?
    var others: OpaquePointer?
    let parsed =
      if let password { PKCS12_parse(handle, password, &key, &certificate, &others) } else {
        PKCS12_parse(handle, nil, &key, &certificate, &others)
      }
    defer {
      EVP_PKEY_free(key)
      X509_free(certificate)
      if let others { pki_certificates_free(others) }
    }
    guard parsed == 1 else {
      let error = OpenSSLError("reading a PKCS#12 file")
      if let algorithm = error.unsupportedAlgorithm, !error.isBadDecrypt { throw .unsupported(algorithm: algorithm) }
      // One wrong password in 256 decrypts to what only later turns out to be nonsense.
      throw isChecked ? .damaged(error) : .wrongPassword
    }
    OpenSSLError.clear()
    var rest: [Certificate] = []
    for index in 0..<max(0, pki_certificates_count(others)) {
      rest.append(try imported(pki_certificates_at(others, index)))
    }
    let own: Certificate? = if let certificate { try imported(certificate) } else { nil }
    guard let key else { return PKCS12(certificate: own ?? rest.first, key: nil, others: Array(rest.dropFirst())) }
    return PKCS12(certificate: own, key: try imported(key: key), others: rest)
  }

  /// The same certificate in the default context, where it outlives this file's.
  private static func imported(_ x509: OpaquePointer?) throws(PKCS12Error) -> Certificate {
    guard let der = derEncoded({ i2d_X509(x509, $0) }) else {
      throw .damaged(OpenSSLError("reading a certificate"))
    }
    do { return try Certificate(der: der) } catch { throw .badCertificate(error) }
  }

  /// The same key in the default context: TLS does not use keys of another.
  private static func imported(key: OpaquePointer) throws(PKCS12Error) -> PrivateKey {
    guard let der = derEncoded({ i2d_PrivateKey(key, $0) }),
      let handle = derDecoded(der, { d2i_AutoPrivateKey(nil, $0, $1) }, free: EVP_PKEY_free)
    else { throw .damaged(OpenSSLError("reading a private key")) }
    OpenSSLError.clear()
    return PrivateKey(owning: handle)
  }
}
