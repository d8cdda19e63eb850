import Foundation
import OpenSSL
import TestSupport
import Testing

@Suite("PKCS#12")
struct PKCS12Tests {
  /// The options of `openssl pkcs12 -export` for each way in which such files are found.
  enum Writer: String, CaseIterable {
    case modern, keychain, tripleDES, noMAC, manyRounds

    var options: [String] {
      switch self {
      case .modern: []
      case .keychain: ["-legacy"]
      case .tripleDES:
        ["-certpbe", "PBE-SHA1-3DES", "-keypbe", "PBE-SHA1-3DES", "-macalg", "sha1"]
      case .noMAC: ["-nomac"]
      case .manyRounds: ["-iter", "100000"]
      }
    }
  }

  private static func export(_ openssl: borrowing OpenSSLCommand, _ writer: Writer, password: String) throws -> Data {
    try openssl.run(
      ["pkcs12"] + writer.options
        + ["-export", "-in", "cert.pem", "-inkey", "key.pem", "-passout", "pass:\(password)", "-out", "x.p12"])
    return try openssl.data("x.p12")
  }

  @Test("files of openssl open, with every kind of encryption and password", arguments: Writer.allCases)
  func opens(writer: Writer) throws {
    let openssl = try OpenSSLCommand()
    try openssl.makeIdentity()
    let certificate = try Certificate(pem: openssl.text("cert.pem"))
    for password in ["secret", "pässwörd 密码 🔑", ""] {
      let data = try Self.export(openssl, writer, password: password)
      let file = try PKCS12.open(data, password: password)
      #expect(file.certificate == certificate)
      let key = try #require(file.key)
      #expect(key.matches(certificate))
      #expect(try key.signES256([1]).count == 64)
      #expect(throws: PKCS12Error.wrongPassword) { try PKCS12.open(data, password: password + "x") }
      if password.isEmpty {
        #expect(try PKCS12.open(data, password: nil).certificate == certificate)
      } else {
        #expect(throws: PKCS12Error.passwordNeeded) { try PKCS12.open(data, password: nil) }
        #expect(throws: PKCS12Error.passwordNeeded) { try PKCS12.open(data, password: "") }
      }
    }
  }

  @Test("files of ours open for openssl, and for us", arguments: PKCS12.Encryption.allCases)
  func creates(encryption: PKCS12.Encryption) throws {
    let openssl = try OpenSSLCommand()
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    let (certificate, key) = try authority.issue(
      CertificateBlueprint(subject: [.commonName("com.x")], notBefore: noon, notAfter: noon + day))
    for password in ["secret", "密码", ""] {
      let data = try PKCS12.create(
        certificate: certificate, key: key, others: [authority.certificate], password: password, name: "Push",
        encryption: encryption)
      let opened = try PKCS12.open(data, password: password)
      #expect(opened.certificate == certificate)
      #expect(opened.others == [authority.certificate])
      #expect(opened.key?.publicKey == key.publicKey)
      try openssl.write(data, to: "x.p12")
      try openssl("pkcs12", "-legacy", "-in", "x.p12", "-passin", "pass:\(password)", "-nodes", "-out", "all.pem")
      #expect(try PrivateKey(pem: openssl.text("all.pem")).publicKey == key.publicKey)
      #expect(try Certificate.pemBundle(openssl.text("all.pem")).count == 2)
      let told = try openssl("pkcs12", "-legacy", "-in", "x.p12", "-passin", "pass:\(password)", "-noout", "-info")
      #expect(told.isEmpty)
    }
  }

