import Foundation

/// A signed token in the form `header.claims.signature` (RFC 7519, RFC 7515 compact form).
///
/// Parsing is lenient, like Apple's server: `typ` may be missing, and times may be strings, as a well-known client
/// writes them. The signature is not checked; ``isSigned(by:)`` does that.
package struct JSONWebToken: Sendable, Hashable, CustomStringConvertible {
  /// `alg`, such as `ES256`.
  package let algorithm: String
  /// `kid`.
  package let keyID: String?
  /// `iss`: for Apple the team ID.
  package let issuer: String?
  /// `iat`, in seconds since 1970.
  package let issuedAt: Int64?
  /// `exp`, in seconds since 1970.
  package let expiresAt: Int64?

  private let signed: Substring
  private let signature: [UInt8]

  /// Longer ones are refused unread.
  package static let maximumLength = 8192

  /// Reads a token.
  package init(_ text: String) throws(JSONWebTokenError) {
    guard text.utf8.count <= Self.maximumLength else { throw .malformed }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { throw .malformed }
    do {
      let header = try JSONDecoder().decode(Header.self, from: Data(header))
      let claims = try JSONDecoder().decode(Claims.self, from: Data(claims))
      algorithm = header.alg
      keyID = header.kid
      issuer = claims.iss
      issuedAt = claims.iat?.seconds
      expiresAt = claims.exp?.seconds
    } catch {
      throw .malformed
    }
    signed = text[..<parts[1].endIndex]
    self.signature = signature
  }

  /// Whether `key`'s owner signed the token with the algorithm that it names and that matches the key.
  package func isSigned(by key: PublicKey) -> Bool {
    let message = Array(signed.utf8)
    switch (algorithm, key.algorithm) {
    case ("ES256", .p256): return key.verifiesES256(signature, of: message)
    case ("RS256", .rsa): return key.verifiesRS256(signature, of: message)
    default: return false
    }
  }

  /// Omits the signature, with which others could use the token.
  package var description: String {
    "JSON Web Token \(algorithm), key \(keyID ?? "none"), issuer \(issuer ?? "none")"
  }

  private struct Header: Decodable {
    var alg: String
    var kid: String?
  }

  private struct Claims: Decodable {
    var iss: String?
    var iat: Time?
    var exp: Time?
  }

  /// A NumericDate (RFC 7519 §2), with or without a fraction, or as a string.
  private struct Time: Decodable {
    let seconds: Int64

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      // Each form is tried in turn.
      let number = try? container.decode(Double.self)
      let value = try number ?? Double(container.decode(String.self)) ?? .nan
      guard let seconds = Int64(exactly: value.rounded(.down)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time")
      }
      self.seconds = seconds
    }
  }
}

/// Why a token could not be read.
package enum JSONWebTokenError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not three Base64 parts with JSON inside, or without `alg`.
  case malformed

  package var description: String {
    switch self {
    case .malformed: "This is not a JSON Web Token (Base64 header, claims, and signature joined by dots)."
    }
  }
}
