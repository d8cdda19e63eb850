import Foundation
import JSON
import OpenSSL
import TestSupport
import Testing

/// A provider's key. What Signalbox itself does not sign with, the command line of OpenSSL does.
struct OIDCTestKey: Sendable {
  let algorithm: String
  let id: String
  private let pem: String
  private let publicKey: Data

  init(_ algorithm: String, id: String = "one") throws {
    (self.algorithm, self.id) = (algorithm, id)
    guard algorithm == "EdDSA" else {
      let key = try algorithm == "ES256" ? PrivateKey.generateP256() : PrivateKey.generateRSA()
      (pem, publicKey) = (key.pkcs8PEM, key.publicKey.der)
      return
    }
    let openssl = try OpenSSLCommand()
    try openssl("genpkey", "-algorithm", "ed25519", "-out", "key.pem")
    publicKey = try openssl("pkey", "-in", "key.pem", "-pubout", "-outform", "DER")
    pem = try openssl.text("key.pem")
  }

  /// What others see of it, as PEM.
  var publicPEM: String { PublicKey(der: publicKey)?.pem ?? "" }

  /// RFC 7517.
  func jwk() throws -> JSONValue {
    var members: [String: JSONValue] = ["kid": .string(id), "use": "sig", "alg": .string(algorithm)]
    func set(_ name: String, _ bytes: some Sequence<UInt8>) { members[name] = .string(Base64URL.encode(Array(bytes))) }
    switch algorithm {
    case "ES256":
      (members["kty"], members["crv"]) = ("EC", "P-256")
      set("x", publicKey.suffix(64).prefix(32))
      set("y", publicKey.suffix(32))
    case "EdDSA":
      (members["kty"], members["crv"]) = ("OKP", "Ed25519")
      set("x", publicKey.suffix(32))
    default:
      members["kty"] = "RSA"
      let bits = try #require(DER.element(publicKey)?.children?.last?.content.dropFirst())
      let numbers = try #require(DER.element(Array(bits))?.children)
      set("n", numbers[0].content.drop { $0 == 0 })
      set("e", numbers[1].content)
    }
    return .object(members)
  }

  func sign(_ text: String) throws -> [UInt8] {
    if algorithm == "RS256" { return try PrivateKey(pem: pem).signRS256(Array(text.utf8)) }
    if algorithm == "ES256" { return try PrivateKey(pem: pem).signES256(Array(text.utf8)) }
    let openssl = try OpenSSLCommand()
    try openssl.write(Data(text.utf8), to: "in")
    try openssl.write(Data(pem.utf8), to: "key.pem")
    switch algorithm {
    case "EdDSA": return Array(try openssl("pkeyutl", "-sign", "-inkey", "key.pem", "-rawin", "-in", "in"))
    default:
      return Array(
        try openssl(
          "dgst", "-sha256", "-sign", "key.pem", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32",
          "in"))
    }
  }

  /// A signed token.
  ///
  /// - Parameter header: changes to the usual one; `.null` leaves a member out.
  func token(_ claims: JSONValue, header: [String: JSONValue] = [:]) throws -> String {
    let signed = Self.unsigned(claims, ["alg": .string(algorithm), "kid": .string(id)].merging(header) { $1 })
    return "\(signed).\(Base64URL.encode(try sign(signed)))"
  }

  /// Header and claims without a signature.
  static func unsigned(_ claims: JSONValue, _ header: [String: JSONValue]) -> String {
    let head = JSONValue.object(header.filter { $0.value != .null })
    return "\(Base64URL.encode(head.bytes)).\(Base64URL.encode(claims.bytes))"
  }
}
