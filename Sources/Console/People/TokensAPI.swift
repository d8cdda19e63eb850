import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/api/v1/tokens`.
enum TokensAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/tokens", role: .admin, scope: .admin) { call in
      let items = try await call.store.read { try TokenAnswer.all($0, now: call.now) }
      return APIContext.answer(Page(items: items, next: nil))
    }
    routes.call(.post, "/tokens", role: .admin, scope: .admin, create)
    routes.call(.get, "/tokens/:id", role: .admin, scope: .admin) { call in
      try await call.read { try TokenAnswer($0, try APIToken.get($0, id: call.id()), now: call.now) }
    }
    routes.call(.delete, "/tokens/:id", role: .admin, scope: .admin) { call in
      let id = try call.id()
      let audit = call.audit("token.revoke", "")
      let wasGood = try await call.store.write { try APIToken.get($0, id: id).revoke($0, audit, now: call.now) }
      guard wasGood else { throw HTTPError(.conflict, "This token was already revoked.") }
      return APIContext.nothing
    }
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = JSONFields(body)
    var typed = TokenForm()
    typed.name = fields.string("name", required: true) ?? ""
    if fields.value("scopes") == nil { fields.report("scopes", Problem("", FieldMessage.required)) }
    typed.words = fields.strings("scopes", atMost: TokenScope.allCases.count)
    if fields.value("apps") != nil { typed.apps = fields.strings("apps", atMost: 100) }
    typed.addresses = fields.strings("addresses", atMost: 50)
    if let text = fields.string("expires") {
      do throws(Problem) { typed.days = try TokenForm.days(text) } catch { fields.report(error) }
    }
    try fields.finish()
    let form = typed
    guard form.problems.isEmpty else { throw Problems(form.problems) }
    let idempotency = try Idempotency(call, content: Array(body.data()), isSecret: true)
    return try await idempotency.response(call.store) { database in
      let added = try form.add(database, user: nil, audit: call.entry, now: call.now)
      return Idempotency.Answer(
        status: .created, json: try TokenAnswer(database, added.token, now: call.now, secret: added.secret),
        location: "/api/v1/tokens/\(added.token.id)")
    }
  }
}

extension APIToken {
  /// - Throws: `StoreError.notFound`.
  static func get(_ database: Database, id: Int64) throws -> APIToken {
    guard let token = try find(database, id: id) else { throw StoreError.notFound(noun: "token", id: "\(id)") }
    return token
  }
}
