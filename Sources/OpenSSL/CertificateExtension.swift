package import Foundation

/// An extension for a certificate that is to be made (RFC 5280 §4.2).
package struct CertificateExtension: Sendable, Hashable {
  /// As `2.5.29.17`.
  package let oid: String
  /// Whether who does not understand it must refuse the certificate.
  package let isCritical: Bool
  /// The value in its binary form.
  package let value: Data
  package init(oid: String, isCritical: Bool = false, value: Data) {
    self.oid = oid
    self.isCritical = isCritical
    self.value = value
  }

  /// A mark without value: ASN.1's NULL.
  package static func mark(oid: String) -> CertificateExtension {
    CertificateExtension(oid: oid, value: Data(DER.encode(DER.null, [])))
  }
}
