package import Model
package import OpenSSL

/// The content of a verified provider token.
struct ProviderToken: Sendable, Hashable {
  /// Tokens of one scope may share a connection: their keys belong to one team and have the same restrictions. Apple
  /// calls such keys related.
  struct Scope: Sendable, Hashable {
    let team: String
    let bundleIDs: Set<String>?
  }

  let scope: Scope
  /// Seconds since 1970.
  let issuedAt: Int64
  /// The key's environment; nil: both.
  let environment: Environment?

  /// Reads a token and verifies its signature; nil if APNs would call it invalid.
  ///
  /// - Parameter keys: by key ID. Empty: every well-formed token is accepted.
  init?(_ text: Substring, keys: [String: APNsKey]) {
    // APNs has one reason for all invalid tokens, so the error is not needed.
    guard let token = try? JSONWebToken(String(text)), token.algorithm == "ES256", let keyID = token.keyID,
      let team = token.issuer, let issuedAt = token.issuedAt
    else { return nil }
    self.issuedAt = issuedAt
    if keys.isEmpty {
      guard Self.isIdentifier(keyID), Self.isIdentifier(team), Self.hasES256Signature(text) else { return nil }
      scope = Scope(team: team, bundleIDs: nil)
      environment = nil
    } else {
      guard let key = keys[keyID], key.team == nil || key.team == team, token.isSigned(by: key.publicKey)
      else { return nil }
      scope = Scope(team: team, bundleIDs: key.bundleIDs)
      environment = key.environment
    }
  }

  /// Key IDs and team IDs have 10 letters or digits (Apple, Establishing a token-based connection to APNs).
  private static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count == 10
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) }
  }

  /// R and S, 32 bytes each (RFC 7518 §3.4).
  private static func hasES256Signature(_ text: Substring) -> Bool {
    guard let dot = text.lastIndex(of: ".") else { return false }
    return Base64URL.decode(text[text.index(after: dot)...])?.count == 64
  }
}

/// A signing key (`.p8`) of the simulated developer account.
package struct APNsKey: Sendable, Hashable {
  /// The team ID required as a token's `iss`, 10 characters; nil: any team.
  package var team: String?
  /// The half that Apple stores.
  package var publicKey: PublicKey
  /// Restricts the key to an environment; nil: both.
  package var environment: Environment?
  /// Restricts the key to bundle IDs; nil: all of the team.
  package var bundleIDs: Set<String>?

  /// Without restrictions the key is team-scoped, in Apple's terms.
  package init(team: String?, publicKey: PublicKey, environment: Environment? = nil, bundleIDs: Set<String>? = nil) {
    (self.team, self.publicKey, self.environment, self.bundleIDs) = (team, publicKey, environment, bundleIDs)
  }
}
