/// Why something is not read as a private key, or not as the key that is wanted.
package enum PrivateKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is something else: what, if that can be said, as `a certificate`.
  case notAPrivateKey(found: String?)
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
  /// It is a private key of another kind than the one that is wanted.
  case wrongKind(wanted: KeyAlgorithm, found: KeyAlgorithm)

  /// In words.
  package var description: String {
    switch self {
    case .notAPrivateKey(let found):
      found.map { "This is \($0), not a private key." } ?? "This is not a valid private key."
    case .truncated: "The private key is truncated."
    case .passwordNeeded: "The private key is encrypted. Enter its password."
    case .wrongPassword: "Wrong password for the private key."
    case .unsupported(let algorithm): "The private key is encrypted with \(algorithm), which is not supported."
    case .tooCostly: "The private key uses too many key derivation rounds."
    case .wrongKind(let wanted, let found): "The private key is of type \(found), but \(wanted) is needed."
    }
  }
}
