import COpenSSL
package import Foundation

/// The half of a key pair that anybody may know.
///
/// `@unchecked Sendable` because the object behind it is not changed after its creation, and OpenSSL guards its
/// own caches and reference counts (openssl-threads(7)).
package final class PublicKey: @unchecked Sendable, Hashable {
  let handle: OpaquePointer
  /// `subjectPublicKeyInfo` in its binary form.
  package let der: Data

  /// Reads `subjectPublicKeyInfo`, nil for anything else.
  package convenience init?(der: some DataProtocol) {
    OpenSSLError.clear()
    defer { OpenSSLError.clear() }
    guard let handle = derDecoded(der, { d2i_PUBKEY(nil, $0, $1) }, free: EVP_PKEY_free) else { return nil }
    self.init(owning: handle)
  }

  /// Reads the first `PUBLIC KEY` block, nil if there is none.
  package convenience init?(pem: String) {
    // Damaged text is no key, as other text is none.
    guard let block = try? PEMBlock.all(in: Array(pem.utf8)).first(where: { $0.label == "PUBLIC KEY" }) else {
      return nil
    }
    self.init(der: block.content)
  }

  /// Takes over a reference.
  init(owning handle: OpaquePointer) {
    self.handle = handle
    der = derEncoded { i2d_PUBKEY(handle, $0) } ?? Data()
    OpenSSLError.clear()
  }

  deinit { EVP_PKEY_free(handle) }

  /// What kind of key it is.
  package var algorithm: KeyAlgorithm { KeyAlgorithm(handle) }
  /// The text form, one block.
  package var pem: String { PEMBlock(label: "PUBLIC KEY", headers: "", content: der).text }

  /// Two keys are the same if their bytes are.
  package static func == (one: PublicKey, other: PublicKey) -> Bool { one.der == other.der }
  /// Hashes the bytes.
  package func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
