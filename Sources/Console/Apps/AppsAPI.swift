import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

enum AppsAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list("/apps", reach: .handler, list)
    routes.call(.post, "/apps", role: .operator, scope: .admin, create)
    routes.call(.get, "/apps/:app", role: .viewer, scope: .read) { call in
      let app = try await call.store.read { try overview($0, try call.app($0)) }
      return APIContext.answer(app)
    }
    routes.call(.patch, "/apps/:app", role: .operator, scope: .admin, update)
    routes.call(.delete, "/apps/:app", role: .admin, scope: .admin, delete)
  }

  private static func list(_ call: APIContext) async throws -> Response {
    let (limit, cursor) = try APIQuery.page(call.request)
    // There are a few dozen apps at most, and every value is a counter: page in memory.
    let all = try await call.store.read { try AppOverview.all($0) }.filter { call.sees(app: $0.id) }
      .sorted { $0.id < $1.id }
    var after: Int64 = 0
    if let cursor {
      guard let id = Int64(cursor) else { throw StoreError.badCursor(cursor) }
      after = id
    }
    let rest = all.filter { $0.id > after }
    let items = Array(rest.prefix(limit))
    let next = rest.count > limit ? items.last.map { String($0.id) } : nil
    return APIContext.answer(Page(items: items, next: next))
  }

  private static func overview(_ database: Database, _ app: App) throws -> AppOverview {
    guard let overview = try AppOverview.find(database, id: app.id) else {
      throw StoreError.notFound(noun: "app", id: app.bundleID)
    }
    return overview
  }

  // MARK: Changing

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = JSONFields(body)
    let bundleID = fields.string(
      "bundle_id", required: true, limit: .characters(AppName.bundleIDLimit), check: AppName.problem(withBundleID:))
    let name = readName(fields, required: true)
    let packageName = readPackageName(fields)
    let rule = fields.choice("alias_rule", as: AliasRule.self)
    try fields.finish()
    guard let bundleID, let name else { throw Problems([Problem("", FieldMessage.required)]) }
    let idempotency = try Idempotency(call, content: Array(body.data()))
    return try await idempotency.response(call.store) { database in
      let app = try App.add(
        database, bundleID: bundleID, name: name, packageName: packageName, aliasRule: rule?.rawValue, now: call.now)
      try call.record(database, "app.create", "app \(bundleID)", ["name": .string(name)])
      return Idempotency.Answer(
        status: .created, json: try overview(database, app), location: "/api/v1/apps/\(bundleID)")
    }
  }

  private static func update(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = JSONFields(body)
    let name = readName(fields, required: body["name"] != nil)
    let packageName = readPackageName(fields)
    let rule = fields.choice("alias_rule", required: body["alias_rule"] != nil, as: AliasRule.self)
    let needsApproval = fields.bool("production_needs_approval")
    try fields.finish()
    if needsApproval != nil, call.principal.role < .admin {
      throw HTTPError(.forbidden, "Only an admin may change production_needs_approval. Nothing was changed.")
    }
    guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
    let removesPackageName = body["package_name"] == .null
    return try await call.write { database in
      let app = try call.app(database)
      if let needsApproval {
        _ = try App.setApproval(database, id: app.id, needsApproval, by: call.entry, now: call.now)
      }
      let changed = try App.update(
        database, id: app.id, name: name ?? app.name,
        packageName: packageName ?? (removesPackageName ? nil : app.packageName),
        aliasRule: rule?.rawValue ?? app.aliasRule)
      // The setting has an entry of its own.
      if body.object?.keys.map({ $0 }) == ["production_needs_approval"] { return try overview(database, changed) }
      try call.record(database, "app.update", "app \(app.bundleID)", ["before": app.audited, "after": changed.audited])
      return try overview(database, changed)
    }
  }

  private static func delete(_ call: APIContext) async throws -> Response {
    try await call.store.write { database in
      let app = try call.app(database)
      try app.remove(database, audit: call.audit("app.delete", "app \(app.bundleID)"), now: call.now)
    }
    return APIContext.nothing
  }

  // MARK: Fields

  private static func readName(_ fields: JSONFields, required: Bool) -> String? {
    fields.string("name", required: required, limit: .characters(AppName.nameLimit)) { AppName.problem(withName: $0) }
  }

  private static func readPackageName(_ fields: JSONFields) -> String? {
    fields.string("package_name", limit: .characters(AppName.bundleIDLimit), check: AppName.problem(withPackageName:))
  }
}

extension Problem {
  /// The error for a PATCH without members.
  static let nothingToChange = Problem(
    "", code: "body.nothing_to_change",
    "The body changes nothing. Include at least one field.")
}
