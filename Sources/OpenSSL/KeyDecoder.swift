import COpenSSL
import Synchronization

/// Decodes keys in DER form: unencrypted private ones as PKCS#8, PKCS#1, SEC 1, and the like; public ones as
/// `subjectPublicKeyInfo`.
///
/// OpenSSL 3.0's `d2i_AutoPrivateKey` collects all its decoders for each key: 0.4 ms, and 1.1 ms for bytes that are no
/// key. A decoder that is kept needs 0.03 ms. `d2i_PUBKEY` takes 0.09 ms, and 0.02 ms so.
enum KeyDecoder {
  /// `@unchecked Sendable` because it is used under the lock alone.
  private struct Decoder: @unchecked Sendable {
    let context: OpaquePointer
    /// Where the context puts the key that it read.
    let place: UnsafeMutablePointer<OpaquePointer?>

    init?(_ make: (UnsafeMutablePointer<OpaquePointer?>) -> OpaquePointer?) {
      place = .allocate(capacity: 1)
      place.initialize(to: nil)
      guard let made = make(place) else {
        place.deallocate()
        return nil
      }
      context = made
    }
  }

  /// A key that its receiver frees. `@unchecked Sendable` because nobody else has it.
  private struct Found: @unchecked Sendable {
    let key: OpaquePointer
  }

  /// Made at the first key, for the life of the process.
  private static let privateKeys = Mutex(Decoder { pki_key_decoder($0) })
  private static let publicKeys = Mutex(Decoder { pki_public_key_decoder($0) })

  /// - Returns: nil if the bytes are anything else, or not a key alone.
  static func privateKey(_ bytes: UnsafeBufferPointer<UInt8>) -> PrivateKey? {
    key(bytes, privateKeys).map(PrivateKey.init(owning:))
  }

  /// - Returns: a key that the caller frees; nil if the bytes are anything else, or not a key alone.
  static func publicKey(_ bytes: UnsafeBufferPointer<UInt8>) -> OpaquePointer? { key(bytes, publicKeys) }

  private static func key(
    _ bytes: UnsafeBufferPointer<UInt8>, _ decoder: borrowing Mutex<Decoder?>
  ) -> OpaquePointer? {
    OpenSSLError.clear()
    defer { OpenSSLError.clear() }
    let found: Found? = decoder.withLock { decoder in
      guard let decoder else { return nil }
      var (position, rest) = (bytes.baseAddress, bytes.count)
      let isRead = OSSL_DECODER_from_data(decoder.context, &position, &rest) == 1
      let key = decoder.place.pointee
      decoder.place.pointee = nil
      guard isRead, rest == 0 else {
        EVP_PKEY_free(key)
        return nil
      }
      return key.map { Found(key: $0) }
    }
    return found?.key
  }
}
