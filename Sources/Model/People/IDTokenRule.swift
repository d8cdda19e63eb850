package import Foundation
package import JSON

/// What an ID token must say (OpenID Connect Core 1.0 §3.1.3.7). Its signature is checked before.
package struct IDTokenRule: Sendable {
  /// Seconds by which two clocks may differ.
  package static let leeway: TimeInterval = 60

  package let issuer: String
  package let clientID: String
  package let nonce: String
  /// Of the access token that came with it, as `at_hash` must be.
  package let accessTokenHash: String?
  /// When the person must have signed in at the provider at the earliest; nil: whenever.
  package let signedInSince: Date?

  package init(issuer: String, clientID: String, nonce: String, accessTokenHash: String?, signedInSince: Date? = nil) {
    (self.issuer, self.clientID, self.nonce) = (issuer, clientID, nonce)
    (self.accessTokenHash, self.signedInSince) = (accessTokenHash, signedInSince)
  }

  /// - Returns: the first problem; nil if the token is good.
  package func problem(_ claims: JSONValue, now: Date) -> Problem? {
    if claims["iss"]?.string != issuer { return Self.wrong("iss") }
    let audiences = claims["aud"]?.array?.map(\.string) ?? [claims["aud"]?.string]
    guard audiences.contains(clientID) else { return Self.wrong("aud") }
    let party = claims["azp"]
    if party == nil ? audiences.count > 1 : party?.string != clientID { return Self.wrong("azp") }
    guard let subject = claims["sub"]?.string, Self.isSubject(subject) else { return Self.wrong("sub") }
    let time = now.timeIntervalSince1970
    guard let end = Self.seconds(claims["exp"]) else { return Self.wrong("exp") }
    guard time < end + Self.leeway else { return Problem("", OIDCMessage.expired) }
    guard let made = Self.seconds(claims["iat"]) else { return Self.wrong("iat") }
    let start = claims["nbf"] == nil ? made : Self.seconds(claims["nbf"])
    guard let start else { return Self.wrong("nbf") }
    guard max(made, start) <= time + Self.leeway else { return Problem("", OIDCMessage.early) }
    guard claims["nonce"]?.string == nonce else { return Self.wrong("nonce") }
    if let hash = claims["at_hash"], hash.string != accessTokenHash { return Self.wrong("at_hash") }
    if let since = signedInSince {
      guard let at = Self.seconds(claims["auth_time"]), at >= since.timeIntervalSince1970 - Self.leeway,
        at <= time + Self.leeway
      else { return Problem("", OIDCMessage.notProven) }
    }
    return nil
  }

  private static func wrong(_ claim: String) -> Problem { Problem("", OIDCMessage.wrongClaim, ["claim": claim]) }

  /// §2: at most 255 ASCII characters.
  private static func isSubject(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
  }

  /// A NumericDate (RFC 7519 §2).
  private static func seconds(_ value: JSONValue?) -> TimeInterval? {
    switch value {
    case .integer(let seconds): TimeInterval(seconds)
    case .double(let seconds): seconds
    default: nil
    }
  }
}

/// The person whom a provider describes, in an ID token or at its userinfo endpoint.
package struct OIDCPerson: Sendable, Hashable {
  /// Never changes, other than the email address.
  package let subject: String
  package var email: String?
  /// Whether the provider says that the address is not, or perhaps not, this person’s. Many say nothing about it, and are
  /// believed.
  package var isUnverified: Bool
  /// Whether the provider says that the address is this person’s.
  package var isVerified: Bool
  /// Of the claim that gives roles.
  package var values: [String]
  /// Whether the provider says that the claim that gives roles has values which it left out, because they are too many:
  /// OpenID Connect Core 1.0 §5.6.2, and `hasgroups` of Microsoft Entra.
  package var leavesValuesOut: Bool

  /// - Parameter roleClaim: the name of a claim, or its path with dots, such as `realm_access.roles`.
  package init(_ claims: JSONValue, roleClaim: String?) {
    subject = claims["sub"]?.string ?? ""
    email = claims["email"]?.string
    isUnverified =
      switch claims["email_verified"] {
      case nil, .null, .bool(true), .string("true"): false
      default: true
      }
    isVerified = email != nil && [.bool(true), .string("true")].contains(claims["email_verified"])
    values = roleClaim.map { Self.values(claims, $0) } ?? []
    leavesValuesOut = values.isEmpty && roleClaim.map { Self.isLeftOut(claims, $0) } ?? false
  }

  private static func values(_ claims: JSONValue, _ path: String) -> [String] {
    let nested = path.split(separator: ".").reduce(claims as JSONValue?) { $0?[String($1)] }
    let found = claims[path] ?? nested
    return found?.array?.compactMap(\.string) ?? [found?.string].compactMap { $0 }
  }

  private static func isLeftOut(_ claims: JSONValue, _ path: String) -> Bool {
    let elsewhere = claims["_claim_names"]
    let names = [path] + path.split(separator: ".").prefix(1).map(String.init)
    return names.contains { elsewhere?[$0] != nil }
      || (path == "groups" && [.bool(true), .string("true")].contains(claims["hasgroups"]))
  }

  /// Adds what is only in a second answer about the same person. An address that one of the two calls unverified is.
  package mutating func add(_ other: OIDCPerson) {
    (isUnverified, isVerified) = (isUnverified || other.isUnverified, isVerified || other.isVerified)
    email = email ?? other.email
    if values.isEmpty { values = other.values }
    leavesValuesOut = values.isEmpty && (leavesValuesOut || other.leavesValuesOut)
  }
}
