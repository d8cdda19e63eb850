import COpenSSL
public import Foundation
import Glibc

/// An X.509 certificate (RFC 5280).
///
/// `@unchecked Sendable` because the object behind it is not changed after its creation, and OpenSSL guards its
/// own caches and reference counts (openssl-threads(7)).
public final class Certificate: @unchecked Sendable {
  let x509: OpaquePointer
  /// The certificate in its binary form.
  public let der: Data
  /// The first second in which it is valid.
  public let notBefore: Date
  /// The last second in which it is valid.
  public let notAfter: Date
  /// Whom it is for.
  public let subject: DistinguishedName
  /// Who signed it.
  public let issuer: DistinguishedName

  /// Reads the binary form.
  ///
  /// - Throws: ``CertificateError``.
  public convenience init(der: some DataProtocol) throws(CertificateError) {
    switch DER.header(of: Array(der)[...]) {
    case .truncated where !der.isEmpty: throw .truncated
    case .whole(DER.sequence, _): break
    default: throw .notACertificate
    }
    OpenSSLError.clear()
    let x509 = derDecoded(der, { d2i_X509(nil, $0, $1) }, free: X509_free)
    guard let x509 else {
      OpenSSLError.clear()
      throw .notACertificate
    }
    try self.init(owning: x509, der: Data(der))
  }

  /// Reads the first certificate of a text in PEM form; other blocks are passed over.
  ///
  /// - Throws: ``CertificateError``.
  public convenience init(pem: String) throws(CertificateError) {
    guard let first = try Self.blocks(of: pem).first else { throw .notACertificate }
    try self.init(der: first.content)
  }

  /// All certificates of a text in PEM form, in order; other blocks are passed over. May be empty.
  ///
  /// - Throws: ``CertificateError``.
  public static func pemBundle(_ pem: String) throws(CertificateError) -> [Certificate] {
    var certificates: [Certificate] = []
    for block in try blocks(of: pem) { certificates.append(try Certificate(der: block.content)) }
    return certificates
  }

  /// Takes over a reference. It is given back also if this throws.
  init(owning x509: OpaquePointer, der: Data? = nil) throws(CertificateError) {
    guard let der = der ?? derEncoded({ i2d_X509(x509, $0) }),
      let notBefore = Self.date(X509_get0_notBefore(x509)), let notAfter = Self.date(X509_get0_notAfter(x509))
    else {
      X509_free(x509)
      OpenSSLError.clear()
      throw .badDates
    }
    self.x509 = x509
    self.der = der
    self.notBefore = notBefore
    self.notAfter = notAfter
    subject = DistinguishedName(X509_get_subject_name(x509))
    issuer = DistinguishedName(X509_get_issuer_name(x509))
  }

  deinit { X509_free(x509) }

  static let pemLabels: Set<String> = ["CERTIFICATE", "X509 CERTIFICATE"]

  private static func blocks(of pem: String) throws(CertificateError) -> [PEMBlock] {
    do {
      return try PEMBlock.all(in: Array(pem.utf8)).filter { pemLabels.contains($0.label) }
    } catch {
      throw .truncated
    }
  }

  /// UTCTime up to 2049 and GeneralizedTime from 2050 on (RFC 5280 §4.1.2.5).
  private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
    var parts = tm()
    guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Date(timeIntervalSince1970: Double(timegm(&parts)))
  }
}

extension Certificate: Hashable, CustomStringConvertible {
  /// Two certificates are the same if their bytes are.
  public static func == (one: Certificate, other: Certificate) -> Bool { one.der == other.der }
  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(der) }
  /// The subject.
  public var description: String { subject.description }
}
