import Foundation
import TestSupport
import Testing

@testable import OpenSSL

@Suite("Passwords and their cost")
struct KeyDerivationTests {
  /// A .p12 as `openssl` writes it.
  private func p12(_ password: String, _ options: [String] = []) throws -> Data {
    let openssl = try OpenSSLCommand()
    try openssl.makeIdentity()
    try openssl.run(
      ["pkcs12"] + options
        + ["-export", "-in", "cert.pem", "-inkey", "key.pem", "-passout", "pass:\(password)", "-out", "x.p12"])
    return try openssl.data("x.p12")
  }

  @Test("a password opens the file in any Unicode normal form", arguments: [[], ["-legacy"]])
  func normalForms(options: [String]) throws {
    let composed = "p\u{E4}ssw\u{F6}rd"
    let decomposed = composed.decomposedStringWithCanonicalMapping
    #expect(Array(composed.utf8) != Array(decomposed.utf8))
    #expect(try PKCS12.open(p12(decomposed, options), password: composed).key != nil)
    #expect(try PKCS12.open(p12(composed, options), password: decomposed).key != nil)
    #expect(throws: PKCS12Error.wrongPassword) { try PKCS12.open(p12(composed, options), password: "passwort") }
  }

  @Test("a file of OpenSSL before 1.1.0 opens: it took each byte of the UTF-8 for a character")
  func oldEncoding() throws {
    let password = "p\u{E4}ss 密码"
    let old = String(String.UnicodeScalarView(password.utf8.map(Unicode.Scalar.init)))
    #expect(try PKCS12.open(p12(old, ["-legacy"]), password: password).key != nil)
  }

  @Test("an empty password and none are told apart and both found; a long one and one with NUL are exact")
  func edges() throws {
    #expect(try PKCS12.open(p12(""), password: nil).key != nil)
    #expect(try PKCS12.open(p12(""), password: "").key != nil)
    #expect(throws: PKCS12Error.wrongPassword) { try PKCS12.open(p12(""), password: " ") }
    let long = String(repeating: "长", count: 300)
    #expect(try PKCS12.open(p12(long), password: long).key != nil)
    #expect(throws: PKCS12Error.wrongPassword) { try PKCS12.open(p12(long), password: String(long.dropLast())) }
    #expect(throws: PKCS12Error.wrongPassword) { try PKCS12.open(p12("abc"), password: "abc\0") }
    #expect(throws: PKCS12Error.wrongPassword) { try PKCS12.open(p12("abc"), password: "abc\0def") }
  }

  @Test(
    "whatever OpenSSL with its legacy provider encrypts is read",
    arguments: [
      "PBE-SHA1-RC2-40", "PBE-SHA1-RC2-128", "PBE-SHA1-RC4-40", "PBE-SHA1-RC4-128", "PBE-SHA1-3DES", "PBE-SHA1-2DES",
      "AES-128-CBC", "AES-192-CBC", "AES-256-CBC", "CAMELLIA-256-CBC", "ARIA-256-CBC", "DES-EDE3-CBC", "NONE",
    ])
  func algorithms(name: String) throws {
    let data = try p12("secret", ["-legacy", "-keypbe", name, "-certpbe", name])
    let opened = try PKCS12.open(data, password: "secret")
    #expect(opened.key != nil && opened.certificate != nil)
    #expect(opened.algorithms.isEmpty == (name == "NONE"))
    #expect(throws: PKCS12Error.wrongPassword) { try PKCS12.open(data, password: "wrong") }
  }

  @Test("all keys and certificates of a file are found, and each key finds its certificate")
  func several() throws {
    let openssl = try OpenSSLCommand()
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    var all = ""
    for name in ["one", "two", "three"] {
      let (certificate, key) = try authority.issueServer(names: [name], notBefore: noon, notAfter: noon + day)
      all += key.pkcs8PEM + certificate.pem
    }
    try openssl.write(Data(all.utf8), to: "all.pem")
    try openssl("pkcs12", "-export", "-in", "all.pem", "-nodes", "-passout", "pass:x", "-out", "x.p12")
    let opened = try PKCS12.open(openssl.data("x.p12"), password: "x")
    #expect(opened.certificates.count == 3)
    #expect(opened.key.map { key in opened.certificate.map { key.matches($0) } ?? false } == true)
  }

