import Foundation
import HTTPServer
import Model
import SQLite
import Store

/// `/search`: finds whatever a text names: a push, a schedule, a template, a smoke test, a device, an app, a
/// certificate, a person, a code, or a page.
enum SearchPage {
  static let views: [any PageView.Type] = [SearchView.self]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/search", show)
  }

  private static func show(_ page: PageContext) async throws -> Response {
    guard let text = page.filled("q") else { return page.answer(SearchView(search: "", groups: [])) }
    let search = Search(
      text: String(text.prefix(Search.longest)), texts: page.texts, locales: page.console.locales, now: page.now,
      role: page.principal?.role ?? .viewer)
    let segments = try await page.store.read { try search.segments($0) }
    let counts = await AudiencePages.counts(segments, page, within: Search.patience)
    let groups = try await page.store.read { try search.groups($0, segments, counts) }
    let hits = groups.flatMap(\.hits)
    // A pasted ID leads to its page; typing stays on this one.
    let isTyping = page.request.headers["X-Requested-With"] != nil
    if !isTyping, hits.count == 1, hits[0].isExact { return page.redirect(to: hits[0].href) }
    return page.answer(SearchView(search: text, groups: groups))
  }
}

/// One question to the search.
struct Search: Sendable {
  /// In characters: tokens are shorter.
  static let longest = 400
  /// Hits of a kind.
  private static let most = 5
  private static let mostPages = 8
  /// Apps whose tags are searched.
  private static let mostApps = 50
  /// For counting the devices of segments.
  static let patience = Duration.milliseconds(300)

  let text: String
  let texts: Texts
  let locales: Locales
  let now: Date
  let role: User.Role

  /// Kinds with hits, the most exact ones first.
  ///
  /// - Parameter counts: devices by segment ID, of the segments that were counted in time.
  func groups(_ database: Database, _ segments: [Segment], _ counts: [Int64: Int]) throws -> [SearchGroup] {
    let apps = try App.all(database)
    let found: [(String, [SearchHit])] = [
      ("pushes", try pushes(database)), ("schedules", try schedules(database)),
      ("templates", try templates(database)), ("smoketests", try smokeTests(database)),
      ("devices", try devices(database)), ("segments", hits(segments, counts)), ("tags", try tags(database, apps)),
      ("apps", hits(apps)), ("certificates", try certificates(database)), ("people", try people(database)),
      ("pages", pages), ("reasons", reasons),
    ]
    let groups = found.filter { !$0.1.isEmpty }
      .map { SearchGroup(name: texts("search.kinds.\($0.0)"), hits: $0.1) }
    return groups.filter(\.isExact) + groups.filter { !$0.isExact }
  }

  private func pushes(_ database: Database) throws -> [SearchHit] {
    if let id = APNsID(parsing: text), let push = try Push.find(database, apnsID: id) {
      return [
        SearchHit(
          title: push.heading(texts), detail: "apns-id", href: "/pushes/\(push.uid)/deliveries/\(id.device)",
          isExact: true)
      ]
    }
    if let push = try Push.find(database, uid: text) { return [hit(push, isExact: true)] }
    let named = try Push.ids(database, messageID: text).compactMap { try Push.find(database, id: $0) }
    if !named.isEmpty { return named.map { hit($0, isExact: true) } }
    var filter = PushFilter()
    filter.search = text
    return try Push.list(database, filter, limit: Self.most).items.map { hit($0, isExact: false) }
  }

  private func hit(_ push: Push, isExact: Bool) -> SearchHit {
    SearchHit(
      title: push.heading(texts), detail: texts.ago(push.createdAt, now: now), href: "/pushes/\(push.uid)",
      isExact: isExact)
  }

  private func schedules(_ database: Database) throws -> [SearchHit] {
    try Schedule.search(database, text, limit: Self.most).map { schedule in
      let row = try ScheduleRow(database, schedule, texts, now: now)
      return SearchHit(
        title: row.title,
        detail: [row.name ?? "", row.rule, row.stateText].filter { !$0.isEmpty }
          .joined(separator: " · "), href: "/schedules/\(schedule.uid)",
        isExact: text == schedule.uid || text.lowercased() == row.jpushID)
    }
  }

  private func templates(_ database: Database) throws -> [SearchHit] {
    try PushTemplate.search(database, text, limit: Self.most).map { template in
      SearchHit(
        title: template.name, detail: template.headline,
        href: role >= .operator ? "/templates/\(template.id)" : "/templates", isExact: false)
    }
  }

  private func smokeTests(_ database: Database) throws -> [SearchHit] {
    try SmokeTest.search(database, text, limit: Self.most).map { test in
      SearchHit(
        title: test.name, detail: try App.find(database, id: test.appID)?.name ?? "", href: "/smoke-tests/\(test.id)",
        isExact: false)
    }
  }

