import Calendar
import Foundation
import JSON
import OpenSSL
import Model
import SQLite
import TestSupport
import Testing

@testable import Certificates
@testable import Store

@Suite("Forecast and reports")
struct ForecastTests {
  private let key = SealingKey()

  private func withStore(_ body: (Database) throws -> Void) throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let store = try Store.openNew(path: folder.path + "/test.sqlite", sealer: key, now: noon)
    defer { store.close() }
    try store.writeSync(body)
  }

  private func keep(_ database: Database, days: Double?, begins: Double = -1, _ name: String = "C") throws -> Int64 {
    var details = TrackedCertificate.Details(kind: "apns_certificate", name: name, fileName: "f")
    details.notAfter = days.map { noon + $0 * day }
    details.notBefore = noon + begins * day
    return try TrackedCertificate.add(
      database, details, material: [], sealer: key, by: "test", now: noon
    ).id
  }

  private func planned(
    _ uid: String, app: Int64 = 1, _ environment: Model.Environment = .production, _ platforms: [Platform] = [.ios],
    days: Double
  ) -> PlannedPush {
    PlannedPush(
      uid: uid, title: nil, appID: app, bundleID: "com.example.shop", environment: environment, platforms: platforms,
      sendAt: noon + days * day)
  }

  @Test("a push needs the credential of its app, environment and platform; the last second is still good")
  func needs() throws {
    try withStore { database in
      let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      let both = try keep(database, days: 10)
      let account = try keep(database, days: 5, "account")
      for environment in Environment.allCases {
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: environment, certificate: both, endpoint: "apple",
          now: noon)
      }
      try Credential.bind(
        database, app: app.id, provider: .fcm, environment: .production, certificate: account, endpoint: "google",
        now: noon)
      try Credential.bind(
        database, app: other.id, provider: .apns, environment: .production, certificate: nil, endpoint: "simulator",
        now: noon)
      let pushes = [
        planned("late", days: 11), planned("early", .development, days: 9), planned("edge", days: 10),
        planned("mixed", .production, [.ios, .android], days: 20), planned("android", .production, [.android], days: 6),
        planned("android-development", .development, [.android], days: 30), planned("other", app: other.id, days: 40),
      ]
      let needs = Forecast.needs(pushes, try Credential.all(database))
      #expect(needs.keys.sorted() == [both, account].sorted())
      #expect(needs[both]?.map(\.uid) == ["early", "edge", "late", "mixed"])
      #expect(needs[account]?.map(\.uid) == ["android", "mixed"])
      #expect(Forecast.missed(needs[both] ?? [], notAfter: noon + 10 * day).map(\.uid) == ["late", "mixed"])
      #expect(Forecast.missed(needs[both] ?? [], notAfter: nil).isEmpty)
    }
  }

  private func daily(
    _ uid: String, app: Int64 = 1, next days: Double = 0, _ platforms: [Platform] = [.ios],
    _ change: (inout RepeatRule) -> Void = { _ in }
  ) -> PlannedSchedule {
    var rule = RepeatRule(.daily, minute: 12 * 60, zone: .utc)
    change(&rule)
    return PlannedSchedule(
      uid: uid, title: nil, appID: app, bundleID: "com.example.shop", environment: .production, platforms: platforms,
      nextAt: noon + days * day, recurrence: Recurrence(rule, from: noon + days * day))
  }

  @Test("what repeats goes on after an end: its first time there, how often in 30 days, and when that is pressing")
  func overruns() throws {
    func found(_ schedule: PlannedSchedule, ends: Double?, now: Date = noon) -> String? {
      Forecast.overruns([schedule], notAfter: ends.map { noon + $0 * day }, now: now).first.map {
        "\($0.first.timeIntervalSince(noon) / day) ×\($0.count)\($0.isPressing ? " !" : "")"
      }
    }
    #expect(found(daily("d"), ends: 100) == "101.0 ×30", "the last second is still good")
    #expect(found(daily("d"), ends: 99.5) == "100.0 ×30")
    #expect(found(daily("d"), ends: 30) == "31.0 ×30 !" && found(daily("d"), ends: 30.1) == "31.0 ×30")
    #expect(found(daily("d"), ends: nil) == nil)
    #expect(Forecast.overruns([daily("d")], notAfter: Date(timeIntervalSince1970: 253_402_300_799), now: noon) == [])
    #expect(found(daily("d") { $0.count = 5 }, ends: 4) == nil, "it ends before")
    #expect(found(daily("d") { $0.count = 6 }, ends: 4) == "5.0 ×1 !")
    #expect(found(daily("d") { $0.until = noon + 6 * day }, ends: 4) == "5.0 ×2 !")
    #expect(found(daily("d") { $0.days = .monthly(day: 20) }, ends: 100) == "120.0 ×1", "20 March")
    #expect(found(daily("d") { ($0.days, $0.interval) = (.monthly(day: 20), 12) }, ends: 100) == "365.0 ×0")
    #expect(found(daily("d", next: 120), ends: 100) == "120.0 ×11 !", "its very next time is after the end")
    #expect(found(daily("d"), ends: -10) == "0.0 ×30 !", "over already: from now on")
    #expect(found(daily("d"), ends: -10, now: noon + 1) == "1.0 ×30 !")
    let order = Forecast.overruns([daily("b"), daily("a", next: 200), daily("c")], notAfter: noon, now: noon)
    #expect(order.map(\.schedule.uid) == ["b", "c", "a"])
  }

  @Test("schedules in the store are told beside the pushes that wait: per credential, in the report, text and JSON")
  func repeating() throws {
    try withStore { database in
      let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      let (near, far) = (try keep(database, days: 10, "near"), try keep(database, days: 100, "far"))
      for (environment, id) in [(Model.Environment.production, near), (.development, far)] {
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: environment, certificate: id, endpoint: "apple",
          now: noon)
        var draft = PushDraft(
          app: app.bundleID, environment: environment, platforms: [.ios], audience: .all,
          notification: PushNotification())
        draft.notification.body = "Daily"
        draft.recurrence = RepeatRule(.daily, minute: 13 * 60, zone: .utc)
        let new = NewSchedule(
          uid: "s-\(environment.rawValue)", appID: app.id, draft: draft, source: .web, createdBy: "lin")
        try Schedule.create(database, new, now: noon)
      }
      let needs = try Forecast.needs(database, now: noon)
      #expect(needs[near]?.schedules.map(\.uid) == ["s-production"] && needs[near]?.pushes == [])
      let report = try CertificateTracker.report(database, now: noon)
      #expect(report.findings.map(\.item.name) == ["near", "far"])
      #expect(report.findings.map(\.overruns.count) == [1, 1] && report.findings.map(\.pressing.count) == [1, 0])
      let lines = report.lines()
      #expect(
        lines[0].hasSuffix(
          "1 repeating push continues after that, the first (s-production) on 2026-11-30 13:00:00 UTC"), "\(lines[0])")
      #expect(!lines[1].contains("repeating"), "a hundred days ahead that is no news")
      let json = try #require(JSONValue(written: report)["items"]?.array?.last?["forecast_repeating"]?.array?.first)
      #expect(json["schedule"] == "s-development" && json["pressing"] == false && json["times_within_30_days"] == 30)
      #expect(json["first_after"] == "2027-02-28T13:00:00Z" && json["next_at"] == "2026-11-20T13:00:00Z")
    }
  }

  @Test("those that wait in the store are found, what is over is not; report, text and JSON tell them")
  func report() throws {
    try withStore { database in
      let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      let id = try keep(database, days: 10)
      try Credential.bind(
        database, app: app.id, provider: .apns, environment: .production, certificate: id, endpoint: "apple", now: noon)
      let insert = """
        INSERT INTO pushes(uid, seed, app_id, environment, draft, title, search, state, source, created_by, created_at,
          send_at) VALUES (?, 0, ?, 'production', ?, 'T', '', ?, 'api', 'lin', 0, ?)
        """
      let draft = "{\"platforms\": [\"ios\"]}"
      for (uid, state, text, days) in [
        ("late", "queued", draft, 12.0), ("soon", "queued", draft, 1), ("over", "finished", draft, 12),
        ("past", "queued", draft, -1), ("broken", "queued", "no JSON", 12),
      ] { try database.run(insert, uid, app.id, text, state, noon + days * day) }
      #expect(try PlannedPush.all(database, after: noon).map(\.uid) == ["soon", "late", "broken"])
      let report = try CertificateTracker.report(database, now: noon)
      #expect(report.findings.first?.missed.map(\.uid) == ["late"])
      #expect(
        report.lines().first?.hasSuffix("1 push is scheduled after that, the first (late) on 2026-12-02 12:00:00 UTC")
          == true)
      #expect(JSONValue(written: report)["items"]?.array?.first?["forecast"]?.array?.first?["push"] == "late")
    }
  }

  @Test("a replaced certificate raises no alarm, in counts, bands, weeks or the report, unless something sends with it")
  func replaced() throws {
    try withStore { database in
      let app = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
      let (old, new) = (try keep(database, days: 3, "old"), try keep(database, days: 300, "new"))
      func seen() throws -> [Int] {
        let ends = try #require(Expiry.ends(of: .urgent, now: noon))
        return [
          try ExpiryList.counts(database, [ends], now: noon).begun[0],
          try ExpiryList.page(database, Expiry.filter(.urgent, now: noon), limit: 9).items.count,
          try ExpiryList.stretches(database, from: noon, before: noon + 7 * day, length: 7 * day).count,
          try CertificateTracker.report(database, now: noon).findings.count { $0.item.name == "old" },
        ]
      }
      #expect(try seen() == [1, 1, 1, 1])
      try database.run(
        "UPDATE certificates SET replaced_by = ?, replaced_at = ?, kept_until = ? WHERE id = ?", new, noon, noon + day,
        old)
      #expect(try seen() == [0, 0, 0, 0])
      #expect(try ExpiryList.page(database, .init(now: noon), limit: 9).items.map(\.id) == [old, new])
      try Credential.bind(
        database, app: app.id, provider: .apns, environment: .production, certificate: old, endpoint: "apple", now: noon
      )
      #expect(try seen() == [1, 1, 1, 1])
    }
  }

  @Test("ranges by the index and bands by arithmetic agree, second by second")
  func ranges() {
    let edges = [0.0, 1, 7, 8, 30, 31, 60].flatMap { days in
      [-1.001, -1, -0.5, 0, 0.5, 0.999, 1].map { days * day + $0 }
    }
    for now in [noon, noon + 0.25, noon + 0.999] {
      for within in [1, 7, 30, 60] {
        for seconds in edges {
          let notAfter = noon + seconds
          let band = Expiry.band(notBefore: nil, notAfter: notAfter, now: now, within: within)
          let key = notAfter.milliseconds
          let found = Expiry.Band.allCases.filter {
            Expiry.ends(of: $0, now: now, within: within)?.contains(key) == true
          }
          #expect(found == [band], "\(seconds) s, now +\(now.timeIntervalSince(noon)), within \(within)")
        }
      }
    }
  }

  @Test("counts and lists of ten thousand come from the indexes, and agree with the report")
  func list() throws {
    try withStore { database in
      let numbers = (0..<2000).map { Double(($0 * 7919) % 2000) / 5 - 30 }
      for (index, days) in numbers.enumerated() {
        _ = try keep(database, days: index % 50 == 0 ? nil : days, begins: index % 97 == 0 ? 500 : -400, "C\(index)")
      }
      let report = try CertificateTracker.report(database, now: noon)
      let bands: [Expiry.Band] = [.expired, .urgent, .soon, .fine, .neverExpires]
      let counts = try ExpiryList.counts(database, bands.map { Expiry.ends(of: $0, now: noon)! }, now: noon)
      func expected(_ band: Expiry.Band) -> Int { report.findings.filter { $0.band == band }.count }
      #expect(counts.notBegun == expected(.notYetValid))
      #expect(Array(counts.begun.dropFirst()) == bands.dropFirst().map(expected))
      // What ends before it begins was never valid.
      #expect(counts.neverValid > 0 && counts.begun[0] + counts.neverValid == expected(.expired))
      for band in Expiry.Band.allCases {
        let page = try ExpiryList.page(database, Expiry.filter(band, now: noon), limit: 3000)
        #expect(page.items.count == expected(band) && page.next == nil, "\(band)")
      }
      var seen: [Int64] = []
      var cursor: String?
      repeat {
        let page = try ExpiryList.page(database, .init(now: noon), cursor: cursor, limit: 333)
        seen += page.items.map(\.id)
        cursor = page.next
      } while cursor != nil
      #expect(seen.count == 2000 && Set(seen).count == 2000)
      let weeks = try ExpiryList.stretches(database, from: noon - 30 * day, before: noon + 400 * day, length: 7 * day)
      #expect(
        weeks.reduce(0) { $0 + $1.count }
          == report.findings.filter { $0.item.notAfter.map { $0 >= noon - 30 * day && $0 < noon + 400 * day } ?? false }
          .count)
      for query in [
        "SELECT count(*) FROM certificates t INDEXED BY certificates_ends WHERE t.ends_key >= 1 AND t.ends_key <= 9 AND (t.not_before IS NULL OR t.not_before <= 5)",
        "SELECT (ends_key - 1) / 2 AS s, count(*), min(id) FROM certificates INDEXED BY certificates_ends WHERE ends_key >= 1 AND ends_key < 9 GROUP BY s",
      ] {
        let plan = try database.fetchAll("EXPLAIN QUERY PLAN " + query) { $0.text(3) }
        #expect(plan.first?.contains("USING INDEX certificates_ends (ends_key>") == true, "\(plan)")
      }
    }
  }

  @Test(
    "Nagios' first line names the item that decides the state",
    arguments: [
      (days: [50, 20, 10], unknown: 0, isClosed: false, first: "WARNING - SOON c10: 10 days left"),
      (days: [50, 20, 3], unknown: 1, isClosed: false, first: "CRITICAL - URGENT c3: 3 days left"),
      (days: [-2, 3, 20], unknown: 1, isClosed: true, first: "CRITICAL - EXPIRED c-2: expired on"),
      (days: [3, 20], unknown: 1, isClosed: true, first: "CRITICAL - LOCKED key: it cannot be opened"),
      (days: [50, 20], unknown: 2, isClosed: false, first: "UNKNOWN - UNKNOWN host0: no answer"),
      (days: [50], unknown: 0, isClosed: false, first: "OK - none expiring soon"),
    ])
  func firstLine(_ row: (days: [Int], unknown: Int, isClosed: Bool, first: String)) {
    let items = row.days.map { days in
      TrackedExpiry(name: "c\(days)", kind: .apnsCertificate, notAfter: noon + Double(days) * day)
    }
    let unknown = (0..<row.unknown).map { ExpiryReport.Unreadable(name: "host\($0)", reason: "no answer") }
    let closed = row.isClosed ? [ExpiryReport.Unreadable(name: "key", reason: "it cannot be opened")] : []
    let report = ExpiryReport(items, unreadable: unknown, closed: closed, now: noon)
    #expect(report.nagios.hasPrefix("CERTIFICATES \(row.first)"), "\(report.nagios)")
  }

  @Test("one line with performance data, then what needs somebody, however much there is")
  func nagios() throws {
    func item(_ days: Double?, _ name: String = "a|b") -> TrackedExpiry {
      TrackedExpiry(name: name, kind: .apnsCertificate, notAfter: days.map { noon + $0 * day })
    }
    #expect(
      ExpiryReport([item(50)], now: noon).nagios
        == "CERTIFICATES OK - none expiring soon, 1 watched | days_left=50;30:;7: watched=1;;;0 soon=0;0;;0 urgent=0;;0;0 "
        + "expired=0;;0;0 unknown=0;;;0")
    let mixed = ExpiryReport(
      [item(-2), item(3), item(20), item(nil)], unreadable: [.init(name: "h", reason: "x|y")], now: noon
    ).nagios.split(separator: "\n")
    #expect(
      mixed[0].hasPrefix(
        "CERTIFICATES CRITICAL - EXPIRED a/b: expired on 2026-11-18 12:00:00 UTC, 1 day ago; 1 unknown, 1 expired, "
          + "1 expiring very soon, 1 expiring soon, 4 watched | days_left=-1;"))
    #expect(mixed.count == 5 && !mixed.dropFirst().contains { $0.contains("|") })
    let many = ExpiryReport((0..<500).map { item(Double($0) / 100) }, now: noon).nagios.split(separator: "\n")
    #expect(many.count == 42 && many.last == "and 460 more")
    #expect(many[0].hasPrefix("CERTIFICATES CRITICAL - URGENT a/b: last day, until "))
    #expect(ExpiryReport([], now: noon).nagios.hasPrefix("CERTIFICATES OK - none expiring soon, 0 watched | watched=0"))
  }
}
