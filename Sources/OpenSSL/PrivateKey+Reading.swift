import COpenSSL
public import Foundation

extension PrivateKey {
  /// Reads the first private key of a text in PEM form: PKCS#8, encrypted PKCS#8, PKCS#1 or SEC 1.
  ///
  /// - Parameter password: for an encrypted key; taken in UTF-8.
  /// - Throws: ``PrivateKeyError``.
  public convenience init(pem: String, password: String? = nil) throws(PrivateKeyError) {
    let blocks: [PEMBlock]
    do { blocks = try PEMBlock.all(in: Array(pem.utf8)) } catch { throw .truncated }
    guard let block = blocks.first(where: \.isPrivateKey) else {
      throw .notAPrivateKey(found: blocks.first?.plainName)
    }
    try self.init(block: block, password: password)
  }

  /// Reads one block of a text in PEM form.
  ///
  /// - Throws: ``PrivateKeyError``.
  public convenience init(block: PEMBlock, password: String? = nil) throws(PrivateKeyError) {
    guard block.isPrivateKey else { throw .notAPrivateKey(found: block.plainName) }
    guard KeyDerivationCost.isBearable(block.content) else { throw .tooCostly }
    OpenSSLError.clear()
    let handle = MemoryBIO.reading(Array(block.text.utf8)) { bio in
      Self.with(password) { pki_read_key_pem(bio, $0, $1) }
    }
    guard let handle else {
      // With headers (RFC 1421) the content itself is encrypted: what looks like a length there is chance.
      let isTruncated = block.headers.isEmpty && block.content.isTruncatedDER
      throw Self.error(encrypted: block.isEncrypted, password: password, truncated: isTruncated)
    }
    self.init(owning: handle)
  }

  /// Reads the binary form: PKCS#8, PKCS#1, SEC 1, or encrypted PKCS#8.
  ///
  /// - Throws: ``PrivateKeyError``.
  public convenience init(der: some DataProtocol, password: String? = nil) throws(PrivateKeyError) {
    let der = Data(der)
    guard KeyDerivationCost.isBearable(der) else { throw .tooCostly }
    OpenSSLError.clear()
    if let handle = derDecoded(der, { d2i_AutoPrivateKey(nil, $0, $1) }, free: EVP_PKEY_free) {
      OpenSSLError.clear()
      self.init(owning: handle)
      return
    }
    // EncryptedPrivateKeyInfo ::= SEQUENCE { SEQUENCE { algorithm… }, OCTET STRING } (RFC 5208 §6)
    let parts = DER.element(der)?.children?.map(\.tag)
    guard parts == [DER.sequence, DER.octetString] else {
      OpenSSLError.clear()
      throw der.isTruncatedDER ? .truncated : .notAPrivateKey(found: nil)
    }
    OpenSSLError.clear()
    let handle = MemoryBIO.reading(der) { bio in
      Self.with(password) { pki_read_encrypted_key_der(bio, $0, $1) }
    }
    guard let handle else { throw Self.error(encrypted: true, password: password, truncated: false) }
    self.init(owning: handle)
  }

  /// Reads Apple's `.p8`: the text form of a private key on P-256.
  ///
  /// - Throws: ``PrivateKeyError``; `wrongKind` and `notAPrivateKey` say what it is instead.
  public convenience init(p8 text: String) throws(PrivateKeyError) {
    try self.init(pem: text)
    guard algorithm == .p256 else { throw .wrongKind(wanted: .p256, found: algorithm) }
  }

  private static func with(
    _ password: String?, _ body: (UnsafePointer<CChar>?, Int32) -> OpaquePointer?
  ) -> OpaquePointer? {
    guard let password else { return body(nil, 0) }
    return password.utf8CString.withUnsafeBufferPointer { body($0.baseAddress, Int32($0.count - 1)) }
  }

  /// What the error queue says of a key that was not read.
  private static func error(encrypted: Bool, password: String?, truncated: Bool) -> PrivateKeyError {
    let error = OpenSSLError("reading a private key")
    if encrypted {
      if truncated { return .truncated }
      if let algorithm = error.unsupportedAlgorithm, !error.isBadDecrypt { return .unsupported(algorithm: algorithm) }
      return password == nil ? .passwordNeeded : .wrongPassword
    }
    return truncated ? .truncated : .notAPrivateKey(found: nil)
  }
}

extension Data {
  /// Whether it begins as a DER value that is longer than these bytes.
  var isTruncatedDER: Bool {
    if case .truncated = DER.header(of: Array(self)[...]) { true } else { false }
  }
}
