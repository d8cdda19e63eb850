import COpenSSL
package import Foundation

extension Certificate {
  /// The extensions that it has, as `2.5.29.17`, in order.
  package var extensionOIDs: [String] {
    (0..<max(0, X509_get_ext_count(x509))).map { index in
      objectIdentifier(X509_EXTENSION_get_object(X509_get_ext(x509, index)))
    }
  }

  /// The value of an extension in its binary form, nil if the certificate does not have it.
  package func extensionValue(oid: String) -> Data? {
    guard let index = extensionOIDs.firstIndex(of: oid),
      let value = X509_EXTENSION_get_data(X509_get_ext(x509, Int32(index)))
    else { return nil }
    let count = Int(ASN1_STRING_length(value))
    guard count > 0, let bytes = ASN1_STRING_get0_data(value) else { return Data() }
    return Data(bytes: bytes, count: count)
  }

  /// The host names, addresses and mailboxes that it is for (RFC 5280 §4.2.1.6).
  package var subjectAlternativeNames: [String] {
    guard let value = extensionValue(oid: "2.5.29.17"), let names = DER.element(value)?.children else { return [] }
    return names.compactMap { name in
      switch name.tag {
      // rfc822Name, dNSName, uniformResourceIdentifier: IA5String each
      case 0x81, 0x82, 0x86: String(validating: name.content, as: UTF8.self)
      case 0x87: Self.address(name.content)
      default: nil
      }
    }
  }

  private static func address(_ bytes: ArraySlice<UInt8>) -> String? {
    let family: Int32
    switch bytes.count {
    case 4: family = AF_INET
    case 16: family = AF_INET6
    default: return nil
    }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(family, Array(bytes), &text, socklen_t(text.count)) != nil else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
