import COpenSSL
import Foundation

/// One form of the password of a `.p12` file; nil: no password, which differs from an empty one.
///
/// PKCS#12 encodes passwords as BMPString, so another Unicode normal form is another password: macOS and browsers pass
/// composed characters, some tools decomposed ones. OpenSSL before 1.1.0 took each UTF-8 byte for a character
/// (PKCS12_create(3), "the password encoding").
struct PKCS12Password: Hashable {
  let bytes: [UInt8]?

  init(bytes: [UInt8]?) { self.bytes = bytes }

  init(_ password: String?) { bytes = password.map { Array($0.utf8) } }

  /// The possible forms of a password, the most likely first.
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

  /// Passes the bytes with their length, because a NUL may be one of them.
  func lend<Value>(_ body: (UnsafePointer<CChar>?, Int32) -> Value) -> Value {
    guard let bytes else { return body(nil, 0) }
    // One more byte, so that an empty password has an address too.
    return (bytes + [0]).map(CChar.init(bitPattern:)).withUnsafeBufferPointer {
      body($0.baseAddress, Int32(clamping: bytes.count))
    }
  }

  /// Whether it matches a file's checksum.
  ///
  /// - Throws: `unsupported` if this OpenSSL lacks the checksum's algorithm.
  func matches(_ handle: OpaquePointer) throws(PKCS12Error) -> Bool {
    OpenSSLError.clear()
    if lend({ PKCS12_verify_mac(handle, $0, $1) }) == 1 { return true }
    let error = OpenSSLError("checking the password")
    if let algorithm = error.unsupportedAlgorithm { throw .unsupported(algorithm: algorithm) }
    return false
  }
}
