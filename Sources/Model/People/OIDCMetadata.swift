package import JSON

/// What a provider says of itself (OpenID Connect Discovery 1.0 §3).
package struct OIDCMetadata: Sendable, Hashable {
  /// How Signalbox shows the provider who it is (OpenID Connect Core 1.0 §9).
  package enum Authentication: String, Sendable, CaseIterable {
    case basic = "client_secret_basic"
    case post = "client_secret_post"
  }

  /// Signatures of ID tokens that are accepted: neither `none` nor HMAC.
  package static let algorithms = ["RS256", "PS256", "ES256", "EdDSA"]

  package let issuer: String
  package let authorization: String
  package let token: String
  /// Where the keys are.
  package let keys: String
  package let userInfo: String?
  package let authentication: Authentication
  /// Whether its answers always name the issuer (RFC 9207).
  package let namesIssuer: Bool

  /// Where the document of an issuer is.
  package static func address(of issuer: String) -> String {
    (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
  }

  /// Reads the document.
  ///
  /// - Parameters:
  ///   - issuer: as the settings say, and exactly as the document must (§4.3).
  ///   - isUsable: whether an address may be called or shown.
  /// - Throws: the first problem.
  package init(_ json: JSONValue, issuer: String, isUsable: (String) -> Bool) throws(Problem) {
    func address(_ member: String) throws(Problem) -> String? {
      guard let url = json[member]?.string, !url.isEmpty else { return nil }
      guard isUsable(url) else {
        throw Problem("", OIDCMessage.insecure, ["member": member, "url": String(url.prefix(200))])
      }
      return url
    }
    func needed(_ member: String) throws(Problem) -> String {
      guard let url = try address(member) else { throw Problem("", OIDCMessage.missing, ["member": member]) }
      return url
    }
    guard let found = json["issuer"]?.string else { throw Problem("", OIDCMessage.missing, ["member": "issuer"]) }
    guard found == issuer else {
      throw Problem("", OIDCMessage.otherIssuer, ["found": String(found.prefix(200)), "issuer": issuer])
    }
    self.issuer = issuer
    authorization = try needed("authorization_endpoint")
    token = try needed("token_endpoint")
    keys = try needed("jwks_uri")
    userInfo = try address("userinfo_endpoint")
    if let types = Self.words(json["response_types_supported"]), !types.contains("code") {
      throw Problem("", OIDCMessage.noCodes)
    }
    if let found = Self.words(json["id_token_signing_alg_values_supported"]),
      !found.contains(where: Self.algorithms.contains)
    {
      throw Problem("", OIDCMessage.noAlgorithm, Self.compared(found))
    }
    // §3: without the list, it is client_secret_basic.
    let ways = Self.words(json["token_endpoint_auth_methods_supported"]) ?? [Authentication.basic.rawValue]
    let way = Authentication.allCases.first { ways.contains($0.rawValue) }
    // For a client without a secret the way does not matter.
    guard let way = way ?? (ways.contains("none") ? .post : nil) else {
      throw Problem("", OIDCMessage.noAuthentication, ["found": ways.prefix(9).joined(separator: ", ")])
    }
    authentication = way
    namesIssuer = json["authorization_response_iss_parameter_supported"]?.bool ?? false
  }

  /// The algorithms that somebody else uses, and ours.
  package static func compared(_ found: [String]) -> [String: String] {
    ["found": String(found.joined(separator: ", ").prefix(100)), "known": algorithms.joined(separator: ", ")]
  }

  private static func words(_ value: JSONValue?) -> [String]? { value?.array?.compactMap(\.string) }
}
