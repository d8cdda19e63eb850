import Foundation
import JSON
package import OpenSSL
import Synchronization

/// The service account that a simulated Firebase project knows.
package struct FCMServiceAccount: Sendable {
  package let email: String
  package let key: PublicKey
  /// Its Google project; nil: it may send for every one.
  package let project: String?

  package init(email: String, key: PublicKey, project: String? = nil) {
    (self.email, self.key, self.project) = (email, key, project)
  }
}

/// Google's token endpoint: gives access tokens for signed assertions (RFC 7523), and knows which are valid.
final class AccessTokens: Sendable {
  /// Seconds for which an access token is valid; Google says one less than an hour.
  static let lifetime: TimeInterval = 3599
  /// The longest time between `iat` and `exp`, in seconds.
  private static let longestAssertion: Int64 = 3600
  /// Seconds by which clocks may differ.
  private static let tolerance: Int64 = 300
  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  private static let scopes: Set<Substring> = [
    "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
  ]
  /// Tokens that are remembered; beyond it, the expired are forgotten, and then all.
  private static let limit = 10_000

  private let account: FCMServiceAccount?
  private let expirations = Mutex<[String: Date]>([:])

  /// - Parameter account: nil: every assertion is accepted, whoever signed it.
  init(_ account: FCMServiceAccount?) { self.account = account }

  /// Answers `POST /token`.
  func answer(_ form: [String: String], now: Date) -> SimulatedReply {
    guard let grantType = form["grant_type"] else {
      return Self.refusal("invalid_request", "Required parameter is missing: grant_type")
    }
    guard grantType == Self.grantType else {
      return Self.refusal("unsupported_grant_type", "Invalid grant_type: \(grantType.prefix(100))")
    }
    guard let assertion = form["assertion"], !assertion.isEmpty else {
      return Self.refusal("invalid_request", "Required parameter is missing: assertion")
    }
    if let refusal = refusal(of: assertion, now: now) { return refusal }
    let token = "ya29.c.\(Random.token(bytes: 96))"
    let expiration = now.addingTimeInterval(Self.lifetime)
    expirations.withLock { tokens in
      if tokens.count >= Self.limit { tokens = tokens.filter { $0.value > now } }
      if tokens.count >= Self.limit { tokens = [:] }
      tokens[token] = expiration
    }
    return SimulatedReply([
      "access_token": .string(token), "expires_in": .integer(Int64(Self.lifetime)), "token_type": "Bearer",
    ])
  }

  private func refusal(of assertion: String, now: Date) -> SimulatedReply? {
    let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
    // The error says no more than that it is no token.
    guard let token = try? JSONWebToken(assertion), parts.count == 3, let bytes = Base64URL.decode(parts[1]),
      let claims = try? JSONValue(parsing: bytes)  // as above
    else { return Self.refusal("invalid_grant", "Bad Request: the assertion is not a JSON Web Token.") }
    guard token.algorithm == "RS256" else {
      return Self.refusal("invalid_grant", "Invalid JWT: the algorithm must be RS256.")
    }
    guard let issuer = token.issuer, issuer.contains("@") else {
      return Self.refusal("invalid_grant", "Invalid JWT: iss must be the email address of a service account.")
    }
    guard let audience = claims["aud"]?.string, audience.hasPrefix("http"), audience.hasSuffix("/token") else {
      return Self.refusal("invalid_grant", "Invalid JWT: aud must be https://oauth2.googleapis.com/token.")
    }
    let time = Int64(now.timeIntervalSince1970)
    // `iat` may be any number: `exp - iat` could overflow.
    guard let issued = token.issuedAt, let expires = token.expiresAt, issued <= time + Self.tolerance,
      expires > time - Self.tolerance, expires > issued, issued >= expires - Self.longestAssertion
    else {
      return Self.refusal(
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
          + "Check your iat and exp values in the JWT claim.")
    }
    guard let scope = claims["scope"]?.string,
      scope.split(separator: " ").contains(where: Self.scopes.contains)
    else { return Self.refusal("invalid_scope", "Invalid OAuth scope or ID token audience provided.") }
    guard let account else { return nil }
    guard issuer == account.email else { return Self.refusal("invalid_grant", "Invalid grant: account not found") }
    return token.isSigned(by: account.key) ? nil : Self.refusal("invalid_grant", "Invalid JWT Signature.")
  }

  private static func refusal(_ error: String, _ description: String) -> SimulatedReply {
    SimulatedReply(status: 400, ["error": .string(error), "error_description": .string(description)])
  }

  /// Checks the field `authorization` of a request.
  func check(_ authorization: String?, now: Date) throws(FCMError) {
    guard let authorization, !authorization.isEmpty else { throw .unauthenticated("CREDENTIALS_MISSING") }
    let words = authorization.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bearer",
      let expiration = expirations.withLock({ $0[String(words[1])] })
    else { throw .unauthenticated("ACCESS_TOKEN_TYPE_UNSUPPORTED") }
    guard expiration > now else { throw .unauthenticated(FCMError.expiredToken) }
  }
}
