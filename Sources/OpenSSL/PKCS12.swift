import COpenSSL
package import Foundation

/// The contents of a `.p12` or `.pfx` file (RFC 7292).
package struct PKCS12: Sendable {
  /// The certificate of ``key``; without a key the first one. Nil if the file has none.
  package let certificate: Certificate?
  /// The first private key whose certificate is in the file; else the first one.
  package let key: PrivateKey?
  /// All other certificates: issuers, or further identities.
  package let others: [Certificate]
  package let certificates: [Certificate]
  package let keys: [PrivateKey]
  /// The encryption algorithms, such as `pbeWithSHA1And40BitRC2-CBC`.
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

  /// Opens a file, whatever its encryption, including RC2-40, which Keychain Access uses.
  ///
  /// Without a password, or with an empty one, both forms of "none" are tried: no bytes, and an empty string. May take
  /// a processor some seconds: run it on a thread that may block.
  ///
  /// - Parameters:
  ///   - data: the file; the caller limits its size.
  ///   - password: in any Unicode normal form; see ``PKCS12Password``.
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
    // Each form of the password repeats the rounds.
    let forms = PKCS12Password.forms(of: password).prefix(max(1, KeyDerivationCost.limit / max(1, rounds)))
    let isChecked = PKCS12_mac_present(handle) == 1
    for form in forms {
      if isChecked, !(try form.matches(handle)) { continue }
      // Old OpenSSL versions may have used the checksum's form of the password nowhere else.
      for body in isChecked ? [form] + forms.filter({ $0 != form }) : [form] {
        do { return try contents(handle, context, password: body) } catch .wrongPassword { continue }
      }
      // The checksum confirmed the password: what it does not open is damaged.
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
    // -1 stands for an overflow.
    return value < 0 ? .max : value
  }

  /// - Throws: `wrongPassword` if this form of the password does not open the file.
  private static func contents(
    _ handle: OpaquePointer, _ context: OpaquePointer, password: PKCS12Password
  ) throws(PKCS12Error) -> PKCS12 {
    var reader = PKCS12Reader(context: context, password: password)
    try reader.read(handle)
    return PKCS12(certificates: reader.certificates, keys: reader.keys, algorithms: reader.algorithms)
  }
}

/// Why a `.p12` file cannot be read.
package enum PKCS12Error: Error, Sendable, Hashable, CustomStringConvertible {
  /// Another format.
  case notPKCS12
  case truncated
  case passwordNeeded
  case wrongPassword
  /// Encrypted with an algorithm that this OpenSSL lacks.
  case unsupported(algorithm: String)
  /// Its key derivation is so slow that reading it would block the machine.
  case tooCostly
  /// The password is right, but the content is invalid.
  case damaged(OpenSSLError)
  case badCertificate(CertificateError)

  package var description: String {
    switch self {
    case .notPKCS12: "This is not a valid PKCS#12 file (.p12, .pfx)."
    case .truncated: "The file is truncated."
    case .passwordNeeded: "The file is encrypted. Enter its password."
    case .wrongPassword: "Wrong password."
    case .unsupported(let algorithm): "The file is encrypted with \(algorithm), which is not supported."
    case .tooCostly: "The file uses too many key derivation rounds."
    case .damaged(let error): "The file is damaged: \(error)."
    case .badCertificate(let error): "A certificate in the file cannot be read: \(error)"
    }
  }
}
