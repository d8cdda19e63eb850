import Certificates
import Foundation
import JSON
import Model
import TestSupport
import Testing
import Text

@Suite("Expiry")
struct ExpiryTests {
  @Test(
    "the boundaries of the bands: 30 days warn, 30 days and one second do not",
    arguments: [
      (31 * 86_400, Expiry.Band.fine, 31), (30 * 86_400 + 1, .fine, 30), (30 * 86_400, .soon, 30),
      (30 * 86_400 - 1, .soon, 29), (7 * 86_400 + 1, .soon, 7), (7 * 86_400, .urgent, 7), (86_400, .urgent, 1),
      (86_399, .urgent, 0), (0, .urgent, 0), (-1, .expired, -1), (-86_400, .expired, -1), (-86_401, .expired, -2),
    ])
  func bands(seconds: Int, band: Expiry.Band, days: Int) {
    let notAfter = noon + Double(seconds)
    #expect(Expiry.band(notBefore: nil, notAfter: notAfter, now: noon) == band)
    #expect(Expiry.daysLeft(notAfter: notAfter, now: noon) == days)
    // A clock that shows parts of a second is still in the same second.
    #expect(Expiry.band(notBefore: nil, notAfter: notAfter, now: noon + 0.999) == band)
    #expect(Expiry.daysLeft(notAfter: notAfter, now: noon + 0.999) == days)
  }

  @Test(
    "days since an expiry are whole ones that have passed",
    arguments: [
      (1, "1", "in 1 day"), (0, "0", "in less than a day"), (330, "330", "in 330 days"),
      (-1, "less than a day ago", nil), (-2, "1 day ago", nil), (-694, "693 days ago", nil),
    ] as [(Int, String, String?)])
  func ago(daysLeft: Int, text: String, inColumn: String?) {
    #expect(Expiry.message(daysLeft: daysLeft).description == text)
    #expect(Expiry.distance(daysLeft: daysLeft).description == inColumn ?? text, "under the head Expires")
  }

  @Test(
    "the number in JSON, CSV and for monitoring is the one that texts name, and negative exactly after the expiry",
    arguments: [
      (seconds: 86_400, number: 1, text: "1"), (86_399, 0, "0"), (0, 0, "0"), (-1, -1, "less than a day ago"),
      (-86_400, -1, "less than a day ago"), (-86_401, -1, "1 day ago"), (-87_180, -1, "1 day ago"),
      (-2 * 86_400 - 1, -2, "2 days ago"), (-30 * 86_400 - 1, -30, "30 days ago"),
    ])
  func number(seconds: Int, number: Int, text: String) throws {
    let end = noon + Double(seconds)
    let days = try #require(Expiry.daysLeft(notAfter: end, now: noon))
    #expect(Expiry.number(daysLeft: days) == number && Expiry.message(daysLeft: days).description == text)
    let report = ExpiryReport([TrackedExpiry(name: "Shop", kind: .apnsCertificate, notAfter: end)], now: noon)
    #expect(JSONValue(written: report)["items"]?.array?.first?["days_left"]?.integer == Int64(number))
    #expect(report.nagios.contains("days_left=\(number);"), "\(report.nagios)")
  }

  @Test("another limit moves the warning, not the urgency")
  func limits() {
    #expect(Expiry.band(notBefore: nil, notAfter: noon + 60 * day, now: noon, within: 60) == .soon)
    #expect(Expiry.band(notBefore: nil, notAfter: noon + 60 * day + 1, now: noon, within: 60) == .fine)
    #expect(Expiry.band(notBefore: nil, notAfter: noon + 7 * day, now: noon, within: 1) == .urgent)
    #expect(Expiry.band(notBefore: nil, notAfter: noon + 8 * day, now: noon, within: 1) == .fine)
  }

  @Test("what has not begun, and what has no end")
  func edges() {
    #expect(Expiry.band(notBefore: noon + 1, notAfter: noon + 100 * day, now: noon) == .notYetValid)
    #expect(Expiry.band(notBefore: noon, notAfter: noon + 100 * day, now: noon) == .fine)
    #expect(Expiry.band(notBefore: nil, notAfter: nil, now: noon) == .neverExpires)
    #expect(
      Expiry.band(notBefore: nil, notAfter: Date(timeIntervalSince1970: 253_402_300_799), now: noon) == .neverExpires)
    #expect(Expiry.daysLeft(notAfter: nil, now: noon) == nil)
    #expect(Expiry.band(notBefore: noon + 5, notAfter: noon - 5, now: noon) == .expired)
  }

  @Test("what ends before it begins was never valid, and is expired at any time")
  func never() {
    let (begin, end) = (noon + 400 * day, noon + 35 * day)
    for now in [noon, end + 1, begin + 1] {
      #expect(Expiry.band(notBefore: begin, notAfter: end, now: now) == .expired)
    }
    #expect(Expiry.isNeverValid(begin, end) && !Expiry.isNeverValid(begin, begin))
    #expect(!Expiry.isNeverValid(nil, end) && !Expiry.isNeverValid(begin, nil))
  }
}

@Suite("Expiry report")
struct ExpiryReportTests {
  private func item(_ name: String, days: Double?) -> TrackedExpiry {
    TrackedExpiry(
      name: name, kind: .apnsCertificate, app: "Shop", topics: ["com.x"], environments: [.production], serial: "AB",
      sha256: "CD", notBefore: noon - 400 * day, notAfter: days.map { noon + $0 * day })
  }

