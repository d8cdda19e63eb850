import COpenSSL

/// What kind of key something is.
package enum KeyAlgorithm: Sendable, Hashable, CustomStringConvertible {
  /// On an elliptic curve, named as OpenSSL names it: `prime256v1` is P-256.
  case ellipticCurve(String)
  /// RSA of so many bits.
  case rsa(bits: Int)
  /// Another, as `ED25519`.
  case other(String)

  /// P-256, the curve of ES256 and of Apple's keys.
  package static let p256 = KeyAlgorithm.ellipticCurve("prime256v1")

  /// As `elliptic curve P-256 (prime256v1)`, `RSA of 2048 bits`.
  package var description: String {
    switch self {
    case .ellipticCurve(let curve):
      "elliptic curve " + (Self.names[curve].map { "\($0) (\(curve))" } ?? curve)
    case .rsa(let bits): "RSA \(bits)"
    case .other(let name): name
    }
  }

  /// NIST's names (FIPS 186-4 §D.1.2), by which Apple's pages and most people know the curves.
  private static let names = ["prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"]

  init(_ key: OpaquePointer) {
    switch EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_EC:
      var name = [CChar](repeating: 0, count: 64)
      var count = 0
      let known = EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1
      let text = String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
      self = .ellipticCurve(known ? text : "of its own")
    case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: self = .rsa(bits: Int(EVP_PKEY_get_bits(key)))
    default: self = .other(EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown kind")
    }
    OpenSSLError.clear()
  }
}
