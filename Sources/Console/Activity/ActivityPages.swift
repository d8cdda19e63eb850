import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The activity log: who did what, when and from where.
enum ActivityPages {
  static let views: [any PageView.Type] = [ActivityListView.self]

  private static let pageSize = 50
  /// More people do not fit into a menu; the search finds the rest.
  private static let mostActors = 200
  /// For the check of the whole log: enough for some million entries.
  static let checkPatience = Duration.seconds(10)

  static func add(to routes: inout ConsoleRouter) {
    // Addresses of people are not for viewers.
    routes.page(.get, "/activity", role: .operator, index)
    export.add(to: &routes)
  }

  private static let export = ListExportRoutes<AuditEntry>(
    path: "/activity", action: "activity.export",
    columns: ["id", "at", "actor", "action", "subject", "detail", "address", "hash"], role: .operator
  ) { page in
    let filter = try await filter(page)
    return { try AuditEntry.exported($0, filter, cursor: $1, limit: $2) }
  }

  private static func filter(_ page: PageContext) async throws -> AuditEntry.Filter {
    let who = page.filled("who")
    let isKnown = try await page.store.read { database in
      try who.map { !(try AuditEntry.list(database, AuditEntry.Filter(actor: $0), limit: 1).items.isEmpty) } ?? true
    }
    return AuditEntry.Filter(
      actor: try page.filter("who") { isKnown ? $0 : nil }, kind: try page.filter("kind", ActivityKind.init),
      search: page.filled("q"),
      from: try page.day("from"), before: try page.day("to")?.addingTimeInterval(86_400))
  }

  /// A search reads every entry until enough of them match; without one, an index or the order of the log finds them.
  /// An export needs no limit: see ``AuditEntry/exported(_:_:cursor:limit:span:)``.
  static func patience(_ filter: AuditEntry.Filter, _ console: Console) -> Duration? {
    filter.search.map { _ in console.configuration.queryPatience }
  }

  private static func index(_ page: PageContext) async throws -> Response {
    let (texts, filter, pager) = (page.texts, try await filter(page), Pager(page.request))
    await page.console.noteDueRefusals(now: page.now)
    let isChecked = page.filled("check") != nil
    let report = isChecked ? try await page.store.read(limit: checkPatience) { try AuditChain.check($0) } : nil
    let (found, titles, actors) = try await page.store.read(limit: patience(filter, page.console)) { database in
      let found = try AuditEntry.list(database, filter, cursor: pager.cursor, limit: pageSize)
      let subjects = Set(found.items.map { AuditSubject($0.entry.subject) })
      return (found, try AuditSubject.titles(database, subjects), try AuditEntry.actors(database, limit: mostActors))
    }
    let query = page.request.query.map { "?" + $0 } ?? ""
    return page.answer(
      ActivityListView(
        filter: ActivityFilterView(
          search: filter.search ?? "", from: page.filled("from") ?? "", to: page.filled("to") ?? "",
          actors: ChoiceView.list(actors.map { ($0, ActivityActor($0).name(texts)) }, chosen: page.query["who"] ?? ""),
          kinds: ChoiceView.list(
            ActivityKind.allCases.map { ($0.rawValue, texts("activity.kinds.\($0.rawValue)")) },
            chosen: page.query["kind"] ?? ""),
          isActive: ["q", "who", "kind", "from", "to"].contains { page.filled($0) != nil }),
        entries: found.items.map { ActivityRow(entry: $0, titles: titles, texts: texts, now: page.now) },
        check: report.map { ActivityCheckView(report: $0, texts: texts) }, csv: "/activity.csv\(query)",
        json: "/activity.json\(query)", pager: PagerView(pager, next: found.next)))
  }
}

/// Who did it, as the log names them.
struct ActivityActor {
  enum Source: String, CaseIterable {
    case console, api, jpush, legacy, cli, server
  }

  /// Who calls with a token that never was one. Tokens are called `token <name>`, people by their email addresses.
  static let unknownToken = "unknown token"

  let source: Source
  private let written: String

  init(_ actor: String) {
    let (word, rest) = AuditSubject.split(actor)
    switch word {
    case "token" where !rest.isEmpty: (source, written) = (.api, rest)
    case _ where actor == Self.unknownToken: (source, written) = (.api, "")
    case "jpush" where !rest.isEmpty: (source, written) = (.jpush, rest)
    case "fcm" where !rest.isEmpty: (source, written) = (.legacy, rest)
    // A refused call: `app key unknown`, or the key whose secret was wrong.
    case "app" where rest.hasPrefix("key "): (source, written) = (.jpush, String(rest.dropFirst(4)))
    case "cli": (source, written) = (.cli, rest)
    case "signalbox" where rest.isEmpty, "retention" where rest.isEmpty: (source, written) = (.server, "")
    default: (source, written) = (.console, actor)
    }
  }

  func name(_ texts: Texts) -> String {
    switch source {
    case .cli: written.isEmpty ? texts("activity.command_line") : written
    case .server: texts("layout.product")
    case .console where written == "anonymous": texts("activity.nobody")
    case .jpush where written == "unknown": texts("activity.unknown_key")
    case .api where written.isEmpty: texts("activity.unknown_token")
    case .console, .api, .jpush, .legacy: written
    }
  }
}

extension AuditSubject {
  /// Its page. It may be gone meanwhile: the page says so then.
  var href: String? {
    guard let folder = Self.folders[noun], noun == "push" || noun == "schedule" || Int(name) != nil else { return nil }
    return "/\(folder)/\(ConsoleRouter.escaped(name))"
  }

  private static let folders = [
    "push": "pushes", "schedule": "schedules", "device": "devices", "certificate": "certificates", "host": "hosts",
    "incident": "incidents", "smoke_test": "smoke-tests", "template": "templates",
    "segment": "audiences/segments",
  ]
}