  @Test("the exit code is the worst of what is found")
  func exitCodes() {
    func code(_ items: [TrackedExpiry], unreadable: Bool = false) -> Int32 {
      ExpiryReport(items, unreadable: unreadable ? [.init(name: "x", reason: "y")] : [], now: noon).exitCode
    }
    #expect(code([]) == 0)
    #expect(code([item("a", days: 31), item("key", days: nil)]) == 0)
    #expect(code([item("a", days: 31), item("b", days: 30)]) == 1)
    #expect(code([item("a", days: 30), item("b", days: 7)]) == 2)
    #expect(code([item("a", days: 31), item("b", days: -1)]) == 2)
    #expect(code([], unreadable: true) == 3)
    #expect(code([item("a", days: 20)], unreadable: true) == 3)
    #expect(code([item("a", days: -1)], unreadable: true) == 2)
    var waiting = item("a", days: 400)
    waiting.notBefore = noon + day
    #expect(code([waiting]) == 1)
    waiting.notBefore = noon + 500 * day
    #expect(code([waiting]) == 2, "never valid")
    #expect(
      ExpiryReport([waiting], now: noon).lines() == [
        "EXPIRED  Shop: a (production): never valid: it ends on 2027-12-25 12:00:00 UTC, before it begins on "
          + "2028-04-03 12:00:00 UTC, serial AB"
      ])
  }

  @Test("lines stand in the order of the ends, and say what, where and when")
  func lines() {
    var waiting = item("Waiting", days: 400)
    waiting.notBefore = noon + day
    var evil = item("Evil\nOK       all fine", days: 6.5)
    evil.environments = []
    let report = ExpiryReport(
      [
        item("Fine", days: 30.5), item("Key", days: nil), item("Soon Shop", days: 29.9), evil,
        item("Last", days: 0.5), item("Over", days: -3.5), item("Just over", days: -0.5), item("One", days: 1), waiting,
      ], unreadable: [.init(name: "old.p12", reason: "Wrong password.")], now: noon)
    #expect(
      report.lines() == [
        "UNKNOWN  old.p12: Wrong password.",
        "EXPIRED  Shop: Over (production): expired on 2026-11-17 00:00:00 UTC, 3 days ago, serial AB",
        "EXPIRED  Shop: Just over (production): expired on 2026-11-20 00:00:00 UTC, less than a day ago, serial AB",
        "URGENT   Shop: Last (production): last day, until 2026-11-21 00:00:00 UTC, serial AB",
        "URGENT   Shop: One (production): 1 day left, until 2026-11-21 12:00:00 UTC, serial AB",
        "URGENT   Shop: Evil OK       all fine: 6 days left, until 2026-11-27 00:00:00 UTC, serial AB",
        "SOON     Soon Shop (production): 29 days left, until 2026-12-20 09:36:00 UTC, serial AB",
        "OK       Shop: Fine (production): 30 days left, until 2026-12-21 00:00:00 UTC, serial AB",
        "NOT YET  Shop: Waiting (production): not valid before 2026-11-21 12:00:00 UTC, serial AB",
        "OK       Shop: Key (production): never expires, serial AB",
      ])
    #expect(report.lines(includingFine: false).count == 8)
    #expect(ExpiryReport([item("a", days: 31)], now: noon).lines(includingFine: false) == [])
  }

  @Test("JSON says the same")
  func json() {
    let json = JSONValue(written: ExpiryReport([item("A", days: 12.5), item("Key", days: nil)], now: noon, within: 20))
    #expect(json["exit_code"]?.integer == 1)
    #expect(json["within_days"]?.integer == 20)
    #expect(json["checked_at"]?.string == "2026-11-20T12:00:00Z")
    let first = json["items"]?.array?.first
    #expect(first?["name"]?.string == "A")
    #expect(first?["kind"]?.string == "apns_certificate")
    #expect(first?["band"]?.string == "soon")
    #expect(first?["days_left"]?.integer == 12)
    #expect(first?["not_after"]?.string == "2026-12-03T00:00:00Z")
    #expect(first?["environments"]?.array == ["production"])
    #expect(json["items"]?.array?.last?["not_after"] == .null)
    #expect(json["items"]?.array?.last?["band"]?.string == "never_expires")
  }

  @Test(
    "certificates that openssl makes for 29, 30, 31 and 7 days, and one that is over, end with 1, 1, 0, 2 and 2",
    arguments: [(29, 0, Int32(1)), (30, 0, 1), (31, 0, 0), (7, 0, 2), (1, 2, 2)])
  func openssl(days: Int, passed: Int, code: Int32) throws {
    let openssl = try OpenSSLCommand()
    try openssl(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem",
      "-out", "cert.pem", "-days", "\(days)", "-subj", "/CN=Apple Push Services: com.x")
    let file = try CertificateFile.inspect(data: openssl.data("cert.pem"))
    let now = try #require(file.notBefore) + Double(passed) * day
    let item = TrackedExpiry(name: file.name, kind: file.kind, notBefore: file.notBefore, notAfter: file.notAfter)
    #expect(ExpiryReport([item], now: now).exitCode == code)
    #expect(item.daysLeft(now: now) == days - passed)
  }
}
