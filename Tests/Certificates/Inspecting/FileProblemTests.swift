import Certificates
import Foundation
import JSON
import OpenSSL
import Model
import Providers
import TestSupport
import Testing

@Suite("File problem")
struct FileProblemTests {
  private func problem(_ data: Data, password: String? = "x") -> FileProblem? {
    CertificateFileTests.problem(data, password: password)
  }

  @Test("every cut of every kind of file is refused, and says so")
  func cuts() throws {
    let made = try Made()
    let files: [(String, Data)] = [
      ("modern p12", try made.pkcs12(.modern)), ("keychain p12", try made.pkcs12(.keychain)),
      ("cer", made.certificate.der), ("pem", Data((made.pem + made.keyPEM).utf8)), ("p8", Data(made.keyPEM.utf8)),
      ("mobileprovision", try made.profile()),
      ("encrypted pem", Data((made.pem + (try made.key.pkcs8PEM(password: "x"))).utf8)),
    ]
    for (name, whole) in files {
      #expect(problem(whole) == nil, "\(name)")
      let isText = whole.starts(with: Data("-----".utf8))
      for count in 0..<whole.count {
        let cut = whole.prefix(count)
        guard let found = problem(cut) else {
          // A text may be cut behind a whole block; and at its last line break nothing is lost.
          let text = String(decoding: cut, as: UTF8.self)
          #expect(isText && (text.hasSuffix("-----\n") || text.hasSuffix("-----")), "\(name) cut at \(count)")
          continue
        }
        switch found {
        case .empty: #expect(count == 0)
        case .truncated: break
        case .notACertificateFile(.text): #expect(isText && count < 11, "\(name) cut at \(count)")
        default: Issue.record("\(name) cut at \(count): \(found)")
        }
      }
    }
  }

