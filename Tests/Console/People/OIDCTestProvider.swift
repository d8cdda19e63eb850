import Foundation
import HTTPServer
import JSON
import OpenSSL
import Store
import Synchronization
import TestSupport
import Testing

/// A provider of OpenID Connect on loopback that does what the test says: codes with PKCE, ID tokens, keys.
final class OIDCTestProvider: Sendable {
  static let secret = "a secret & more: 100%"
  static let client = "signalbox client"

  fileprivate struct Grant {
    let nonce: String
    let challenge: String
    let redirect: String
  }

  struct State: Sendable {
    var issuer = ""
    /// Of the person who signs in there; `.null` leaves a claim out.
    var claims: [String: JSONValue] = [:]
    /// Added to the discovery document, or left out with `.null`.
    var discovery: [String: JSONValue] = [:]
    var keys: [OIDCTestKey] = []
    /// Signs, whether it is listed or not.
    var signer: OIDCTestKey
    var userInfo: JSONValue?
    /// In place of the signed ID token.
    var forge: (@Sendable (JSONValue) throws -> String)?
    var now = ConsoleScene.noon
    /// How often each path was asked for.
    var asked: [String: Int] = [:]
    fileprivate var grants: [String: Grant] = [:]
  }

  private let state: Mutex<State>

  private init(_ key: OIDCTestKey) {
    var first = State(signer: key)
    first.keys = [key]
    first.claims = ["sub": "f3a1", "email": "anna@example.com", "email_verified": true]
    state = Mutex(first)
  }

  static func with(_ body: (OIDCTestProvider) async throws -> Void) async throws {
    let provider = OIDCTestProvider(try OIDCTestKey("ES256"))
    var router = Router()
    router.on(.get, "/.well-known/openid-configuration") { _ in try provider.document() }
    router.on(.get, "/keys") { _ in
      provider.count("/keys")
      return .json(JSONValue.object(["keys": .array(try provider.look { $0.keys }.map { try $0.jwk() })]).bytes)
    }
    router.on(.post, "/token") { try await provider.token($0) }
    router.on(.get, "/me") { request in
      provider.count("/me")
      let info = provider.look { $0.userInfo ?? ["sub": $0.claims["sub"] ?? .null] }
      let isKnown = request.header("Authorization") == "Bearer access"
      return .json(info.bytes, status: isKnown ? .ok : .unauthorized)
    }
    try await WebTestServer.with(router) { address in
      provider.change { $0.issuer = "http://\(address)" }
      try await body(provider)
    }
  }

  func change(_ body: (inout State) throws -> Void) rethrows { try state.withLock { try body(&$0) } }
  func look<Value: Sendable>(_ body: (State) throws -> Value) rethrows -> Value { try state.withLock { try body($0) } }
  var issuer: String { look { $0.issuer } }
  func asked(_ path: String) -> Int { look { $0.asked[path] ?? 0 } }

  private func count(_ path: String) { change { $0.asked[path, default: 0] += 1 } }

  /// What an admin enters.
  var settings: OIDCSettings {
    var settings = OIDCSettings()
    (settings.issuer, settings.clientID, settings.clientSecret) = (issuer, Self.client, Self.secret)
    settings.label = "Example ID"
    return settings
  }

  private func document() throws -> Response {
    count("/.well-known/openid-configuration")
    let (issuer, more) = look { ($0.issuer, $0.discovery) }
    let usual: [String: JSONValue] = [
      "issuer": .string(issuer), "authorization_endpoint": .string(issuer + "/authorize"),
      "token_endpoint": .string(issuer + "/token"), "jwks_uri": .string(issuer + "/keys"),
      "userinfo_endpoint": .string(issuer + "/me"), "response_types_supported": ["code"],
      "id_token_signing_alg_values_supported": ["RS256", "ES256"],
    ]
    return .json(JSONValue.object(usual.merging(more) { $1 }.filter { $0.value != .null }).bytes)
  }

  /// Where the browser is sent after the person has signed in: the path of the console with a code.
  ///
  /// - Parameter location: where the console has sent the browser.
  func authorize(_ location: String?, adding more: String = "") throws -> String {
    let url = try #require(location.flatMap { URLComponents(string: $0) })
    let items = Dictionary((url.queryItems ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
    #expect(location?.hasPrefix(issuer + "/authorize?") == true)
    #expect(items["response_type"] == "code" && items["client_id"] == Self.client)
    #expect(items["code_challenge_method"] == "S256" && items["scope"]?.contains("openid") == true)
    let code = Random.token(bytes: 9)
    let grant = Grant(
      nonce: try #require(items["nonce"]), challenge: try #require(items["code_challenge"]),
      redirect: try #require(items["redirect_uri"]))
    change { $0.grants[code] = grant }
    #expect(grant.redirect == "http://localhost:8080/session/oidc/callback")
    return "/session/oidc/callback?code=\(code)&state=\(try #require(items["state"]))\(more)"
  }

  private func token(_ request: Request) async throws -> Response {
    count("/token")
    let form = try await request.form()
    func refused(_ error: String, _ status: Status) -> Response {
      .json(
        JSONValue.object(["error": .string(error), "error_description": "as the test wants"]).bytes, status: status)
    }
    let escaped = "signalbox%20client:a%20secret%20%26%20more%3A%20100%25"
    let basic = "Basic \(Data(escaped.utf8).base64EncodedString())"
    let isPosted = form["client_id"] == Self.client && form["client_secret"] == Self.secret
    guard request.header("Authorization") == basic || isPosted else { return refused("invalid_client", .unauthorized) }
    let grant = state.withLock { $0.grants.removeValue(forKey: form["code"] ?? "") }
    let challenge = Base64URL.encode(Digest.sha256(Array((form["code_verifier"] ?? "").utf8)))
    guard form["grant_type"] == "authorization_code", let grant, grant.challenge == challenge,
      grant.redirect == form["redirect_uri"]
    else { return refused("invalid_grant", .badRequest) }
    let now = look { $0.now }.timeIntervalSince1970
    var claims: [String: JSONValue] = [
      "iss": .string(issuer), "aud": .string(Self.client), "nonce": .string(grant.nonce),
      "iat": .integer(Int64(now)), "exp": .integer(Int64(now) + 300),
    ]
    claims = claims.merging(look { $0.claims }) { $1 }.filter { $0.value != .null }
    let body = JSONValue.object(claims)
    let (forge, signer) = look { ($0.forge, $0.signer) }
    let token = try forge.map { try $0(body) } ?? signer.token(body)
    return .json(
      JSONValue.object(["id_token": .string(token), "access_token": "access", "token_type": "Bearer"]).bytes)
  }
}
