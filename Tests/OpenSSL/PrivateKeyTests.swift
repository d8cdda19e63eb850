import Foundation
import OpenSSL
import TestSupport
import Testing

@Suite("Private key")
struct PrivateKeyTests {
  @Test("all forms in which openssl writes a key are the same key")
  func forms() throws {
    let openssl = try OpenSSLCommand()
    try openssl("genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", "pkcs8.pem")
    try openssl("ec", "-in", "pkcs8.pem", "-out", "sec1.pem")
    try openssl("ec", "-in", "pkcs8.pem", "-outform", "der", "-out", "sec1.der")
    try openssl("pkcs8", "-in", "pkcs8.pem", "-topk8", "-nocrypt", "-outform", "der", "-out", "pkcs8.der")
    let key = try PrivateKey(p8: openssl.text("pkcs8.pem"))
    #expect(key.algorithm == .p256)
    #expect(key.pkcs8PEM == (try openssl.text("pkcs8.pem")))
    #expect(try PrivateKey(pem: openssl.text("sec1.pem")).publicKey == key.publicKey)
    #expect(try PrivateKey(der: openssl.data("sec1.der")).publicKey == key.publicKey)
    #expect(try PrivateKey(der: openssl.data("pkcs8.der")).publicKey == key.publicKey)
    #expect("\(key)" == "private key (EC P-256 (prime256v1))")
    let rsa = try PrivateKey.generateRSA(bits: 1024)
    #expect(rsa.algorithm == .rsa(bits: 1024))
    try openssl.write(Data(rsa.pkcs8PEM.utf8), to: "rsa.pem")
    try openssl("rsa", "-in", "rsa.pem", "-traditional", "-out", "pkcs1.pem")
    #expect(try PrivateKey(pem: openssl.text("pkcs1.pem")).publicKey == rsa.publicKey)
  }

  @Test(
    "encrypted keys open with their password, also one in UTF-8",
    arguments: ["secret", "pässwörd 密码 🔑", "a b$'\""])
  func encrypted(password: String) throws {
    let openssl = try OpenSSLCommand()
    let key = try PrivateKey.generateP256()
    try openssl.write(Data(key.pkcs8PEM.utf8), to: "key.pem")
    try openssl("pkcs8", "-in", "key.pem", "-topk8", "-passout", "pass:\(password)", "-out", "new.pem")
    try openssl(
      "pkcs8", "-in", "key.pem", "-topk8", "-passout", "pass:\(password)", "-outform", "der", "-out", "new.der")
    try openssl("pkcs8", "-in", "key.pem", "-topk8", "-v2", "des3", "-passout", "pass:\(password)", "-out", "3des.pem")
    try openssl("ec", "-in", "key.pem", "-aes256", "-passout", "pass:\(password)", "-out", "old.pem")
    for name in ["new.pem", "3des.pem", "old.pem"] {
      let text = try openssl.text(name)
      #expect(try PrivateKey(pem: text, password: password).publicKey == key.publicKey)
      #expect(throws: PrivateKeyError.passwordNeeded) { try PrivateKey(pem: text) }
      #expect(throws: PrivateKeyError.wrongPassword) { try PrivateKey(pem: text, password: password + "x") }
      #expect(throws: PrivateKeyError.wrongPassword) { try PrivateKey(pem: text, password: "") }
    }
    let der = try openssl.data("new.der")
    #expect(try PrivateKey(der: der, password: password).publicKey == key.publicKey)
    #expect(throws: PrivateKeyError.passwordNeeded) { try PrivateKey(der: der) }
    #expect(throws: PrivateKeyError.wrongPassword) { try PrivateKey(der: der, password: "x") }
    let ours = try key.pkcs8PEM(password: password)
    #expect(try PrivateKey(pem: ours, password: password).publicKey == key.publicKey)
  }

