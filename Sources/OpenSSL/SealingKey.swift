import COpenSSL
package import Foundation

/// A secret that closes other secrets, so that a copy of the database alone tells nothing (AES-256-GCM).
///
/// Sealed: one byte for the version, 1; 12 random bytes; the text encrypted; 16 bytes that prove it unchanged.
/// One key is good for 2^32 seals (NIST SP 800-38D §8.3).
package struct SealingKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private static let version: UInt8 = 1
  private static let nonceBytes = 12
  private static let tagBytes = 16
  /// Of the key itself.
  static let keyBytes = 32

  let bytes: [UInt8]

  /// A new random key.
  package init() { bytes = Random.bytes(Self.keyBytes) }

  /// Takes the bytes of a key, nil unless they are 32.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.keyBytes else { return nil }
    self.bytes = bytes
  }

  /// Tells this key from others without telling anything of it: 16 hexadecimal digits.
  package var identifier: String {
    Hexadecimal.encode(HMAC.sha256(key: bytes, Array("signalbox key identifier".utf8)).prefix(8))
  }

  /// Closes a secret.
  ///
  /// - Parameter associatedData: where it belongs, as `certificates/17`: it opens only there.
  package func seal(_ secret: some DataProtocol, associatedData: some DataProtocol) throws(OpenSSLError) -> Data {
    let nonce = Random.bytes(Self.nonceBytes)
    let secret = Array(secret)
    let (associated, associatedCount) = ([Self.version] + associatedData, associatedData.count + 1)
    var sealed = [UInt8](repeating: 0, count: secret.count)
    var tag = [UInt8](repeating: 0, count: Self.tagBytes)
    var count: Int32 = 0
    OpenSSLError.clear()
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    // A nonce of 12 bytes is the default of GCM.
    guard EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, bytes, nonce) == 1,
      EVP_EncryptUpdate(context, nil, &count, associated, Int32(associatedCount)) == 1,
      secret.isEmpty || EVP_EncryptUpdate(context, &sealed, &count, secret, Int32(secret.count)) == 1,
      EVP_EncryptFinal_ex(context, &tag, &count) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), &tag) == 1
    else { throw OpenSSLError("sealing") }
    return Data([Self.version] + nonce + sealed + tag)
  }

  /// Opens what ``seal(_:associatedData:)`` made.
  ///
  /// - Throws: ``SealingError``.
  package func open(_ sealed: some DataProtocol, associatedData: some DataProtocol) throws(SealingError) -> Data {
    let sealed = Array(sealed)
    guard let version = sealed.first else { throw .damaged }
    guard version == Self.version else { throw .unknownVersion(version) }
    guard sealed.count >= 1 + Self.nonceBytes + Self.tagBytes else { throw .damaged }
    let nonce = Array(sealed[1..<1 + Self.nonceBytes])
    let closed = Array(sealed[(1 + Self.nonceBytes)..<(sealed.count - Self.tagBytes)])
    var tag = Array(sealed.suffix(Self.tagBytes))
    let associated = [version] + associatedData
    var secret = [UInt8](repeating: 0, count: closed.count)
    var rest = [UInt8](repeating: 0, count: Self.tagBytes)
    var count: Int32 = 0
    defer { OpenSSLError.clear() }
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    guard EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), nil, bytes, nonce) == 1,
      EVP_DecryptUpdate(context, nil, &count, associated, Int32(associated.count)) == 1,
      closed.isEmpty || EVP_DecryptUpdate(context, &secret, &count, closed, Int32(closed.count)) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), &tag) == 1,
      EVP_DecryptFinal_ex(context, &rest, &count) == 1
    else { throw .doesNotOpen }
    return Data(secret)
  }

  /// Names the key by its ``identifier`` only.
  package var description: String { "sealing key \(identifier)" }
  /// ``description``.
  package var debugDescription: String { description }
  /// Without the bytes: they are not for `dump` and what works as it does.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
