import COpenSSL
package import Foundation

extension PrivateKey {
  /// Reads the first private key of a PEM text: PKCS#8, encrypted PKCS#8, PKCS#1 or SEC 1.
  ///
  /// - Parameter password: of an encrypted key, in UTF-8.
  package convenience init(pem: String, password: String? = nil) throws(PrivateKeyError) {
    let blocks: [PEMBlock]
    do { blocks = try PEMBlock.all(in: Array(pem.utf8)) } catch { throw .truncated }
    guard let block = blocks.first(where: \.isPrivateKey) else {
      throw .notAPrivateKey(found: blocks.first?.plainName)
    }
    try self.init(block: block, password: password)
  }

  package convenience init(block: PEMBlock, password: String? = nil) throws(PrivateKeyError) {
    guard block.isPrivateKey else { throw .notAPrivateKey(found: block.plainName) }
    guard KeyDerivationCost.isBearable(block.content) else { throw .tooCostly }
    // With headers (RFC 1421) the content is encrypted, so its apparent length means nothing.
    let isTruncated = block.headers.isEmpty && block.content.isTruncatedDER
    if block.headers.isEmpty, !block.isEncrypted {
      guard let key = Array(block.content).withUnsafeBufferPointer(KeyDecoder.privateKey) else {
        throw isTruncated ? .truncated : .notAPrivateKey(found: nil)
      }
      try self.init(sharing: key)
      return
    }
    guard !block.headers.isEmpty else {
      try self.init(encrypted: block.content, password: password, isTruncated: isTruncated)
      return
    }
    let context: OpaquePointer
    do { context = try LegacyContext.context() } catch { throw .notAPrivateKey(found: nil) }
    OpenSSLError.clear()
    let handle = MemoryBIO.reading(Array(block.text.utf8)) { bio in
      PKCS12Password(password).lend { pki_read_key_pem(context, bio, $0, $1) }
    }
    guard let handle else {
      throw Self.error(encrypted: block.isEncrypted, password: password, truncated: isTruncated)
    }
    defer { EVP_PKEY_free(handle) }
    guard Self.isBearable(handle) else { throw .tooCostly }
    let own = PrivateKey(copying: handle)
    guard let own else { throw .notAPrivateKey(found: nil) }
    try self.init(sharing: own)
  }

  /// Reads the DER form: PKCS#8, PKCS#1, SEC 1, or encrypted PKCS#8.
  package convenience init(der: some DataProtocol, password: String? = nil) throws(PrivateKeyError) {
    let der = Data(der)
    guard KeyDerivationCost.isBearable(der) else { throw .tooCostly }
    let parts = DER.element(der)?.children?.map(\.tag)
    // Each unencrypted form begins with a number (RFC 5208 §5, RFC 8017 §A.1.2, RFC 5915 §3). Other files need not go
    // through all decoders.
    if parts == nil || parts?.first == DER.integer,
      let key = Array(der).withUnsafeBufferPointer(KeyDecoder.privateKey)
    {
      try self.init(sharing: key)
      return
    }
    // EncryptedPrivateKeyInfo ::= SEQUENCE { SEQUENCE { algorithm… }, OCTET STRING } (RFC 5208 §6)
    guard parts == [DER.sequence, DER.octetString] else {
      throw der.isTruncatedDER ? .truncated : .notAPrivateKey(found: nil)
    }
    try self.init(encrypted: der, password: password, isTruncated: false)
  }

  /// Reads EncryptedPrivateKeyInfo (RFC 5208 §6).
  private convenience init(encrypted der: Data, password: String?, isTruncated: Bool) throws(PrivateKeyError) {
    let context: OpaquePointer
    do { context = try LegacyContext.context() } catch { throw .notAPrivateKey(found: nil) }
    OpenSSLError.clear()
    let bytes = Array(der)
    let info: OpaquePointer? =
      password == nil
      ? nil : PKCS12Password(password).lend { pki_decrypt_key(context, bytes, bytes.count, $0, $1) }
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    guard let info else { throw Self.error(encrypted: true, password: password, truncated: isTruncated) }
    // Only the right password leads to a whole structure: what it contains is no key that is known here.
    guard let key = PrivateKey(opened: info) else { throw .notAPrivateKey(found: nil) }
    try self.init(sharing: key)
  }

  /// Reads Apple's `.p8`: a private P-256 key in PEM form.
  ///
  /// - Throws: ``PrivateKeyError``; `wrongKind` and `notAPrivateKey` name what it is instead.
  package convenience init(p8 text: String) throws(PrivateKeyError) {
    try self.init(pem: text)
    guard algorithm == .p256 else { throw .wrongKind(wanted: .p256, found: algorithm) }
  }

  /// Adds a reference to an existing key, unless it is too long to work with.
  private convenience init(sharing key: PrivateKey) throws(PrivateKeyError) {
    guard Self.isBearable(key.handle) else { throw .tooCostly }
    EVP_PKEY_up_ref(key.handle)
    self.init(owning: key.handle)
  }

  /// Signing with a key of a million bits takes hours; the largest in use have 8192.
  static let maximumBits: Int32 = 16_384

  private static func isBearable(_ key: OpaquePointer) -> Bool { EVP_PKEY_get_bits(key) <= maximumBits }

  /// Turns the error queue into an error.
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
  /// Whether the data begins with a DER value that is longer than the data.
  var isTruncatedDER: Bool {
    if case .truncated = DER.header(of: Array(self)[...]) { true } else { false }
  }
}
