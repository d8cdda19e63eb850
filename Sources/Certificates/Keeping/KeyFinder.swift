import Foundation
import OpenSSL
package import SQLite
package import Store

/// Finds the private key of a certificate that comes without one: in the signing requests made here, or in a stored
/// certificate with the same key.
package enum KeyFinder {
  /// SHA-256 of a public key's binary form, as signing requests store it, in lower-case hexadecimal.
  static func fingerprint(_ publicKey: Data) -> String {
    Hexadecimal.encode(Digest.sha256(Array(publicKey)))
  }

  /// Adds the key to the file if one is found here; otherwise returns the file unchanged.
  ///
  /// - Returns: also the signing request that the certificate fulfils, if there is one.
  package static func joined(
    _ database: Database, _ file: CertificateFile, sealer: any Sealer
  ) throws -> (file: CertificateFile, request: SigningRequest?) {
    guard let certificate = file.certificate else { return (file, nil) }
    let fingerprint = fingerprint(certificate.publicKeyDER)
    // A key that does not open counts as none; a lost key file is reported elsewhere.
    let awaited = try Sealing.opened {
      try SigningRequest.awaited(database, publicKeySHA256: fingerprint, sealer: sealer)
    }
    // The key was added before, for the preview.
    guard file.privateKey == nil else { return (file, awaited?.request) }
    if let (request, bytes) = awaited, let key = key(bytes, for: certificate) {
      return (file.joined(with: key), request)
    }
    for other in try TrackedCertificate.all(database) where other.details.hasPrivateKey {
      guard let pem = other.details.publicPEM, let own = try? Certificate(pem: pem),
        own.publicKeyDER == certificate.publicKeyDER,
        let bytes = try Sealing.opened({ try TrackedCertificate.material(database, id: other.id, sealer: sealer) }),
        let key = key(bytes, for: certificate)
      else { continue }
      return (file.joined(with: key), nil)
    }
    return (file, nil)
  }

  private static func key(_ pem: [UInt8], for certificate: Certificate) -> PrivateKey? {
    guard let block = try? PEMBlock.all(in: pem).first, let key = try? PrivateKey(block: block, password: nil),
      key.matches(certificate)
    else { return nil }
    return key
  }
}
