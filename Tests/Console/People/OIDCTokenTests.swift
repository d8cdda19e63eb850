import Foundation
import JSON
import Model
import OpenSSL
import Testing

@testable import Console

@Suite("OIDC: signatures of ID tokens")
struct OIDCTokenTests {
  private static let claims: JSONValue = ["sub": "f3a1"]

  private static func keys(_ keys: OIDCTestKey...) throws -> OIDCKeys {
    try #require(OIDCKeys(["keys": .array(try keys.map { try $0.jwk() })]))
  }

  @Test(
    "a good signature is accepted, one of another key and one changed byte are not", arguments: OIDCMetadata.algorithms)
  func algorithms(_ algorithm: String) throws {
    let (key, other) = (try OIDCTestKey(algorithm), try OIDCTestKey(algorithm))
    let text = try key.token(Self.claims)
    let token = try OIDCToken(text)
    #expect(token.algorithm == algorithm && token.claims == Self.claims)
    let (good, strange) = (try Self.keys(key), try Self.keys(other))
    #expect(good.check(token) == true && strange.check(token) == false)
    let parts = text.split(separator: ".").map(String.init)
    let changed = [parts[0], Base64URL.encode(Array(#"{"sub":"f3a2"}"#.utf8)), parts[2]].joined(separator: ".")
    #expect(good.check(try OIDCToken(changed)) == false)
    let unnamed = try OIDCToken(try key.token(Self.claims, header: ["kid": .null]))
    #expect(good.check(unnamed) == true, "without kid every fitting key is tried")
    let elsewhere = try OIDCToken(try key.token(Self.claims, header: ["kid": "two"]))
    #expect(good.check(elsewhere) == nil)
  }

  @Test("no signature, and HMAC with the public key as the secret, are refused by name")
  func confusion() throws {
    let key = try OIDCTestKey("RS256")
    for name in ["none", "None", "HS256", "HS512", "RS1", "ES256K"] {
      let signed = OIDCTestKey.unsigned(Self.claims, ["alg": .string(name), "kid": .string(key.id)])
      let code = HMAC.sha256(key: Array(key.publicPEM.utf8), Array(signed.utf8))
      for signature in ["", Base64URL.encode(code)] {
        let problem = #expect(throws: Problem.self) { try OIDCToken("\(signed).\(signature)") }
        #expect(problem?.code == "oidc.algorithm" && problem?.text.contains(name) == true)
      }
    }
  }

  @Test("a key signs only with its own algorithm")
  func kinds() throws {
    let rsa = try OIDCTestKey("RS256")
    let token = try OIDCToken(try rsa.token(Self.claims, header: ["alg": "PS256"]))
    #expect(try Self.keys(rsa).check(token) == nil, "the key is for RS256")
    let elliptic = try OIDCTestKey("ES256")
    #expect(try Self.keys(elliptic).check(try OIDCToken(try rsa.token(Self.claims))) == nil)
    var jwk = try #require(try rsa.jwk().object)
    jwk["use"] = "enc"
    #expect(OIDCKeys(["keys": [.object(jwk)]]) == nil, "a key for encryption")
    for json: JSONValue in [[:], ["keys": []], ["keys": [["kty": "oct", "k": "c2VjcmV0"]]], ["keys": [1, "two"]]] {
      #expect(OIDCKeys(json) == nil, "\(json.text())")
    }
  }

  @Test(
    "what is no token is refused",
    arguments: ["", "a.b", "a.b.c.d", "e30.e30.", "bm8.bm8.bm8", "eyJhbGciOiJSUzI1NiJ9.W10.AA"])
  func malformed(_ text: String) {
    let problem = #expect(throws: Problem.self) { try OIDCToken(text) }
    #expect(problem?.code == "oidc.malformed")
  }

  @Test("what a header says must be understood is refused, and so is a token of any length")
  func bounds() throws {
    let key = try OIDCTestKey("ES256")
    let critical = try key.token(Self.claims, header: ["crit": ["b64"], "b64": false])
    #expect(throws: Problem.self) { try OIDCToken(critical) }
    let long = try key.token(["sub": .string(String(repeating: "a", count: OIDCToken.limit))])
    #expect(throws: Problem.self) { try OIDCToken(long) }
  }

  @Test("PKCE and at_hash as in the examples of the specifications")
  func hashes() throws {
    // OpenID Connect Core 1.0 §A.3 and §A.6
    let token = try OIDCToken(try OIDCTestKey("RS256").token(Self.claims))
    #expect(token.hash(ofAccessToken: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y") == "77QmUPtjPfzWtF2AnpK9RQ")
    let flow = OIDCFlow(returnTo: "/", now: Date(timeIntervalSince1970: 0))
    #expect(flow.verifier.count == 43 && flow.nonce != flow.verifier)
    #expect(flow.challenge == Base64URL.encode(Digest.sha256(Array(flow.verifier.utf8))))
    #expect(OIDCFlow(cookie: flow.cookie) == flow)
    #expect(OIDCFlow(cookie: "nonsense") == nil)
  }
}
