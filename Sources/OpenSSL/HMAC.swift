import COpenSSL
package import Foundation

/// Fingerprints of bytes that only the owner of a key can make (RFC 2104).
package enum HMAC {
  /// HMAC with SHA-256, 32 bytes. Compare with ``constantTimeEqual(_:_:)``.
  package static func sha256(key: some DataProtocol, _ bytes: some DataProtocol) -> [UInt8] {
    let key = Array(key)
    let bytes = Array(bytes)
    var code = [UInt8](repeating: 0, count: 32)
    // An empty array has no address, and OpenSSL takes a key without address for "the key of before".
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
