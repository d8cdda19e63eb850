import COpenSSL
package import Foundation

/// Whether two secrets are the same, in a time that does not tell how much of them is.
///
/// The lengths are no secret.
package func constantTimeEqual(_ one: some DataProtocol, _ other: some DataProtocol) -> Bool {
  let one = Array(one)
  let other = Array(other)
  return one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}
