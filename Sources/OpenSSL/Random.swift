import COpenSSL

/// Random numbers fit for keys and session identifiers.
package enum Random {
  /// `count` bytes.
  package static func bytes(_ count: Int) -> [UInt8] {
    precondition(count >= 0 && count <= Int(Int32.max))
    var bytes = [UInt8](repeating: 0, count: count)
    // Going on without randomness would hand out keys that can be guessed.
    precondition(RAND_bytes(&bytes, Int32(count)) == 1, "The system provides no random bytes")
    return bytes
  }

  /// Text for addresses, cookies and headers (``Base64URL``), made of `bytes` random bytes.
  package static func token(bytes count: Int) -> String { Base64URL.encode(bytes(count)) }
}
