import COpenSSL
package import Foundation
package import OpenSSL

/// OpenSSL could not make a file.
private struct MakingError: Error {
  let what: String
}

/// OpenSSL's objects for a certificate, a key, and further certificates, as long as `body` runs.
private func withObjects<Value>(
  _ certificate: Certificate?, _ key: PrivateKey?, _ others: [Certificate],
  _ body: (_ certificate: OpaquePointer?, _ key: OpaquePointer?, _ others: OpaquePointer?) -> Value
) -> Value {
  func x509(_ certificate: Certificate) -> OpaquePointer? {
    Array(certificate.der).withUnsafeBufferPointer { bytes in
      var position = bytes.baseAddress
      return d2i_X509(nil, &position, bytes.count)
    }
  }
  ERR_clear_error()
  let own = certificate.flatMap(x509)
  defer { X509_free(own) }
  let pair = key.flatMap { key in
    reading(Array(key.pkcs8PEM.utf8)) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
  }
  defer { EVP_PKEY_free(pair) }
  let stack = OPENSSL_sk_new_null()
  defer { pki_certificates_free(stack) }
  for other in others { _ = OPENSSL_sk_push(stack, x509(other).map(UnsafeRawPointer.init)) }
  return body(own, pair, stack)
}

private func reading<Value>(_ bytes: [UInt8], _ body: (OpaquePointer?) -> Value?) -> Value? {
  bytes.withUnsafeBytes { buffer in
    let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
    defer { BIO_free(bio) }
    return body(bio)
  }
}

/// The output of an `i2d_…` function.
private func derEncoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> Data? {
  var bytes: UnsafeMutablePointer<UInt8>?
  let count = write(&bytes)
  guard count > 0, let bytes else { return nil }
  defer { pki_free(bytes) }
  return Data(bytes: bytes, count: Int(count))
}

extension PKCS12 {
  package enum Encryption: Sendable, Hashable, CaseIterable {
    /// AES-256 with PBKDF2 and SHA-256, as OpenSSL 3 writes by default.
    case modern
    /// Certificates with RC2-40, key with 3DES, checksum with SHA-1: as Keychain Access of macOS exports.
    case keychain
    /// Everything with 3DES and SHA-1, as older versions of OpenSSL wrote.
    case tripleDES
  }

  /// Also has the algorithms of old files, which OpenSSL's own context lacks.
  ///
  /// nonisolated(unsafe) because it is created once, never freed, and usable by many threads (OSSL_LIB_CTX(3)).
  private nonisolated(unsafe) static let legacyContext: OpaquePointer? = {
    let context = OSSL_LIB_CTX_new()
    for name in ["default", "legacy"] { _ = OSSL_PROVIDER_load(context, name) }
    return context
  }()

  /// - Parameters:
  ///   - password: in UTF-8; may be empty.
  ///   - name: shown by programs that list the content.
  package static func create(
    certificate: Certificate?, key: PrivateKey?, others: [Certificate] = [], password: String, name: String? = nil,
    encryption: Encryption = .modern
  ) throws -> Data {
    let (keyNumber, certificateNumber, digest) =
      switch encryption {
      case .modern: (NID_aes_256_cbc, NID_aes_256_cbc, EVP_sha256())
      case .keychain: (NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And40BitRC2_CBC, EVP_sha1())
      case .tripleDES:
        (NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And3_Key_TripleDES_CBC, EVP_sha1())
      }
    let data = withObjects(certificate, key, others) { certificate, key, others -> Data? in
      // -1: no checksum yet, because it would use the default digest.
      let handle = PKCS12_create_ex(
        password, name, key, certificate, others, keyNumber, certificateNumber, 2048, -1, 0, legacyContext, nil)
      defer { PKCS12_free(handle) }
      guard handle != nil, PKCS12_set_mac(handle, password, -1, nil, 0, 2048, digest) == 1 else { return nil }
      return derEncoded { i2d_PKCS12(handle, $0) }
    }
    guard let data else { throw MakingError(what: "a PKCS#12 file") }
    return data
  }
}

extension CMSMessage {
  /// A message in DER form that includes the signer's certificate and `others`.
  package static func sign(
    _ content: Data, certificate: Certificate, key: PrivateKey, others: [Certificate] = []
  ) throws -> Data {
    let der = withObjects(certificate, key, others) { certificate, key, others -> Data? in
      reading(Array(content)) { bio -> Data? in
        let message = CMS_sign(certificate, key, others, bio, UInt32(CMS_BINARY))
        defer { CMS_ContentInfo_free(message) }
        guard message != nil else { return nil }
        return derEncoded { i2d_CMS_ContentInfo(message, $0) }
      }
    }
    guard let der else { throw MakingError(what: "a signed message") }
    return der
  }
}

extension PrivateKey {
  /// The PKCS#8 block encrypted with AES-256-CBC; the password is in UTF-8.
  package func pkcs8PEM(password: String) throws -> String {
    let text = withObjects(nil, self, []) { _, key, _ -> String? in
      let bio = pki_memory_bio()
      defer { BIO_free(bio) }
      let isWritten = password.utf8CString.withUnsafeBufferPointer { bytes in
        PEM_write_bio_PKCS8PrivateKey(
          bio, key, EVP_aes_256_cbc(), bytes.baseAddress, Int32(bytes.count - 1), nil, nil) == 1
      }
      guard isWritten else { return nil }
      var bytes = [UInt8](repeating: 0, count: Int(clamping: BIO_ctrl_pending(bio)))
      let count = BIO_read(bio, &bytes, Int32(clamping: bytes.count))
      return String(decoding: bytes.prefix(max(0, Int(count))), as: UTF8.self)
    }
    guard let text else { throw MakingError(what: "an encrypted key") }
    return text
  }
}
