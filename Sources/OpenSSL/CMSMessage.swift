import COpenSSL
package import Foundation

package struct CMSMessage: Sendable {
  package let content: Data
  /// The certificates included: the signers' and their issuers'.
  package let certificates: [Certificate]
  /// Whether each signature matches the content, by the included certificates.
  ///
  /// Does not check who the signers are, or whether they are trusted.
  package let isIntact: Bool

  /// Reads the DER form.
  package init(der: some DataProtocol) throws(CMSError) {
    let bytes = Array(der)
    switch DER.header(of: bytes[...]) {
    case .truncated where bytes.first == DER.sequence: throw .truncated
    case .whole(DER.sequence, _), .indefinite: break
    default: throw .notSigned
    }
    OpenSSLError.clear()
    defer { OpenSSLError.clear() }
    let handle = bytes.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_CMS_ContentInfo(nil, &position, buffer.count)
    }
    guard let handle else { throw .notSigned }
    defer { CMS_ContentInfo_free(handle) }
    guard OBJ_obj2nid(CMS_get0_type(handle)) == NID_pkcs7_signed else { throw .notSigned }
    guard let place = CMS_get0_content(handle), let string = place.pointee else { throw .noContent }
    let count = Int(ASN1_STRING_length(string))
    content =
      if count > 0, let start = ASN1_STRING_get0_data(string) { Data(bytes: start, count: count) } else { Data() }
    certificates = Self.certificates(of: handle)
    let flags = UInt32(CMS_NO_SIGNER_CERT_VERIFY | CMS_BINARY)
    isIntact = Self.isBearable(handle) && MemoryBIO.written { CMS_verify(handle, nil, nil, nil, $0, flags) == 1 } != nil
  }

  /// Each digest covers the whole content and each signature is checked, so a file with a hundred thousand of them
  /// would keep a processor busy for minutes. Apple's have one of each.
  private static func isBearable(_ handle: OpaquePointer) -> Bool {
    guard pki_signers_count(handle) <= maximumSigners, let der = derEncoded({ i2d_CMS_ContentInfo(handle, $0) }),
      // ContentInfo { type, [0] { SignedData { version, SET OF digest algorithm, … } } } (RFC 5652 §3, §5.1)
      let signed = DER.element(der)?.children?.dropFirst().first?.children?.first?.children,
      let digests = signed.dropFirst().first, digests.tag == DER.set, let children = digests.children
    else { return false }
    return children.count <= maximumSigners
  }
  private static let maximumSigners = 16
  private static let maximumCertificates = 32

  private static func certificates(of handle: OpaquePointer) -> [Certificate] {
    guard let stack = CMS_get1_certs(handle) else { return [] }
    defer { pki_certificates_free(stack) }
    return (0..<max(0, min(pki_certificates_count(stack), Int32(maximumCertificates)))).compactMap { index in
      guard let der = derEncoded({ i2d_X509(pki_certificates_at(stack, index), $0) }) else { return nil }
      // An unreadable certificate does not affect the content.
      return try? Certificate(der: der)
    }
  }
}

/// Why bytes are not a readable signed message.
package enum CMSError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Another format, or damaged.
  case notSigned
  /// The end is missing.
  case truncated
  /// A detached signature, without the content.
  case noContent

  package var description: String {
    switch self {
    case .notSigned: "This is not a valid signed message (CMS)."
    case .truncated: "The message is truncated."
    case .noContent: "The message contains a signature but not the signed content."
    }
  }
}
