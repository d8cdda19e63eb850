import Foundation
import JSON
import Model
import OpenSSL

/// A provider's ID token with its signature (RFC 7515). What its claims must say is in `IDTokenRule`.
struct OIDCToken: Sendable {
  /// Longer ones are not read.
  static let limit = 32 * 1024

  let algorithm: String
  /// The key that it names.
  let keyID: String?
  let claims: JSONValue

  private let signed: [UInt8]
  private let signature: [UInt8]

  /// - Throws: a `Problem` if it cannot be read, or is not signed as Signalbox accepts it.
  init(_ text: String) throws(Problem) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= Self.limit, parts.count == 3, let head = Base64URL.decode(parts[0]),
      let body = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2]),
      let header = Self.json(head), let claims = Self.json(body), claims.object != nil,
      let algorithm = header["alg"]?.string,
      // RFC 7515 §4.1.11: what must be understood is not.
      header["crit"] == nil
    else { throw Problem("", OIDCMessage.malformed) }
    guard OIDCMetadata.algorithms.contains(algorithm) else {
      throw Problem("", OIDCMessage.algorithm, OIDCMetadata.compared([algorithm]))
    }
    (self.algorithm, self.claims, self.signature) = (algorithm, claims, signature)
    keyID = header["kid"]?.string
    signed = Array(text[..<parts[1].endIndex].utf8)
  }

  /// `at_hash` of an access token that comes with it (OpenID Connect Core 1.0 §3.1.3.6). Ed25519 hashes with SHA-512.
  func hash(ofAccessToken token: String) -> String {
    let digest = algorithm == "EdDSA" ? Digest.sha512(Array(token.utf8)) : Digest.sha256(Array(token.utf8))
    return Base64URL.encode(digest.prefix(digest.count / 2))
  }

  func isSigned(by key: PublicKey) -> Bool {
    switch algorithm {
    case "RS256": key.verifiesRS256(signature, of: signed)
    case "PS256": key.verifiesPS256(signature, of: signed)
    case "ES256": key.verifiesES256(signature, of: signed)
    case "EdDSA": key.verifiesPasskey(signature, of: signed)
    default: false
    }
  }

  /// Nil if not JSON; details of untrusted input are not reported.
  private static func json(_ bytes: [UInt8]) -> JSONValue? { try? JSONValue(parsing: bytes) }
}

/// The keys that a provider signs with (RFC 7517).
struct OIDCKeys: Sendable {
  private struct Entry: Sendable {
    let id: String?
    /// For one algorithm, or for all of its kind.
    let algorithms: [String]
    let key: PublicKey
  }

  /// More are not read.
  private static let limit = 100

  private let entries: [Entry]

  /// - Returns: nil if it holds no key that Signalbox can check a signature with.
  init?(_ json: JSONValue) {
    entries = (json["keys"]?.array ?? []).prefix(Self.limit).compactMap { jwk in
      guard ["sig", nil].contains(jwk["use"]?.string), let (key, kind) = Self.key(jwk) else { return nil }
      let algorithm = jwk["alg"]?.string
      let algorithms = kind.filter { algorithm == nil || algorithm == $0 }
      return algorithms.isEmpty ? nil : Entry(id: jwk["kid"]?.string, algorithms: algorithms, key: key)
    }
    if entries.isEmpty { return nil }
  }

  /// - Returns: whether one of the keys that it may be signed with signed it; nil if there is no such key.
  func check(_ token: OIDCToken) -> Bool? {
    let fitting = entries.filter { entry in
      entry.algorithms.contains(token.algorithm) && (token.keyID == nil || token.keyID == entry.id)
    }
    return fitting.isEmpty ? nil : fitting.contains { token.isSigned(by: $0.key) }
  }

  /// A key with the algorithms of its kind.
  private static func key(_ jwk: JSONValue) -> (PublicKey, [String])? {
    func bytes(_ member: String) -> [UInt8] { jwk[member]?.string.flatMap { Base64URL.decode($0) } ?? [] }
    switch (jwk["kty"]?.string, jwk["crv"]?.string) {
    case ("RSA", _):
      return PublicKey(rsaModulus: bytes("n"), exponent: bytes("e")).map { ($0, ["RS256", "PS256"]) }
    case ("EC", "P-256"): return PublicKey(p256X: bytes("x"), y: bytes("y")).map { ($0, ["ES256"]) }
    case ("OKP", "Ed25519"): return PublicKey(ed25519: bytes("x")).map { ($0, ["EdDSA"]) }
    default: return nil
    }
  }
}
