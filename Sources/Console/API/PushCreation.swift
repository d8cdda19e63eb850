import Delivery
import Foundation
import HTTPServer
import Push
import SQLite
import Store

/// `POST /api/v1/pushes`: the same that the send form does, for programs.
struct PushCreation {
  private let call: APIContext
  private let draft: PushDraft
  private let idempotency: Idempotency

  /// Reads the body.
  ///
  /// - Throws: everything that is wrong with it.
  init(_ call: APIContext) async throws {
    self.call = call
    let body = try await call.body()
    draft = try PushDraft(json: body)
    idempotency = try Idempotency(call, content: Array(body.data()))
  }

  func answer() async throws -> Response { draft.options.dryRun ? try await preview() : try await create() }

  /// The app, once nothing speaks against the push.
  ///
  /// - Throws: 404 without an app, `Problems` for what the linter calls an error.
  private static func check(_ database: Database, _ draft: PushDraft, now: Date) throws -> App {
    guard let app = try App.find(database, bundleID: draft.app) else { throw APIError.noApp(draft.app) }
    try Lint.check(draft, Lint.Context(app, now: now))
    return app
  }

  // MARK: For real

  private func create() async throws -> Response {
    let (call, draft, idempotency) = (call, draft, idempotency)
    let (answer, id) = try await call.store.write { database in
      try idempotency.once(database) {
        let app = try Self.check(database, draft, now: call.now)
        let new = NewPush(draft, app: app, source: "api", by: call.actor)
        let audit = call.audit("push.create", "push \(new.uid)", ["app": .string(app.bundleID)])
        try Device.registerUnknown(database, of: draft, app: app.id, by: call.actor, now: call.now)
        let push = try PushRecord.create(database, new, audit: audit, now: call.now)
        let answer = Idempotency.Answer(
          status: .accepted, json: try PushesAPI.json(database, push), location: "/api/v1/pushes/\(push.uid)")
        return (answer, push.id)
      }
    }
    if let id { call.console.engine.enqueue(id) }
    return answer.response
  }

  // MARK: Dry run

  private func preview() async throws -> Response {
    let (call, draft, idempotency) = (call, draft, idempotency)
    let app = try await call.store.read { try Self.check($0, draft, now: call.now) }
    let count = try await AudienceAPI.count(call) { _ in
      AudienceQuery(app: app.id, environment: draft.environment, platforms: draft.platforms, audience: draft.audience)
    }
    let (unknown, credential) = try await call.store.read { database in
      (
        try Device.unknownTokens(database, app: app.id, audience: draft.audience).count,
        try Credential.find(database, app: app.id, provider: .apns, environment: draft.environment)
      )
    }
    let answer = Idempotency.Answer(status: .ok, json: json(app, count, credential, unknown: unknown))
    guard idempotency.isAsked else { return answer.response }
    return try await call.store.write { database in
      try idempotency.once(database) { (answer, ()) }.answer
    }.response
  }

  private func json(_ app: App, _ count: AudienceCount, _ credential: Credential?, unknown: Int) -> JSONValue {
    let payload = APNsPayload(draft, uid: NewPush.sampleID)
    let headers = payload.headers(sentAt: call.now).map { ($0.name, JSONValue.string($0.value)) }
    return [
      "dry_run": true, "reachable": .integer(Int64(count.reachable + unknown)),
      "unreachable": .integer(Int64(count.unreachable)), "payload_bytes": .integer(Int64(payload.body.count)),
      "payload": payload.json, "headers": .object(Dictionary(headers) { $1 }),
      "findings": .array(
        Lint.findings(in: draft, Lint.Context(app, credential: credential, now: call.now)).map(\.json)),
    ]
  }
}

extension Lint.Finding {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "code": .string(problem.code), "severity": .string(severity.rawValue), "message": .string(problem.text),
    ]
    if !problem.field.isEmpty { members["field"] = .string(problem.field) }
    return .object(members)
  }
}
