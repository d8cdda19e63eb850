import Model

/// Why a file is refused. Each cause says what to do; see ``problem``.
package enum FileProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// It has no bytes.
  case empty
  /// It is larger than ``CertificateFile/maximumBytes``; nil: how large is not known, as with a pipe.
  case tooLarge(bytes: Int?)
  /// It is something else.
  case notACertificateFile(Found)
  /// Its end is missing.
  case truncated
  /// It says what it is, and is not.
  case damaged(detail: String)
  /// It is encrypted, and no password was given.
  case passwordNeeded
  /// It is encrypted with another password.
  case wrongPassword
  /// The password fits without the blanks or line breaks at its ends.
  case passwordHasBlanks
  /// It is encrypted with what is not known here.
  case unsupportedAlgorithm(String)
  /// Opening it would take minutes, on purpose or not.
  case tooCostly
  /// It holds so many certificates and keys that it is a collection.
  case tooManyParts(Int)
  /// It holds a key and no certificate, and the key is not one for APNs.
  case noCertificate
  /// Its private key belongs to none of its certificates.
  case keyDoesNotMatch
  /// It holds several push certificates for different topics: these.
  case severalCertificates([String])
  /// None of its certificates, or more than one, is the one that was asked for; these are there.
  case noSuchCertificate([String])
  /// A key that is not on P-256, the curve of APNs.
  case wrongKeyKind(found: String)
  /// The number of a key is none, or its public half belongs to another key.
  case unsoundKey
  /// A text in PEM form whose block ends, and holds what is no Base64.
  case badBase64
  /// A signed file whose content is no provisioning profile.
  case notAProfile(detail: String)
  /// A JSON file with a key that cannot be read to its end.
  case jsonDamaged(String)
  /// The file of a Google service account with which nothing can be sent.
  case serviceAccount(ServiceAccountProblem)
  /// Keys of JPush, of which `app_key` or `master_secret` is missing or none.
  case keyPair(String)

  /// The English sentence.
  package var description: String { problem.text }
}
