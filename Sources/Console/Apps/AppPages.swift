import Certificates
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// The pages that list, add, change and delete apps. `AppPage` shows one app.
enum AppPages {
  static let views: [any PageView.Type] = [
    AppListView.self, AppView.self, NewAppView.self, AppEditView.self, AppRemovalView.self,
    AppCodeView.self, PageRulesView.self,
  ]

  static func add(to routes: inout ConsoleRouter) {
    routes.page(.get, "/apps", index)
    export.add(to: &routes)
    routes.page(.get, "/apps/new", role: .operator) { page in
      newPage(page, Form([(name: "bundle_id", value: page.query["bundle_id"] ?? "")]), FieldErrors())
    }
    routes.page(.post, "/apps", role: .operator, create)
    routes.page(.get, "/apps/:id") { page in try await AppPage.show(page) }
    routes.page(.get, "/apps/:id/code", AppCodePage.show)
    routes.page(.get, "/apps/:id/edit", role: .operator) { page in
      let app = try await find(page)
      let form = Form([
        ("name", app.name), ("bundle_id", app.bundleID), ("package_name", app.packageName ?? ""),
        ("alias_rule", app.aliasRule ?? AliasRule.none.rawValue),
      ])
      return editPage(page, app, form.with(app.revision), FieldErrors())
    }
    routes.page(.post, "/apps/:id", role: .operator, update)
    PageRulePages.add(to: &routes)
    routes.page(.get, "/apps/:id/remove", role: .admin) { page in try await removePage(page) }
    routes.page(.post, "/apps/:id/remove", role: .admin, proof: true, remove)
    routes.page(.post, "/apps/:id/credentials/:environment", role: .admin, proof: true, AppPage.bind)
    routes.page(.post, "/apps/:id/credentials/:environment/unbind", role: .admin, proof: true, AppPage.unbind)
    routes.page(.post, "/apps/:id/client-keys", role: .admin, proof: true, ClientKeyPages.add)
    routes.page(.post, "/apps/:id/client-keys/remove", role: .admin, proof: true, ClientKeyPages.remove)
    routes.page(.post, "/apps/:id/approval", role: .admin, proof: true, setApproval)
    routes.page(.post, "/apps/:id/jpush-key", role: .admin, proof: true, JPushKeyPages.issue)
    routes.page(.post, "/apps/:id/jpush-key/remove", role: .admin, proof: true, JPushKeyPages.remove)
  }

  /// The app named in the path.
  static func find(_ page: PageContext) async throws -> App {
    let id = try page.id()
    guard let app = try await page.store.read({ try App.find($0, id: id) }) else {
      throw PageError.notFound("app", list: "/apps")
    }
    return app
  }

  private static let export = ListExportRoutes<AppOverview>(
    path: "/apps", action: "app.export",
    columns: [
      "bundle_id", "name", "package_name", "alias_rule", "production_needs_approval", "created_at", "devices",
      "credentials",
    ]
  ) { _ in { database, _, _ in Page(items: try AppOverview.all(database), next: nil) } }

  private static func index(_ page: PageContext) async throws -> Response {
    let apps = try await page.store.read { try AppOverview.all($0) }
    let rows = apps.flatMap { app in Environment.allCases.map { AppRow(app, $0, page.texts, now: page.now) } }
    return page.answer(AppListView(apps: rows, exports: ExportLinks(page, "/apps")))
  }

  // MARK: Adding and changing

  private static func newPage(_ page: PageContext, _ form: Form, _ errors: FieldErrors) -> Response {
    page.answer(NewAppView(form: AppFormView(form, errors, page.texts, isKnown: false)), status: errors.status)
  }

  private static func editPage(_ page: PageContext, _ app: App, _ form: Form, _ errors: FieldErrors) -> Response {
    page.answer(
      AppEditView(app: app, form: AppFormView(form, errors, page.texts, isKnown: true)),
      status: errors.status)
  }

  private static func problems(_ form: Form, withBundleID: Bool) -> [Problem] {
    var problems: [Problem] = []
    func check(_ field: String, _ problem: Problem?) { if let problem { problems.append(problem.under(field)) } }
    check("name", AppName.problem(withRequiredName: form["name"]))
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
      do {
        let app = try await page.store.write { database in
          let app = try App.add(
            database, bundleID: form["bundle_id"], name: form["name"], packageName: form.filled("package_name"),
            aliasRule: form.filled("alias_rule"), now: page.now)
          try page.record(database, "app.create", "app \(app.bundleID)")
          return app
        }
        return page.redirect(to: "/apps/\(app.id)", flash: "app_added")
      } catch let error as StoreError {
        problems.append(Problem("bundle_id", code: "app.taken", error.description))
      }
    }
    return newPage(page, form, FieldErrors(Problems(problems), page.texts))
  }

  private static func update(_ page: PageContext) async throws -> Response {
    let app = try await find(page)
    let form = page.form
    let problems = problems(form, withBundleID: false)
    guard problems.isEmpty else {
      return editPage(page, app, form, FieldErrors(Problems(problems), page.texts))
    }
    let wanted = (name: form["name"], package: form.filled("package_name"), rule: form.filled("alias_rule"))
    do {
      try await page.store.write { database in
        let before = try App.get(database, id: app.id)
        try before.revision.check(form, saving: App.revision(wanted.name, wanted.package, wanted.rule))
        let after = try App.update(
          database, id: app.id, name: wanted.name, packageName: wanted.package, aliasRule: wanted.rule)
        try page.record(
          database, "app.update", "app \(app.bundleID)", ["before": before.audited, "after": after.audited])
      }
    } catch let error as Revision.Overtaken {
      let errors = try await page.overtaken("app.update", "app \(app.bundleID)")
      return editPage(page, app, form.with(error.stored), errors)
    }
    return page.redirect(to: "/apps/\(app.id)", flash: "app_saved")
  }

  /// Sets whether pushes to production need a second person's approval.
  private static func setApproval(_ page: PageContext) async throws -> Response {
    let app = try await find(page)
    let isNeeded = page.form["approval"] == "on"
    _ = try await page.store.write { try App.setApproval($0, id: app.id, isNeeded, by: page.entry, now: page.now) }
    return page.redirect(to: "/apps/\(app.id)#approval", flash: isNeeded ? "approval_on" : "approval_off")
  }

  // MARK: Deleting

  private static func removePage(_ page: PageContext, error: String = "") async throws -> Response {
    let app = try await find(page)
    let belongings = try await page.store.read { try App.belongings($0, id: app.id) }
    return page.answer(
      AppRemovalView(app: app, belongings: belongings, typed: page.form["confirm"], error: error),
      status: error.isEmpty ? .ok : .unprocessableContent)
  }

  private static func remove(_ page: PageContext) async throws -> Response {
    let app = try await find(page)
    guard page.form["confirm"] == app.name else {
      return try await removePage(page, error: page.texts("confirm.differs", ["app": app.name]))
    }
    let (audit, now) = (page.audit("app.delete", "app \(app.bundleID)"), page.now)
    do {
      try await page.store.write { try app.remove($0, audit: audit, now: now) }
    } catch StoreError.inUse {
      return try await removePage(page, error: page.texts("apps.remove_running"))
    }
    return page.redirect(to: "/apps", flash: "app_removed")
  }
}

extension App {
  fileprivate static func revision(_ name: String, _ packageName: String?, _ aliasRule: String?) -> Revision {
    Revision(name, packageName, aliasRule ?? AliasRule.none.rawValue)
  }

  fileprivate var revision: Revision { Self.revision(name, packageName, aliasRule) }
}
