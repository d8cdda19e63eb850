import Foundation
import TestSupport
import Testing

@testable import OpenSSL

@Suite("Dates in certificates")
struct ASN1TimeTests {
  private static func text(_ date: Date?) -> String? { date?.formatted(.iso8601) }

  @Test(
    "UTCTime: two digits of the year mean 1950 to 2049; offsets are taken off; seconds may be missing", arguments: utc)
  func utcTime(text: String, expected: String?) {
    #expect(Self.text(ASN1Time.date(tag: ASN1Time.utcTime, text.utf8)) == expected)
  }

  static let utc: [(String, String?)] = [
    ("261120120000Z", "2026-11-20T12:00:00Z"), ("491231235959Z", "2049-12-31T23:59:59Z"),
    ("500101000000Z", "1950-01-01T00:00:00Z"), ("991231235959Z", "1999-12-31T23:59:59Z"),
    ("000101000000Z", "2000-01-01T00:00:00Z"), ("700101000000Z", "1970-01-01T00:00:00Z"),
    ("2611201200Z", "2026-11-20T12:00:00Z"), ("261120120000+0800", "2026-11-20T04:00:00Z"),
    ("261120120000-0530", "2026-11-20T17:30:00Z"), ("2611201200+0800", "2026-11-20T04:00:00Z"),
    ("270101000000+0100", "2026-12-31T23:00:00Z"), ("280229000000Z", "2028-02-29T00:00:00Z"),
    ("270229000000Z", nil), ("261320120000Z", nil), ("260020120000Z", nil), ("261100120000Z", nil),
    ("261131120000Z", nil), ("261120240000Z", nil), ("261120126000Z", nil), ("261120120061Z", nil),
    ("161231235960Z", "2017-01-01T00:00:00Z"), ("150630235960Z", "2015-07-01T00:00:00Z"),
    ("170101085960+0900", "2017-01-01T00:00:00Z"), ("161230235960Z", nil), ("161231225960Z", nil),
    ("161231235860Z", nil), ("261120120000.5Z", nil), ("261120120000", nil), ("2611201200", nil), ("26112012Z", nil),
    ("", nil), ("Z", nil), ("261120120000ZZ", nil), ("261120120000+2400", nil), ("261120120000+0060", nil),
    ("-61120120000Z", nil), ("26112O120000Z", nil), ("261120 20000Z", nil),
  ]

  @Test("GeneralizedTime: four digits of the year, fractions dropped, up to the year 9999", arguments: generalized)
  func generalizedTime(text: String, expected: String?) {
    #expect(Self.text(ASN1Time.date(tag: ASN1Time.generalizedTime, text.utf8)) == expected)
  }

  static let generalized: [(String, String?)] = [
    ("20500101000000Z", "2050-01-01T00:00:00Z"), ("20491231235959Z", "2049-12-31T23:59:59Z"),
    ("21000228235959Z", "2100-02-28T23:59:59Z"), ("21000229000000Z", nil), ("24000229000000Z", "2400-02-29T00:00:00Z"),
    ("99991231235959Z", "9999-12-31T23:59:59Z"), ("19491231235959Z", "1949-12-31T23:59:59Z"),
    ("16010101000000Z", "1601-01-01T00:00:00Z"), ("00000101000000Z", nil), ("100000101000000Z", nil),
    ("-0010101000000Z", nil), ("20501120120000.999Z", "2050-11-20T12:00:00Z"),
    ("20501120120000,5Z", "2050-11-20T12:00:00Z"), ("20501120120000.Z", nil),
    ("20501120120000+0800", "2050-11-20T04:00:00Z"), ("20501120120000+08", "2050-11-20T04:00:00Z"),
    ("205011201200Z", "2050-11-20T12:00:00Z"), ("2050112012Z", "2050-11-20T12:00:00Z"), ("20501120Z", nil),
    ("20501231235960Z", "2051-01-01T00:00:00Z"), ("20501120235960Z", nil), ("20501332120000Z", nil), ("", nil),
  ]

  @Test("another tag is no date")
  func otherTags() {
    for tag: UInt8 in [0, 0x02, 0x0C, 0x13, 0x16, 0x19, 0xFF] {
      #expect(ASN1Time.date(tag: tag, "261120120000Z".utf8) == nil)
    }
  }

  @Test("every day of four centuries is where the calendar has it")
  func calendar() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
    var date = Date(timeIntervalSince1970: -632_000_000)
    for _ in 0..<3000 {
      date += 53 * day + 3_661
      let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
      let numbers = [parts.month, parts.day, parts.hour, parts.minute, parts.second].map {
        String(format: "%02d", $0 ?? 0)
      }
      let text = String(format: "%04d", parts.year ?? 0) + numbers.joined() + "Z"
      #expect(ASN1Time.date(tag: ASN1Time.generalizedTime, text.utf8) == date, "\(text)")
    }
  }

  @Test(
    "a certificate that openssl dates is read alike",
    arguments: ["20491231235959Z", "20500101000000Z", "99991231235959Z"])
  func certificate(end: String) throws {
    let openssl = try OpenSSLCommand()
    try openssl(
      "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem", "-out",
      "x.csr", "-subj", "/CN=x")
    try openssl.write(
      Data(
        """
        [ca]
        default_ca=c
        [c]
        database=index
        serial=serial
        new_certs_dir=.
        default_md=sha256
        policy=p
        [p]
        commonName=optional
        """.utf8), to: "ca.cnf")
    try openssl.write(Data(), to: "index")
    try openssl.write(Data("01\n".utf8), to: "serial")
    try openssl(
      "ca", "-config", "ca.cnf", "-selfsign", "-batch", "-notext", "-keyfile", "key.pem", "-in", "x.csr", "-startdate",
      "19500101000000Z", "-enddate", end, "-out", "x.pem")
    let certificate = try Certificate(pem: openssl.text("x.pem"))
    #expect(certificate.notAfter == ASN1Time.date(tag: ASN1Time.generalizedTime, end.utf8))
    #expect(certificate.notBefore == Date(timeIntervalSince1970: -631_152_000))
  }
}