  @Test(
    "a key encrypted inside its PEM headers never looks cut off, whatever its encrypted bytes are", arguments: 0..<8)
  func traditional(lengthByte: UInt8) throws {
    // As DER these bytes would begin a value of 2^24 bytes: the form of a key that was cut off.
    let content = Data([0x30, 0x84, 0x01, lengthByte, 0, 0] + [UInt8](repeating: 0x5a, count: 106))
    let pem = """
      -----BEGIN EC PRIVATE KEY-----
      Proc-Type: 4,ENCRYPTED
      DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF

      \(content.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed]))
      -----END EC PRIVATE KEY-----

      """
    #expect(throws: PrivateKeyError.passwordNeeded) { try PrivateKey(pem: pem) }
  }

  @Test("a wrong password is a wrong password also where it decrypts to something, as one in 256 does")
  func manyWrongPasswords() throws {
    let openssl = try OpenSSLCommand()
    try openssl.makeIdentity()
    try openssl("pkcs8", "-in", "key.pem", "-topk8", "-iter", "1", "-passout", "pass:right", "-out", "locked.pem")
    try openssl(
      "pkcs12", "-export", "-nomac", "-iter", "1", "-in", "cert.pem", "-inkey", "key.pem", "-passout", "pass:right",
      "-out", "x.p12")
    let locked = try openssl.text("locked.pem")
    let file = try openssl.data("x.p12")
    for number in 0..<700 {
      #expect(throws: PrivateKeyError.wrongPassword) { try PrivateKey(pem: locked, password: "\(number)") }
      #expect(throws: PKCS12Error.wrongPassword) { try PKCS12.open(file, password: "\(number)") }
    }
  }

