import COpenSSL
package import Foundation
import Synchronization

/// An X.509 certificate (RFC 5280).
///
/// `@unchecked Sendable` because the object behind it is not changed after its creation, and OpenSSL guards its
/// own caches and reference counts (openssl-threads(7)).
package final class Certificate: @unchecked Sendable {
  /// Its key is still encoded: see ``complete``.
  let x509: OpaquePointer
  private let decoded = Mutex<Decoded?>(nil)
  package let der: Data
  /// The first valid second.
  package let notBefore: Date
  /// The last valid second.
  package let notAfter: Date
  package let subject: DistinguishedName
  package let issuer: DistinguishedName

  package convenience init(der: some DataProtocol) throws(CertificateError) {
    switch DER.header(of: Array(der)[...]) {
    case .truncated where !der.isEmpty: throw .truncated
    case .whole(DER.sequence, _): break
    default: throw .notACertificate
    }
    OpenSSLError.clear()
    defer { OpenSSLError.clear() }
    let x509 = derDecoded(
      der,
      { position, count in
        // If it cannot be read, d2i_X509 frees it (d2i_X509(3), "the structure is freed").
        var empty = X509_new_ex(KeylessContext.context, nil)
        return d2i_X509(&empty, position, count)
      }, free: X509_free)
    guard let x509 else { throw .notACertificate }
    try self.init(owning: x509, der: Data(der))
  }

  /// Reads the first certificate of a PEM text; other blocks are skipped.
  package convenience init(pem: String) throws(CertificateError) {
    guard let first = try Self.blocks(of: pem).first else { throw .notACertificate }
    try self.init(der: first.certificateContent)
  }

  /// All certificates of a PEM text in order; other blocks are skipped. May be empty.
  package static func pemBundle(_ pem: String) throws(CertificateError) -> [Certificate] {
    var certificates: [Certificate] = []
    for block in try blocks(of: pem) { certificates.append(try Certificate(der: block.certificateContent)) }
    return certificates
  }

  /// Takes ownership of a reference, even if this throws.
  private init(owning x509: OpaquePointer, der: Data) throws(CertificateError) {
    let dates: (notBefore: Date, notAfter: Date)
    do throws(CertificateError) {
      dates = (try Self.date(X509_get0_notBefore(x509)), try Self.date(X509_get0_notAfter(x509)))
    } catch {
      X509_free(x509)
      throw error
    }
    self.x509 = x509
    self.der = der
    (notBefore, notAfter) = dates
    subject = DistinguishedName(X509_get_subject_name(x509))
    issuer = DistinguishedName(X509_get_issuer_name(x509))
  }

  deinit {
    X509_free(x509)
    decoded.withLock { X509_free($0?.x509) }
  }

  /// `@unchecked Sendable` for the same reason as the certificate.
  private struct Decoded: @unchecked Sendable {
    let x509: OpaquePointer
  }

  /// With its key decoded, for what needs the key. Made when it is first asked for.
  var complete: OpaquePointer {
    let made = decoded.withLock { decoded in
      if let decoded { return decoded }
      OpenSSLError.clear()
      defer { OpenSSLError.clear() }
      let x509 = derDecoded(der, { d2i_X509(nil, $0, $1) }, free: X509_free) ?? self.x509
      // Only a lack of memory refuses what was read before.
      if x509 == self.x509 { X509_up_ref(x509) }
      decoded = Decoded(x509: x509)
      return Decoded(x509: x509)
    }
    return made.x509
  }

  static let pemLabels: Set<String> = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]

  private static func blocks(of pem: String) throws(CertificateError) -> [PEMBlock] {
    do {
      return try PEMBlock.all(in: Array(pem.utf8)).filter { pemLabels.contains($0.label) }
    } catch {
      throw .truncated
    }
  }

  /// UTCTime up to 2049 and GeneralizedTime from 2050 on (RFC 5280 §4.1.2.5).
  private static func date(_ time: UnsafePointer<ASN1_TIME>?) throws(CertificateError) -> Date {
    guard let time, let start = ASN1_STRING_get0_data(time) else { throw .badDates("") }
    let text = Array(UnsafeBufferPointer(start: start, count: Int(max(0, ASN1_STRING_length(time)))))
    if let date = ASN1Time.date(tag: UInt8(truncatingIfNeeded: ASN1_STRING_type(time)), text) { return date }
    throw .badDates(String(decoding: text.prefix(32).filter { (0x20...0x7e).contains($0) }, as: UTF8.self))
  }
}

extension Certificate: Hashable, CustomStringConvertible {
  package static func == (one: Certificate, other: Certificate) -> Bool { one.der == other.der }
  package func hash(into hasher: inout Hasher) { hasher.combine(der) }
  package var description: String { subject.description }
}

/// Why a certificate could not be read or created.
package enum CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Another format, or damaged.
  case notACertificate
  /// The stated length exceeds the data.
  case truncated
  /// An unreadable date: its text.
  case badDates(String)
  /// Invalid inputs.
  case cannotBeMade(OpenSSLError)

  package var description: String {
    switch self {
    case .notACertificate: "This is not a valid X.509 certificate."
    case .truncated: "The certificate is truncated."
    case .badDates(let text): "The certificate is damaged: “\(text)” is not a date."
    case .cannotBeMade(let error): "The certificate cannot be created: \(error)."
    }
  }
}

/// A library context of OpenSSL without algorithms, in which the keys of certificates stay encoded.
///
/// OpenSSL 3.0 decodes the key of each certificate that it reads, and collects all its decoders for that: 0.09 ms, ten
/// times as long as all the rest. Most certificates are only asked for names, dates and extensions.
enum KeylessContext {
  private struct Made: @unchecked Sendable {
    // @unchecked Sendable because the context is created once, never freed, and usable by many threads
    // (OSSL_LIB_CTX(3)).
    let context: OpaquePointer
  }

  private static let made: Made? = {
    guard let context = OSSL_LIB_CTX_new() else { return nil }
    // A context that was given no provider loads "default".
    guard OSSL_PROVIDER_load(context, "null") != nil else {
      OSSL_LIB_CTX_free(context)
      return nil
    }
    return Made(context: context)
  }()

  /// Created by the first call; nil stands for the default context.
  static var context: OpaquePointer? { made?.context }
}
