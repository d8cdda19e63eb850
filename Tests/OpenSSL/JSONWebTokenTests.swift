import Foundation
import OpenSSL
import TestSupport
import Testing

@Suite("JSON Web Token")
struct JSONWebTokenTests {
  @Test("has the form that Apple describes, and its own key verifies it")
  func signs() throws {
    let key = try PrivateKey.generateP256()
    let text = try JSONWebToken.sign(
      .es256, key: key, header: [("kid", "ABC123DEFG")], claims: [("iss", "DEF123GHIJ"), ("iat", 1_795_176_000)])
    let parts = text.split(separator: ".")
    #expect(try decoded(parts[0]) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
    #expect(try decoded(parts[1]) == #"{"iss":"DEF123GHIJ","iat":1795176000}"#)
    #expect(Base64URL.decode(parts[2])?.count == 64)
    let token = try JSONWebToken(text)
    #expect(token.algorithm == "ES256")
    #expect(token.keyID == "ABC123DEFG")
    #expect(token.issuer == "DEF123GHIJ")
    #expect(token.issuedAt == 1_795_176_000)
    #expect(token.expiresAt == nil)
    #expect(token.isSigned(by: key.publicKey))
    #expect(!token.isSigned(by: try PrivateKey.generateP256().publicKey))
    #expect(!"\(token)".contains(parts[2]))
  }

  @Test("openssl verifies an RS256 token")
  func rsa() throws {
    let openssl = try OpenSSLCommand()
    let key = try PrivateKey.generateRSA(bits: 1024)
    let text = try JSONWebToken.sign(.rs256, key: key, header: [("typ", "JWT")], claims: [("a\"b", "ü\n/")])
    let parts = text.split(separator: ".")
    #expect(try decoded(parts[1]) == #"{"a\"b":"ü\n/"}"#)
    try openssl.write(Data(parts[..<2].joined(separator: ".").utf8), to: "message")
    try openssl.write(Data(try #require(Base64URL.decode(parts[2]))), to: "signature")
    try openssl.write(Data(key.publicKey.pem.utf8), to: "public.pem")
    try openssl("dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "message")
    #expect(try JSONWebToken(text).isSigned(by: key.publicKey))
    #expect(throws: OpenSSLError.self) { try JSONWebToken.sign(.es256, key: key, claims: []) }
  }

  @Test("the signature of the example in RFC 7515, appendix A.3, is good")
  func example() throws {
    let x = try #require(Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
    let y = try #require(Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
    let head: [UInt8] = [
      0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
      0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
    let key = try #require(PublicKey(der: head + x + y))
    let text =
      "eyJhbGciOiJFUzI1NiJ9."
      + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
      + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    let token = try JSONWebToken(text)
    #expect(token.issuer == "joe")
    #expect(token.expiresAt == 1_300_819_380)
    #expect(token.isSigned(by: key))
    #expect(!(try JSONWebToken(text.dropLast() + "A")).isSigned(by: key))
  }

  @Test("is read as leniently as Apple reads it: iat as text, kid in the claims, no typ")
  func lenient() throws {
    let key = try PrivateKey.generateP256()
    let text = try JSONWebToken.sign(
      .es256, key: key, header: [("typ", "JWT"), ("kid", "K")],
      claims: [("iss", "T"), ("iat", "1795176000"), ("kid", "K")])
    #expect(try JSONWebToken(text).issuedAt == 1_795_176_000)
  }

  @Test(
    "other texts are no token",
    arguments: [
      "", ".", "..", "a.b.c", "e30.e30", "e30.e30.", "eyJhbGciOiJFUzI1NiJ9.e30.AA==", "eyJhbGciOiJFUzI1NiJ9.e30.AA.AA",
      "eyJhbGciOiJFUzI1NiJ9.eyJpYXQiOiJ4In0.AA", "eyJhbGciOiJFUzI1NiJ9.eyJpYXQiOjFlOTk5fQ.AA",
      String(repeating: "A", count: 9000),
    ])
  func malformed(text: String) {
    #expect(throws: JSONWebTokenError.malformed) { try JSONWebToken(text) }
  }

  @Test(
    "an algorithm that does not fit the key is never a good signature",
    arguments: ["none", "HS256", "RS256", "es256"])
  func algorithms(name: String) throws {
    let key = try PrivateKey.generateP256()
    let header = Base64URL.encode(Array(#"{"alg":"\#(name)"}"#.utf8))
    let signature = Base64URL.encode(try key.signES256(Array("\(header).e30".utf8)))
    #expect(!(try JSONWebToken("\(header).e30.\(signature)").isSigned(by: key.publicKey)))
    #expect(!(try JSONWebToken("\(header).e30.").isSigned(by: key.publicKey)))
  }

  private func decoded(_ part: Substring) throws -> String {
    String(decoding: try #require(Base64URL.decode(part)), as: UTF8.self)
  }
}
