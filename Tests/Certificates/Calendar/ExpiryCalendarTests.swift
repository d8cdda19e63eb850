import Foundation
import Model
import TestSupport
import Testing

@testable import Certificates

@Suite("Calendar of what ends")
struct ExpiryCalendarTests {
  private static func item(
    _ key: String = "certificates/1", _ name: String = "Apple Push Services: com.example.shop", days: Double = 20,
    sha256: String? = "AA"
  ) -> TrackedExpiry {
    TrackedExpiry(
      key: key, name: name, kind: .apnsCertificate, app: "com.example.shop", topics: ["com.example.shop"],
      environments: [.production], serial: "01", sha256: sha256, notBefore: noon - day, notAfter: noon + days * day)
  }

  private static let hard =
    "推送证书，很长很长的名字；🔑🔑 a,b;c\\d\nEND:VCALENDAR \u{1}"
    + String(repeating: "ﷺ", count: 60)

  /// Lines after unfolding, by RFC 5545 §3.1.
  private static func lines(_ text: String) -> [String] {
    #expect(text.hasSuffix("\r\n"))
    let raw = text.components(separatedBy: "\r\n").dropLast()
    for line in raw {
      #expect(line.utf8.count <= 75, "\(line)")
      #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
    return raw.reduce(into: []) { lines, line in
      if line.hasPrefix(" "), let last = lines.popLast() {
        lines.append(last + line.dropFirst())
      } else {
        lines.append(line)
      }
    }
  }

  private static func text(_ items: [TrackedExpiry], now: Date = noon) -> String {
    ExpiryCalendar(name: "Certificates", address: "https://push.example.com").text(items, now: now)
  }

  @Test("a day for each end, with two reminders, a link, and what it is about")
  func event() {
    let lines = Self.lines(Self.text([Self.item()]))
    #expect(lines.first == "BEGIN:VCALENDAR" && lines.last == "END:VCALENDAR")
    for line in [
      "VERSION:2.0", "METHOD:PUBLISH", "X-WR-CALNAME:Certificates", "REFRESH-INTERVAL;VALUE=DURATION:PT12H",
      "DTSTAMP:20261120T000000Z", "DTSTART;VALUE=DATE:20261210", "DTEND;VALUE=DATE:20261211", "TRIGGER:-P30D",
      "TRIGGER:-P7D", "SUMMARY:Apple Push Services: com.example.shop expires",
      "URL:https://push.example.com/certificates/1", "TRANSP:TRANSPARENT",
    ] { #expect(lines.contains(line), "\(line)") }
    #expect(lines.contains { $0.hasPrefix("DESCRIPTION:Kind: apns certificate\\nApp: com.example.shop\\n") })
  }

  @Test("the day is that of the time zone", arguments: [("Asia/Shanghai", 11), ("America/Los_Angeles", 10)])
  func zone(name: String, date: Int) throws {
    let zone = try #require(TimeZone(identifier: name))
    let calendar = ExpiryCalendar(name: "Certificates", address: nil, zone: zone)
    // At 18 o’clock UTC, which is 2 o’clock on the next day in Shanghai.
    let lines = Self.lines(calendar.text([Self.item(days: 20.25)], now: noon))
    #expect(lines.contains("DTSTART;VALUE=DATE:202612\(date)") && lines.contains("DTEND;VALUE=DATE:202612\(date + 1)"))
  }

  @Test("kinds and environments are named in the owner's language")
  func names() {
    let calendar = ExpiryCalendar(
      name: "证书", address: nil, kindName: { $0 == .apnsCertificate ? "APNs 证书" : "" },
      environmentName: { $0 == .production ? "生产环境" : "" })
    let lines = Self.lines(calendar.text([Self.item()], now: noon))
    #expect(lines.contains { $0.contains("Kind: APNs 证书\\n") && $0.contains("Environments: 生产环境\\n") })
  }

  @Test("what a stranger wrote is a text, and no line of the calendar")
  func escaping() throws {
    let lines = Self.lines(Self.text([Self.item("certificates/2", Self.hard)]))
    #expect(lines.filter { $0 == "END:VCALENDAR" }.count == 1)
    let summary = try #require(lines.first { $0.hasPrefix("SUMMARY:") })
    #expect(summary.contains("🔑🔑 a\\,b\\;c\\\\d END:VCALENDAR"))
  }

  @Test("the id of an event stays until the certificate is another one")
  func identity() {
    func uids(_ items: [TrackedExpiry], _ now: Date = noon) -> [String] {
      Self.lines(Self.text(items, now: now)).filter { $0.hasPrefix("UID:") }
    }
    let first = uids([Self.item()])
    #expect(uids([Self.item(days: 21)], noon + day) == first)
    #expect(uids([Self.item(sha256: "BB")]) != first && uids([Self.item("hosts/1")]) != first)
    #expect(Set(uids([Self.item(), Self.item("hosts/1"), Self.item("hosts/2")])).count == 3)
  }

  @Test("what has no end, or ended long ago, is not in it")
  func leftOut() {
    var never = Self.item()
    never.notAfter = nil
    var nines = Self.item()
    nines.notAfter = Date(timeIntervalSince1970: 253_402_300_799)
    #expect(!Self.text([never, nines, Self.item(days: -40)]).contains("VEVENT"))
    #expect(Self.text([Self.item(days: -20)]).contains("VEVENT"))
    #expect(Self.text([Self.item()], now: noon) == Self.text([Self.item()], now: noon + 3600))
  }

  @Test(
    "icalendar and vobject read it and find the same",
    .enabled(
      if: ProcessInfo.processInfo.environment["SIGNALBOX_TEST_CALENDARS"] != nil,
      "script/test could not install icalendar and vobject (no network)"))
  func strangers() async throws {
    let python = try #require(ProcessInfo.processInfo.environment["SIGNALBOX_TEST_CALENDARS"])
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).ics")
    defer { try? FileManager.default.removeItem(at: file) }  // a left-over file fails no test
    let text = Self.text([Self.item(), Self.item("certificates/2", Self.hard), Self.item("hosts/3", "a.example:443")])
    try Data(text.utf8).write(to: file)
    let script = """
      import sys, icalendar, vobject, datetime
      data = open(sys.argv[1], 'rb').read()
      calendar = icalendar.Calendar.from_ical(data)
      events = calendar.walk('VEVENT')
      assert len(events) == 3, events
      assert all(not e.errors for e in events), [e.errors for e in events]
      assert events[0]['DTSTART'].dt == datetime.date(2026, 12, 10), events[0]['DTSTART'].dt
      assert [a['TRIGGER'].dt.days for a in events[0].walk('VALARM')] == [-30, -7]
      assert len({str(e['UID']) for e in events}) == 3
      assert 'a,b;c\\\\d END:VCALENDAR' in str(events[1]['SUMMARY']), str(events[1]['SUMMARY'])
      other = vobject.readOne(data.decode('utf-8'))
      other.validate(raiseException=True)
      assert [str(e.summary.value) for e in other.vevent_list] == [str(e['SUMMARY']) for e in events]
      assert other.vevent_list[0].dtstart.value == datetime.date(2026, 12, 10)
      """
    let (status, said) = try await OtherProgram.run(python, ["-c", script, file.path])
    #expect(status == 0, "\(said)")
  }
}
