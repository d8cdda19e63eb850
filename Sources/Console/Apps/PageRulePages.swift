import Foundation
import HTTPServer
import JSON
import Model
import Mustache
import SQLite
import Store

/// `/apps/:id/pages` and `/api/v1/apps/{app}/pages`: which page of an app a tap opens.
enum PageRulePages {
  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/apps/:id/pages") { page in try await show(page, PageRulesView.Entered()) }
    routes.page(.post, "/apps/:id/pages", role: .operator, save)
    routes.page(.post, "/apps/:id/pages/reset", role: .operator) { page in
      let app = try await AppPages.find(page)
      try await change(app, to: nil, for: page)
      return page.redirect(to: "/apps/\(app.id)/pages", flash: "pages_reset")
    }
    routes.page(.post, "/apps/:id/pages/try", role: .viewer) { page in
      try page.shown(at: "/apps/\(try page.id())/pages", attempt)
    }
  }

  static func addCalls(to routes: inout ConsoleRouter) {
    let path = "/apps/:app/pages"
    routes.call(.get, path, role: .viewer, scope: .read) { call in
      try await call.read { try json($0, try call.app($0)) }
    }
    routes.call(.put, path, role: .operator, scope: .admin) { call in
      let rules = try PageRules(json: try await call.body())
      let app = try await call.store.read { try call.app($0) }
      try await change(app, to: rules, for: call)
      return try await call.read { try json($0, app) }
    }
    routes.call(.delete, path, role: .operator, scope: .admin) { call in
      let app = try await call.store.read { try call.app($0) }
      try await change(app, to: nil, for: call)
      return APIContext.nothing
    }
    routes.call(.post, path + "/try", role: .viewer, scope: .read) { call in
      let fields = JSONFields(try await call.body())
      let text = fields.string("text", required: true, limit: .bytes(PastedPushView.limit), lines: true)
      try fields.finish()
      let rules = try await call.store.read { try App.pageRules($0, id: try call.app($0).id) }
      let target = try rules.target(of: text ?? "", now: call.now)
      return APIContext.answer { json in
        json.member("type", target.type)
        json.member("page", target.rule?.page)
        json.member("deep_link", target.deepLink)
        json.array("missing", target.missing) { json, key in json.string(key) }
      }
    }
  }

  private static func json(_ database: Database, _ app: App) throws -> JSONValue {
    let own = try App.ownPageRules(database, id: app.id)
    var json = (own ?? .defaults).json.object ?? [:]
    json["default"] = .bool(own == nil)
    return .object(json)
  }

  private static func change(_ app: App, to rules: PageRules?, for context: some ActorContext) async throws {
    try await context.store.write { database in
      let before = try App.ownPageRules(database, id: app.id)
      try App.setPageRules(database, id: app.id, rules, now: context.now)
      let audit = context.audit("app.pages", "app \(app.bundleID)")
      try context.record(database, audit.changing(before?.audited, to: rules?.audited))
    }
  }

  // MARK: The page

  /// The rows as typed; an empty one removes its rule.
  private static func typed(_ form: Form) -> JSONValue {
    let (types, pages, links) = (form.all("type"), form.all("page"), form.all("deep_link"))
    let rows = types.indices.compactMap { index -> JSONValue? in
      let row = [types, pages, links].map { column in
        column.indices.contains(index) ? column[index].trimmingCharacters(in: .whitespaces) : ""
      }
      guard row != ["", "", ""] else { return nil }
      return ["type": .string(row[0]), "page": .string(row[1]), "deep_link": .string(row[2])]
    }
    return ["rules": .array(rows)]
  }

  private static func save(_ page: PageContext) async throws -> Response {
    let app = try await AppPages.find(page)
    let json = typed(page.form)
    do {
      try await change(app, to: try PageRules(json: json), for: page)
      return page.redirect(to: "/apps/\(app.id)/pages", flash: "pages_saved")
    } catch let problems as Problems {
      var entered = PageRulesView.Entered()
      entered.rules = json["rules"]?.array
      entered.problems = problems.all.map { page.texts.line($0) }
      return try await show(page, entered, status: .unprocessableContent)
    }
  }

  private static func attempt(_ page: PageContext) async throws -> Response {
    let app = try await AppPages.find(page)
    let own = try await page.store.read { try App.ownPageRules($0, id: app.id) }
    let rules = own ?? PageRules.standard(page.texts)
    var entered = PageRulesView.Entered()
    entered.text = page.form.raw("payload")
    do {
      entered.target = try rules.target(of: entered.text, now: page.now)
      return try await show(page, entered)
    } catch let problems as Problems {
      entered.error = problems.all.map { page.texts.line($0) }.joined(separator: " ")
      return try await show(page, entered, status: .unprocessableContent)
    }
  }

  private static func show(
    _ page: PageContext, _ entered: PageRulesView.Entered, status: Status = .ok
  ) async throws -> Response {
    let app = try await AppPages.find(page)
    let own = try await page.store.read { try App.ownPageRules($0, id: app.id) }
    let rules = own ?? PageRules.standard(page.texts)
    return page.answer(
      PageRulesView(
        app: app, rules: entered.rules ?? rules.json["rules"]?.array ?? [], isDefault: own == nil,
        mayChange: page.may(.operator), entered: entered, texts: page.texts),
      status: status)
  }
}