  @Test(
    "old keys in PEM are read: DES, 3DES, AES with DEK-Info; PKCS#5 v1 with MD5; scrypt",
    arguments: [
      ["rsa", "-des"], ["rsa", "-des3"], ["rsa", "-aes256"], ["rsa", "-aes128"],
      ["pkcs8", "-topk8", "-v1", "PBE-MD5-DES"], ["pkcs8", "-topk8", "-v1", "PBE-SHA1-RC2-40"],
      ["pkcs8", "-topk8", "-v2", "aes-256-cbc"], ["pkcs8", "-topk8", "-scrypt"],
    ])
  func keys(command: [String]) throws {
    let openssl = try OpenSSLCommand()
    try openssl("genrsa", "-traditional", "-out", "key.pem", "1024")
    let form = command[0] == "rsa" ? ["-traditional"] : []
    try openssl.run(
      [command[0], "-provider", "legacy", "-provider", "default", "-in", "key.pem", "-out", "locked.pem"]
        + command.dropFirst() + form + ["-passout", "pass:geheim ü"])
    let locked = try openssl.text("locked.pem")
    #expect(
      try PrivateKey(pem: locked, password: "geheim ü").publicKey == PrivateKey(pem: openssl.text("key.pem")).publicKey)
    #expect(throws: PrivateKeyError.passwordNeeded) { try PrivateKey(pem: locked) }
    #expect(throws: PrivateKeyError.wrongPassword) { try PrivateKey(pem: locked, password: "geheim") }
  }

  @Test("scrypt with excessive work is refused before it is computed")
  func scrypt() throws {
    func parameters(_ numbers: [UInt64]) -> [UInt8] {
      let integers = numbers.map { number in
        DER.encode(DER.integer, withUnsafeBytes(of: number.bigEndian, Array.init).drop { $0 == 0 })
      }
      let oid = DER.encode(DER.objectIdentifier, [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B])
      return DER.encode(sequence: [oid, DER.encode(sequence: [DER.encode(DER.octetString, [1, 2, 3])] + integers)])
    }
    #expect(KeyDerivationCost.isBearable(parameters([16_384, 8, 1])))
    #expect(KeyDerivationCost.isBearable(parameters([1 << 17, 8, 1])))
    #expect(!KeyDerivationCost.isBearable(parameters([65_536, 1, 131_072])))
    #expect(!KeyDerivationCost.isBearable(parameters([1 << 31, 1 << 31, 1 << 31])))
    #expect(!KeyDerivationCost.isBearable(parameters([.max >> 1, 1, 1])))
  }

  @Test(
    "a lowered bound holds for what is encrypted, and for a checksum alone",
    arguments: [["-nomac"], ["-keypbe", "NONE", "-certpbe", "NONE"]])
  func lowered(options: [String]) throws {
    let data = try p12("x", options)
    #expect(try PKCS12.open(data, password: "x").key != nil)
    #expect(throws: PKCS12Error.tooCostly) {
      try KeyDerivationCost.$limit.withValue(128) { try PKCS12.open(data, password: "x") }
    }
  }

  @Test("the bytes of a key are its text, and are gone when they are wiped")
  func wiping() throws {
    let key = try PrivateKey.generateP256()
    var bytes = key.pkcs8PEMBytes
    #expect(String(decoding: bytes, as: UTF8.self) == key.pkcs8PEM)
    PrivateKey.wipe(&bytes)
    #expect(bytes.isEmpty)
  }

  @Test("a signed message with a thousand signatures or digests is read, and not verified")
  func signers() throws {
    let openssl = try OpenSSLCommand()
    try openssl.write(Data("hello".utf8), to: "x")
    var signers: [[String]] = []
    for number in 0..<17 {
      try openssl.makeIdentity()
      try openssl.write(openssl.data("cert.pem"), to: "\(number).pem")
      try openssl.write(openssl.data("key.pem"), to: "\(number).key")
      signers.append(["-signer", "\(number).pem", "-inkey", "\(number).key"])
    }
    try openssl.run(
      ["cms", "-sign", "-nodetach", "-binary", "-in", "x", "-outform", "DER", "-out", "x.cms"]
        + signers.flatMap(\.self))
    let many = try CMSMessage(der: openssl.data("x.cms"))
    #expect(many.content == Data("hello".utf8) && !many.isIntact)
    try openssl.run(
      ["cms", "-sign", "-nodetach", "-binary", "-in", "x", "-outform", "DER", "-out", "y.cms"]
        + signers.prefix(2).flatMap(\.self))
    #expect(try CMSMessage(der: openssl.data("y.cms")).isIntact)
  }
}
