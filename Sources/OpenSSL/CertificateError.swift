/// Why something is not read as a certificate.
package enum CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is something else, or damaged.
  case notACertificate
  /// It says that it is longer than it is.
  case truncated
  /// Its dates are none: one of them, as it stands there.
  case badDates(String)
  /// It cannot be made: what was given for it does not fit.
  case cannotBeMade(OpenSSLError)

  /// In words.
  package var description: String {
    switch self {
    case .notACertificate: "This is not a valid X.509 certificate."
    case .truncated: "The certificate is truncated."
    case .badDates(let text): "The certificate is damaged: “\(text)” is not a date."
    case .cannotBeMade(let error): "The certificate cannot be created: \(error)."
    }
  }
}
