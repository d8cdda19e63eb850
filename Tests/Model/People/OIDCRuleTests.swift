import Foundation
import JSON
import Testing

@testable import Model

@Suite("OIDC: rules")
struct OIDCRuleTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)
  private static let good: [String: JSONValue] = [
    "iss": "https://id.example.com", "aud": "box", "sub": "f3a1", "exp": 1_800_000_300, "iat": 1_799_999_990,
    "nonce": "n", "at_hash": "h", "auth_time": 1_799_999_980,
  ]
  private static let rule = IDTokenRule(
    issuer: "https://id.example.com", clientID: "box", nonce: "n", accessTokenHash: "h",
    signedInSince: now.addingTimeInterval(-30))

  /// Changes to the good claims, `.null` leaves one out; and the claim or the code that is told, nil: accepted.
  struct Row: Sendable, CustomStringConvertible {
    let change: [String: JSONValue]
    let told: String?
    var description: String { "\(JSONValue.object(change).text()) → \(told ?? "accepted")" }
  }

  static let rows: [Row] = [
    Row(change: [:], told: nil),
    Row(change: ["iss": "https://id.example.com/"], told: "iss"), Row(change: ["iss": .null], told: "iss"),
    Row(change: ["iss": ["https://id.example.com"]], told: "iss"),
    Row(change: ["aud": "other"], told: "aud"), Row(change: ["aud": .null], told: "aud"),
    Row(change: ["aud": ["other", "more"]], told: "aud"), Row(change: ["aud": ["box"]], told: nil),
    Row(change: ["aud": ["box", "other"]], told: "azp"),
    Row(change: ["aud": ["box", "other"], "azp": "other"], told: "azp"),
    Row(change: ["aud": ["box", "other"], "azp": "box"], told: nil),
    Row(change: ["azp": "other"], told: "azp"), Row(change: ["azp": "box"], told: nil),
    Row(change: ["sub": .null], told: "sub"), Row(change: ["sub": ""], told: "sub"),
    Row(change: ["sub": 7], told: "sub"),
    Row(change: ["sub": .string(String(repeating: "a", count: 256))], told: "sub"),
    Row(change: ["sub": "a\nb"], told: "sub"),
    Row(change: ["exp": .null], told: "exp"), Row(change: ["exp": "1800000300"], told: "exp"),
    Row(change: ["exp": 1_799_999_941], told: nil), Row(change: ["exp": 1_799_999_940], told: "oidc.expired"),
    Row(change: ["iat": .null], told: "iat"), Row(change: ["iat": 1_800_000_060], told: nil),
    Row(change: ["iat": 1_800_000_061], told: "oidc.early"), Row(change: ["nbf": 1_800_000_061], told: "oidc.early"),
    Row(change: ["nbf": 1_799_999_000], told: nil), Row(change: ["nbf": "soon"], told: "nbf"),
    Row(change: ["nonce": "other"], told: "nonce"), Row(change: ["nonce": .null], told: "nonce"),
    Row(change: ["at_hash": "other"], told: "at_hash"), Row(change: ["at_hash": .null], told: nil),
    Row(change: ["auth_time": .null], told: "oidc.not_proven"),
    Row(change: ["auth_time": 1_799_999_909], told: "oidc.not_proven"),
    Row(change: ["auth_time": 1_799_999_910], told: nil),
    Row(change: ["auth_time": 1_800_000_061], told: "oidc.not_proven"),
  ]

  @Test("each claim of an ID token", arguments: rows)
  func claims(_ row: Row) {
    let claims = Self.good.merging(row.change) { $1 }.filter { $0.value != .null }
    let problem = Self.rule.problem(.object(claims), now: Self.now)
    let told = problem.map { $0.arguments["claim"] ?? $0.code }
    #expect(told == row.told)
  }

  @Test("an address that the provider calls unverified is told apart; one that it says nothing about is believed")
  func email() {
    for (value, isUnverified): (JSONValue?, Bool) in [
      (nil, false), (true, false), ("true", false), (false, true), ("false", true), (0, true),
    ] {
      var claims: [String: JSONValue] = ["sub": "a", "email": "anna@example.com"]
      claims["email_verified"] = value
      #expect(OIDCPerson(.object(claims), roleClaim: nil).isUnverified == isUnverified, "\(String(describing: value))")
    }
  }

  @Test("the claim for roles is a text, a list, or lies deeper")
  func values() {
    let claims: JSONValue = [
      "sub": "a", "groups": ["ops", 7, "dev"], "role": "admin", "realm_access": ["roles": ["box"]],
      "https://example.com/roles": ["named"],
    ]
    let rows: [(String, [String])] = [
      ("groups", ["ops", "dev"]), ("role", ["admin"]), ("realm_access.roles", ["box"]), ("missing", []),
      ("https://example.com/roles", ["named"]), ("groups.more", []),
    ]
    for (claim, values) in rows { #expect(OIDCPerson(claims, roleClaim: claim).values == values, "\(claim)") }
  }

  private static let document: [String: JSONValue] = [
    "issuer": "https://id.example.com", "authorization_endpoint": "https://id.example.com/a",
    "token_endpoint": "https://id.example.com/t", "jwks_uri": "https://id.example.com/k",
  ]

  @Test(
    "each thing that a discovery document must say",
    arguments: [
      (["issuer": "https://id.example.com/"], "oidc.other_issuer"), (["issuer": .null], "oidc.missing"),
      (["authorization_endpoint": .null], "oidc.missing"), (["token_endpoint": 1], "oidc.missing"),
      (["jwks_uri": ""], "oidc.missing"), (["token_endpoint": "http://id.example.com/t"], "oidc.insecure"),
      (["userinfo_endpoint": "http://id.example.com/u"], "oidc.insecure"),
      (["response_types_supported": ["id_token"]], "oidc.no_codes"),
      (["id_token_signing_alg_values_supported": ["HS256", "none"]], "oidc.no_algorithm"),
      (["token_endpoint_auth_methods_supported": ["private_key_jwt"]], "oidc.no_authentication"),
    ] as [([String: JSONValue], String)])
  func discovery(_ change: [String: JSONValue], _ code: String) {
    let json = JSONValue.object(Self.document.merging(change) { $1 }.filter { $0.value != .null })
    let problem = #expect(throws: Problem.self) {
      try OIDCMetadata(json, issuer: "https://id.example.com") { $0.hasPrefix("https://") }
    }
    #expect(problem?.code == code)
  }

  @Test("how the secret is sent, and where the document is")
  func metadata() throws {
    func way(_ ways: JSONValue?) throws -> OIDCMetadata.Authentication {
      var json = Self.document
      json["token_endpoint_auth_methods_supported"] = ways
      return try OIDCMetadata(.object(json), issuer: "https://id.example.com") { _ in true }.authentication
    }
    #expect(try way(nil) == .basic)
    #expect(try way(["client_secret_post", "client_secret_basic"]) == .basic)
    #expect(try way(["client_secret_post"]) == .post)
    #expect(try way(["none"]) == .post)
    for issuer in ["https://id.example.com/realms/a", "https://id.example.com/realms/a/"] {
      #expect(
        OIDCMetadata.address(of: issuer) == "https://id.example.com/realms/a/.well-known/openid-configuration")
    }
  }
}
