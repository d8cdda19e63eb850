import COpenSSL
package import Foundation

/// Encrypts other secrets, so that a copy of the database alone reveals nothing (AES-256-GCM).
///
/// Sealed form: a version byte, 1; 12 random bytes; the ciphertext; a 16-byte tag. One key is good for 2^32 seals (NIST
/// SP 800-38D §8.3).
package struct SealingKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private static let version: UInt8 = 1
  private static let nonceBytes = 12
  private static let tagBytes = 16
  static let keyBytes = 32

  let bytes: [UInt8]

  package init() { bytes = Random.bytes(Self.keyBytes) }

  /// Nil unless there are 32 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.keyBytes else { return nil }
    self.bytes = bytes
  }

  /// Identifies the key without revealing it: 16 hexadecimal digits.
  package var identifier: String {
    Hexadecimal.encode(HMAC.sha256(key: bytes, Array("signalbox key identifier".utf8)).prefix(8))
  }

  /// Encrypts a secret.
  ///
  /// - Parameter associatedData: the secret's place, such as `certificates/17`: it opens only there.
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
    // GCM's default nonce has 12 bytes.
    guard EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, bytes, nonce) == 1,
      EVP_EncryptUpdate(context, nil, &count, associated, Int32(associatedCount)) == 1,
      secret.isEmpty || EVP_EncryptUpdate(context, &sealed, &count, secret, Int32(secret.count)) == 1,
      EVP_EncryptFinal_ex(context, &tag, &count) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), &tag) == 1
    else { throw OpenSSLError("sealing") }
    return Data([Self.version] + nonce + sealed + tag)
  }

  /// Decrypts the output of ``seal(_:associatedData:)``.
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

  /// Never the key.
  package var description: String { "sealing key \(identifier)" }
  package var debugDescription: String { description }
  /// Hides the bytes from `dump` and similar.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a sealed secret cannot be opened.
package enum SealingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Sealed with another key, for another place, or changed: these cannot be told apart.
  case doesNotOpen
  /// Too short for a sealed secret.
  case damaged
  /// Sealed by a newer version.
  case unknownVersion(UInt8)

  package var description: String {
    switch self {
    case .doesNotOpen:
      "The secret cannot be decrypted: it was encrypted with another key file, belongs to another record, or was changed. "
        + "Restore the key file that belongs to this database."
    case .damaged: "The encrypted secret is damaged: it is too short."
    case .unknownVersion(let version):
      "The secret was encrypted in format version \(version), which this version does not support. Use a newer version."
    }
  }
}