  @Test("changed bits never crash anything, and a .p12 with one is not silently taken for another")
  func changes() throws {
    let made = try Made()
    var numbers = SeededNumbers(seed: 3)
    for whole in [try made.profile(), made.certificate.der, Data((made.pem + made.keyPEM).utf8)] {
      for _ in 0..<400 {
        var changed = whole
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
          changed[Int.random(in: 0..<whole.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
        }
        // Most are refused; what is read is shown in every form.
        guard let file = try? CertificateFile.inspect(data: changed, password: "x") else { continue }
        _ = (
          file.lines(now: noon), JSONValue(written: CertificateFileAnswer(file, now: noon)).text(),
          file.warnings(now: noon)
        )
      }
    }
  }

  @Test("random bytes of all lengths are refused", arguments: [UInt64(4), 5, 6])
  func random(seed: UInt64) {
    var numbers = SeededNumbers(seed: seed)
    for count in [1, 2, 3, 10, 100, 1000, 10_000] {
      for start in [[], [0x30], [0x30, 0x82], [0x30, 0x80], Array("-----BEGIN CERTIFICATE-----\n".utf8)] as [[UInt8]] {
        #expect(problem(Data(start + numbers.bytes(count))) != nil)
      }
    }
  }

  @Test("1 MB is looked at, one byte more is not")
  func size() throws {
    var numbers = SeededNumbers(seed: 7)
    let large = Data(numbers.bytes(CertificateFile.maximumBytes))
    #expect(problem(large) == .notACertificateFile(.unknown))
    #expect(problem(large + [0]) == .tooLarge(bytes: 1_048_577))
    #expect(problem(Data(repeating: 0x30, count: 5_000_000)) == .tooLarge(bytes: 5_000_000))
    #expect(problem(Data()) == .empty)
    // Deeply nested, and many small ones: in time that grows with the size, not with its square.
    #expect(problem(Data(repeating: 0x30, count: 1_000_000)) != nil)
    #expect(problem(Data((0..<500_000).flatMap { _ in [0x30, 0x80] as [UInt8] })) != nil)
    let block = "-----BEGIN X-----\nAAAA\n-----END X-----\n"
    #expect(problem(Data(String(repeating: block, count: 25_000).utf8)) == .notACertificateFile(.otherPEM))
  }

  @Test("other files are told what they are, and what was expected")
  func found() throws {
    let made = try Made()
    let openssl = try OpenSSLCommand()
    try openssl.write(Data((made.pem + made.authorityPEM).utf8), to: "certs.pem")
    try openssl("crl2pkcs7", "-nocrl", "-certfile", "certs.pem", "-outform", "der", "-out", "x.p7b")
    let request = try CertificateRequest(subject: [.commonName("x")], key: made.key)
    let files: [(Data, FileProblem.Found)] = [
      (Data("hello".utf8), .text), (Data([0x89, 0x50, 0x4E, 0x47, 1, 2]), .image), (Data("%PDF-1.7".utf8), .document),
      (Data([0x50, 0x4B, 3, 4, 0]), .archive), (Data("\n<!DOCTYPE html><html>".utf8), .webPage),
      (Data("{\"a\":1}".utf8), .json),
      (made.key.publicKey.der, .publicKey), (Data(made.key.publicKey.pem.utf8), .publicKey),
      (request.der, .certificateRequest), (Data(request.pem.utf8), .certificateRequest),
      (try openssl.data("x.p7b"), .certificateBundle), (Data([0, 1, 2]), .unknown), (Data([0x30, 0]), .unknown),
    ]
    for (data, expected) in files {
      let refusal = problem(data)
      #expect(refusal == .notACertificateFile(expected))
      #expect(refusal?.description.contains(". ") == true)
    }
  }

  @Test("a .p12 without what is needed is refused by name")
  func contents() throws {
    let made = try Made()
    func p12(_ certificate: Certificate?, _ key: PrivateKey?, _ others: [Certificate] = []) throws -> Data {
      try PKCS12.create(certificate: certificate, key: key, others: others, password: "x")
    }
    #expect(problem(try p12(nil, made.key)) == .noCertificate)
    #expect(problem(try p12(nil, made.key, [made.authority.certificate])) == .keyDoesNotMatch)
    let watched = try CertificateFile.inspect(data: try p12(made.certificate, nil), password: "x")
    #expect(!watched.canSend && watched.warnings(now: noon) == [.noPrivateKey])
    #expect(problem(try made.pkcs12(.modern), password: nil) == .passwordNeeded)
    #expect(problem(try made.pkcs12(.modern), password: "") == .passwordNeeded)
    #expect(problem(try made.pkcs12(.keychain), password: "y") == .wrongPassword)
  }

  @Test("a key that APNs does not take is told what it is")
  func keys() throws {
    let openssl = try OpenSSLCommand()
    try openssl("genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:secp521r1", "-out", "521.p8")
    #expect(problem(try openssl.data("521.p8")) == .wrongKeyKind(found: "EC P-521 (secp521r1)"))
    #expect(problem(Data(try PrivateKey.generateRSA(bits: 1024).pkcs8PEM.utf8)) == .noCertificate)
    let encrypted = Data(try PrivateKey.generateP256().pkcs8PEM(password: "密码").utf8)
    #expect(problem(encrypted, password: nil) == .passwordNeeded)
    #expect(problem(encrypted, password: "x") == .wrongPassword)
    #expect(problem(encrypted, password: "密码") == nil)
  }

  @Test("a key whose number is none, or whose public half belongs to another key, is refused")
  func unsound() throws {
    let (key, other) = (try PrivateKey.generateP256(), try PrivateKey.generateP256())
    let certificate = try CertificateAuthority.selfSigned(
      CertificateBlueprint(subject: [.commonName("Shop")], notBefore: noon - day, notAfter: noon + day), key: key)
    // PKCS#8 of a key on P-256 (RFC 5208, RFC 5915): the number stands in an OCTET STRING of 32 bytes.
    let der = try #require(try PEMBlock.all(in: Data(key.pkcs8PEM.utf8)).first).content
    let place = try #require(der.firstRange(of: [0x02, 0x01, 0x01, 0x04, 0x20])).upperBound
    let order = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"
    let digits = stride(from: 0, to: 64, by: 2).compactMap { start in
      UInt8(order.dropFirst(start).prefix(2), radix: 16)
    }
    let foreign = try #require(try PEMBlock.all(in: Data(other.pkcs8PEM.utf8)).first).content
    for number in [Array(repeating: UInt8(0), count: 32), digits, Array(foreign[place..<place + 32])] {
      var changed = der
      changed.replaceSubrange(place..<place + 32, with: number)
      #expect(problem(changed) == .unsoundKey)
      let pem = "-----BEGIN PRIVATE KEY-----\n\(changed.base64EncodedString())\n-----END PRIVATE KEY-----\n"
      #expect(problem(Data(pem.utf8)) == .unsoundKey)
      #expect(problem(Data((certificate.pem + pem).utf8)) == .unsoundKey, "beside its certificate")
    }
    #expect(problem(Data((certificate.pem + key.pkcs8PEM).utf8)) == nil)
    #expect(problem(der) == nil)
  }

  @Test("a block that ends and holds what is no Base64 is changed, not cut off")
  func base64() throws {
    let made = try Made()
    let lines = made.pem.split(separator: "\n").map(String.init)
    for wrong in ["!", "%", "…"] {
      let text = ([lines[0], wrong + lines[1].dropFirst()] + lines.dropFirst(2)).joined(separator: "\n") + "\n"
      #expect(problem(Data(text.utf8)) == .badBase64)
      #expect(problem(Data(text.dropLast(12).utf8)) == .truncated)
    }
  }

  @Test("what is called as Apple calls its push certificates and Apple did not issue is told so")
  func notFromApple() throws {
    let key = try PrivateKey.generateP256()
    let subject = [
      DistinguishedName.Attribute.commonName("Apple Push Services: com.x"), .organization("Apple Inc."),
    ]
    let own = try CertificateAuthority.selfSigned(
      CertificateBlueprint(subject: subject, notBefore: noon - day, notAfter: noon + day), key: key)
    let file = try CertificateFile.inspect(data: Data((own.pem + key.pkcs8PEM).utf8))
    #expect(file.warnings(now: noon) == [.notFromApple(issuer: own.issuer.description)])
    let firm = try CertificateAuthority(
      subject: [.commonName("Firm"), .organization("Firm Inc.")], notBefore: noon - day, notAfter: noon + day)
    let issued = try firm.issue(
      CertificateBlueprint(subject: subject, notBefore: noon - day, notAfter: noon + day), for: key.publicKey)
    let other = try CertificateFile.inspect(data: Data((issued.pem + key.pkcs8PEM).utf8))
    #expect(other.warnings(now: noon).first?.problem.text.contains("Firm") == true)
  }

  @Test("what an end means is told of the kind that ends")
  func ends() {
    func text(_ kind: CertificateKind) -> String { FileWarning.expired(noon, kind).problem.text }
    #expect(text(.apnsCertificate).contains("APNs refuses it"))
    for kind in CertificateKind.allCases where ![.apnsCertificate, .voipCertificate, .apnsKey].contains(kind) {
      #expect(!text(kind).contains("APNs"), "\(kind)")
    }
    #expect(text(.provisioningProfile).contains("Builds"))
  }

  @Test("every problem and warning has its own code, and its sentence is filled in and ends")
  func sentences() {
    let problems =
      [
        FileProblem.empty, .tooLarge(bytes: 1), .unsoundKey, .badBase64, .truncated, .damaged(detail: "d"),
        .passwordNeeded, .wrongPassword,
        .unsupportedAlgorithm("a"), .tooCostly, .noCertificate, .keyDoesNotMatch, .wrongKeyKind(found: "f"),
        .notAProfile(detail: "d"), .passwordHasBlanks, .tooManyParts(65), .severalCertificates(["a", "b"]),
        .noSuchCertificate(["a"]), .jsonDamaged("d"), .serviceAccount(.missing("m")), .serviceAccount(.tokenURI),
        .serviceAccount(.keyCut), .serviceAccount(.keyUnreadable), .serviceAccount(.keyKind("k")),
        .serviceAccount(.keyDoesNotSign), .keyPair("app_key"), .keyPair("master_secret"),
      ].map(\.problem) + FileProblem.Found.allCases.map { FileProblem.notACertificateFile($0).problem }
    let warnings = [
      FileWarning.expired(noon, .apnsKey), .notFromApple(issuer: "i"), .notYetValid(noon), .noPrivateKey,
      .severalCertificates(count: 2, taken: "t", .endsLast),
      .severalCertificates(count: 2, taken: "t", .asked), .severalCertificates(count: 2, taken: "t", .onlyForPush),
      .severalCertificates(count: 2, taken: "t", .onlyWithKey), .neverValid(noon, noon), .topicListUnreadable,
      .keyOfOtherService,
      .issuerExpiresEarlier(name: "n", noon), .issuerExpired(name: "n", noon), .signingInsteadOfPush, .otherPurpose,
      .keyIDUnknown,
      .profileWithoutPush, .wildcardProfile, .profileCertificateExpired(name: "n", noon), .signatureBroken,
    ].map(\.problem)
    let all = problems + warnings
    #expect(Set(all.map(\.code)).count == all.count)
    // Its remedy is a line of Swift, with braces.
    for problem in all where !problem.code.hasSuffix("lossy_token") {
      #expect(!problem.text.contains("{") && !problem.text.contains("}"))
      #expect(problem.text.contains(". ") || problem.text.contains(": ") || problem.text.contains("; "))
    }
  }
}
