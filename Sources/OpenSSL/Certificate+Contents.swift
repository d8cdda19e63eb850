import COpenSSL
package import Foundation

extension Certificate {
  /// The name proper of the subject.
  package var commonName: String? { subject.commonName }
  /// The company of the subject.
  package var organization: String? { subject.organization }
  /// The unit of the subject: in certificates of Apple the team id.
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

  /// SHA-1 of the certificate as `AB:CD:…`: Keychain Access and old tools show it. It proves nothing.
  package var sha1Fingerprint: String {
    var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
    let bytes = Array(der)
    guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil) == 1 else { return "" }
    return Hexadecimal.encode(digest, separator: ":", uppercase: true)
  }

  /// With which algorithm its issuer signed it, as `sha256WithRSAEncryption`.
  package var signatureAlgorithm: String {
    let number = X509_get_signature_nid(x509)
    guard number != NID_undef, let name = OBJ_nid2ln(number) else { return "unknown" }
    return String(cString: name)
  }

  /// `subjectPublicKeyInfo` in its binary form.
  package var publicKeyDER: Data {
    derEncoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x509), $0) } ?? Data()
  }

  /// The public key, nil if its kind is unknown here.
  package var publicKey: PublicKey? {
    defer { OpenSSLError.clear() }
    return X509_get_pubkey(x509).map(PublicKey.init(owning:))
  }

  /// Whether subject and issuer are the same, as in roots.
  package var isSelfSigned: Bool {
    defer { OpenSSLError.clear() }
    return X509_self_signed(x509, 0) == 1
  }

  /// Whether it may sign others (basic constraints).
  package var isAuthority: Bool { X509_check_ca(x509) > 0 }

  /// Whether `authority`'s key signed this. Says nothing of dates and purposes.
  package func isSigned(by authority: Certificate) -> Bool {
    defer { OpenSSLError.clear() }
    guard let key = X509_get0_pubkey(authority.x509) else { return false }
    return X509_verify(x509, key) == 1
  }

  /// The text form, one block.
  package var pem: String { PEMBlock(label: "CERTIFICATE", headers: "", content: der).text }
}
