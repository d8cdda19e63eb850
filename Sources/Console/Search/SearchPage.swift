import Foundation
import HTTPServer
import Model
import SQLite
import Store

/// `/search`: finds whatever a text names: a push, a device, an app, a certificate, a code, or a page.
enum SearchPage {
  static let views: [any PageView.Type] = [SearchView.self]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/search") { page in try await show(page) }
  }

  private static func show(_ page: PageContext) async throws -> Response {
    guard let text = page.filled("q") else { return page.answer(SearchView(search: "", groups: [])) }
    let (texts, now, isPerson) = (page.texts, page.now, page.may(.operator))
    let groups = try await page.store.read { database in
      try Search(text: String(text.prefix(Search.longest)), texts: texts, now: now, isOperator: isPerson).groups(
        database)
    }
    let hits = groups.flatMap(\.hits)
    // Whoever pastes an ID wants its page.
    if hits.count == 1, let href = hits[0].href, hits[0].isExact { return page.redirect(to: href) }
    return page.answer(SearchView(search: text, groups: groups))
  }
}

/// One question to the search.
struct Search: Sendable {
  /// In characters: tokens are shorter.
  static let longest = 400
  /// Hits of a kind.
  private static let most = 5

  let text: String
  let texts: Texts
  let now: Date
  let isOperator: Bool

  /// Kinds with hits, the most exact ones first.
  func groups(_ database: Database) throws -> [SearchGroup] {
    let found: [(String, [SearchHit])] = [
      ("pushes", try pushes(database)), ("devices", try devices(database)), ("segments", try segments(database)),
      ("apps", try apps(database)),
      ("certificates", try certificates(database)), ("reasons", reasons), ("pages", pages),
    ]
    return found.filter { !$0.1.isEmpty }
      .map { SearchGroup(name: texts("search.kinds.\($0.0)"), hits: Array($0.1.prefix(Self.most))) }
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
    var filter = PushFilter()
    filter.search = text
    return try Push.list(database, filter, limit: Self.most).items.map { hit($0, isExact: false) }
  }

  private func hit(_ push: Push, isExact: Bool) -> SearchHit {
    SearchHit(
      title: push.heading(texts), detail: texts.ago(push.createdAt, now: now), href: "/pushes/\(push.uid)",
      isExact: isExact)
  }

  private func devices(_ database: Database) throws -> [SearchHit] {
    try Device.found(database, text, limit: Self.most).map { device in
      let words = [device.alias, device.token.abbreviated].compactMap { $0 == device.heading ? nil : $0 }
      return SearchHit(
        title: device.heading, detail: words.joined(separator: " · "), href: "/devices/\(device.id)",
        isExact: device.tokenText == text || device.token.hexadecimal == text.lowercased()
          || device.registrationID == text)
    }
  }

  private func segments(_ database: Database) throws -> [SearchHit] {
    try Segment.search(database, text, limit: Self.most).map { segment in
      SearchHit(
        title: segment.name, detail: segment.rule.words(texts), href: "/audiences/segments/\(segment.id)",
        isExact: false)
    }
  }

  private func apps(_ database: Database) throws -> [SearchHit] {
    try App.all(database).filter { fits($0.bundleID) || fits($0.name) || fits($0.packageName ?? "") }.map { app in
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

  /// Codes have no page of their own: their meaning stands here.
  private var reasons: [SearchHit] {
    Reason.table.filter { $0.isKnown && ($0.code.lowercased() == text.lowercased() || (isLong && fits($0.code))) }
      .map { reason in
        SearchHit(
          title: reason.code, detail: "\(texts.cause(reason)) \(texts.remedy(reason))", href: nil,
          isExact: false)
      }
  }

  private var pages: [SearchHit] {
    Section.allCases.filter { $0 != .activity || isOperator }.compactMap { section in
      let name = texts.known("nav.\(section.rawValue)") ?? texts("account.title")
      let href = section == .overview ? "/" : section == .send ? "/pushes/new" : "/\(section.rawValue)"
      return fits(name) || section.rawValue == text.lowercased()
        ? SearchHit(title: name, detail: "", href: href, isExact: false) : nil
    }
  }

  private var isLong: Bool { text.count >= 3 }

  private func fits(_ other: String) -> Bool { other.range(of: text, options: .caseInsensitive) != nil }
}
