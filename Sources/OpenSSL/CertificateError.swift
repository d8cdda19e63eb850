/// Why something is not read as a certificate.
public enum CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is something else, or damaged.
  case notACertificate
  /// It says that it is longer than it is.
  case truncated
  /// Its dates are none: one of them, as it stands there.
  case badDates(String)
  /// It cannot be made: what was given for it does not fit.
  case cannotBeMade(OpenSSLError)

  /// In words.
  public var description: String {
    switch self {
    case .notACertificate: "This is no X.509 certificate, or a damaged one."
    case .truncated: "The certificate is cut off: its end is missing."
    case .badDates(let text): "The certificate is damaged: “\(text)” is no date."
    case .cannotBeMade(let error): "The certificate cannot be made: \(error)."
    }
  }
}
