import COpenSSL
package import Foundation

extension PrivateKey {
  /// ECDSA on P-256 with SHA-256 (RFC 7518 §3.4): R and S, 32 bytes each.
  ///
  /// - Throws: ``OpenSSLError``, also for another kind of key.
  package func signES256(_ message: some DataProtocol) throws(OpenSSLError) -> [UInt8] {
    let der = try sign(message)
    OpenSSLError.clear()
    let signature = der.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &position, buffer.count)
    }
    defer { ECDSA_SIG_free(signature) }
    var raw = [UInt8](repeating: 0, count: 64)
    let written = raw.withUnsafeMutableBufferPointer { buffer in
      guard let signature, let base = buffer.baseAddress else { return false }
      return BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + 32, 32) == 32
    }
    guard algorithm == .p256, written else { throw OpenSSLError("signing with ES256 by a key of \(algorithm)") }
    return raw
  }

  /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
  ///
  /// - Throws: ``OpenSSLError``, also for another kind of key.
  package func signRS256(_ message: some DataProtocol) throws(OpenSSLError) -> [UInt8] {
    guard case .rsa = algorithm else { throw OpenSSLError("signing with RS256 by a key of \(algorithm)") }
    return try sign(message)
  }

  private func sign(_ message: some DataProtocol) throws(OpenSSLError) -> [UInt8] {
    OpenSSLError.clear()
    let message = Array(message)
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var count = 0
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1,
      EVP_DigestSign(context, nil, &count, message, message.count) == 1
    else { throw OpenSSLError("signing") }
    var signature = [UInt8](repeating: 0, count: count)
    guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
      throw OpenSSLError("signing")
    }
    return Array(signature.prefix(count))
  }
}

extension PublicKey {
  /// Verifies a signature (ES256): R and S, 32 bytes each.
  package func verifiesES256(_ signature: some DataProtocol, of message: some DataProtocol) -> Bool {
    guard signature.count == 64, algorithm == .p256 else { return false }
    let raw = Array(signature)
    let pair = ECDSA_SIG_new()
    defer { ECDSA_SIG_free(pair) }
    let r = BN_bin2bn(Array(raw[..<32]), 32, nil)
    let s = BN_bin2bn(Array(raw[32...]), 32, nil)
    guard ECDSA_SIG_set0(pair, r, s) == 1 else {
      BN_free(r)
      BN_free(s)
      return false
    }
    guard let der = derEncoded({ i2d_ECDSA_SIG(pair, $0) }) else { return false }
    return verifies(der, of: message)
  }

  /// Verifies a signature (RS256).
  package func verifiesRS256(_ signature: some DataProtocol, of message: some DataProtocol) -> Bool {
    guard case .rsa = algorithm else { return false }
    return verifies(signature, of: message)
  }

  /// Verifies a signature (PS256, RFC 7518 §3.5): RSASSA-PSS with SHA-256 and a salt of 32 bytes.
  package func verifiesPS256(_ signature: some DataProtocol, of message: some DataProtocol) -> Bool {
    guard case .rsa = algorithm else { return false }
    return verifies(signature, of: message, isPSS: true)
  }

  private func verifies(
    _ signature: some DataProtocol, of message: some DataProtocol, isPSS: Bool = false
  ) -> Bool {
    defer { OpenSSLError.clear() }
    let signature = Array(signature)
    let message = Array(message)
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    // Belongs to the digest's context.
    var parameters: OpaquePointer?
    guard EVP_DigestVerifyInit(context, &parameters, EVP_sha256(), nil, handle) == 1 else { return false }
    if isPSS {
      guard EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
        EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, 32) == 1
      else { return false }
    }
    return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }
}
