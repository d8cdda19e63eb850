import Certificates
import Foundation
import OpenSSL
import TestSupport
import Testing

private let noon = Date(timeIntervalSince1970: 1_790_000_000)
private let day: TimeInterval = 86_400

@Suite("Apple's extensions")
struct AppleExtensionsTests {
  @Test("the list of topics is written and read")
  func list() throws {
    let authority = try CertificateAuthority(subject: [.commonName("CA")], notBefore: noon, notAfter: noon + day)
    let (certificate, _) = try authority.issue(
      .applePush(topic: "com.x", team: "TEAM123456", notBefore: noon, notAfter: noon + day))
    #expect(certificate.userID == "com.x")
    #expect(certificate.organizationalUnit == "TEAM123456")
    #expect(certificate.commonName == "Apple Push Services: com.x")
    let apple = certificate.appleExtensions
    #expect(apple.isDevelopment && apple.isProduction && !apple.isVoIP)
    #expect(apple.topics?.map(\.name) == ["com.x", "com.x.voip", "com.x.complication"])
    #expect(apple.topics?.map(\.kinds) == [["app"], ["voip"], ["complication"]])
  }

  @Test("the value that Pushy's test certificates have is read")
  func pushy() throws {
    // SEQUENCE { UTF8String "com.x", SEQUENCE { UTF8String "app" } }
    let value = Data([0x30, 0x0E, 0x0C, 0x05] + Array("com.x".utf8) + [0x30, 0x05, 0x0C, 0x03] + Array("app".utf8))
    #expect(try topics(in: value)?.map(\.name) == ["com.x"])
  }

  @Test(
    "a value that is something else is no list",
    arguments: [
      [], [0x05, 0x00], [0x30, 0x00], [0x30, 0x03, 0x0C, 0x01, 0x41], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x30, 0x80, 0x00, 0x00], [0x30, 0x05, 0x0C, 0x01, 0x41, 0x0C, 0x00], [0x30, 0x05, 0x0C, 0x01, 0xFF, 0x30, 0x00],
    ] as [[UInt8]])
  func noList(value: [UInt8]) throws { #expect(try topics(in: Data(value)) == nil) }

  private func topics(in value: Data) throws -> [AppleExtensions.Topic]? {
    let key = try PrivateKey.generateP256()
    let list = CertificateExtension(oid: "1.2.840.113635.100.6.3.6", value: value)
    return try CertificateAuthority.selfSigned(
      CertificateBlueprint(subject: [], notBefore: noon, notAfter: noon + day, extensions: [list]), key: key
    ).appleExtensions.topics
  }
}
