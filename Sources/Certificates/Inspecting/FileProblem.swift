import Model
package import Providers

/// The reason why a file is refused. ``problem`` adds the fix.
package enum FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
  case empty
  /// Larger than ``CertificateFile/maximumBytes``; nil if the size is unknown, as with a pipe.
  case tooLarge(bytes: Int?)
  /// Another type of file.
  case notACertificateFile(Found)
  case truncated
  /// The format is recognized, but the content is invalid.
  case damaged(detail: String)
  case passwordNeeded
  case wrongPassword
  /// The password works without the blanks or line breaks around it.
  case passwordHasBlanks
  /// Encrypted with an algorithm that is not supported.
  case unsupportedAlgorithm(String)
  /// So many key derivation rounds that decrypting would take minutes.
  case tooCostly
  /// More certificates and keys than one credential has.
  case tooManyParts(Int)
  /// A key that is not for APNs, without a certificate.
  case noCertificate
  /// The private key matches none of the certificates.
  case keyDoesNotMatch
  /// The names of several push certificates for different topics.
  case severalCertificates([String])
  /// The requested certificate is missing or ambiguous; the names of those in the file.
  case noSuchCertificate([String])
  /// The key is not on P-256, the curve that APNs requires.
  case wrongKeyKind(found: String)
  /// The private value is out of range, or does not match the public key.
  case unsoundKey
  /// A complete PEM block with invalid Base64.
  case badBase64
  /// A signed file whose content is not a provisioning profile.
  case notAProfile(detail: String)
  /// Truncated or invalid JSON that contains a key.
  case jsonDamaged(String)
  /// A Google service account that cannot be used to send.
  case serviceAccount(ServiceAccountProblem)
  /// JPush keys; the named one, `app_key` or `master_secret`, is missing or invalid.
  case keyPair(String)

  package var description: String { problem.text }
}
