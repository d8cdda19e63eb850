import COpenSSL
import Foundation
import Synchronization

/// A key pair. Its descriptions never show the secret.
///
/// `@unchecked Sendable` because the object behind it is not changed after its creation, and OpenSSL guards its
/// own caches and reference counts (openssl-threads(7)).
package final class PrivateKey: @unchecked Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  let handle: OpaquePointer
  private let publicHalf = Mutex<PublicKey?>(nil)

  /// Takes ownership of a reference.
  init(owning handle: OpaquePointer) { self.handle = handle }

  deinit { EVP_PKEY_free(handle) }

  /// Creates a P-256 key, the curve of ES256.
  package static func generateP256() throws(OpenSSLError) -> PrivateKey {
    try generate("EC") { EVP_PKEY_CTX_set_group_name($0, "prime256v1") == 1 }
  }

  /// Creates an RSA key; 2048 bits take some tenths of a second.
  package static func generateRSA(bits: Int = 2048) throws(OpenSSLError) -> PrivateKey {
    try generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(clamping: bits)) == 1 }
  }

  private static func generate(
    _ kind: String, _ choose: (OpaquePointer?) -> Bool
  ) throws(OpenSSLError) -> PrivateKey {
    OpenSSLError.clear()
    let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, choose(context), EVP_PKEY_generate(context, &key) == 1, let key else {
      throw OpenSSLError("creating a key")
    }
    return PrivateKey(owning: key)
  }

  package var algorithm: KeyAlgorithm { KeyAlgorithm(handle) }

  /// Made when it is first asked for, because OpenSSL collects its encoders for it.
  package var publicKey: PublicKey {
    publicHalf.withLock { half in
      if let half { return half }
      EVP_PKEY_up_ref(handle)
      let made = PublicKey(owning: handle)
      half = made
      return made
    }
  }

  /// Whether `certificate` is for this key.
  package func matches(_ certificate: Certificate) -> Bool { publicKey.der == certificate.publicKeyDER }

  /// Whether an elliptic-curve key's secret number is valid and matches its public key. Other keys are not checked: for
  /// RSA it takes seconds.
  package var isSound: Bool {
    guard case .ellipticCurve = algorithm else { return true }
    defer { OpenSSLError.clear() }
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else { return false }
    defer { EVP_PKEY_CTX_free(context) }
    return EVP_PKEY_private_check(context) == 1 && EVP_PKEY_pairwise_check(context) == 1
  }

  /// The unencrypted PKCS#8 block: a secret.
  package var pkcs8PEM: String {
    let text = MemoryBIO.written { PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) == 1 }
    OpenSSLError.clear()
    return String(decoding: text ?? Data(), as: UTF8.self)
  }

  /// ``pkcs8PEM`` as bytes, for callers that overwrite them after use with ``wipe(_:)``.
  package var pkcs8PEMBytes: [UInt8] {
    guard let bio = pki_secret_bio() else { return [] }
    defer { BIO_free(bio) }
    guard PEM_write_bio_PKCS8PrivateKey(bio, handle, nil, nil, 0, nil, nil) == 1 else {
      OpenSSLError.clear()
      return []
    }
    var bytes = [UInt8](repeating: 0, count: Int(clamping: BIO_ctrl_pending(bio)))
    let count = BIO_read(bio, &bytes, Int32(clamping: bytes.count))
    return Array(bytes.prefix(max(0, Int(count))))
  }

  /// Overwrites a secret in place, but no copies of it.
  package static func wipe(_ secret: inout [UInt8]) {
    secret.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    secret = []
  }

  package var description: String { "private key (\(algorithm))" }
  package var debugDescription: String { description }
}

/// Why something is no readable private key, or not of the wanted kind.
package enum PrivateKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Another format: its name if known, such as `a certificate`.
  case notAPrivateKey(found: String?)
  case truncated
  case passwordNeeded
  case wrongPassword
  /// Encrypted with an algorithm that this OpenSSL lacks.
  case unsupported(algorithm: String)
  /// Its key derivation is so slow that reading it would block the machine.
  case tooCostly
  case wrongKind(wanted: KeyAlgorithm, found: KeyAlgorithm)

  package var description: String {
    switch self {
    case .notAPrivateKey(let found):
      found.map { "This is \($0), not a private key." } ?? "This is not a valid private key."
    case .truncated: "The private key is truncated."
    case .passwordNeeded: "The private key is encrypted. Enter its password."
    case .wrongPassword: "Wrong password for the private key."
    case .unsupported(let algorithm): "The private key is encrypted with \(algorithm), which is not supported."
    case .tooCostly: "The private key uses too many key derivation rounds."
    case .wrongKind(let wanted, let found): "The private key is of type \(found), but \(wanted) is needed."
    }
  }
}

/// What kind of key something is.
package enum KeyAlgorithm: Sendable, Hashable, CustomStringConvertible {
  /// On an elliptic curve, by OpenSSL's name: `prime256v1` is P-256.
  case ellipticCurve(String)
  case rsa(bits: Int)
  case other(String)

  /// P-256, the curve of ES256 and of Apple's keys.
  package static let p256 = KeyAlgorithm.ellipticCurve("prime256v1")

  /// As `EC P-256 (prime256v1)`, `RSA 2048`: the same in every language.
  package var description: String {
    switch self {
    case .ellipticCurve(let curve):
      "EC " + (Self.names[curve].map { "\($0) (\(curve))" } ?? curve)
    case .rsa(let bits): "RSA \(bits)"
    case .other(let name): name
    }
  }

  /// NIST's names (FIPS 186-4 §D.1.2), which Apple's pages use.
  private static let names = ["prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"]

  init(_ key: OpaquePointer) {
    switch EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_EC:
      var name = [CChar](repeating: 0, count: 64)
      var count = 0
      let known = EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1
      let text = String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
      self = .ellipticCurve(known ? text : "custom")
    case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: self = .rsa(bits: Int(EVP_PKEY_get_bits(key)))
    default: self = .other(EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown kind")
    }
    OpenSSLError.clear()
  }
}
