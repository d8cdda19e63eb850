import COpenSSL
import Foundation

/// One form of the password of a `.p12` file; nil bytes: none at all, which is not the same as an empty one.
///
/// PKCS#12 takes passwords as BMPString, so the same characters in another normal form of Unicode are another password:
/// macOS and the web hand over composed characters, some tools decomposed ones. OpenSSL before 1.1.0 took each byte of
/// the UTF-8 for a character of its own (PKCS12_create(3), "the password encoding").
struct PKCS12Password: Hashable {
  let bytes: [UInt8]?

  init(bytes: [UInt8]?) { self.bytes = bytes }

  /// A password as it was typed.
  init(_ password: String?) { bytes = password.map { Array($0.utf8) } }

  /// What a password may mean, the most likely form first.
  static func forms(of password: String?) -> [PKCS12Password] {
    guard let password else { return [PKCS12Password(bytes: nil), PKCS12Password(bytes: [])] }
    if password.isEmpty { return [PKCS12Password(bytes: []), PKCS12Password(bytes: nil)] }
    let old = String(String.UnicodeScalarView(password.utf8.map(Unicode.Scalar.init)))
    var forms: [PKCS12Password] = []
    for text in [
      password, password.precomposedStringWithCanonicalMapping, password.decomposedStringWithCanonicalMapping, old,
    ] {
      let form = PKCS12Password(bytes: Array(text.utf8))
      if !forms.contains(form) { forms.append(form) }
    }
    return forms
  }

  /// Lends the bytes with their length; a NUL among them is one of them.
  func lend<Value>(_ body: (UnsafePointer<CChar>?, Int32) -> Value) -> Value {
    guard let bytes else { return body(nil, 0) }
    // One more, so that there is an address also for an empty password.
    return (bytes + [0]).map(CChar.init(bitPattern:)).withUnsafeBufferPointer {
      body($0.baseAddress, Int32(clamping: bytes.count))
    }
  }

  /// Whether it fits a file's checksum.
  ///
  /// - Throws: `unsupported` if the checksum is made with what this OpenSSL does not have.
  func matches(_ handle: OpaquePointer) throws(PKCS12Error) -> Bool {
    OpenSSLError.clear()
    if lend({ PKCS12_verify_mac(handle, $0, $1) }) == 1 { return true }
    let error = OpenSSLError("checking the password")
    if let algorithm = error.unsupportedAlgorithm { throw .unsupported(algorithm: algorithm) }
    return false
  }
}
