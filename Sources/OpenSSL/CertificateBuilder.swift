import COpenSSL
package import Foundation
import Glibc

/// Fills a certificate under construction. Each step returns whether it succeeded.
struct CertificateBuilder {
  let x509: OpaquePointer

  /// 127 random bits: positive, and unique without a counter (RFC 5280 §4.1.2.2 allows 20 octets).
  func setRandomSerialNumber() -> Bool {
    var bytes = Random.bytes(16)
    bytes[0] = bytes[0] & 0x7F | 0x40
    guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
    defer { BN_free(number) }
    return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509)) != nil
  }

  func setDates(_ notBefore: Date, _ notAfter: Date) -> Bool {
    // X.509 counts whole seconds; X509_time_adj and friends choose UTCTime or GeneralizedTime by the year.
    ASN1_TIME_set(X509_getm_notBefore(x509), time_t(notBefore.timeIntervalSince1970.rounded(.down))) != nil
      && ASN1_TIME_set(X509_getm_notAfter(x509), time_t(notAfter.timeIntervalSince1970.rounded(.down))) != nil
  }

  static func addNames(_ attributes: [DistinguishedName.Attribute], to name: OpaquePointer?) -> Bool {
    attributes.allSatisfy { attribute in
      let value = Array(attribute.value.utf8)
      return X509_NAME_add_entry_by_txt(name, attribute.oid, MBSTRING_UTF8, value, Int32(value.count), -1, 0) == 1
    }
  }

  func addExtensions(of blueprint: CertificateBlueprint, issuer: OpaquePointer?) -> Bool {
    var known: [(Int32, String)] = []
    switch blueprint.purpose {
    case .authority:
      known = [(NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign")]
    case .server: known = [(NID_ext_key_usage, "serverAuth")]
    case .client: known = [(NID_ext_key_usage, "clientAuth")]
    case .unspecified: break
    }
    if blueprint.purpose != .authority { known.append((NID_basic_constraints, "critical,CA:FALSE")) }
    known.append((NID_subject_key_identifier, "hash"))
    if issuer != nil { known.append((NID_authority_key_identifier, "keyid")) }
    guard known.allSatisfy({ add($0.0, $0.1, issuer: issuer) }) else { return false }
    let names = blueprint.alternativeNames.compactMap(Self.alternativeName)
    guard names.count == blueprint.alternativeNames.count else { return false }
    let own = names.isEmpty ? [] : [CertificateExtension(oid: "2.5.29.17", value: Data(DER.encode(sequence: names)))]
    return (own + blueprint.extensions).allSatisfy(add)
  }

  private func add(_ number: Int32, _ text: String, issuer: OpaquePointer?) -> Bool {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer ?? x509, x509, nil, nil, 0)
    guard let value = X509V3_EXT_nconf_nid(nil, &context, number, text) else { return false }
    defer { X509_EXTENSION_free(value) }
    return X509_add_ext(x509, value, -1) == 1
  }

  private func add(_ item: CertificateExtension) -> Bool {
    guard let object = OBJ_txt2obj(item.oid, 1) else { return false }
    defer { ASN1_OBJECT_free(object) }
    let string = ASN1_OCTET_STRING_new()
    defer { ASN1_OCTET_STRING_free(string) }
    let bytes = Array(item.value)
    guard ASN1_OCTET_STRING_set(string, bytes, Int32(bytes.count)) == 1,
      let value = X509_EXTENSION_create_by_OBJ(nil, object, 0, string)
    else { return false }
    defer { X509_EXTENSION_free(value) }
    return X509_add_ext(x509, value, -1) == 1
  }

  /// `iPAddress [7]` or `dNSName [2]` (RFC 5280 §4.2.1.6).
  static func alternativeName(_ name: String) -> [UInt8]? {
    var four = [UInt8](repeating: 0, count: 4)
    if inet_pton(AF_INET, name, &four) == 1 { return DER.encode(0x87, four) }
    var sixteen = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET6, name, &sixteen) == 1 { return DER.encode(0x87, sixteen) }
    return name.utf8.allSatisfy { $0 < 0x80 } ? DER.encode(0x82, name.utf8) : nil
  }
}

/// The contents of a certificate to be created.
package struct CertificateBlueprint: Sendable, Hashable {
  package enum Purpose: Sendable, Hashable {
    case authority
    case server
    case client
    /// No purpose is stated.
    case unspecified
  }

  package var subject: [DistinguishedName.Attribute]
  package var notBefore: Date
  /// The last second in which it is valid.
  package var notAfter: Date
  package var purpose: Purpose
  /// Host names, and addresses as `127.0.0.1` or `::1`.
  package var alternativeNames: [String]
  package var extensions: [CertificateExtension]
  package init(
    subject: [DistinguishedName.Attribute], notBefore: Date, notAfter: Date, purpose: Purpose = .unspecified,
    alternativeNames: [String] = [], extensions: [CertificateExtension] = []
  ) {
    self.subject = subject
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.purpose = purpose
    self.alternativeNames = alternativeNames
    self.extensions = extensions
  }
}

/// An extension of a certificate (RFC 5280 §4.2) that a reader may pass over.
package struct CertificateExtension: Sendable, Hashable {
  /// As `2.5.29.17`.
  package let oid: String
  /// The DER value.
  package let value: Data
  package init(oid: String, value: Data) {
    self.oid = oid
    self.value = value
  }
}
