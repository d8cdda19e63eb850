import COpenSSL

/// An OpenSSL failure in OpenSSL's words.
///
/// Errors are equal if their texts are. Never contains a key or a password.
package struct OpenSSLError: Error, Sendable, Hashable, CustomStringConvertible {
  package struct Reason: Sendable, Hashable {
    /// The part of OpenSSL, as `asn1 encoding routines`.
    package let library: String
    /// What went wrong, as `too long`.
    package let text: String
    /// Details such as `Algorithm (RC2-40-CBC : 0)`; often empty.
    package let detail: String

    let isUnsupported: Bool
    let isBadDecrypt: Bool
  }

  /// The failed action, such as `making a key`.
  package let action: String
  /// The oldest, innermost one first. May be empty.
  package let reasons: [Reason]

  /// Takes all entries of this thread's error queue.
  init(_ action: String) {
    self.action = action
    var reasons: [Reason] = []
    var detail: UnsafePointer<CChar>?
    var flags: Int32 = 0
    while true {
      let code = ERR_get_error_all(nil, nil, nil, &detail, &flags)
      guard code != 0 else { break }
      let reason = pki_error_reason(code)
      reasons.append(
        Reason(
          library: ERR_lib_error_string(code).map { String(cString: $0) } ?? "OpenSSL",
          text: ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(reason)",
          detail: flags & ERR_TXT_STRING == 0 ? "" : detail.map { String(cString: $0) } ?? "",
          // Decoders report "unsupported" for any invalid input, including output of a wrong password.
          isUnsupported: (pki_error_is_unsupported(code) == 1 && Self.library(of: code) != ERR_LIB_OSSL_DECODER)
            || Self.isUnsupported(library: Self.library(of: code), reason: reason),
          isBadDecrypt: Self.isBadDecrypt(library: Self.library(of: code), reason: reason)))
    }
    self.reasons = reasons
  }

  /// As `making a key: asn1 encoding routines: too long (Type=X509)`.
  package var description: String {
    guard let first = reasons.first else { return "\(action): OpenSSL gave no reason" }
    return "\(action): \(first.library): \(first.text)" + (first.detail.isEmpty ? "" : " (\(first.detail))")
  }

  /// The algorithm that this OpenSSL lacks, if that is the reason.
  var unsupportedAlgorithm: String? {
    guard let reason = reasons.first(where: \.isUnsupported) else { return nil }
    // As "Global default library context, Algorithm (RC2-40-CBC : 0), Properties ()".
    if let match = reason.detail.firstMatch(of: /Algorithm \(([^ )]+)/) { return String(match.1) }
    return reason.detail.isEmpty ? reason.text : reason.detail
  }

  /// Whether a decryption failed, as with a wrong password.
  var isBadDecrypt: Bool { reasons.contains(where: \.isBadDecrypt) }

  /// Empties the error queue, so that later entries belong to the next call.
  static func clear() { ERR_clear_error() }

  private static func library(of code: UInt) -> Int32 { Int32(truncatingIfNeeded: (code >> 23) & 0xFF) }

  private static func isUnsupported(library: Int32, reason: Int32) -> Bool {
    switch (library, reason) {
    case (ERR_LIB_EVP, EVP_R_UNKNOWN_PBE_ALGORITHM), (ERR_LIB_EVP, EVP_R_UNSUPPORTED_ALGORITHM),
      (ERR_LIB_EVP, EVP_R_UNSUPPORTED_CIPHER), (ERR_LIB_EVP, EVP_R_UNKNOWN_CIPHER),
      (ERR_LIB_EVP, EVP_R_UNKNOWN_DIGEST), (ERR_LIB_EVP, EVP_R_UNSUPPORTED_PRF),
      (ERR_LIB_EVP, EVP_R_UNSUPPORTED_KEY_DERIVATION_FUNCTION), (ERR_LIB_EVP, EVP_R_UNSUPPORTED_KEYLENGTH),
      (ERR_LIB_PKCS12, PKCS12_R_UNKNOWN_DIGEST_ALGORITHM), (ERR_LIB_PEM, PEM_R_UNSUPPORTED_ENCRYPTION),
      (ERR_LIB_PEM, PEM_R_UNSUPPORTED_CIPHER):
      true
    default: false
    }
  }

  private static func isBadDecrypt(library: Int32, reason: Int32) -> Bool {
    switch (library, reason) {
    case (ERR_LIB_PROV, PROV_R_BAD_DECRYPT), (ERR_LIB_EVP, EVP_R_BAD_DECRYPT), (ERR_LIB_PEM, PEM_R_BAD_DECRYPT),
      (ERR_LIB_PKCS12, PKCS12_R_PKCS12_CIPHERFINAL_ERROR), (ERR_LIB_PKCS12, PKCS12_R_MAC_VERIFY_FAILURE):
      true
    default: false
    }
  }
}
