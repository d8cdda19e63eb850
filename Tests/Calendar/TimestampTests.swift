import Calendar
import Foundation
import Testing

@Suite("Times")
struct TimestampTests {
  @Test(
    "RFC 3339 is read",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-12-01T09:00:00Z", 1_796_115_600), ("2026-12-01t09:00:00z", 1_796_115_600),
      ("2026-12-01T17:00:00+08:00", 1_796_115_600), ("2026-12-01 03:30:00-05:30", 1_796_115_600),
      ("2024-02-29T00:00:00Z", 1_709_164_800), ("2026-12-01T09:00:00.250Z", 1_796_115_600.25),
      ("1969-12-31T23:59:59Z", -1), ("2016-12-31T23:59:60Z", 1_483_228_800),
    ] as [(String, Double)])
  func read(text: String, seconds: Double) {
    #expect(Timestamp.parse(text)?.timeIntervalSince1970 == seconds)
  }

  @Test(
    "anything else is not",
    arguments: [
      "", "2026-12-01", "2026-12-01T09:00:00", "2026-12-01T09:00Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T09:60:00Z", "2026-12-01T09:00:00+0800",
      "2026-12-01T09:00:00.Z", "2026-12-01T09:00:00Z ", "２026-12-01T09:00:00Z", "2026-12-01T09:00:00+24:00",
    ])
  func refused(text: String) {
    #expect(Timestamp.parse(text) == nil)
  }

  @Test(
    "what is written is read again",
    arguments: [0, 1, 0.001, 951_782_399.999, 951_782_400, 1_796_115_600.25, -1, 4_102_444_799, -62_135_596_800])
  func roundTrip(seconds: Double) {
    let text = Timestamp.text(Date(timeIntervalSince1970: seconds))
    #expect(Timestamp.parse(text) == Date(timeIntervalSince1970: seconds), "\(text)")
  }

  @Test("a time beyond all calendars is written, too", arguments: [9.2e18, -9.2e18, .infinity])
  func beyond(seconds: Double) {
    let text = Timestamp.text(Date(timeIntervalSince1970: seconds))
    #expect(seconds > 0 ? text == "31690708-07-05T01:46:40Z" : text.hasPrefix("-"), "\(text)")
  }

  @Test("every day of four centuries")
  func days() {
    var wrong = 0
    for day in stride(from: -25567, to: 120_530, by: 1) {
      let date = Date(timeIntervalSince1970: Double(day) * 86400)
      if Timestamp.parse(Timestamp.text(date)) != date { wrong += 1 }
    }
    #expect(wrong == 0)
    #expect(Timestamp.text(Date(timeIntervalSince1970: 1_796_115_600)) == "2026-12-01T09:00:00Z")
  }
}
