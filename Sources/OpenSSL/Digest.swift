import COpenSSL
package import Foundation

package enum Digest {
  /// 20 bytes. Broken for signatures: only to look up what others have published so.
  package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    precondition(EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil) == 1, "SHA-1 failed")
    return digest
  }

  /// SHA-256, 32 bytes.
  package static func sha256(_ bytes: some DataProtocol) -> [UInt8] {
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    // SHA-256 of memory can fail only for lack of memory.
    precondition(EVP_Digest(bytes, bytes.count, &digest, nil, algorithm, nil) == 1, "SHA-256 failed")
    return digest
  }

  /// SHA-512, 64 bytes.
  package static func sha512(_ bytes: some DataProtocol) -> [UInt8] {
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 64)
    precondition(EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha512(), nil) == 1, "SHA-512 failed")
    return digest
  }

  /// Fetched once: `EVP_sha256()` is looked up again by each digest (OpenSSL 3, crypto(7)).
  private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)
}

/// Keyed digests (RFC 2104).
package enum HMAC {
  /// HMAC with SHA-256, 32 bytes. Compare with ``constantTimeEqual(_:_:)``.
  package static func sha256(key: some DataProtocol, _ bytes: some DataProtocol) -> [UInt8] {
    let key = Array(key)
    let bytes = Array(bytes)
    var code = [UInt8](repeating: 0, count: 32)
    // An empty array has no address, and for OpenSSL a key without address means "keep the previous key".
    let made = key.isEmpty ? "" : nil
    let result: UnsafeMutablePointer<UInt8>? =
      if let made {
        COpenSSL.HMAC(EVP_sha256(), made, 0, bytes, bytes.count, &code, nil)
      } else {
        COpenSSL.HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &code, nil)
      }
    precondition(result != nil, "HMAC failed")
    return code
  }
}

/// Compares two secrets in a time that does not reveal how much of them is equal.
///
/// The lengths are not secret.
package func constantTimeEqual(_ one: some DataProtocol, _ other: some DataProtocol) -> Bool {
  let one = Array(one)
  let other = Array(other)
  return one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}

package enum Hexadecimal {
  /// As `00ab…` or, with a separator, `00:ab:…`.
  package static func encode(
    _ bytes: some Collection<UInt8>, separator: String = "", uppercase: Bool = false
  ) -> String {
    let digits = Array((uppercase ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * (2 + separator.utf8.count))
    for byte in bytes {
      if !text.isEmpty { text += separator.utf8 }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// Random numbers for keys and session identifiers.
package enum Random {
  package static func bytes(_ count: Int) -> [UInt8] {
    precondition(count >= 0 && count <= Int(Int32.max))
    var bytes = [UInt8](repeating: 0, count: count)
    // Continuing without randomness would create guessable keys.
    precondition(RAND_bytes(&bytes, Int32(count)) == 1, "The system provides no random bytes")
    return bytes
  }

  /// Random text (``Base64URL``) for addresses, cookies and headers.
  package static func token(bytes count: Int) -> String { Base64URL.encode(bytes(count)) }
}

/// Base64 with the URL-safe alphabet, without padding (RFC 4648 §5).
package enum Base64URL {
  package static func encode(_ bytes: some DataProtocol) -> String {
    Data(bytes).base64EncodedString(options: [.base64URLAlphabet, .omitPaddingCharacter])
  }

  /// Decodes a text; nil for anything outside the alphabet, including padding and blanks. By hand, because Foundation
  /// only writes this alphabet.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var standard = ""
    standard.reserveCapacity(text.utf8.count + 3)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "-"): standard.append("+")
      case UInt8(ascii: "_"): standard.append("/")
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        standard.append(Character(UnicodeScalar(byte)))
      default: return nil
      }
    }
    guard standard.utf8.count % 4 != 1 else { return nil }
    standard.append(String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    return Data(base64Encoded: standard).map(Array.init)
  }
}
