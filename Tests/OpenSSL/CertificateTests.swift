import Foundation
import OpenSSL
import TestSupport
import Testing

@Suite("Certificate")
struct CertificateTests {
  @Test("says the same as the openssl command says")
  func facts() throws {
    let openssl = try OpenSSLCommand()
    try openssl.makeIdentity()
    let certificate = try Certificate(pem: openssl.text("cert.pem"))
    func told(_ arguments: String...) throws -> String {
      var line = String(
        decoding: try openssl("x509", "-in", "cert.pem", "-noout", arguments[0], arguments.last ?? ""), as: UTF8.self)
      line.removeLast()
      return String(line.drop { $0 != "=" }.dropFirst())
    }
    #expect(certificate.serialNumber == (try told("-serial")))
    #expect(certificate.sha256Fingerprint == (try told("-fingerprint", "-sha256")))
    #expect(
      certificate.subject.description
        == "UID=com.example.app, CN=Apple Push Services: com.example.app, OU=TEAM123456, O=Example, C=US")
    #expect(certificate.userID == "com.example.app")
    #expect(certificate.commonName == "Apple Push Services: com.example.app")
    #expect(certificate.organizationalUnit == "TEAM123456")
    #expect(certificate.subject.organization == "Example")
    #expect(certificate.issuer == certificate.subject)
    #expect(certificate.isSelfSigned)
    #expect(certificate.isSigned(by: certificate))
    #expect(certificate.subjectAlternativeNames == ["localhost", "127.0.0.1", "::1"])
    #expect(certificate.extensionValue(oid: "1.2.840.113635.100.6.3.1") == Data([5, 0]))
    #expect(certificate.extensionValue(oid: "1.2.3") == nil)
    #expect(certificate.extensionOIDs.contains("1.2.840.113635.100.6.3.2"))
    #expect(certificate.notAfter.timeIntervalSince(certificate.notBefore) == 365 * day)
    try openssl("x509", "-in", "cert.pem", "-outform", "der", "-out", "cert.der")
    #expect(certificate.der == (try openssl.data("cert.der")))
    #expect(try Certificate(der: certificate.der) == certificate)
    #expect(certificate.pem == (try openssl.text("cert.pem")))
    let publicKey = try openssl("x509", "-in", "cert.pem", "-noout", "-pubkey")
    #expect(certificate.publicKeyDER == certificate.publicKey?.der)
    #expect(certificate.publicKey?.pem == String(decoding: publicKey, as: UTF8.self))
    #expect(certificate.keyAlgorithm == certificate.publicKey?.algorithm)
    #expect(PublicKey(der: certificate.publicKeyDER) == certificate.publicKey)
    #expect(PublicKey(der: certificate.publicKeyDER + [0]) == nil)
    #expect(PublicKey(der: certificate.publicKeyDER.dropLast()) == nil)
    #expect(PublicKey(der: certificate.der) == nil)
    #expect(try PrivateKey(pem: openssl.text("key.pem")).matches(certificate))
    #expect(try !PrivateKey.generateP256().matches(certificate))
  }

  @Test(
    "dates are right on both sides of 2050, where their form changes",
    arguments: [
      ("20491231235959Z", 2_524_607_999.0), ("20500101000000Z", 2_524_608_000.0),
      ("20510615120000Z", 2_570_443_200.0), ("99991231235959Z", 253_402_300_799.0),
    ])
  func dates(text: String, seconds: Double) throws {
    let openssl = try OpenSSLCommand()
    try openssl("genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", "key.pem")
    try openssl("req", "-new", "-key", "key.pem", "-subj", "/CN=x", "-out", "request.pem")
    try openssl.write(Data(), to: "index.txt")
    try openssl.write(
      Data(
        """
        [ca]
        default_ca = it
        [it]
        database = index.txt
        new_certs_dir = .
        rand_serial = yes
        default_md = sha256
        policy = any
        [any]
        commonName = supplied
        """.utf8), to: "ca.conf")
    try openssl(
      "ca", "-config", "ca.conf", "-batch", "-selfsign", "-keyfile", "key.pem", "-in", "request.pem", "-out",
      "cert.pem", "-startdate", "20200101000000Z", "-enddate", text, "-notext")
    let certificate = try Certificate(pem: openssl.text("cert.pem"))
    #expect(certificate.notAfter == Date(timeIntervalSince1970: seconds))
    #expect(certificate.notBefore == Date(timeIntervalSince1970: 1_577_836_800))
    let authority = try CertificateAuthority(
      subject: [.commonName("x")], notBefore: noon, notAfter: Date(timeIntervalSince1970: seconds))
    #expect(authority.certificate.notAfter == Date(timeIntervalSince1970: seconds))
  }

  @Test("names of strangers are read in UTF-8, and control characters do not reach the description")
  func names() throws {
    let key = try PrivateKey.generateP256()
    let certificate = try CertificateAuthority.selfSigned(
      CertificateBlueprint(
        subject: [.commonName("中文, 🔔\n<b>"), .organization("a=b+c")], notBefore: noon, notAfter: noon + day), key: key)
    #expect(certificate.commonName == "中文, 🔔\n<b>")
    #expect(certificate.subject.organization == "a=b+c")
    #expect(certificate.subject.description == #"CN=中文\, 🔔\0A\<b\>, O=a=b\+c"#)
  }

  @Test("a bundle is read in its order, with keys and text between")
  func bundle() throws {
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    let (leaf, key) = try authority.issueServer(names: ["localhost", "::1"], notBefore: noon, notAfter: noon + day)
    let text = "\u{FEFF}Bag Attributes\r\n" + leaf.pem + key.pkcs8PEM + "text\n" + authority.certificate.pem
    #expect(try Certificate.pemBundle(text) == [leaf, authority.certificate])
    #expect(try Certificate(pem: text.replacing("\n", with: "\r\n")) == leaf)
    #expect(try Certificate.pemBundle("nothing") == [])
    #expect(leaf.isSigned(by: authority.certificate))
    #expect(!authority.certificate.isSigned(by: leaf))
    #expect(authority.certificate.isAuthority)
    #expect(!leaf.isAuthority)
    #expect(leaf.subjectAlternativeNames == ["localhost", "::1"])
  }

  @Test("openssl verifies the chain and the host names of a server certificate that we issue")
  func server() throws {
    let openssl = try OpenSSLCommand()
    let now = Date()
    let authority = try CertificateAuthority(
      subject: [.commonName("Simulator")], notBefore: now - day, notAfter: now + day)
    let (leaf, _) = try authority.issueServer(
      names: ["api.push.apple.com", "127.0.0.1"], notBefore: now - day, notAfter: now + day)
    try openssl.write(Data(authority.certificate.pem.utf8), to: "ca.pem")
    try openssl.write(Data(leaf.pem.utf8), to: "leaf.pem")
    try openssl(
      "verify", "-x509_strict", "-CAfile", "ca.pem", "-purpose", "sslserver", "-verify_hostname", "api.push.apple.com",
      "leaf.pem")
    try openssl("verify", "-CAfile", "ca.pem", "-verify_ip", "127.0.0.1", "leaf.pem")
    #expect(throws: OtherProgram.Failure.self) {
      try openssl("verify", "-CAfile", "ca.pem", "-verify_hostname", "other.example", "leaf.pem")
    }
  }

  @Test("every cut of a certificate is refused, and no byte behind it is passed over")
  func cuts() throws {
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    let der = authority.certificate.der
    for count in 0..<der.count {
      let error = #expect(throws: CertificateError.self) { try Certificate(der: der.prefix(count)) }
      #expect(error == (count == 0 ? .notACertificate : .truncated))
    }
    #expect(throws: CertificateError.notACertificate) { try Certificate(der: der + [0]) }
    let pem = Array(authority.certificate.pem.utf8)
    // The last byte is the end of the line.
    for count in 0..<pem.count - 1 {
      #expect(throws: CertificateError.self) {
        try Certificate(pem: String(decoding: pem.prefix(count), as: UTF8.self))
      }
    }
  }

  @Test("changed bytes never crash anything")
  func changes() throws {
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    let der = try authority.issue(
      CertificateBlueprint(subject: [.commonName("com.x")], notBefore: noon, notAfter: noon + day)
    )
    .certificate.der
    var numbers = SeededNumbers(seed: 1)
    var read = 0
    for _ in 0..<3000 {
      var changed = der
      for _ in 0..<Int.random(in: 1...3, using: &numbers) {
        changed[Int.random(in: 0..<der.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
      }
      // Whether it is still a certificate depends on the byte.
      guard let certificate = try? Certificate(der: changed) else { continue }
      read += 1
      _ = (certificate.subjectAlternativeNames, certificate.publicKey?.algorithm)
      _ = (certificate.serialNumber, certificate.isSelfSigned, certificate.isAuthority, certificate.extensionOIDs)
    }
    #expect(read > 100)
  }

  @Test("a request is made and read, by openssl too")
  func requests() throws {
    let openssl = try OpenSSLCommand()
    let key = try PrivateKey.generateP256()
    let request = try CertificateRequest(subject: [.commonName("Push"), .init(oid: "2.5.4.6", value: "DE")], key: key)
    try openssl.write(Data(request.pem.utf8), to: "request.pem")
    try openssl("req", "-in", "request.pem", "-verify", "-noout")
    let read = try #require(CertificateRequest(der: request.der))
    #expect(read.subject.description == "CN=Push, C=DE")
    #expect(read.publicKey == key.publicKey)
    #expect(CertificateRequest(der: request.der.dropLast()) == nil)
  }

  @Test("what cannot be said in a certificate is an error")
  func impossible() throws {
    let error = #expect(throws: CertificateError.self) {
      try CertificateAuthority(
        subject: [.commonName(String(repeating: "x", count: 65))], notBefore: noon, notAfter: noon + day)
    }
    #expect(error?.description.contains("string too long") == true)
  }
}
