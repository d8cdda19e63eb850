internal import COpenSSL
internal import Foundation

/// Public keys as passkeys bring them (RFC 9053, RFC 8230), and their signatures.
extension PublicKey {
  /// A point of the curve P-256 for ES256. Nil if it is none.
  package convenience init?(p256X x: [UInt8], y: [UInt8]) {
    guard x.count == 32, y.count == 32 else { return nil }
    self.init(
      der: Self.info(
        DER.encode(sequence: [
          DER.encode(DER.objectIdentifier, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]),
          DER.encode(DER.objectIdentifier, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]),
        ]), [0x04] + x + y))
  }

  /// An Ed25519 key. Nil if it does not have 32 bytes.
  package convenience init?(ed25519 key: [UInt8]) {
    guard key.count == 32 else { return nil }
    self.init(der: Self.info(DER.encode(sequence: [DER.encode(DER.objectIdentifier, [0x2B, 0x65, 0x70])]), key))
  }

  /// An RSA key for RS256, of 2048 to 4096 bits. Nil for another one.
  package convenience init?(rsaModulus modulus: [UInt8], exponent: [UInt8]) {
    guard (256...512).contains(modulus.count), let high = modulus.first, high >= 0x80, (1...4).contains(exponent.count),
      exponent.last.map({ $0 & 1 == 1 }) == true
    else { return nil }
    let number = DER.encode(
      sequence: [[0] + modulus, [0] + exponent.drop { $0 == 0 }].map { DER.encode(DER.integer, Self.shortest($0)) })
    self.init(
      der: Self.info(
        DER.encode(sequence: [
          DER.encode(DER.objectIdentifier, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]),
          DER.encode(DER.null, []),
        ]), number))
  }

  /// Without the zero in front, unless it keeps the number positive.
  private static func shortest(_ number: [UInt8]) -> [UInt8] {
    number.count > 1 && number[1] < 0x80 ? Array(number.dropFirst()) : number
  }

  /// `subjectPublicKeyInfo` (RFC 5280 §4.1).
  private static func info(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
    DER.encode(sequence: [algorithm, DER.encode(DER.bitString, [0] + key)])
  }

  /// Verifies a signature as authenticators make them: ECDSA in DER or RSA, of the message's SHA-256; or Ed25519.
  package func verifiesPasskey(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    defer { OpenSSLError.clear() }
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    let digest = EVP_PKEY_is_a(handle, "ED25519") == 1 ? nil : EVP_sha256()
    return EVP_DigestVerifyInit(context, nil, digest, nil, handle) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }
}
