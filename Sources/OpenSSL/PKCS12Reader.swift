import COpenSSL
import Foundation

/// Walks through the bags of a PKCS#12 file. `PKCS12_parse` supports only one key, requires a checksum, and cuts a
/// password at its first NUL.
struct PKCS12Reader {
  /// Real files have a handful; each key costs a derivation.
  static let maximumBags = 200
  static let maximumDepth = 8

  let context: OpaquePointer
  let password: PKCS12Password
  private(set) var certificates: [Certificate] = []
  private(set) var keys: [PrivateKey] = []
  private(set) var algorithms: [String] = []
  private var bags = 0

  init(context: OpaquePointer, password: PKCS12Password) {
    self.context = context
    self.password = password
  }

  /// - Throws: `wrongPassword`, `unsupported`, `damaged`, `badCertificate`, `tooCostly`.
  mutating func read(_ file: OpaquePointer) throws(PKCS12Error) {
    OpenSSLError.clear()
    guard let safes = pki_safes(file) else { throw .damaged(OpenSSLError("reading a PKCS#12 file")) }
    defer { pki_safes_free(safes) }
    for index in 0..<max(0, pki_safes_count(safes)) {
      guard let safe = pki_safes_at(safes, index) else { continue }
      let kind = pki_safe_kind(safe)
      // Parts encrypted with a public key cannot be opened with a password; no program writes them.
      guard kind == NID_pkcs7_data || kind == NID_pkcs7_encrypted else { continue }
      if kind == NID_pkcs7_encrypted { note(pki_safe_algorithm(safe)) }
      OpenSSLError.clear()
      guard let found = password.lend({ pki_bags(safe, $0, $1) }) else { throw Self.refusal() }
      defer { pki_bags_free(found) }
      try read(bags: found, depth: 0)
    }
  }

  private mutating func read(bags found: OpaquePointer?, depth: Int) throws(PKCS12Error) {
    guard depth < Self.maximumDepth else { throw .tooCostly }
    for index in 0..<max(0, pki_bags_count(found)) {
      bags += 1
      guard bags <= Self.maximumBags else { throw .tooCostly }
      guard let bag = pki_bags_at(found, index) else { continue }
      OpenSSLError.clear()
      switch PKCS12_SAFEBAG_get_nid(bag) {
      case NID_keyBag: keys.append(try key(PKCS12_SAFEBAG_get0_p8inf(bag)))
      case NID_pkcs8ShroudedKeyBag:
        note(pki_bag_algorithm(bag))
        let opened = password.lend { PKCS12_decrypt_skey_ex(bag, $0, $1, context, nil) }
        guard let opened else { throw Self.refusal() }
        defer { PKCS8_PRIV_KEY_INFO_free(opened) }
        keys.append(try key(opened))
      case NID_certBag:
        guard PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate else { continue }
        try certificate(in: bag)
      case NID_safeContentsBag: try read(bags: PKCS12_SAFEBAG_get0_safes(bag), depth: depth + 1)
      default: continue  // CRL bags and secret bags
      }
    }
  }

  private mutating func note(_ algorithm: Int32) {
    guard let name = OBJ_nid2sn(algorithm).map({ String(cString: $0) }) else { return }
    if !algorithms.contains(name) { algorithms.append(name) }
  }

  /// Reads a certificate, which outlives the file.
  private mutating func certificate(in bag: OpaquePointer) throws(PKCS12Error) {
    let certificate: Certificate =
      if let plain = Self.plainCertificate(in: bag) { plain } else {
        try Self.certificate(PKCS12_SAFEBAG_get1_cert(bag))
      }
    if !certificates.contains(certificate) { certificates.append(certificate) }
  }

  /// From its bytes: OpenSSL would decode the key, too (``KeylessContext``). Nil if they are not in DER form alone.
  private static func plainCertificate(in bag: OpaquePointer) -> Certificate? {
    // SafeBag { type, [0] { CertBag { type, [0] { OCTET STRING } } }, … } (RFC 7292 §4.2)
    guard let der = derEncoded({ i2d_PKCS12_SAFEBAG(bag, $0) }),
      let value = DER.element(der)?.children?.dropFirst().first?.children?.first?.children?.dropFirst().first,
      let content = value.children?.first, content.tag == DER.octetString
    else { return nil }
    return try? Certificate(der: Array(content.content))
  }

  private static func certificate(_ x509: OpaquePointer?) throws(PKCS12Error) -> Certificate {
    defer { X509_free(x509) }
    guard let x509, let der = derEncoded({ i2d_X509(x509, $0) }) else {
      throw .damaged(OpenSSLError("reading a certificate"))
    }
    do { return try Certificate(der: der) } catch { throw .badCertificate(error) }
  }

  /// Reads a key in the default context: TLS does not accept keys of another.
  private func key(_ info: OpaquePointer?) throws(PKCS12Error) -> PrivateKey {
    guard let info, let key = PrivateKey(opened: info) else { throw .damaged(OpenSSLError("reading a private key")) }
    guard EVP_PKEY_get_bits(key.handle) <= PrivateKey.maximumBits else { throw .tooCostly }
    return key
  }

  /// Turns the error queue into the reason why a part did not open.
  private static func refusal() -> PKCS12Error {
    let error = OpenSSLError("reading a PKCS#12 file")
    if let algorithm = error.unsupportedAlgorithm, !error.isBadDecrypt { return .unsupported(algorithm: algorithm) }
    return .wrongPassword
  }
}

extension PrivateKey {
  /// Copies a key into the default context, nil if its kind is unknown there.
  convenience init?(copying key: OpaquePointer) { self.init(encoding: { i2d_PrivateKey(key, $0) }) }

  /// Reads an opened PKCS#8 structure in the default context, nil if the kind of its key is unknown there.
  convenience init?(opened info: OpaquePointer) { self.init(encoding: { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }) }

  /// - Parameter write: encodes the key.
  private convenience init?(
    encoding write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32
  ) {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = write(&bytes)
    guard count > 0, let bytes else { return nil }
    defer { OPENSSL_cleanse(bytes, Int(count)); pki_free(bytes) }
    guard let own = KeyDecoder.privateKey(UnsafeBufferPointer(start: bytes, count: Int(count))) else { return nil }
    EVP_PKEY_up_ref(own.handle)
    self.init(owning: own.handle)
  }
}

/// An OpenSSL library context of our own that also supports the algorithms of old files, mainly RC2-40.
///
/// Separate, because loading the provider "legacy" into the global context would offer these algorithms everywhere and
/// end the automatic loading of "default" (OSSL_PROVIDER-legacy(7)).
enum LegacyContext {
  private struct Loaded: @unchecked Sendable {
    // @unchecked Sendable because the context is created once, never freed, and usable by many threads
    // (OSSL_LIB_CTX(3)).
    let context: OpaquePointer
  }

  private static let loaded: Loaded? = {
    guard let context = OSSL_LIB_CTX_new() else { return nil }
    guard OSSL_PROVIDER_load(context, "default") != nil else {
      OSSL_LIB_CTX_free(context)
      return nil
    }
    // Without its module, all files but the old ones can still be read.
    _ = OSSL_PROVIDER_load(context, "legacy")
    OpenSSLError.clear()
    return Loaded(context: context)
  }()

  /// Created by the first call.
  static func context() throws(PKCS12Error) -> OpaquePointer {
    guard let loaded else { throw .damaged(OpenSSLError("loading OpenSSL's providers")) }
    return loaded.context
  }
}
