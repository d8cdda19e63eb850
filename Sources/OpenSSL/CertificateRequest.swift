import COpenSSL
package import Foundation

/// A certificate signing request (PKCS#10, RFC 2986), as uploaded to Apple.
///
/// `@unchecked Sendable` because the object behind it is not changed after its creation, and OpenSSL guards its
/// own caches and reference counts (openssl-threads(7)).
package final class CertificateRequest: @unchecked Sendable {
  private let handle: OpaquePointer
  package let der: Data
  /// The requested subject.
  package let subject: DistinguishedName

  /// Creates a request for the owner of `key`.
  ///
  /// - Parameter alternativeNames: host names and addresses, requested as `subjectAltName` (RFC 2985 §5.4.2).
  /// - Throws: ``CertificateError``, as for a name that is too long.
  package init(
    subject: [DistinguishedName.Attribute], key: PrivateKey, alternativeNames: [String] = []
  ) throws(CertificateError) {
    OpenSSLError.clear()
    guard let handle = X509_REQ_new() else { throw .cannotBeMade(OpenSSLError("creating a certificate request")) }
    let name = X509_REQ_get_subject_name(handle)
    let asked = Self.asked(alternativeNames)
    guard CertificateBuilder.addNames(subject, to: name), X509_REQ_set_version(handle, 0) == 1,
      X509_REQ_set_pubkey(handle, key.handle) == 1,
      asked.isEmpty
        || X509_REQ_add1_attr_by_NID(handle, NID_ext_req, V_ASN1_SEQUENCE, asked, Int32(asked.count)) == 1,
      X509_REQ_sign(handle, key.handle, key.signingDigest) > 0,
      let der = derEncoded({ i2d_X509_REQ(handle, $0) })
    else {
      X509_REQ_free(handle)
      throw .cannotBeMade(OpenSSLError("creating a certificate request"))
    }
    self.handle = handle
    self.der = der
    self.subject = DistinguishedName(name)
  }

  /// The requested extensions, `Extensions` of RFC 5280 §4.1; empty if there are none.
  private static func asked(_ names: [String]) -> [UInt8] {
    let general = names.compactMap(CertificateBuilder.alternativeName)
    guard !general.isEmpty else { return [] }
    // 2.5.29.17
    let oid: [UInt8] = [0x06, 0x03, 0x55, 0x1d, 0x11]
    return DER.encode(sequence: [DER.encode(sequence: [oid, DER.encode(0x04, DER.encode(sequence: general))])])
  }

  /// Reads the DER form, nil for anything else.
  package init?(der: some DataProtocol) {
    OpenSSLError.clear()
    defer { OpenSSLError.clear() }
    guard let handle = derDecoded(der, { d2i_X509_REQ(nil, $0, $1) }, free: X509_REQ_free) else { return nil }
    self.handle = handle
    self.der = Data(der)
    subject = DistinguishedName(X509_REQ_get_subject_name(handle))
  }

  deinit { X509_REQ_free(handle) }

  package var publicKey: PublicKey? {
    defer { OpenSSLError.clear() }
    return X509_REQ_get_pubkey(handle).map(PublicKey.init(owning:))
  }

  package var pem: String { PEMBlock(label: "CERTIFICATE REQUEST", headers: "", content: der).text }
}
