import Certificates
import Foundation
import HTTPServer
import Mustache
import Push
import SQLite
import Store

/// Apps: the list, adding, changing and removing. One app's page stands in `AppPage`.
enum AppPages {
  private static let fields = ["name", "bundle_id", "package_name", "alias_rule"]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/apps") { page in try await index(page) }
    routes.page(.get, "/apps/new", role: .operator) { page in try newPage(page, Form(), FieldErrors()) }
    routes.page(.post, "/apps", role: .operator) { page in try await create(page) }
    routes.page(.get, "/apps/:id") { page in try await AppPage.show(page) }
    routes.page(.get, "/apps/:id/edit", role: .operator) { page in
      let app = try await find(page)
      let form = Form([
        ("name", app.name), ("bundle_id", app.bundleID), ("package_name", app.packageName ?? ""),
        ("alias_rule", app.aliasRule ?? AliasRule.none.rawValue),
      ])
      return try editPage(page, app, form, FieldErrors())
    }
    routes.page(.post, "/apps/:id", role: .operator) { page in try await update(page) }
    routes.page(.get, "/apps/:id/remove", role: .admin) { page in try await removePage(page) }
    routes.page(.post, "/apps/:id/remove", role: .admin) { page in try await remove(page) }
    routes.page(.post, "/apps/:id/credentials/:environment", role: .admin) { page in try await AppPage.bind(page) }
    routes.page(.post, "/apps/:id/credentials/:environment/unbind", role: .admin) { page in
      try await AppPage.unbind(page)
    }
  }

  /// The app of the address.
  static func find(_ page: PageContext) async throws -> App {
    let id = try page.id()
    guard let app = try await page.store.read({ try App.find($0, id: id) }) else {
      throw PageError.notFound("app", list: "/apps")
    }
    return app
  }

  private static func index(_ page: PageContext) async throws -> Response {
    let apps = try await page.store.read { try AppOverview.all($0) }
    return try page.page(
      "apps/index", .apps,
      [
        "any_apps": .bool(!apps.isEmpty),
        "apps": .list(
          apps.map { app in ["environments": .list(Environment.allCases.map { row(app, $0, page) })] }),
      ])
  }

  private static func row(_ app: AppOverview, _ environment: Environment, _ page: PageContext) -> Value {
    let credential = app.credentials.first { $0.environment == environment && $0.provider == .apns }
    let state = CredentialState(credential, now: page.now)
    let active = app.count(environment: environment, state: .active)
    return [
      "href": .string("/apps/\(app.id)"), "name": .string(app.app.name), "bundle_id": .string(app.app.bundleID),
      "environment": .string(environment.word(page.texts)), "production": .bool(environment == .production),
      "credential": .string(state.text(page.texts)), "failed": .bool(state.isFailed), "soon": .bool(state.isSoon),
      "last_accepted": .string(page.texts.ago(credential?.lastAcceptedAt, now: page.now)),
      "active": .string(active.grouped), "parked": .string((app.count(environment: environment) - active).grouped),
    ]
  }

  // MARK: Adding and changing

  private static func rules(_ form: Form, _ texts: Texts) -> Value {
    let chosen = form["alias_rule"].isEmpty ? AliasRule.none.rawValue : form["alias_rule"]
    return .choices(
      AliasRule.allCases.map { ($0.rawValue, texts("apps.alias_rule_\($0.rawValue)")) }, checked: [chosen])
  }

  private static func newPage(_ page: PageContext, _ form: Form, _ errors: FieldErrors) throws -> Response {
    try page.page(
      "apps/new", .apps,
      [
        "problem": .string(errors.others(fields) ?? ""), "fixed": false, "alias_rules": rules(form, page.texts),
        "form": form.value(fields), "errors": errors.value(fields),
      ], status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func editPage(
    _ page: PageContext, _ app: App, _ form: Form, _ errors: FieldErrors
  ) throws -> Response {
    try page.page(
      "apps/edit", .apps,
      [
        "id": .integer(app.id), "title": .string(app.name), "problem": .string(errors.others(fields) ?? ""),
        "fixed": true, "alias_rules": rules(form, page.texts), "form": form.value(fields),
        "errors": errors.value(fields),
      ], status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  private static func problems(_ form: Form, withBundleID: Bool) -> [Problem] {
    var problems: [Problem] = []
    func check(_ field: String, _ problem: Problem?) { if let problem { problems.append(problem.under(field)) } }
    check("name", form["name"].isEmpty ? Problem("", FieldMessage.required) : AppName.problem(withName: form["name"]))
    if withBundleID { check("bundle_id", AppName.problem(withBundleID: form["bundle_id"])) }
    if !form["package_name"].isEmpty { check("package_name", AppName.problem(withPackageName: form["package_name"])) }
    if AliasRule(rawValue: form["alias_rule"].isEmpty ? "none" : form["alias_rule"]) == nil {
      check("alias_rule", Problem("", FieldMessage.choose, ["choices": "none, jpush"]))
    }
    return problems
  }

  private static func create(_ page: PageContext) async throws -> Response {
    let form = page.form
    var problems = problems(form, withBundleID: true)
    if problems.isEmpty {
      let (audit, now) = (page.audit("app.create", "app \(form["bundle_id"])"), page.now)
      do {
        let app = try await page.store.write { database in
          let app = try App.add(
            database, bundleID: form["bundle_id"], name: form["name"], packageName: form.filled("package_name"),
            aliasRule: form.filled("alias_rule"), now: now)
          try AuditEntry.add(database, audit, now: now)
          return app
        }
        return page.redirect(to: "/apps/\(app.id)", flash: "app_added")
      } catch let error as StoreError {
        problems.append(Problem("bundle_id", code: "app.taken", error.description))
      }
    }
    return try newPage(page, form, FieldErrors(Problems(problems), page.texts))
  }

  private static func update(_ page: PageContext) async throws -> Response {
    let app = try await find(page)
    let form = page.form
    let problems = problems(form, withBundleID: false)
    guard problems.isEmpty else {
      return try editPage(page, app, form, FieldErrors(Problems(problems), page.texts))
    }
    let (audit, now) = (page.audit("app.update", "app \(app.bundleID)"), page.now)
    try await page.store.write { database in
      try App.update(
        database, id: app.id, name: form["name"], packageName: form.filled("package_name"),
        aliasRule: form.filled("alias_rule"))
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/apps/\(app.id)", flash: "app_saved")
  }

  // MARK: Removing

  private static func removePage(_ page: PageContext, error: String = "") async throws -> Response {
    let app = try await find(page)
    let texts = page.texts
    let belongings = try await page.store.read { try App.belongings($0, id: app.id) }
    let takes = [
      ("devices", belongings.devices), ("pushes", belongings.pushes), ("credentials", belongings.credentials),
      ("schedules", belongings.schedules),
    ].filter { $0.0 != "schedules" || $0.1 > 0 }
    return try page.page(
      "apps/remove", .apps,
      [
        "id": .integer(app.id), "title": .string(app.name),
        "question": .string(texts("apps.remove_question", ["app": app.name])),
        "takes": .list(takes.map { ["text": .string(texts("apps.remove_\($0)", count: $1))] }),
        "must_type": .string(texts("apps.remove_type", ["app": app.name])),
        "form": ["confirm": .string(page.form["confirm"])], "errors": ["confirm": .string(error)],
      ], status: error.isEmpty ? .ok : .unprocessableContent)
  }

  private static func remove(_ page: PageContext) async throws -> Response {
    let app = try await find(page)
    guard page.form["confirm"] == app.name else {
      return try await removePage(page, error: page.texts("confirm.differs", ["app": app.name]))
    }
    let (audit, now) = (page.audit("app.delete", "app \(app.bundleID)"), page.now)
    try await page.store.write { database in
      try App.delete(database, id: app.id)
      try AuditEntry.add(database, audit, now: now)
    }
    return page.redirect(to: "/apps", flash: "app_removed")
  }
}
