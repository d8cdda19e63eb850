/// Why a `.p12` file is not read, or cannot be used.
package enum PKCS12Error: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is another kind of file.
  case notPKCS12
  /// Its end is missing.
  case truncated
  /// It is encrypted, and no password was given.
  case passwordNeeded
  /// It is encrypted with another password.
  case wrongPassword
  /// It is encrypted with what this OpenSSL does not have.
  case unsupported(algorithm: String)
  /// Guessing its password was made so slow that reading it would block the machine.
  case tooCostly
  /// The password fits, but the content is no PKCS#12.
  case damaged(OpenSSLError)
  /// A certificate in it cannot be read.
  case badCertificate(CertificateError)
  /// It holds no certificate.
  case noCertificate
  /// It holds certificates, and no private key.
  case noPrivateKey
  /// Its private key belongs to none of its certificates.
  case keyDoesNotMatch

  /// In words.
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
    case .noCertificate: "The file contains no certificate."
    case .noPrivateKey: "The file contains no private key."
    case .keyDoesNotMatch: "The private key in the file matches none of its certificates."
    }
  }
}