  private func devices(_ database: Database) throws -> [SearchHit] {
    let token = try? DeviceToken(parsing: text, platforms: Set(Platform.allCases))  // nil: another text
    return try Device.found(database, text, limit: Self.most).map { device in
      let words = [device.alias, device.token.abbreviated].compactMap { $0 == device.heading ? nil : $0 }
      return SearchHit(
        title: device.heading, detail: words.joined(separator: " · "), href: "/devices/\(device.id)",
        isExact: device.token == token || device.token.text == text || device.registrationID == text)
    }
  }

  func segments(_ database: Database) throws -> [Segment] {
    try Segment.search(database, text, limit: Self.most)
  }

  private func hits(_ segments: [Segment], _ counts: [Int64: Int]) -> [SearchHit] {
    segments.map { segment in
      let devices = counts[segment.id].map { texts("send.devices", count: $0) }
      let words = [segment.rule.words(texts), devices].compactMap { $0 }.filter { !$0.isEmpty }
      return SearchHit(
        title: segment.name, detail: words.joined(separator: " · "), href: "/audiences/segments/\(segment.id)",
        isExact: false)
    }
  }

  /// Tags whose name begins with the text, with their counters.
  private func tags(_ database: Database, _ apps: [App]) throws -> [SearchHit] {
    var hits: [SearchHit] = []
    for app in apps.prefix(Self.mostApps) where hits.count < Self.most {
      hits += try Tag.list(database, app: app.id, prefix: text, limit: Self.most - hits.count).items.map { tag in
        let href = "/devices?app=\(ConsoleRouter.escaped(app.bundleID))&q=\(ConsoleRouter.escaped(tag.name))"
        let devices = texts("send.devices", count: tag.members)
        return SearchHit(title: tag.name, detail: "\(app.name) · \(devices)", href: href, isExact: false)
      }
    }
    return hits
  }

  private func hits(_ apps: [App]) -> [SearchHit] {
    let found = apps.filter { fits($0.bundleID) || fits($0.name) || fits($0.packageName ?? "") }
    return found.prefix(Self.most).map { app in
      SearchHit(title: app.name, detail: app.bundleID, href: "/apps/\(app.id)", isExact: app.bundleID == text)
    }
  }

  private func certificates(_ database: Database) throws -> [SearchHit] {
    var filter = ExpiryList.Filter(now: now)
    filter.search = text
    return try ExpiryList.page(database, filter, limit: Self.most).items.map { item in
      switch item {
      case .certificate(let certificate):
        SearchHit(
          title: certificate.details.name, detail: certificate.details.topics.first ?? "",
          href: "/certificates/\(certificate.id)", isExact: false)
      case .host(let host):
        SearchHit(title: "\(host.address)", detail: "", href: "/hosts/\(host.id)", isExact: false)
      }
    }
  }

  /// Only admins may open their pages.
  private func people(_ database: Database) throws -> [SearchHit] {
    guard role == .admin else { return [] }
    return try User.all(database).filter { fits($0.name) }.prefix(Self.most).map { user in
      SearchHit(
        title: user.name, detail: texts("roles.\(user.role.rawValue)"), href: "/settings/people/\(user.id)",
        isExact: user.name == text)
    }
  }

  /// Codes by their letters, and by the HTTP status that comes with them.
  private var reasons: [SearchHit] {
    let isStatus = Int(text).map { (100...599).contains($0) } ?? false
    let found = Reason.listed.filter { isLong ? $0.fits(text) : $0.code.lowercased() == text.lowercased() }
    let all = SearchHit(
      title: isStatus ? "HTTP \(text)" : texts("codes.title"), detail: texts("codes.shown", count: found.count),
      href: "/codes?q=\(ConsoleRouter.escaped(text))", isExact: false)
    func hit(_ reason: Reason, isExact: Bool) -> SearchHit {
      SearchHit(
        title: reason.code, detail: [texts.cause(reason), texts.remedy(reason)].sentences,
        href: reason.href ?? "/codes", isExact: isExact)
    }
    let exact = found.filter { $0.code.lowercased() == text.lowercased() }
    guard exact.isEmpty else { return exact.map { hit($0, isExact: true) } }
    let hits = found.prefix(Self.most).map { hit($0, isExact: false) }
    return found.count > 1 ? hits + [all] : hits
  }

  private var pages: [SearchHit] {
    let ranked = NamedPage.all.filter { $0.role <= role }.compactMap { page in
      page.rank(of: text, in: locales).map { (page: page, rank: $0) }
    }
    // Of equal rank, the order of the list stays.
    let sorted = (0...3).flatMap { rank in ranked.filter { $0.rank == rank } }
    return sorted.prefix(Self.mostPages).map { found in
      SearchHit(
        title: texts(found.page.name), detail: found.page.about.map { texts($0).firstSentence.first } ?? "",
        href: found.page.href,
        isExact: false)
    }
  }

  private var isLong: Bool { text.count >= 3 }

  private func fits(_ other: String) -> Bool { other.range(of: text, options: .caseInsensitive) != nil }
}
