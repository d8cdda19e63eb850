import Certificates
import Foundation
import JSON
import OpenSSL
import Model
import TestSupport
import Testing

@Suite("Certificate file")
struct CertificateFileTests {
  /// What `inspect` refuses a file with, nil if it does not.
  static func problem(_ data: Data, fileName: String? = nil, password: String? = nil) -> FileProblem? {
    do { _ = try CertificateFile.inspect(data: data, fileName: fileName, password: password) } catch { return error }
    return nil
  }

  @Test(
    "a .p12 of openssl is read, with AES-256 and with Keychain's RC2-40",
    arguments: [[], ["-legacy"]], ["secret", "pässwörd 密码 🔑", ""])
  func pkcs12(options: [String], password: String) throws {
    let openssl = try OpenSSLCommand()
    try openssl.run(
      [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "31",
        "-subj", "/UID=com.x/CN=Apple Push Services: com.x/OU=TEAM123456/O=Ü/C=DE", "-utf8",
        "-addext", "1.2.840.113635.100.6.3.1=DER:0500", "-addext", "1.2.840.113635.100.6.3.2=DER:0500",
        "-addext",
        "1.2.840.113635.100.6.3.6=DER:30220c05636f6d2e7830050c036170700c0a636f6d2e782e766f697030060c04766f6970",
      ])
    try openssl.run(
      ["pkcs12"] + options
        + ["-export", "-in", "cert.pem", "-inkey", "key.pem", "-passout", "pass:\(password)", "-out", "x.p12"])
    let file = try CertificateFile.inspect(data: openssl.data("x.p12"), fileName: "any.thing", password: password)
    #expect(file.format == .pkcs12)
    #expect(file.kind == .apnsCertificate)
    #expect(file.role == .push)
    #expect(file.name == "Apple Push Services: com.x")
    #expect(file.environments == [.development, .production])
    #expect(file.topics == [.init(name: "com.x", kinds: ["app"]), .init(name: "com.x.voip", kinds: ["voip"])])
    #expect(file.teamID == "TEAM123456")
    #expect(file.canSend)
    #expect(file.summary?.subject == "UID=com.x, CN=Apple Push Services: com.x, OU=TEAM123456, O=Ü, C=DE")
    let notAfter = String(
      decoding: try openssl("x509", "-in", "cert.pem", "-noout", "-enddate", "-dateopt", "iso_8601"), as: UTF8.self)
    #expect(
      notAfter.dropFirst("notAfter=".count).dropLast()
        == (file.notAfter?.formatted(.iso8601).replacing("T", with: " ") ?? ""))
    #expect(file.warnings(now: Date()).map(\.problem.code) == ["file.warning.not_from_apple"], "it signed itself")
    #expect(Self.problem(try openssl.data("x.p12"), password: password + "x") == .wrongPassword)
    #expect(
      Self.problem(try openssl.data("x.p12"), password: nil) == (password.isEmpty ? nil : .passwordNeeded))
    try openssl.run(["pkcs8", "-topk8", "-in", "key.pem", "-passout", "pass:\(password)x", "-out", "locked.pem"])
    let locked = try openssl.data("cert.pem") + openssl.data("locked.pem")
    #expect(try CertificateFile.inspect(data: locked, password: password + "x").canSend)
    #expect(Self.problem(locked) == .passwordNeeded)
    #expect(Self.problem(locked, password: "no") == .wrongPassword)
  }

  @Test("a .pem is read in any order; a foreign key is refused; without a key it can be watched")
  func pem() throws {
    let made = try Made()
    for text in [
      made.pem + made.keyPEM, made.keyPEM + "notes\r\n" + made.pem, made.authorityPEM + made.pem + made.keyPEM,
    ] {
      let file = try CertificateFile.inspect(data: Data(text.utf8))
      #expect(file.format == .pem)
      #expect(file.certificate == made.certificate)
      #expect(file.canSend)
      #expect(file.warnings(now: noon) == [])
    }
    let foreign = try PrivateKey.generateP256().pkcs8PEM
    #expect(Self.problem(Data((made.pem + foreign).utf8)) == .keyDoesNotMatch)
    #expect(try CertificateFile.inspect(data: Data((foreign + made.pem + made.keyPEM).utf8)).canSend)
    let watched = try CertificateFile.inspect(data: Data((made.authorityPEM + made.pem).utf8))
    #expect(watched.certificate == made.certificate)
    #expect(!watched.canSend)
    #expect(watched.warnings(now: noon) == [.noPrivateKey])
  }

  @Test("a .cer is read in all forms, whatever its name")
  func certificate() throws {
    let made = try Made()
    for (data, format) in [
      (made.certificate.der, CertificateFile.Format.der), (Data(made.pem.utf8), .pem),
      (Data(made.certificate.der.base64EncodedString(options: .lineLength76Characters).utf8), .der),
    ] {
      let file = try CertificateFile.inspect(data: data, fileName: "photo.jpg", password: "ignored")
      #expect(file.format == format)
      #expect(file.certificate == made.certificate)
      #expect(file.sha256 == made.certificate.sha256Fingerprint)
      #expect(file.notAfter == made.certificate.notAfter)
    }
  }

  @Test(
    "a .p8 is read; its name tells the key id",
    arguments: [
      ("AuthKey_ABC123DEFG.p8", "ABC123DEFG"), ("AuthKey_ABC123DEFG (1).p8", "ABC123DEFG"),
      ("/tmp/AuthKey_ABC123DEFG.p8", "ABC123DEFG"), ("key.p8", nil), ("AuthKey_ABC123DEFGH.p8", nil), (nil, nil),
      ("AuthKey_new AuthKey_ABC123DEFG", "ABC123DEFG"), ("AuthKey_ABC123DEF.p8", nil), ("AuthKey_", nil),
    ] as [(String?, String?)])
  func p8(fileName: String?, keyID: String?) throws {
    let openssl = try OpenSSLCommand()
    try openssl("genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-out", "key.p8")
    let file = try CertificateFile.inspect(data: openssl.data("key.p8"), fileName: fileName)
    #expect(file.kind == .apnsKey)
    #expect(file.keyID == keyID)
    #expect(file.canSend)
    #expect(file.notAfter == nil)
    #expect(file.warnings(now: noon) == (keyID == nil ? [.keyIDUnknown] : []))
    #expect(file.warnings(now: noon, keyID: "ABC123DEFG") == [], "who gave it is not asked for it")
    #expect(Expiry.band(notBefore: file.notBefore, notAfter: file.notAfter, now: noon) == .neverExpires)
    // The secret does not leave by the way of descriptions.
    let secret = try #require(try openssl.text("key.p8").split(separator: "\n").dropFirst().first)
    #expect(
      !"\(file)".contains(secret) && !JSONValue(written: CertificateFileAnswer(file, now: noon)).text().contains(secret)
    )
  }

  @Test("each kind of Apple's certificates is told by its extensions or its name", arguments: roles)
  func role(name: String, extensions: AppleMarks?, role: CertificateRole, environments: [Model.Environment]) throws {
    let key = try PrivateKey.generateP256()
    let certificate = try Made().authority.issue(
      CertificateBlueprint(
        subject: [.commonName(name)], notBefore: noon - day, notAfter: noon + 100 * day,
        extensions: extensions?.extensions ?? []), for: key.publicKey)
    let file = try CertificateFile.inspect(data: Data((certificate.pem + key.pkcs8PEM).utf8))
    #expect(file.role == role)
    #expect(file.kind == role.kind)
    #expect(file.environments == environments)
    // Those for passes, websites and device management send to the topic that they name.
    let namesTopic = role.kind == .appleCertificate && !file.topics.isEmpty
    #expect(file.canSend == (role.kind.isForAPNs || namesTopic))
    #expect(!namesTopic || role != .developmentSigning && role != .distributionSigning)
    let warning = file.warnings(now: noon).first
    switch role {
    case .developmentSigning, .distributionSigning: #expect(warning == .signingInsteadOfPush)
    case .passType, .websitePush, .deviceManagement: #expect(warning == .otherPurpose)
    default: #expect(warning == nil)
    }
  }

  static let roles: [(String, AppleMarks?, CertificateRole, [Model.Environment])] = [
    ("Apple Development IOS Push Services: com.x", nil, .push, [.development]),
    ("Apple Production IOS Push Services: com.x", nil, .push, [.production]),
    ("Apple Push Services: com.x", nil, .push, [.development, .production]),
    ("Anything", AppleMarks(isDevelopment: true, isProduction: false), .push, [.development]),
    ("Apple Push Services: com.x", AppleMarks(isDevelopment: false, isProduction: true), .push, [.production]),
    ("VoIP Services: com.x", nil, .voip, [.development, .production]),
    ("x", AppleMarks(isDevelopment: true, isProduction: true, isVoIP: true), .voip, [.development, .production]),
    ("Pass Type ID: pass.com.x", nil, .passType, [.production]),
    ("Website Push ID: web.com.x", nil, .websitePush, [.production]),
    ("APSP:1234", nil, .deviceManagement, [.production]),
    ("Apple Distribution: Company (TEAM123456)", nil, .distributionSigning, []),
    ("iPhone Developer: Somebody (ABC)", nil, .developmentSigning, []),
    ("www.example.com", nil, .other, []),
  ]

  @Test("topics stand in the list; else in the subject's UID; else in its name")
  func topics() throws {
    func topics(_ subject: [DistinguishedName.Attribute]) throws -> [String] {
      let certificate = try CertificateAuthority.selfSigned(
        CertificateBlueprint(subject: subject, notBefore: noon, notAfter: noon + day), key: .generateP256())
      return try CertificateFile.inspect(data: certificate.der).topics.map(\.name)
    }
    #expect(try topics([.userID("com.uid"), .commonName("Apple Push Services: com.cn")]) == ["com.uid"])
    #expect(try topics([.commonName("Apple Push Services: com.cn")]) == ["com.cn"])
    #expect(try topics([.commonName("www.example.com")]) == [])
    let made = try Made()
    #expect(
      try CertificateFile.inspect(data: made.certificate.der).topics.map(\.name)
        == ["com.x", "com.x.voip", "com.x.complication"])
  }

  @Test("several certificates in one binary file are read as in PEM; what follows them must be another one")
  func severalBinary() throws {
    let made = try Made()
    let both = made.certificate.der + made.authority.certificate.der
    let file = try CertificateFile.inspect(data: Data(both))
    let pem = try CertificateFile.inspect(data: Data((made.pem + made.authorityPEM).utf8))
    #expect(file.certificate == made.certificate && file.format == .der)
    #expect(file.otherCertificates == [made.authority.certificate] && pem.otherCertificates == file.otherCertificates)
    #expect(Self.problem(Data(made.certificate.der + [0x30, 0x03, 0x02, 0x01, 0x05])) != nil)
    #expect(Self.problem(Data(both.dropLast(10))) == .truncated)
    let many = Data(Array(repeating: made.certificate.der, count: 65).joined())
    #expect(Self.problem(many) == .tooManyParts(65))
  }

  @Test("dates, several certificates and an issuer that ends earlier are warned of")
  func warnings() throws {
    let made = try Made()
    let file = try CertificateFile.inspect(data: Data((made.pem + made.keyPEM).utf8))
    let notAfter = made.certificate.notAfter
    let notBefore = made.certificate.notBefore
    #expect(file.warnings(now: notAfter) == [])
    #expect(file.warnings(now: notAfter + 1) == [.expired(notAfter, .apnsCertificate)])
    #expect(file.warnings(now: notBefore - 1) == [.notYetValid(notBefore)])
    let (begin, end) = (noon + 400 * day, noon + 35 * day)
    let (never, neverKey) = try made.authority.issue(
      .applePush(topic: "com.x", team: "T", notBefore: begin, notAfter: end))
    let neverFile = try CertificateFile.inspect(data: Data((never.pem + neverKey.pkcs8PEM).utf8))
    #expect(neverFile.warnings(now: noon) == [.neverValid(begin, end)])
    #expect(neverFile.warnings(now: end + 1) == [.expired(end, .apnsCertificate), .neverValid(begin, end)])
    let (second, _) = try made.authority.issueServer(names: ["second"], notBefore: noon, notAfter: noon + day)
    let two = try CertificateFile.inspect(data: Data((made.pem + second.pem + made.keyPEM).utf8))
    #expect(
      two.warnings(now: noon) == [.severalCertificates(count: 2, taken: "Apple Push Services: com.x", .onlyWithKey)])
    #expect(two.lines(now: noon).contains("Also holds:   second, until 2026-11-21 12:00:00 UTC"))
    let short = try CertificateAuthority(
      subject: [.commonName("Short"), .organization("Apple Inc.")], notBefore: noon - day, notAfter: noon + day)
    let (long, key) = try short.issue(.applePush(topic: "com.x", team: "T", notBefore: noon, notAfter: noon + 2 * day))
    let chain = try CertificateFile.inspect(data: Data((long.pem + key.pkcs8PEM + short.certificate.pem).utf8))
    #expect(chain.warnings(now: noon) == [.issuerExpiresEarlier(name: "Short", noon + day)])
    // In the past it is no longer to be renewed "by then", and the certificate itself works on.
    let past = chain.warnings(now: noon + day + 1)
    #expect(past == [.issuerExpired(name: "Short", noon + day)])
    #expect(past.map(\.description).joined().contains("expired on 2026-11-21") && "\(past)".contains("still works"))
    #expect(chain.warnings(now: noon + 2 * day + 1) == [.expired(noon + 2 * day, .apnsCertificate)])
    // The issuer's next certificate, of the same key, is in the file too.
    let next = try CertificateAuthority.selfSigned(
      CertificateBlueprint(
        subject: [.commonName("Short"), .organization("Apple Inc.")], notBefore: noon - day, notAfter: noon + 900 * day,
        purpose: .authority), key: short.key)
    let both = try CertificateFile.inspect(
      data: Data((long.pem + key.pkcs8PEM + short.certificate.pem + next.pem).utf8))
    #expect(both.warnings(now: noon + day + 1) == [])
  }

  @Test("certificates of OpenSSL and Certificates agree in JSON and text")
  func forms() throws {
    let made = try Made()
    let file = try CertificateFile.inspect(data: Data((made.pem + made.keyPEM).utf8))
    let json = JSONValue(written: CertificateFileAnswer(file, now: noon))
    #expect(json["kind"]?.string == "apns_certificate")
    #expect(json["days_left"]?.integer == 100)
    #expect(json["band"]?.string == "fine")
    #expect(json["not_after"]?.string == "2027-02-28T12:00:00Z")
    #expect(json["certificate"]?["serial"]?.string == made.certificate.serialNumber)
    #expect(json["has_private_key"]?.bool == true)
    let over = file.lines(now: noon + 430 * day + 1).joined(separator: "\n")
    #expect(over.contains("Expired:      330 days ago\n") && !over.contains("Days left"), "\(over)")
    let text = file.lines(now: noon).joined(separator: "\n")
    #expect(text.contains("Kind:         APNs certificate\n"))
    #expect(text.contains("Topics:       com.x (app), com.x.voip (voip), com.x.complication (complication)\n"))
    #expect(text.contains("Valid until:  2027-02-28 12:00:00 UTC\n"))
    #expect(!text.contains("Warning"))
  }
}