  @Test("a file of Keychain's kind does hold RC2-40, which openssl refuses without its legacy provider")
  func keychain() throws {
    let openssl = try OpenSSLCommand()
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    try openssl.write(
      PKCS12.create(
        certificate: authority.certificate, key: authority.key, password: "x", encryption: .keychain), to: "x.p12")
    let error = #expect(throws: OtherProgram.Failure.self) {
      try openssl("pkcs12", "-in", "x.p12", "-passin", "pass:x", "-nodes")
    }
    #expect(error?.description.contains("RC2-40") == true)
  }

  @Test("no key, no certificate, a foreign key and several certificates are told apart")
  func contents() throws {
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    let (one, key) = try authority.issueServer(names: ["one"], notBefore: noon, notAfter: noon + day)
    let (two, _) = try authority.issueServer(names: ["two"], notBefore: noon, notAfter: noon + day)
    func made(_ certificate: Certificate?, _ key: PrivateKey?, _ others: [Certificate] = []) throws -> PKCS12 {
      try PKCS12.open(
        PKCS12.create(certificate: certificate, key: key, others: others, password: "x"), password: "x")
    }
    let keyless = try made(one, nil)
    #expect(keyless.certificate == one && keyless.key == nil)
    let bare = try made(nil, key)
    #expect(bare.certificate == nil && bare.key != nil)
    let foreign = try made(nil, key, [two, authority.certificate])
    #expect(foreign.certificate == nil && foreign.key != nil && foreign.others.count == 2)
    let several = try made(nil, key, [two, authority.certificate, one])
    #expect(several.certificate == one && several.key?.matches(one) == true)
    #expect(several.others.count == 2)
    let watched = try made(nil, nil, [one, two])
    #expect(watched.certificate != nil && watched.others.count == 1 && watched.key == nil)
  }

  @Test("every cut of a file is refused", arguments: PKCS12.Encryption.allCases)
  func cuts(encryption: PKCS12.Encryption) throws {
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    let data = try PKCS12.create(
      certificate: authority.certificate, key: authority.key, password: "x", encryption: encryption)
    for count in 0..<data.count {
      let error = #expect(throws: PKCS12Error.self) { try PKCS12.open(data.prefix(count), password: "x") }
      #expect(error == (count == 0 ? .notPKCS12 : .truncated))
    }
  }

  @Test("changed bytes never crash anything")
  func changes() throws {
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    let data = try PKCS12.create(
      certificate: authority.certificate, key: authority.key, password: "x", encryption: .keychain)
    var numbers = SeededNumbers(seed: 2)
    var refused = 0
    for _ in 0..<500 {
      var changed = data
      changed[Int.random(in: 0..<data.count, using: &numbers)] ^= UInt8(1 << Int.random(in: 0..<8, using: &numbers))
      do { _ = try PKCS12.open(changed, password: "x") } catch { refused += 1 }
    }
    // A few bits mean nothing, as the name of the checksum's unused parameters.
    #expect(refused > 450)
  }

  @Test("other files are not PKCS#12", arguments: [0, 1, 100, 100_000])
  func garbage(count: Int) throws {
    var numbers = SeededNumbers(seed: UInt64(count))
    #expect(throws: PKCS12Error.notPKCS12) { try PKCS12.open(Data([0x31] + numbers.bytes(count)), password: "x") }
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    #expect(throws: PKCS12Error.notPKCS12) { try PKCS12.open(authority.certificate.der, password: nil) }
    #expect(throws: PKCS12Error.notPKCS12) { try PKCS12.open(Data(authority.certificate.pem.utf8), password: nil) }
  }

  @Test("a file whose checksum requires excessive work is refused at once")
  func cost() throws {
    let openssl = try OpenSSLCommand()
    try openssl.makeIdentity()
    try openssl(
      "pkcs12", "-export", "-in", "cert.pem", "-inkey", "key.pem", "-passout", "pass:x", "-out", "x.p12", "-iter",
      "70000")
    var data = try openssl.data("x.p12")
    #expect(try PKCS12.open(data, password: "x").key != nil)
    // The last number of the file is the rounds of its checksum; 70000 = 01 11 70.
    let rounds = Data([0x02, 0x03, 0x01, 0x11, 0x70])
    #expect(data.suffix(5) == rounds)
    data.replaceSubrange(data.count - 5..<data.count, with: [0x02, 0x03, 0x7F, 0xFF, 0xFF])
    #expect(throws: PKCS12Error.tooCostly) { try PKCS12.open(data, password: "x") }
    data = try openssl.data("x.p12")
    let inner = try #require(data.firstRange(of: rounds))
    #expect(inner.upperBound < data.count)
    data.replaceSubrange(inner, with: [0x02, 0x03, 0x7F, 0xFF, 0xFF])
    #expect(throws: PKCS12Error.tooCostly) { try PKCS12.open(data, password: "x") }
  }
}
