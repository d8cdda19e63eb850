import Calendar
import Certificates
import Foundation
import HTTPServer
import JSON
import Mustache
import Model
import SQLite
import Store

/// The list of `/certificates`: files and hosts, what ends first stands first, page by page.
struct CertificateList {
  static let pageSize = 50
  private static let bands: [Expiry.Band] = [.expired, .urgent, .soon, .notYetValid, .fine, .neverExpires]
  /// Beside the bands: hosts that show nothing.
  private static let failing = "failing"
  private static let filters = ["q", "band", "kind", "app", "from", "before"]

  private struct Facts: Sendable {
    let found: Page<ExpiryList.Item>
    let uses: [Int64: [TrackedCertificate.Use]]
    let taken: [Acknowledgement.Subject: Acknowledgement]
    let begun: [Int]
    let notBegun: Int
    let failing: Int
    let stretches: [ExpiryList.Stretch]
  }

  let page: PageContext
  let apps: [App]
  private let texts: Texts
  private let now: Date

  init(_ page: PageContext, apps: [App]) {
    (self.page, self.apps, texts, now) = (page, apps, page.texts, page.now)
  }

  /// What the template needs.
  func members() async throws -> [String: Value] {
    let (pager, filter, timeline) = (Pager(page.request, path: "/certificates"), filter(), ExpiryTimeline(now: now))
    let now = now
    let ranges = Self.bands.map { Expiry.ends(of: $0, now: now) ?? 0...0 }
    let cursor = page.request.method.isSafe ? pager.cursor : nil
    let facts = try await page.store.read { database in
      let counts = try ExpiryList.counts(database, ranges, now: now)
      return Facts(
        found: try ExpiryList.page(database, filter, cursor: cursor, limit: Self.pageSize),
        uses: try TrackedCertificate.uses(database), taken: try Acknowledgement.all(database, now: now),
        begun: counts.begun, notBegun: counts.notBegun,
        failing: try ExpiryList.failing(database), stretches: try timeline.stretches(database))
    }
    let total = facts.begun.reduce(0, +) + facts.notBegun + facts.failing
    return [
      "summary": .list(summary(facts)), "filter": filterValue(),
      "any_at_all": .bool(total > 0 || !facts.found.items.isEmpty),
      "any_certificates": .bool(!facts.found.items.isEmpty),
      "certificates": .list(facts.found.items.map { row($0, facts) }),
      "page_text": .string(texts("expiry.shown", count: facts.found.items.count)),
      "newer": Value(pager.previous), "older": Value(pager.next(facts.found.next)),
      "timeline": timeline.value(facts.stretches, texts),
    ]
  }

  // MARK: Filter

  private func filter() -> ExpiryList.Filter {
    var filter = ExpiryList.Filter(now: now)
    if let band = page.filled("band").flatMap(Expiry.Band.init(rawValue:)) { filter = Expiry.filter(band, now: now) }
    filter.isFailing = page.filled("band") == Self.failing
    filter.kind = page.filled("kind").flatMap(CertificateKind.init(rawValue:))?.rawValue
    filter.app = page.filled("app").flatMap { name in apps.first { $0.bundleID == name }?.id }
    filter.search = page.filled("q").map { String($0.prefix(200)) }
    if let from = Self.day(page.filled("from")), let before = Self.day(page.filled("before")), from < before {
      filter.ends = from...(before - 1)
      filter.withoutReplaced = true
    }
    return filter
  }

  /// The first millisecond of a day in UTC, written as `2026-11-20`.
  private static func day(_ text: String?) -> Int64? {
    guard let text, text.utf8.count == 10, let date = Timestamp.parse("\(text)T00:00:00Z") else { return nil }
    return Int64(date.timeIntervalSince1970) * 1000
  }

  private func filterValue() -> Value {
    let all = [("", texts("expiry.all"))]
    let span = page.filled("from").flatMap { from in page.filled("before").map { (from, $0) } }
    return [
      "q": .string(page.filled("q") ?? ""), "from": .string(span?.0 ?? ""), "before": .string(span?.1 ?? ""),
      "span": .string(span.map { texts("expiry.span", ["from": $0.0, "before": $0.1]) } ?? ""),
      "band": .options(
        all + Self.bands.map { ($0.rawValue, texts("band.\($0.rawValue)")) }
          + [(Self.failing, texts("expiry.failing"))], selected: page.filled("band") ?? ""),
      "kind": .options(
        all + CertificateKind.allCases.map { ($0.rawValue, texts("certificates.kinds.\($0.rawValue)")) },
        selected: page.filled("kind") ?? ""),
      "app": .options(all + apps.map { ($0.bundleID, $0.name) }, selected: page.filled("app") ?? ""),
      "any": .bool(Self.filters.contains { page.filled($0) != nil }),
    ]
  }

