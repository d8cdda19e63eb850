import OpenSSL
import Model

/// What a signed token says, once its signature was found good.
struct ProviderToken: Sendable, Hashable {
  /// Who may use one connection together: keys of one team with the same restrictions. Apple calls such keys related.
  struct Scope: Sendable, Hashable {
    let team: String
    let bundleIDs: Set<String>?
  }

  let scope: Scope
  /// Seconds since 1970.
  let issuedAt: Int64
  /// The only environment in which its key may be used; nil: both.
  let environment: Environment?

  /// Reads a token and checks its signature; nil is what APNs calls an invalid one.
  ///
  /// - Parameter keys: by key id. Empty: nobody can say whose the token is; then every one of the right form is good.
  init?(_ text: Substring, keys: [String: APNsKey]) {
    // Apple does not say what is wrong with a token, so its error is of no use here.
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

  /// Key ids and team ids have 10 letters or digits (Apple, Establishing a token-based connection to APNs).
  private static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count == 10
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
      }
  }

  /// R and S, 32 bytes each (RFC 7518 §3.4).
  private static func hasES256Signature(_ text: Substring) -> Bool {
    guard let dot = text.lastIndex(of: ".") else { return false }
    return Base64URL.decode(text[text.index(after: dot)...])?.count == 64
  }
}
