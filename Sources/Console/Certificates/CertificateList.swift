import Calendar
import Certificates
import Foundation
import HTTPServer
import Model
import SQLite
import Store

/// The list of `/certificates`: files and hosts, earliest expiry first, in pages.
struct CertificateList {
  static let pageSize = 50
  private static let bands: [Expiry.Band] = [.expired, .urgent, .soon, .notYetValid, .fine, .neverExpires]
  /// A filter next to the bands: hosts whose check fails.
  static let failing = "failing"
  /// Another one: files that were replaced, and that nothing sends with any more.
  private static let replaced = "replaced"
  private static let filters = ["q", "band", "kind", "app", "from", "before"]

  private struct Found: Sendable {
    let found: Page<ExpiryList.Item>
    let uses: [Int64: [TrackedCertificate.Use]]
    let taken: [Acknowledgement.Subject: Acknowledgement]
    let begun: [Int]
    let notBegun: Int
    let neverValid: Int
    let failing: Int
    let replaced: Int
    let timeline: ExpiryTimeline

    var certificates: [TrackedCertificate] {
      found.items.compactMap { item -> TrackedCertificate? in
        guard case .certificate(let certificate) = item else { return nil }
        return certificate
      }
    }

    /// The number of items in a band.
    func count(_ band: Expiry.Band) -> Int {
      if band == .notYetValid { return notBegun }
      let count = CertificateList.bands.firstIndex(of: band).map { begun[$0] } ?? 0
      return band == .expired ? count + neverValid : count
    }
  }

  let page: PageContext
  let apps: [App]
  private let texts: Texts
  private let now: Date

  init(_ page: PageContext, apps: [App]) {
    (self.page, self.apps, texts, now) = (page, apps, page.texts, page.now)
  }

  func view() async throws -> ExpiryListView {
    let (pager, filter, now) = (Pager(page.request, path: "/certificates"), try filter(), now)
    let ranges = Self.bands.map { Expiry.ends(of: $0, now: now) ?? 0...0 }
    let cursor = page.request.method.isSafe ? pager.cursor : nil
    let facts = try await page.store.read { database in
      let counts = try ExpiryList.counts(database, ranges, now: now)
      return Found(
        found: try ExpiryList.page(database, filter, cursor: cursor, limit: Self.pageSize),
        uses: try TrackedCertificate.uses(database), taken: try Acknowledgement.all(database, now: now),
        begun: counts.begun, notBegun: counts.notBegun, neverValid: counts.neverValid,
        failing: try ExpiryList.failing(database), replaced: try ExpiryList.replaced(database),
        timeline: try ExpiryTimeline(database, now: now))
    }
    let certificates = facts.certificates
    let rows = facts.found.items.map { row($0, among: certificates, facts) }
    let isFiltered = Self.filters.contains { page.filled($0) != nil }
    let total = facts.begun.reduce(0, +) + facts.notBegun + facts.neverValid + facts.failing
    return ExpiryListView(
      counts: ExpiryCounts(
        expired: facts.count(.expired), due: facts.count(.urgent) + facts.count(.soon), failing: facts.failing,
        total: max(total, rows.count)),
      bands: links(facts), filter: filterView(isActive: isFiltered), rows: rows,
      exports: ExportLinks(page, "/certificates"), pager: PagerView(pager, next: facts.found.next),
      timeline: facts.timeline,
      next: isFiltered || cursor != nil ? nil : rows.first { ($0.days ?? -1) >= 0 && !$0.isReplaced })
  }

  // MARK: Filter

  func filter() throws -> ExpiryList.Filter {
    var filter = ExpiryList.Filter(now: now)
    switch page.filled("band") {
    case Self.failing: filter.isFailing = true
    case Self.replaced: filter.isReplaced = true
    default:
      if let band = try page.filter("band", Expiry.Band.init(rawValue:)) { filter = Expiry.filter(band, now: now) }
    }
    filter.kind = try page.filter("kind", CertificateKind.init(rawValue:))?.filter
    filter.app = try page.filter("app") { name in apps.first { $0.bundleID == name }?.id }
    filter.search = page.filled("q").map { String($0.prefix(200)) }
    if let from = try page.day("from"), let before = try page.day("before"), from < before {
      filter.ends = Self.milliseconds(from)...(Self.milliseconds(before) - 1)
      filter.withoutReplaced = true
    }
    return filter
  }

  private static func milliseconds(_ day: Date) -> Int64 { Int64(day.timeIntervalSince1970) * 1000 }

