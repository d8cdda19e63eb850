import COpenSSL
package import Foundation

/// What a `.p12` or `.pfx` file holds (RFC 7292).
package struct PKCS12: Sendable {
  /// The certificate that ``key`` belongs to; without a key the first one. Nil if the file holds none of that kind.
  package let certificate: Certificate?
  /// The first private key that has its certificate in the file; else the first one.
  package let key: PrivateKey?
  /// All other certificates: issuers, or further identities.
  package let others: [Certificate]
  /// Every certificate, in the order of the file.
  package let certificates: [Certificate]
  /// Every private key, in the order of the file.
  package let keys: [PrivateKey]
  /// With which algorithms the file is encrypted, as `pbeWithSHA1And40BitRC2-CBC`.
  package let algorithms: [String]

  init(certificates: [Certificate], keys: [PrivateKey], algorithms: [String]) {
    self.certificates = certificates
    self.keys = keys
    self.algorithms = algorithms
    let publicHalves = Dictionary(keys.map { ($0.publicKey.der, $0) }) { first, _ in first }
    let own = certificates.firstIndex { publicHalves[$0.publicKeyDER] != nil }
    var rest = certificates
    certificate = own.map { rest.remove(at: $0) } ?? (keys.isEmpty && !rest.isEmpty ? rest.removeFirst() : nil)
    key = certificate.flatMap { publicHalves[$0.publicKeyDER] } ?? keys.first
    others = rest
  }

  /// A file's certificate and key, and what else is in it.
  ///
  /// - Throws: ``PKCS12Error``: `noPrivateKey`, `noCertificate`, `keyDoesNotMatch`.
  package func identity() throws(PKCS12Error) -> (certificate: Certificate, key: PrivateKey) {
    guard let key else { throw certificates.isEmpty ? .noCertificate : .noPrivateKey }
    guard let certificate else { throw certificates.isEmpty ? .noCertificate : .keyDoesNotMatch }
    return (certificate, key)
  }

  /// Opens a file, whatever it is encrypted with: also RC2-40, with which Keychain Access writes.
  ///
  /// Without a password, or with an empty one, both forms of "none" are tried: no bytes, and one empty string.
  /// May use a processor for up to some seconds, so it belongs on a thread that may block.
  ///
  /// - Parameters:
  ///   - data: the file; whoever calls limits its size.
  ///   - password: in whatever form of Unicode it was typed; see ``PKCS12Password``.
  /// - Throws: ``PKCS12Error``.
  package static func open(_ data: some DataProtocol, password: String?) throws(PKCS12Error) -> PKCS12 {
    let bytes = Array(data)
    switch DER.header(of: bytes[...]) {
    case .truncated where bytes.first == DER.sequence: throw .truncated
    case .whole(DER.sequence, _), .indefinite: break
    default: throw .notPKCS12
    }
    let context = try LegacyContext.context()
    OpenSSLError.clear()
    var handle = PKCS12_init_ex(NID_pkcs7_data, context, nil)
    let read = bytes.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_PKCS12(&handle, &position, buffer.count) != nil
    }
    // If it cannot be read, d2i_PKCS12 has freed it (d2i_X509(3), "the structure is freed").
    guard read, let handle else {
      OpenSSLError.clear()
      throw .notPKCS12
    }
    defer { PKCS12_free(handle) }
    let rounds = max(KeyDerivationCost.rounds(in: bytes), macRounds(handle))
    guard rounds <= KeyDerivationCost.limit else { throw .tooCostly }
    let refusal = password.map(\.isEmpty) == false ? PKCS12Error.wrongPassword : .passwordNeeded
    // Each form of the password costs the rounds anew.
    let forms = PKCS12Password.forms(of: password).prefix(max(1, KeyDerivationCost.limit / max(1, rounds)))
    let isChecked = PKCS12_mac_present(handle) == 1
    for form in forms {
      if isChecked, !(try form.matches(handle)) { continue }
      // A file of an old OpenSSL may use the checksum's form of the password nowhere else.
      for body in isChecked ? [form] + forms.filter({ $0 != form }) : [form] {
        do { return try contents(handle, context, password: body) } catch .wrongPassword { continue }
      }
      // The checksum said that the password is right: what does not open with it is damaged.
      if isChecked { throw .damaged(OpenSSLError("reading a PKCS#12 file")) }
    }
    throw refusal
  }

  private static func macRounds(_ handle: OpaquePointer) -> Int {
    var rounds: UnsafePointer<ASN1_INTEGER>?
    PKCS12_get0_mac(nil, nil, nil, &rounds, handle)
    guard let rounds else { return 1 }
    let value = ASN1_INTEGER_get(rounds)
    OpenSSLError.clear()
    // -1 stands for a number that does not fit.
    return value < 0 ? .max : value
  }

  /// - Throws: `wrongPassword` if it does not open with this form of the password.
  private static func contents(
    _ handle: OpaquePointer, _ context: OpaquePointer, password: PKCS12Password
  ) throws(PKCS12Error) -> PKCS12 {
    var reader = PKCS12Reader(context: context, password: password)
    try reader.read(handle)
    return PKCS12(certificates: reader.certificates, keys: reader.keys, algorithms: reader.algorithms)
  }
}
