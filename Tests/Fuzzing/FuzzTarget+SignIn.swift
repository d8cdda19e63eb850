import Foundation
import JSON
import Mail
import Model

@testable import Console
@testable import OpenSSL

/// Passkeys, and what a provider of OpenID Connect sends.
extension FuzzTarget {
  private static let clientData = Array(
    #"{"type":"webauthn.create","challenge":"c","origin":"https://push.example.com"}"#.utf8)

  /// What a browser sends for a new passkey. Whatever is taken can be stored and checks signatures without harm.
  static func registerPasskey(_ bytes: [UInt8]) {
    var rest = bytes[...]
    if (try? CBOR(reading: &rest)) != nil { precondition(rest.count < bytes.count, "a value without bytes") }
    let ceremony = PasskeyCeremony(origin: "https://push.example.com", relyingParty: "push.example.com") { _ in true }
    guard let made = try? ceremony.registration(attestation: bytes, clientData: clientData) else { return }
    precondition((1...1023).contains(made.credential.count), "an ID that the standard forbids")
    precondition(!made.key.verifiesPasskey(bytes, of: bytes), "a signature out of nothing")
    // Both endings are right; the last bytes of the data stand for a signature.
    _ = try? ceremony.assertion(
      authenticatorData: bytes, clientData: clientData, signature: Array(bytes.suffix(72)), key: made.key,
      counter: made.counter)
  }

  private static let issuer = "https://id.example.com"

  /// Keys of which nobody has the private half.
  private static let keys = made {
    func coded(_ bytes: Data) -> JSONValue { .string(Base64URL.encode(bytes)) }
    // The end of `subjectPublicKeyInfo` is the point: two coordinates of 32 bytes.
    let point = try PrivateKey.generateP256().publicKey.der.suffix(64)
    let modulus = Data([0xC5] + (1..<256).map { UInt8(truncatingIfNeeded: $0 * 7 | 1) })
    let json: JSONValue = [
      "keys": [
        ["kty": "EC", "crv": "P-256", "kid": "a", "x": coded(point.prefix(32)), "y": coded(point.suffix(32))],
        ["kty": "RSA", "kid": "b", "n": coded(modulus), "e": "AQAB"],
        ["kty": "OKP", "crv": "Ed25519", "kid": "c", "x": coded(Data(repeating: 9, count: 32))],
      ]
    ]
    guard let keys = OIDCKeys(json) else { preconditionFailure("no keys") }
    return keys
  }

  /// Header, claims and signature with zeros between: the coding of the three is added here. Without zeros, the text.
  static func readIDToken(_ bytes: [UInt8]) {
    let parts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    let text =
      parts.count < 3
      ? String(decoding: bytes, as: UTF8.self) : parts.map { Base64URL.encode(Data($0)) }.joined(separator: ".")
    let simple = try? JSONWebToken(text)
    guard let token = try? OIDCToken(text) else { return }
    precondition(OIDCMetadata.algorithms.contains(token.algorithm), "an algorithm that proves nothing")
    if let simple {
      precondition(simple.algorithm == token.algorithm && simple.keyID == token.keyID, "two readers see two tokens")
    }
    precondition(keys.check(token) != true, "a signature out of nothing")
    _ = token.hash(ofAccessToken: text)
    let claims = token.claims
    let rule = IDTokenRule(issuer: issuer, clientID: "signalbox", nonce: "n", accessTokenHash: nil)
    guard rule.problem(claims, now: noon) == nil else { return }
    let audiences = claims["aud"]?.array ?? [claims["aud"] ?? .null]
    precondition(claims["iss"]?.string == issuer && claims["nonce"]?.string == "n", "a token for somebody else")
    precondition(audiences.contains("signalbox") && claims["at_hash"] == nil, "a token for somebody else")
    let person = OIDCPerson(claims, roleClaim: "realm_access.roles")
    precondition(!person.subject.isEmpty && person.subject == claims["sub"]?.string, "another person")
  }

  /// The discovery document and the keys of a provider.
  static func readOIDCDocuments(_ bytes: [UInt8]) {
    reading(bytes) { json in
      if let keys = OIDCKeys(json) {
        for algorithm in OIDCMetadata.algorithms {
          let head = Base64URL.encode(Data(#"{"alg":"\#(algorithm)"}"#.utf8))
          let token = try OIDCToken("\(head).e30.\(Base64URL.encode(Data(count: 64)))")
          // Both endings are right: whoever makes the keys may sign.
          _ = keys.check(token)
        }
      }
      let metadata = try OIDCMetadata(json, issuer: issuer, isUsable: { WebAddress.isUsable($0) })
      precondition(metadata.issuer == issuer, "another issuer")
      let addresses = [metadata.authorization, metadata.token, metadata.keys] + [metadata.userInfo].compactMap { $0 }
      precondition(addresses.allSatisfy { WebAddress.isUsable($0) }, "an address that must not be called")
    }
  }
}