extension PageRules {
  /// The default rules, with the names of their pages in a language.
  fileprivate static func standard(_ texts: Texts) -> PageRules {
    PageRules(
      defaults.rules.map { rule in
        Rule(type: rule.type, page: texts("pages.default_pages.\(rule.type)"), deepLink: rule.deepLink)
      })
  }
}

/// The rules of an app, to edit and to try.
struct PageRulesView: PageView {
  static let template = "apps/pages"
  static let section: Section? = .apps

  /// What a form brought.
  struct Entered {
    /// Nil: no rules were sent.
    var rules: [JSONValue]?
    var problems: [String] = []
    var text = ""
    var error = ""
    var target: PageRules.Target?
  }

  let app: App
  let rules: [JSONValue]
  let isDefault: Bool
  let mayChange: Bool
  let entered: Entered
  let texts: Texts

  /// Empty rows for new rules.
  private static let spare = 3

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.app.id)) },
    .text("title") { $0.app.name },
    .flag("is_default") { $0.isDefault },
    .flag("may_change") { $0.mayChange },
    .list("problems") { $0.entered.problems.map { LossView(text: $0) } },
    .flag("has_problems") { !$0.entered.problems.isEmpty },
    .list("rules") { view in
      let rows = view.rules + Array(repeating: [:], count: view.mayChange ? spare : 0)
      return rows.map { PageRuleRow(rule: $0) }
    },
    .view("payload") { FieldView(value: $0.entered.text, error: $0.entered.error) },
    .optional("result") { $0.result },
  ]

  private var result: String? {
    guard let target = entered.target else { return nil }
    guard let type = target.type else { return texts("pages.no_type") }
    guard let rule = target.rule else { return texts("pages.no_rule", ["type": type]) }
    if !target.missing.isEmpty {
      return texts("pages.lacks", ["page": rule.page, "keys": texts.list(target.missing)])
    }
    return target.deepLink.map { texts("pages.opens_link", ["page": rule.page, "link": $0]) }
      ?? texts("pages.opens", ["page": rule.page])
  }
}

struct PageRuleRow: View {
  let rule: JSONValue

  static let fields: [Field<Self>] = [
    .text("type") { $0.rule["type"]?.string ?? "" },
    .text("page") { $0.rule["page"]?.string ?? "" },
    .text("deep_link") { $0.rule["deep_link"]?.string ?? "" },
  ]
}

extension PageRules {
  /// As texts, because the page of the activity log leaves lists of objects out.
  fileprivate var audited: JSONValue {
    ["rules": .array(rules.map { .string("\($0.type): \($0.page)" + ($0.deepLink.map { ", \($0)" } ?? "")) })]
  }
}
