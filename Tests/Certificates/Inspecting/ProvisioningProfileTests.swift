import Certificates
import Foundation
import JSON
import OpenSSL
import Model
import TestSupport
import Testing

@Suite("Provisioning profile")
struct ProvisioningProfileTests {
  @Test("everything that it says is read, also when openssl signed it")
  func reads() throws {
    let made = try Made()
    let openssl = try OpenSSLCommand()
    try openssl.write(Data(made.profileXML().utf8), to: "plist")
    try openssl.write(Data(made.authorityPEM.utf8), to: "cert.pem")
    try openssl.write(Data(made.authority.key.pkcs8PEM.utf8), to: "key.pem")
    try openssl(
      "cms", "-sign", "-nodetach", "-binary", "-in", "plist", "-signer", "cert.pem", "-inkey", "key.pem", "-outform",
      "DER", "-out", "x.mobileprovision")
    for data in [try made.profile(), try openssl.data("x.mobileprovision")] {
      let file = try CertificateFile.inspect(data: data, fileName: "x.mobileprovision")
      #expect(file.kind == .provisioningProfile)
      #expect(file.format == .mobileProvision)
      #expect(file.name == "Shop Development & 测试")
      #expect(file.teamID == "TEAM123456")
      #expect(file.topics.map(\.name) == ["com.x"])
      #expect(file.environments == [.development])
      #expect(!file.canSend)
      #expect(file.notAfter == Date(timeIntervalSince1970: 1_825_027_200))
      let profile = try #require(file.profile)
      #expect(profile.uuid == "7C5B3A1E-0000-4000-8000-000000000001")
      #expect(profile.teamName == "Example")
      #expect(profile.appID == "TEAM123456.com.x")
      #expect(profile.platforms == ["iOS"])
      #expect(profile.distribution == .development)
      #expect(profile.deviceCount == 2)
      #expect(profile.creationDate == Date(timeIntervalSince1970: 1_793_491_200))
      #expect(profile.certificates == [CertificateSummary(made.certificate)])
      #expect(profile.isIntact)
      #expect(file.warnings(now: noon) == [])
      #expect(
        JSONValue(written: CertificateFileAnswer(file, now: noon))["profile"]?["aps_environment"]?.string
          == "development"
      )
    }
  }

  @Test("missing push, a wildcard, an expired certificate and a change after signing are warned of")
  func warnings() throws {
    let made = try Made()
    func warnings(_ data: Data, now: Date = noon) throws -> [FileWarning] {
      try CertificateFile.inspect(data: data).warnings(now: now)
    }
    #expect(try warnings(made.profile(made.profileXML(aps: nil))) == [.profileWithoutPush])
    #expect(try warnings(made.profile(made.profileXML(appID: "TEAM123456.*", aps: nil))) == [.wildcardProfile])
    #expect(
      try warnings(made.profile(), now: noon + 101 * day)
        == [.profileCertificateExpired(name: "Apple Push Services: com.x", made.certificate.notAfter)])
    var changed = try made.profile()
    changed.replaceSubrange(try #require(changed.firstRange(of: Data("Shop".utf8))), with: Data("Shoq".utf8))
    #expect(try warnings(changed) == [.signatureBroken])
    let store = try CertificateFile.inspect(
      data: made.profile(made.profileXML(aps: "production", devices: false)))
    #expect(store.profile?.distribution == .appStore)
    #expect(store.environments == [.production])
    let company = try CertificateFile.inspect(
      data: made.profile(made.profileXML(devices: false, more: "<key>ProvisionsAllDevices</key><true/>")))
    #expect(company.profile?.distribution == .enterprise)
  }

  @Test("dates are UTC, in one form; what the calendar does not have is refused", arguments: dateTable)
  func dates(text: String, expected: String?) throws {
    let made = try Made()
    let xml = made.profileXML().replacing("2027-11-01T00:00:00Z", with: text)
    let file = try? CertificateFile.inspect(data: made.profile(xml))
    #expect(file?.notAfter?.formatted(.iso8601) == expected)
  }

  static let dateTable: [(String, String?)] = [
    ("2027-11-01T00:00:00Z", "2027-11-01T00:00:00Z"), ("2050-01-01T00:00:00Z", "2050-01-01T00:00:00Z"),
    ("2060-02-29T23:59:59Z", "2060-02-29T23:59:59Z"), ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"), ("1999-12-31T23:59:59Z", "1999-12-31T23:59:59Z"),
    ("2027-02-29T00:00:00Z", nil), ("2027-13-01T00:00:00Z", nil), ("2027-00-01T00:00:00Z", nil),
    ("2027-11-31T00:00:00Z", nil), ("2027-11-01T24:00:00Z", nil), ("2027-11-01T00:60:00Z", nil),
    ("2027-11-01T00:00:00+08:00", nil), ("2027-11-01T00:00:00", nil), ("2027-11-01", nil),
    ("0000-01-01T00:00:00Z", nil),
    ("-001-01-01T00:00:00Z", nil), ("2027-11-01T00:00:00.5Z", nil), ("", nil), ("soon", nil),
  ]

  @Test("a property list that would grow, nests too deep, or is none is refused", arguments: bad)
  func refuses(xml: String, detail: String) throws {
    let data = try Made().profile(xml)
    #expect(
      CertificateFileTests.problem(data) == .notAProfile(detail: detail), "\(xml.prefix(100))")
  }

  private static let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
  static let bad: [(String, String)] = [
    ("", "it is not an XML property list"),
    ("bplist00", "it is not an XML property list"),
    ("{ a = b; }", "it is not an XML property list"),
    ("<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist><dict/></plist>", "it is not an XML property list"),
    ("\(head)<plist><dict>", "its property list is damaged"),
    ("\(head)<plist><array/></plist>", "it has no a dictionary"),
    ("\(head)<plist><dict/></plist>", "it has no UUID, ExpirationDate or Entitlements"),
    (
      "\(head)<!DOCTYPE plist [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><plist><dict/></plist>",
      "its XML defines entities"
    ),
    ("\(head)<!DOCTYPE plist [\n]><plist><dict/></plist>", "its XML defines entities"),
    ("\(head)<!DOCTYPE plist SYSTEM 'file:///etc/passwd' [ ]><plist/>", "its XML defines entities"),
    ("\(head)<plist>" + String(repeating: "<array>", count: 10_000), "its XML is nested too deeply"),
    ("\(head)<plist>" + String(repeating: "<dict ><key>a</key>", count: 40), "its XML is nested too deeply"),
  ]
}
