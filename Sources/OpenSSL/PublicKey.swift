import COpenSSL
package import Foundation

/// The public half of a key pair.
///
/// `@unchecked Sendable` because the object behind it is not changed after its creation, and OpenSSL guards its
/// own caches and reference counts (openssl-threads(7)).
package final class PublicKey: @unchecked Sendable, Hashable {
  let handle: OpaquePointer
  /// `subjectPublicKeyInfo` in DER form.
  package let der: Data

  /// Reads `subjectPublicKeyInfo`, nil for anything else.
  package convenience init?(der: some DataProtocol) {
    let der = Array(der)
    // Anything else need not go through all decoders.
    if let parts = DER.element(der)?.children, parts.map(\.tag) != [DER.sequence, DER.bitString] { return nil }
    guard let handle = der.withUnsafeBufferPointer(KeyDecoder.publicKey) else { return nil }
    self.init(owning: handle)
  }

  /// Takes ownership of a reference.
  init(owning handle: OpaquePointer) {
    self.handle = handle
    der = derEncoded { i2d_PUBKEY(handle, $0) } ?? Data()
    OpenSSLError.clear()
  }

  deinit { EVP_PKEY_free(handle) }

  package var algorithm: KeyAlgorithm { KeyAlgorithm(handle) }
  package var pem: String { PEMBlock(label: "PUBLIC KEY", headers: "", content: der).text }

  package static func == (one: PublicKey, other: PublicKey) -> Bool { one.der == other.der }
  package func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
