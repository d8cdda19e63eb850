import COpenSSL
package import Foundation

extension Certificate {
  package var commonName: String? { subject.commonName }
  /// In Apple's certificates the team ID.
  package var organizationalUnit: String? { subject.organizationalUnit }
  /// `UID` of the subject: in push certificates of Apple the topic.
  package var userID: String? { subject.userID }

  /// In upper-case hexadecimal digits, as `openssl x509 -serial` shows it.
  package var serialNumber: String {
    guard let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(x509), nil) else { return "" }
    defer { BN_free(number) }
    guard let text = BN_bn2hex(number) else { return "" }
    defer { pki_free(text) }
    return String(cString: text)
  }

  /// SHA-256 of the certificate as `AB:CD:…`, as `openssl x509 -fingerprint -sha256` shows it.
  package var sha256Fingerprint: String {
    Hexadecimal.encode(Digest.sha256(der), separator: ":", uppercase: true)
  }

  /// SHA-1 of the certificate as `AB:CD:…`, for comparison with Keychain Access and old tools; not for security.
  package var sha1Fingerprint: String {
    var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
    let bytes = Array(der)
    guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil) == 1 else { return "" }
    return Hexadecimal.encode(digest, separator: ":", uppercase: true)
  }

  /// The signature algorithm, such as `sha256WithRSAEncryption`.
  package var signatureAlgorithm: String {
    let number = X509_get_signature_nid(x509)
    guard number != NID_undef, let name = OBJ_nid2ln(number) else { return "unknown" }
    return String(cString: name)
  }

  /// `subjectPublicKeyInfo` in DER form.
  package var publicKeyDER: Data {
    derEncoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x509), $0) } ?? Data()
  }

  /// Nil if the kind of key is unknown.
  package var publicKey: PublicKey? { decodedKey.map(PublicKey.init(owning:)) }

  /// Of ``publicKey``, without encoding it again.
  package var keyAlgorithm: KeyAlgorithm? {
    let key = decodedKey
    defer { EVP_PKEY_free(key) }
    return key.map { KeyAlgorithm($0) }
  }

  /// A key that the caller frees.
  private var decodedKey: OpaquePointer? { Array(publicKeyDER).withUnsafeBufferPointer(KeyDecoder.publicKey) }

  /// Whether subject and issuer are equal, as in roots.
  package var isSelfSigned: Bool {
    defer { OpenSSLError.clear() }
    return X509_self_signed(complete, 0) == 1
  }

  /// Whether it may sign other certificates (basic constraints).
  package var isAuthority: Bool { X509_check_ca(complete) > 0 }

  /// Whether `authority`'s key signed this certificate. Dates and purposes are not checked.
  package func isSigned(by authority: Certificate) -> Bool {
    defer { OpenSSLError.clear() }
    guard let key = X509_get0_pubkey(authority.complete) else { return false }
    return X509_verify(complete, key) == 1
  }

  package var pem: String { PEMBlock(label: "CERTIFICATE", headers: "", content: der).text }
}

extension Certificate {
  package var extensionOIDs: [String] { extensions.map(extensionOID) }

  private var extensions: Range<Int32> { 0..<max(0, X509_get_ext_count(x509)) }

  private func extensionOID(_ index: Int32) -> String {
    objectIdentifier(X509_EXTENSION_get_object(X509_get_ext(x509, index)))
  }

  /// The DER value of an extension, nil if it is missing.
  package func extensionValue(oid: String) -> Data? {
    guard let index = extensions.first(where: { extensionOID($0) == oid }),
      let value = X509_EXTENSION_get_data(X509_get_ext(x509, index))
    else { return nil }
    let count = Int(ASN1_STRING_length(value))
    guard count > 0, let bytes = ASN1_STRING_get0_data(value) else { return Data() }
    return Data(bytes: bytes, count: count)
  }

  /// Host names, addresses and mailboxes (RFC 5280 §4.2.1.6).
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
