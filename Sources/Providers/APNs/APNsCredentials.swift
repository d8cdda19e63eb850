package import OpenSSL

/// Who we are to APNs.
package enum APNsCredentials: Sendable {
  /// A signing key (`.p8`, on P-256), its 10-character id, and the team's.
  case token(key: PrivateKey, keyID: String, teamID: String)
  /// A push certificate with its key, and the topics it is for; empty if they are not known.
  case certificate(identity: TLSIdentity, topics: [String])

  var identity: TLSIdentity? {
    switch self {
    case .token: nil
    case .certificate(let identity, _): identity
    }
  }
}
