import COpenSSL
import Synchronization

/// Decodes unencrypted private keys in DER form: PKCS#8, PKCS#1, SEC 1, and the like.
///
/// OpenSSL 3.0's `d2i_AutoPrivateKey` collects all its decoders for each key: 0.4 ms, and 1.1 ms for bytes that are no
/// key. A decoder that is kept needs 0.03 ms.
enum KeyDecoder {
  /// `@unchecked Sendable` because it is used under the lock alone.
  private struct Decoder: @unchecked Sendable {
    let context: OpaquePointer
    /// Where the context puts the key that it read.
    let place: UnsafeMutablePointer<OpaquePointer?>

    init?() {
      place = .allocate(capacity: 1)
      place.initialize(to: nil)
      guard let made = pki_key_decoder(place) else {
        place.deallocate()
        return nil
      }
      context = made
    }
  }

  /// Made at the first key, for the life of the process.
  private static let decoder = Mutex(Decoder())

  /// - Returns: nil if the bytes are anything else, or not a key alone.
  static func privateKey(_ bytes: UnsafeBufferPointer<UInt8>) -> PrivateKey? {
    OpenSSLError.clear()
    defer { OpenSSLError.clear() }
    return decoder.withLock { decoder in
      guard let decoder else { return nil }
      var (position, rest) = (bytes.baseAddress, bytes.count)
      let isRead = OSSL_DECODER_from_data(decoder.context, &position, &rest) == 1
      let key = decoder.place.pointee.map(PrivateKey.init(owning:))
      decoder.place.pointee = nil
      return isRead && rest == 0 ? key : nil
    }
  }
}
