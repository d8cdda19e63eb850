import COpenSSL
package import Foundation

extension PKCS12 {
  /// With what a file is encrypted.
  package enum Encryption: Sendable, Hashable, CaseIterable {
    /// AES-256 with PBKDF2 and SHA-256, as OpenSSL 3 writes by default.
    case modern
    /// Certificates with RC2-40, key with 3DES, checksum with SHA-1: as Keychain Access of macOS exports.
    case keychain
    /// Everything with 3DES and SHA-1, as older versions of OpenSSL wrote.
    case tripleDES
  }

  /// Makes a file.
  ///
  /// - Parameters:
  ///   - certificate: the certificate to go with `key`; whether they fit is not checked if `key` is nil.
  ///   - others: further certificates.
  ///   - password: taken in UTF-8; may be empty.
  ///   - name: shown by programs that list the content.
  /// - Throws: ``OpenSSLError``, also if the key does not belong to the certificate.
  package static func create(
    certificate: Certificate?, key: PrivateKey?, others: [Certificate] = [], password: String, name: String? = nil,
    encryption: Encryption = .modern
  ) throws(OpenSSLError) -> Data {
    let context: OpaquePointer
    do { context = try LegacyContext.context() } catch { throw OpenSSLError("creating a PKCS#12 file") }
    OpenSSLError.clear()
    let stack = pki_certificates_new()
    defer { pki_certificates_release(stack) }
    for other in others { _ = pki_certificates_push(stack, other.x509) }
    let (keyNumber, certificateNumber, digest) =
      switch encryption {
      case .modern: (NID_aes_256_cbc, NID_aes_256_cbc, EVP_sha256())
      case .keychain: (NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And40BitRC2_CBC, EVP_sha1())
      case .tripleDES:
        (NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And3_Key_TripleDES_CBC, EVP_sha1())
      }
    // -1: no checksum yet, because it would be made with the default digest.
    let handle = PKCS12_create_ex(
      password, name, key?.handle, certificate?.x509, stack, keyNumber, certificateNumber, 2048, -1, 0, context, nil)
    defer { PKCS12_free(handle) }
    guard handle != nil, PKCS12_set_mac(handle, password, -1, nil, 0, 2048, digest) == 1,
      let data = derEncoded({ i2d_PKCS12(handle, $0) })
    else { throw OpenSSLError("creating a PKCS#12 file") }
    // The certificates are used up to here: the stack holds no references of its own.
    withExtendedLifetime((certificate, key, others)) {}
    return data
  }
}
