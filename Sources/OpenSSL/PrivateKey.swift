import COpenSSL
import Foundation

/// A key pair. Its descriptions never show the secret.
///
/// `@unchecked Sendable` because the object behind it is not changed after its creation, and OpenSSL guards its
/// own caches and reference counts (openssl-threads(7)).
package final class PrivateKey: @unchecked Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  let handle: OpaquePointer

  /// Takes over a reference.
  init(owning handle: OpaquePointer) { self.handle = handle }

  deinit { EVP_PKEY_free(handle) }

  /// Makes a key on P-256, the curve of ES256.
  package static func generateP256() throws(OpenSSLError) -> PrivateKey {
    try generate("EC") { EVP_PKEY_CTX_set_group_name($0, "prime256v1") == 1 }
  }

  /// Makes an RSA key; with 2048 bits that takes some tenths of a second.
  package static func generateRSA(bits: Int = 2048) throws(OpenSSLError) -> PrivateKey {
    try generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(clamping: bits)) == 1 }
  }

  private static func generate(
    _ kind: String, _ choose: (OpaquePointer?) -> Bool
  ) throws(OpenSSLError) -> PrivateKey {
    OpenSSLError.clear()
    let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, choose(context), EVP_PKEY_generate(context, &key) == 1, let key else {
      throw OpenSSLError("creating a key")
    }
    return PrivateKey(owning: key)
  }

  /// What kind of key it is.
  package var algorithm: KeyAlgorithm { KeyAlgorithm(handle) }

  /// The half that anybody may know.
  package var publicKey: PublicKey {
    EVP_PKEY_up_ref(handle)
    return PublicKey(owning: handle)
  }

  /// Whether `certificate` is for this key.
  package func matches(_ certificate: Certificate) -> Bool { publicKey.der == certificate.publicKeyDER }

  /// Whether the secret number of a key on a curve can be one, and the public half that was stated belongs to it. Others
  /// are not looked at: what RSA asks for takes seconds.
  package var isSound: Bool {
    guard case .ellipticCurve = algorithm else { return true }
    defer { OpenSSLError.clear() }
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else { return false }
    defer { EVP_PKEY_CTX_free(context) }
    return EVP_PKEY_private_check(context) == 1 && EVP_PKEY_pairwise_check(context) == 1
  }

  /// The key as an unencrypted PKCS#8 block: a secret.
  package var pkcs8PEM: String {
    let text = MemoryBIO.written { PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) == 1 }
    OpenSSLError.clear()
    return String(decoding: text ?? Data(), as: UTF8.self)
  }

  /// The same as bytes, for whoever overwrites them when they are no longer needed; see ``wipe(_:)``.
  package var pkcs8PEMBytes: [UInt8] {
    guard let bio = pki_secret_bio() else { return [] }
    defer { BIO_free(bio) }
    guard PEM_write_bio_PKCS8PrivateKey(bio, handle, nil, nil, 0, nil, nil) == 1 else {
      OpenSSLError.clear()
      return []
    }
    var bytes = [UInt8](repeating: 0, count: Int(clamping: BIO_ctrl_pending(bio)))
    let count = BIO_read(bio, &bytes, Int32(clamping: bytes.count))
    return Array(bytes.prefix(max(0, Int(count))))
  }

  /// Overwrites a secret in place. A copy that somebody made of it stays.
  package static func wipe(_ secret: inout [UInt8]) {
    secret.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    secret = []
  }

  /// The key as a PKCS#8 block encrypted with AES-256-CBC; the password is taken in UTF-8.
  package func pkcs8PEM(password: String) throws(OpenSSLError) -> String {
    OpenSSLError.clear()
    let text = MemoryBIO.written { bio in
      password.utf8CString.withUnsafeBufferPointer { bytes in
        PEM_write_bio_PKCS8PrivateKey(
          bio, handle, EVP_aes_256_cbc(), bytes.baseAddress, Int32(bytes.count - 1), nil, nil) == 1
      }
    }
    guard let text else { throw OpenSSLError("encrypting a key") }
    return String(decoding: text, as: UTF8.self)
  }

  /// As `private key (elliptic curve P-256 (prime256v1))`.
  package var description: String { "private key (\(algorithm))" }
  /// ``description``.
  package var debugDescription: String { description }
}
