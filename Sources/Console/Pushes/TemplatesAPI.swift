import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// `/api/v1/templates`. `POST /api/v1/pushes` sends one by its name.
enum TemplatesAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.list("/templates") { call in
      let (limit, cursor) = try APIQuery.page(call.request)
      return try await call.read { try PushTemplate.list($0, cursor: cursor, limit: limit) }
    }
    routes.call(.post, "/templates", role: .operator, scope: .sendEverywhere, create)
    routes.call(.get, "/templates/:id", role: .viewer, scope: .read) { call in
      try await call.read { try PushTemplate.get($0, id: call.id()) }
    }
    routes.call(.patch, "/templates/:id", role: .operator, scope: .sendEverywhere, update)
    routes.call(.delete, "/templates/:id", role: .operator, scope: .sendEverywhere) { call in
      let id = try call.id()
      try await call.store.write { try PushTemplate.delete($0, id: id, by: call.entry, now: call.now) }
      return APIContext.nothing
    }
  }

  /// The members of a body; nil: left out.
  private static func read(
    _ body: JSONValue, required: Bool
  ) throws -> (name: String?, message: MessageTemplate?) {
    let fields = JSONFields(body)
    let name = fields.string("name", required: required, limit: .characters(PushTemplate.nameLimit))
    var message: MessageTemplate?
    if let content = fields.members("content") {
      do throws(Problems) {
        message = try MessageTemplate(json: .object(content))
      } catch {
        for problem in error.all { fields.report("content", problem) }
      }
    } else if required, fields.value("content") == nil {
      fields.report("content", Problem("", FieldMessage.required))
    }
    try fields.finish()
    return (name, message)
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    guard case (let name?, let message?) = try read(body, required: true) else {
      // Each is nil only with a reported problem, so that finish() has thrown.
      throw Problems([Problem("", FieldMessage.required)])
    }
    let idempotency = try Idempotency(call, content: Array(body.data()))
    return try await idempotency.response(call.store) { database in
      let template = try PushTemplate.save(database, name: name, message, by: call.entry, now: call.now)
      return Idempotency.Answer(status: .created, json: template, location: "/api/v1/templates/\(template.id)")
    }
  }

  private static func update(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let (name, message) = try read(body, required: false)
    guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
    let id = try call.id()
    return try await call.write { database in
      let old = try PushTemplate.get(database, id: id)
      return try PushTemplate.save(
        database, id: id, name: name ?? old.name, message ?? old.message, by: call.entry, now: call.now)
    }
  }
}