  private func filterView(isActive: Bool) -> ExpiryFilterView {
    ExpiryFilterView(
      search: page.filled("q") ?? "",
      bands: ChoiceView.list(
        Self.bands.map { ($0.rawValue, texts("band.\($0.rawValue)")) }
          + [(Self.failing, texts("expiry.failing")), (Self.replaced, texts("renewal.is_replaced"))],
        chosen: page.filled("band") ?? ""),
      kinds: ChoiceView.list(
        CertificateKind.allCases.map { ($0.rawValue, texts("certificates.kinds.\($0.rawValue)")) },
        chosen: page.filled("kind") ?? ""),
      apps: ChoiceView.list(apps.map { ($0.bundleID, $0.name) }, chosen: page.filled("app") ?? ""),
      span: page.filled("from").flatMap { from in
        page.filled("before").map { before in
          SpanView(from: from, before: before, shown: (texts.localized(from), texts.localized(before)))
        }
      }, isActive: isActive)
  }

  private func links(_ facts: Found) -> [BandLink] {
    let bands = Self.bands.map {
      BandLink(band: $0.rawValue, label: texts("band.\($0.rawValue)"), count: facts.count($0), tone: $0.tone)
    }
    let failing = BandLink(band: Self.failing, label: texts("expiry.failing"), count: facts.failing, tone: "red")
    let replaced = BandLink(band: Self.replaced, label: texts("renewal.is_replaced"), count: facts.replaced, tone: "")
    return (bands + [failing, replaced]).filter { $0.count > 0 }
  }

  // MARK: Rows

  /// - Parameter others: the files of the list.
  private func row(_ item: ExpiryList.Item, among others: [TrackedCertificate], _ facts: Found) -> ExpiryRow {
    switch item {
    case .certificate(let certificate):
      row(
        certificate, certificate.mark(among: others, texts), facts.uses[certificate.id] ?? [],
        facts.taken[Renewable(certificate).subject])
    case .host(let host): row(host, facts.taken[Renewable(host).subject])
    }
  }

  private func row(
    _ certificate: TrackedCertificate, _ mark: String?, _ uses: [TrackedCertificate.Use], _ taken: Acknowledgement?
  ) -> ExpiryRow {
    let details = certificate.details
    let band = Expiry.band(notBefore: details.notBefore, notAfter: details.notAfter, now: now)
    let topics = texts.list(details.topics)
    let isReplaced = certificate.isReplaced && uses.isEmpty
    let about: [String?] = [
      taken.map { ItemReminders.words($0, texts) },
      texts("certificates.kinds.\(details.kind)"), mark,
      // Do not repeat topics that the name contains.
      details.name.contains(topics) ? nil : topics, details.appID.flatMap { id in apps.first { $0.id == id }?.name },
      texts.list(details.environments.map { $0.word(texts) }),
    ]
    return ExpiryRow(
      href: "/certificates/\(certificate.id)", name: details.name, about: about.compactMap { $0 }, band: band,
      state: texts(isReplaced ? "renewal.is_replaced" : "band.\(band.rawValue)"), notAfter: details.notAfter,
      days: Expiry.daysLeft(notAfter: details.notAfter, now: now), isReplaced: isReplaced,
      usedBy: twoLines(
        uses.map { use in
          texts(
            "certificates.use",
            [
              "app": apps.first { $0.id == use.appID }?.name ?? use.bundleID,
              "environment": use.environment.word(texts),
              "devices": texts("push.device_count", count: use.activeDevices),
            ])
        }))
  }

  /// As many as a row has lines.
  private func twoLines(_ uses: [String]) -> [String] {
    uses.count > 2 ? [uses[0], texts("expiry.more", count: uses.count - 1)] : uses
  }

  private func row(_ host: WatchedHost, _ taken: Acknowledgement?) -> ExpiryRow {
    let band = Expiry.band(notBefore: host.seen?.notBefore, notAfter: host.seen?.notAfter, now: now)
    let isFailing = HostFinding.blindness(host, now: now) != nil
    return ExpiryRow(
      href: "/\(host.key)", name: host.name,
      about: [
        taken.map { ItemReminders.words($0, texts) } ?? "",
        texts("certificates.kinds.\(CertificateKind.host.rawValue)"), host.note,
      ], band: band, state: texts(isFailing ? "expiry.failing" : "band.\(band.rawValue)"),
      notAfter: host.seen?.notAfter,
      days: host.seen == nil ? nil : Expiry.daysLeft(notAfter: host.seen?.notAfter, now: now),
      isKnown: host.seen != nil, isFailing: isFailing,
      usedBy: HostFinding.all(host, now: now).first.map { [texts.text($0.problem)] } ?? [])
  }
}
