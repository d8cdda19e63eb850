import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Store

/// `/api/v1/smoke-tests`.
enum SmokeTestsAPI {
  /// The queries of a run.
  private static let asked = ["wait", "format"]
  /// The longest `wait` that a query accepts.
  private static let longestWait = Duration.seconds(300)

  static func add(to routes: inout ConsoleRouter) {
    routes.list("/smoke-tests", reach: .handler, filters: ["app"], list)
    routes.call(.post, "/smoke-tests", role: .operator, scope: .send, reach: .handler, create)
    routes.call(.get, "/smoke-tests/:id", role: .viewer, scope: .read, reach: .smokeTest) { call in
      try await call.read { try SmokeTestAnswer($0, try SmokeTest.get($0, id: call.id())) }
    }
    routes.call(.patch, "/smoke-tests/:id", role: .operator, scope: .send, reach: .smokeTest, update)
    routes.call(.delete, "/smoke-tests/:id", role: .operator, scope: .send, reach: .smokeTest) { call in
      let id = try call.id()
      try await call.store.write { try SmokeTest.delete($0, id: id, by: call.entry, now: call.now) }
      return APIContext.nothing
    }
    routes.list("/smoke-tests/:id/runs", reach: .smokeTest, runs)
    routes.call(
      .post, "/smoke-tests/:id/runs", role: .operator, scope: .send, reach: .smokeTest, query: asked, takesBody: false
    ) {
      call in try await run(call)
    }
    routes.call(.get, "/smoke-tests/:id/runs/:run", role: .viewer, scope: .read, reach: .smokeTest, query: asked) {
      call in
      let (id, run): (Int64, Int64) = (try call.id(), try call.request.parameter("run"))
      let wanted = try wanted(call)
      let found = try await call.store.read { try SmokeRun.get($0, id: run) }
      guard found.testID == id else { throw StoreError.notFound(noun: "run", id: "\(run)") }
      return try await answer(found, call, wanted)
    }
  }

  private static func list(_ call: APIContext) async throws -> Response {
    var query = APIQuery(call.request)
    let (limit, cursor, bundleID) = (query.limit(), query.cursor(), query.text("app"))
    try query.finish()
    return try await call.read { database in
      let app = try call.filter(database, app: bundleID)
      return try call.seen(cursor: cursor, limit: limit, app: \.appID) {
        try SmokeTest.list(database, app: app?.id, cursor: $0, limit: $1)
      }.map { try SmokeTestAnswer(database, $0) }
    }
  }

  // MARK: Creating and changing

  /// The members of a body; nil: left out.
  private struct Fields {
    let name: String?
    let draft: PushDraft?
    let expected: SmokeExpectation?

    init(_ body: JSONValue, required: Bool) throws {
      let fields = JSONFields(body)
      name = fields.string("name", required: required, limit: .characters(SmokeTest.nameLimit))
      var draft: PushDraft?
      if let push = fields.members("push") {
        do throws(Problems) {
          draft = try PushDraft(json: .object(push))
        } catch {
          for problem in error.all { fields.report("push", problem) }
        }
      } else if required, fields.value("push") == nil {
        fields.report("push", Problem("", FieldMessage.required))
      }
      self.draft = draft
      expected = fields.object("expected") { SmokeExpectation($0) }
      try fields.finish()
    }
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = try Fields(body, required: true)
    guard let name = fields.name, let draft = fields.draft else {
      // Each is nil only with a reported problem, so that finish() has thrown.
      throw Problems([Problem("", FieldMessage.required)])
    }
    try await call.check(sending: draft)
    let content = SmokeTestContent(name: name, draft: draft, expected: fields.expected ?? SmokeExpectation())
    let idempotency = try Idempotency(call, content: Array(body.data()))
    return try await idempotency.response(call.store) { database in
      let test = try SmokeTest.create(database, content, by: call.entry, now: call.now)
      return Idempotency.Answer(
        status: .created, json: try SmokeTestAnswer(database, test), location: "/api/v1/smoke-tests/\(test.id)")
    }
  }

  private static func update(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = try Fields(body, required: false)
    guard body.object?.isEmpty == false else { throw Problems([Problem.nothingToChange]) }
    let id = try call.id()
    if let draft = fields.draft { try await call.check(sending: draft) }
    return try await call.write { database in
      let test = try SmokeTest.get(database, id: id)
      guard let draft = fields.draft ?? test.draft else {
        throw Problems([Problem("push", FieldMessage.required)])
      }
      let content = SmokeTestContent(
        name: fields.name ?? test.name, draft: draft, expected: fields.expected ?? test.expected)
      let changed = try SmokeTest.update(database, id: id, content, by: call.entry, now: call.now)
      return try SmokeTestAnswer(database, changed)
    }
  }

  // MARK: Runs

  private static func runs(_ call: APIContext) async throws -> Response {
    let (limit, cursor) = try APIQuery.page(call.request)
    let id = try call.id()
    return try await call.read { database in
      try SmokeRun.list(database, test: try SmokeTest.get(database, id: id).id, cursor: cursor, limit: limit)
    }
  }

  private enum Format: String, CaseIterable { case json, junit }

  private static func wanted(_ call: APIContext) throws -> (wait: Duration, format: Format) {
    var query = APIQuery(call.request)
    let (wait, format) = (query.wait(upTo: longestWait), query.choice("format", as: Format.self))
    try query.finish()
    return (wait ?? .zero, format ?? .json)
  }

  private static func run(_ call: APIContext) async throws -> Response {
    let id = try call.id()
    let wanted = try wanted(call)
    let test = try await call.store.read { try SmokeTest.get($0, id: id) }
    let idempotency = try Idempotency(call, content: [])
    let starter = SmokeRunner.Starter(.api, by: call.actor, person: call.principal.person, from: call.clientAddress)
    let run = try await call.console.smoke.start(test, starter, once: idempotency, now: call.now)
    return try await answer(run, call, wanted)
  }

  /// 200 with a run that has ended, 202 with one that goes on, which is always JSON.
  private static func answer(
    _ run: SmokeRun, _ call: APIContext, _ wanted: (wait: Duration, format: Format)
  ) async throws -> Response {
    let run = try await call.console.smoke.wait(for: run.id, atMost: wanted.wait, clock: call.console.clock)
    if wanted.format == .junit, run.state != .running {
      return try await call.store.read { try SmokeRunFile.junit($0, run) }
    }
    return APIContext.answer(
      run, status: run.state == .running ? .accepted : .ok,
      location: "/api/v1/smoke-tests/\(run.testID)/runs/\(run.id)")
  }
}