/// An authority and an Apple-like certificate with its key, valid for 100 days from noon.
struct Made {
  let authority: CertificateAuthority
  let certificate: Certificate
  let key: PrivateKey

  init() throws {
    authority = try CertificateAuthority(
      subject: [.commonName("Authority"), .organization("Apple Inc.")], notBefore: noon - day,
      notAfter: noon + 1000 * day)
    (certificate, key) = try authority.issue(
      .applePush(topic: "com.x", team: "TEAM123456", notBefore: noon - day, notAfter: noon + 100 * day))
  }

  var pem: String { certificate.pem }
  var keyPEM: String { key.pkcs8PEM }
  var authorityPEM: String { authority.certificate.pem }

  func pkcs12(_ encryption: PKCS12.Encryption) throws -> Data {
    try PKCS12.create(certificate: certificate, key: key, password: "x", encryption: encryption)
  }

  /// The XML of a provisioning profile.
  func profileXML(
    appID: String = "TEAM123456.com.x", aps: String? = "development", devices: Bool = true, more: String = ""
  ) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
    <key>AppIDName</key><string>Shop</string>
    <key>ApplicationIdentifierPrefix</key><array><string>TEAM123456</string></array>
    <key>CreationDate</key><date>2026-11-01T00:00:00Z</date>
    <key>Platform</key><array><string>iOS</string></array>
    <key>DeveloperCertificates</key><array><data>\(certificate.der.base64EncodedString())</data></array>
    <key>Entitlements</key><dict>
    <key>application-identifier</key><string>\(appID)</string>
    \(aps.map { "<key>aps-environment</key><string>\($0)</string>" } ?? "")
    <key>get-task-allow</key><true/>
    </dict>
    <key>ExpirationDate</key><date>2027-11-01T00:00:00Z</date>
    <key>Name</key><string>Shop Development &amp; 测试</string>
    \(devices ? "<key>ProvisionedDevices</key><array><string>a</string><string>b</string></array>" : "")
    <key>TeamIdentifier</key><array><string>TEAM123456</string></array>
    <key>TeamName</key><string>Example</string>
    <key>UUID</key><string>7C5B3A1E-0000-4000-8000-000000000001</string>
    \(more)
    </dict></plist>
    """
  }

  func profile(_ xml: String? = nil) throws -> Data {
    try CMSMessage.sign(
      Data((xml ?? profileXML()).utf8), certificate: authority.certificate, key: authority.key)
  }
}
