import COpenSSL
import Foundation

/// The name of a certificate's owner or issuer (X.501).
package struct DistinguishedName: Sendable, Hashable, CustomStringConvertible {
  package struct Attribute: Sendable, Hashable {
    package let oid: String
    /// The text in the certificate: untrusted, to be escaped wherever it is shown.
    package let value: String

    package init(oid: String, value: String) {
      self.oid = oid
      self.value = value
    }

    package static func commonName(_ value: String) -> Attribute { Attribute(oid: "2.5.4.3", value: value) }
    package static func organization(_ value: String) -> Attribute { Attribute(oid: "2.5.4.10", value: value) }
    /// In Apple's certificates the team ID.
    package static func organizationalUnit(_ value: String) -> Attribute { Attribute(oid: "2.5.4.11", value: value) }
    /// In Apple's push certificates the topic.
    package static func userID(_ value: String) -> Attribute {
      Attribute(oid: "0.9.2342.19200300.100.1.1", value: value)
    }
  }

  package let attributes: [Attribute]
  /// As `UID=com.example, CN=Name, O=Owner`; control characters and commas inside values are escaped.
  package let description: String

  package var commonName: String? { value(of: .commonName("")) }
  package var organization: String? { value(of: .organization("")) }
  package var organizationalUnit: String? { value(of: .organizationalUnit("")) }
  package var userID: String? { value(of: .userID("")) }

  private func value(of kind: Attribute) -> String? { attributes.first { $0.oid == kind.oid }?.value }

  init(_ name: OpaquePointer?) {
    var attributes: [Attribute] = []
    for index in 0..<max(0, X509_NAME_entry_count(name)) {
      guard let entry = X509_NAME_get_entry(name, index), let object = X509_NAME_ENTRY_get_object(entry) else {
        continue
      }
      var text: UnsafeMutablePointer<UInt8>?
      // Negative for what is no text; such a part appears in the description only.
      let count = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
      guard count >= 0, let text else { continue }
      defer { pki_free(text) }
      attributes.append(
        Attribute(
          oid: objectIdentifier(object),
          value: String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)))
    }
    self.attributes = attributes
    let printed = MemoryBIO.written { pki_print_name($0, name) >= 0 }
    description = String(decoding: printed ?? Data(), as: UTF8.self)
    OpenSSLError.clear()
  }
}

/// As `1.2.840.113635.100.6.3.1`.
func objectIdentifier(_ object: OpaquePointer?) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
    guard let start = text.baseAddress, OBJ_obj2txt(start, Int32(text.count), object, 1) > 0 else { return "" }
    return String(cString: start)
  }
}