  @Test("of an encrypted key whose kind nobody knows, the right password is not called wrong")
  func unknownKind() throws {
    // An Ed25519 key under the object identifier 1.3.101.127, encrypted with "secret" by PBES2.
    let text = """
      MIGNMEkGCSqGSIb3DQEFDTA8MBsGCSqGSIb3DQEFDDAOBAgxMjM0NTY3OAICCAAw
      HQYJYIZIAWUDBAECBBAwMDAwMDAwMDAwMDAwMDAwBEDpaYDO2GI/6ZbBlJ4ps92J
      hc8fFTCyslDJEnfxJb57hP9ROzaBMjRxMRiUJ1ukWGxhQ2U4OsF6N4w2RxmJUPnQ
      """
    let pem = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n\(text)\n-----END ENCRYPTED PRIVATE KEY-----\n"
    let der = try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters))
    for (password, error) in [("secret", PrivateKeyError.notAPrivateKey(found: nil)), ("wrong", .wrongPassword)] {
      #expect(throws: error) { try PrivateKey(der: der, password: password) }
      #expect(throws: error) { try PrivateKey(pem: pem, password: password) }
    }
  }

  @Test("a .p8 with other contents is refused with their kind")
  func otherThanP8() throws {
    let openssl = try OpenSSLCommand()
    try openssl("genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:secp384r1", "-out", "384.pem")
    try openssl("genpkey", "-algorithm", "ed25519", "-out", "ed.pem")
    func error(_ text: String) -> PrivateKeyError? {
      do { _ = try PrivateKey(p8: text) } catch { return error }
      return nil
    }
    #expect(error(try openssl.text("384.pem")) == .wrongKind(wanted: .p256, found: .ellipticCurve("secp384r1")))
    #expect(error(try openssl.text("ed.pem")) == .wrongKind(wanted: .p256, found: .other("ED25519")))
    #expect(
      error(try PrivateKey.generateRSA(bits: 1024).pkcs8PEM) == .wrongKind(wanted: .p256, found: .rsa(bits: 1024)))
    let key = try PrivateKey.generateP256()
    #expect(error(key.publicKey.pem) == .notAPrivateKey(found: "a public key"))
    #expect(error(try key.pkcs8PEM(password: "x")) == .passwordNeeded)
    #expect(error("hello") == .notAPrivateKey(found: nil))
    #expect(error("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n") == .notAPrivateKey(found: nil))
  }

  @Test("every cut of a key is refused")
  func cuts() throws {
    let key = try PrivateKey.generateP256()
    let pem = Array(key.pkcs8PEM.utf8)
    for count in 0..<pem.count - 1 {
      #expect(throws: PrivateKeyError.self) { try PrivateKey(p8: String(decoding: pem.prefix(count), as: UTF8.self)) }
    }
    let der = try #require(try PEMBlock.all(in: pem).first).content
    for count in 1..<der.count {
      #expect(throws: PrivateKeyError.truncated) { try PrivateKey(der: der.prefix(count)) }
    }
  }

  @Test("a key whose encryption requires excessive work is refused at once")
  func cost() throws {
    let openssl = try OpenSSLCommand()
    let key = try PrivateKey.generateP256()
    try openssl.write(Data(key.pkcs8PEM.utf8), to: "key.pem")
    try openssl(
      "pkcs8", "-in", "key.pem", "-topk8", "-iter", "3000", "-passout", "pass:x", "-outform", "der", "-out", "x.der")
    var der = try openssl.data("x.der")
    #expect(try PrivateKey(der: der, password: "x").publicKey == key.publicKey)
    // INTEGER 3000 becomes a number of the same length only up to 32767, so the whole is written anew.
    let place = try #require(der.firstRange(of: Data([0x02, 0x02, 0x0B, 0xB8])))
    der.replaceSubrange(place, with: [0x02, 0x04, 0x7F, 0xFF, 0xFF, 0xFF])
    der = lengthened(der, by: 2, containing: place.lowerBound)
    #expect(throws: PrivateKeyError.tooCostly) { try PrivateKey(der: der, password: "x") }
  }

  /// Adds to the length of each SEQUENCE around `place`.
  private func lengthened(_ der: Data, by count: UInt8, containing place: Int) -> Data {
    var der = der
    var position = 0
    while position < place {
      let long = der[position + 1] & 0x80 != 0
      let header = long ? 2 + Int(der[position + 1] & 0x7F) : 2
      var length = Int(der[position + 1])
      if long { length = der[(position + 2)..<(position + header)].reduce(0) { $0 << 8 | Int($1) } }
      if der[position] == 0x30, place < position + header + length {
        der[position + header - 1] += count
        position += header
      } else {
        position += header + length
      }
    }
    return der
  }

  @Test("a signature of ours is good for openssl, and one of openssl's is good for us")
  func signatures() throws {
    let openssl = try OpenSSLCommand()
    let key = try PrivateKey.generateP256()
    let message = Data("Hello, 世界".utf8)
    try openssl.write(Data(key.publicKey.pem.utf8), to: "public.pem")
    try openssl.write(Data(key.pkcs8PEM.utf8), to: "key.pem")
    try openssl.write(message, to: "message")
    for _ in 0..<20 {
      let raw = try key.signES256(message)
      #expect(raw.count == 64)
      #expect(key.publicKey.verifiesES256(raw, of: message))
      #expect(!key.publicKey.verifiesES256(raw, of: message + [0]))
      #expect(!key.publicKey.verifiesES256(raw.dropLast(), of: message))
    }
    let raw = try key.signES256(message)
    func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
      let digits = Array(bytes.drop { $0 == 0 })
      let positive = digits.first.map { $0 > 0x7F } == true ? [0] + digits : digits
      return [2, UInt8(positive.count)] + positive
    }
    let pair = integer(raw[..<32]) + integer(raw[32...])
    try openssl.write(Data([0x30, UInt8(pair.count)] + pair), to: "signature")
    try openssl("dgst", "-sha256", "-verify", "public.pem", "-signature", "signature", "message")
    let rsa = try PrivateKey.generateRSA(bits: 1024)
    try openssl.write(Data(rsa.pkcs8PEM.utf8), to: "rsa.pem")
    try openssl("dgst", "-sha256", "-sign", "rsa.pem", "-out", "signature", "message")
    #expect(try rsa.signRS256(message) == Array(openssl.data("signature")))
    #expect(rsa.publicKey.verifiesRS256(try openssl.data("signature"), of: message))
    #expect(throws: OpenSSLError.self) { try rsa.signES256(message) }
    #expect(throws: OpenSSLError.self) { try key.signRS256(message) }
  }
}
