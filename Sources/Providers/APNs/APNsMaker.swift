import HTTP2
package import Model
package import OpenSSL

/// APNs as one of the ``ProviderList``.
package struct APNsMaker: ProviderMaker {
  package init() {}

  package let kind = ProviderKind.apns

  package func make(_ account: ProviderAccount, _ tools: ProviderTools) throws -> any Provider {
    try APNsProvider(try Self.credentials(account), endpoint: Self.endpoint(account), tools)
  }

  static func credentials(_ account: ProviderAccount) throws -> APNsCredentials {
    // The simulator accepts any well-formed key.
    guard let secret = account.secret else {
      return .token(key: try PrivateKey.generateP256(), keyID: "SIMULATOR1", teamID: "SIMULATOR1")
    }
    if let chain = account.publicPEM {
      let identity = TLSIdentity(certificateChainPEM: Array(chain.utf8), privateKeyPEM: secret)
      return .certificate(identity: identity, topics: account.topics)
    }
    guard let keyID = account.keyID, let teamID = account.teamID else {
      throw ProviderProblem("The key \(account.name) lacks a key ID or team ID. Upload it again with both.")
    }
    return .token(key: try PrivateKey(p8: String(decoding: secret, as: UTF8.self)), keyID: keyID, teamID: teamID)
  }

  static func endpoint(_ account: ProviderAccount) -> APNsEndpoint {
    switch account.endpoint {
    case .service: APNsEndpoint(account.environment)
    case .custom(let host, let port, let trust): .custom(host: host, port: port, trust: trust)
    }
  }

  /// The meaning of an answer for the credential (docs/protocols.md §1.6).
  package func verdict(_ result: SendResult) -> ProviderVerdict {
    switch result {
    case .outcome(.accepted): .taken(answer: "200")
    // The topic depends on the credential, the token on the device.
    case .outcome(.rejected(_, let reason, _)) where APNsCode(rawValue: reason)?.isAboutTopic == true:
      .refused(reason: reason)
    case .outcome(.rejected(403, let reason, _)): .refused(reason: reason)
    case .outcome(.rejected(let status, let reason, _)) where status == 400 || status == 410:
      .taken(answer: "\(status) \(reason)")
    case .outcome(.rejected(let status, let reason, _)): .undecided(reason: "\(status) \(reason)")
    case .outcome(.unknown(let reason)), .outcome(.skipped(let reason)), .notSent(let reason):
      .undecided(reason: reason)
    case .retry(let cause): .undecided(reason: cause.reason)
    }
  }
}

/// Our identity at APNs.
package enum APNsCredentials: Sendable {
  /// A signing key (`.p8`, on P-256) with its 10-character ID and the team ID.
  case token(key: PrivateKey, keyID: String, teamID: String)
  /// A push certificate with its key and topics; empty if unknown.
  case certificate(identity: TLSIdentity, topics: [String])

  var identity: TLSIdentity? {
    switch self {
    case .token: nil
    case .certificate(let identity, _): identity
    }
  }
}

package enum APNsEndpoint: Sendable, Hashable {
  case production
  case development
  /// Another server: the simulator, or a proxy. `trust` holds PEM certificates; nil: the system's.
  case custom(host: String, port: UInt16, trust: [UInt8]?)

  package init(_ environment: Environment) { self = environment == .production ? .production : .development }

  package var host: String {
    switch self {
    case .production: "api.push.apple.com"
    case .development: "api.sandbox.push.apple.com"
    case .custom(let host, _, _): host
    }
  }

  package var port: UInt16 { if case .custom(_, let port, _) = self { port } else { 443 } }

  func endpoint(_ credentials: APNsCredentials, _ tools: ProviderTools) throws(TLSError) -> Endpoint {
    var own: [UInt8]?
    if case .custom(_, _, let pem) = self { own = pem }
    let tls = try TLSContext.client(trust: tools.trust(own), identity: credentials.identity, alpn: ["h2"])
    return Endpoint(host: host, port: port, tls: tls)
  }
}
