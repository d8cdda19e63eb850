/// Why a token is not read.
package enum JSONWebTokenError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is not three parts in Base64 with JSON inside, or an `alg` is missing.
  case malformed

  /// In words.
  package var description: String {
    switch self {
    case .malformed: "This is not a JSON Web Token (Base64 header, claims, and signature joined by dots)."
    }
  }
}