  private func summary(_ facts: Facts) -> [Value] {
    var counts = zip(Self.bands, facts.begun).map { band, count in
      (band.rawValue, band == .notYetValid ? facts.notBegun : count, texts("band.\(band.rawValue)"))
    }
    counts.append((Self.failing, facts.failing, texts("expiry.failing")))
    return counts.filter { $0.1 > 0 }.map { band, count, text in
      [
        "href": .string("/certificates?band=\(band)"), "text": .string("\(text): \(count.grouped)"),
        "failed": .bool(["expired", "urgent", Self.failing].contains(band)), "soon": .bool(band == "soon"),
      ]
    }
  }

  // MARK: Rows

  private func row(_ item: ExpiryList.Item, _ facts: Facts) -> Value {
    switch item {
    case .certificate(let certificate):
      row(certificate, facts.uses[certificate.id] ?? [], facts.taken[Renewable(certificate).subject])
    case .host(let host): row(host, facts.taken[Renewable(host).subject])
    }
  }

  private func row(
    _ certificate: TrackedCertificate, _ uses: [TrackedCertificate.Use], _ taken: Acknowledgement?
  ) -> Value {
    let details = certificate.details
    let used = uses.map { use in
      texts(
        "certificates.use",
        [
          "app": apps.first { $0.id == use.appID }?.name ?? use.bundleID, "environment": use.environment.word(texts),
          "devices": use.activeDevices.grouped,
        ])
    }
    return row(
      href: "/certificates/\(certificate.id)", name: details.name,
      detail: details.topics.joined(separator: ", "), kind: details.kind,
      app: details.appID.flatMap { id in apps.first { $0.id == id }?.name } ?? "",
      environments: details.environments, dates: (details.notBefore, details.notAfter), isFailing: false,
      replaced: certificate.isReplaced && uses.isEmpty ? texts("renewal.is_replaced") : "", taken: taken,
      usedBy: used.isEmpty ? texts("certificates.nobody") : used.joined(separator: "; "))
  }

  private func row(_ host: WatchedHost, _ taken: Acknowledgement?) -> Value {
    row(
      href: "/\(host.key)", name: host.name, detail: host.note, kind: CertificateKind.host.rawValue, app: "",
      environments: [], dates: (host.seen?.notBefore, host.seen?.notAfter), isKnown: host.seen != nil,
      isFailing: HostFinding.blindness(host, now: now) != nil, taken: taken,
      usedBy: HostFinding.all(host, now: now).first.map { texts.text($0.problem) } ?? "")
  }

  private func row(
    href: String, name: String, detail: String, kind: String, app: String, environments: [Environment],
    dates: (notBefore: Date?, notAfter: Date?), isKnown: Bool = true, isFailing: Bool, replaced: String = "",
    taken: Acknowledgement?, usedBy: String
  ) -> Value {
    let band = Expiry.band(notBefore: dates.notBefore, notAfter: dates.notAfter, now: now)
    let days = isKnown ? Expiry.daysLeft(notAfter: dates.notAfter, now: now) : nil
    return [
      "href": .string(href), "days_left": .string(days?.grouped ?? "–"), "known": .bool(isKnown),
      "band": .string(band.rawValue), "band_text": .string(texts("band.\(band.rawValue)")),
      "failing": .bool(isFailing), "replaced": .string(replaced),
      "taken": .string(taken.map { ItemReminders.words($0, texts) } ?? ""),
      "failed": .bool(isKnown && (band == .expired || band == .urgent)),
      "soon": .bool(isKnown && band == .soon), "name": .string(name), "topics": .string(detail),
      "kind": .string(texts("certificates.kinds.\(kind)")), "app": .string(app),
      "environments": .list(
        environments.map { ["name": .string($0.word(texts)), "production": .bool($0 == .production)] }),
      "not_after": .string(dates.notAfter.map(Timestamp.text) ?? ""),
      "not_after_text": .string(
        dates.notAfter?.utcText ?? (isKnown ? texts("certificates.never") : texts("expiry.not_known"))),
      "used_by": .string(usedBy),
    ]
  }
}
