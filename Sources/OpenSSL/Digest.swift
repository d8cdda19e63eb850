import COpenSSL
package import Foundation

/// Fingerprints of bytes.
package enum Digest {
  /// SHA-256, 32 bytes.
  package static func sha256(_ bytes: some DataProtocol) -> [UInt8] {
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    // SHA-256 of memory has no reason to fail but that memory itself has run out.
    precondition(EVP_Digest(bytes, bytes.count, &digest, nil, algorithm, nil) == 1, "SHA-256 failed")
    return digest
  }

  /// Fetched once: `EVP_sha256()` is looked up again by each digest (OpenSSL 3, crypto(7)).
  private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)
}
