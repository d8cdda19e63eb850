public import OpenSSL

/// Who we are to APNs.
public enum APNsCredentials: Sendable {
  /// A signing key (`.p8`, on P-256), its 10-character id, and the team's.
  case token(key: PrivateKey, keyID: String, teamID: String)
  /// A push certificate with its key, and the topics it is for; empty if they are not known.
  case certificate(identity: TLSIdentity, topics: [String])

  /// Whether a push may go to a topic with these credentials, as far as we know.
  ///
  /// Apple: a certificate is for the topics that it lists, and location pushes need a token.
  public func permits(topic: String) -> Bool {
    switch self {
    case .token: true
    case .certificate(_, let topics): topics.isEmpty || topics.contains(topic)
    }
  }

  var identity: TLSIdentity? {
    switch self {
    case .token: nil
    case .certificate(let identity, _): identity
    }
  }
}
