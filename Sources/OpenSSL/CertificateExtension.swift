public import Foundation

/// An extension for a certificate that is to be made (RFC 5280 §4.2).
public struct CertificateExtension: Sendable, Hashable {
  /// As `2.5.29.17`.
  public let oid: String
  /// Whether who does not understand it must refuse the certificate.
  public let isCritical: Bool
  /// The value in its binary form.
  public let value: Data

  /// Creates an extension.
  public init(oid: String, isCritical: Bool = false, value: Data) {
    self.oid = oid
    self.isCritical = isCritical
    self.value = value
  }

  /// A mark without value: ASN.1's NULL.
  public static func mark(oid: String) -> CertificateExtension {
    CertificateExtension(oid: oid, value: Data(DER.encode(DER.null, [])))
  }
}
