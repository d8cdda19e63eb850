import Calendar
import Certificates
import Delivery
import Foundation
import HTTPServer
import JSON
import Model
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

  func answer() async throws -> Response {
    if draft.options.dryRun { return try await preview() }
    return draft.recurrence == nil ? try await create() : try await schedule()
  }

  /// The app, once nothing speaks against the push.
  ///
  /// - Throws: 404 without an app, `Problems` for what the linter calls an error.
  private static func check(_ database: Database, _ draft: PushDraft, now: Date) throws -> App {
    guard let app = try App.find(database, bundleID: draft.app) else { throw APIError.noApp(draft.app) }
    try Lint.check(draft, try context(database, app, draft, now: now))
    return app
  }

  private static func context(_ database: Database, _ app: App, _ draft: PushDraft, now: Date) throws -> Lint.Context {
    let credential = try CredentialScope.find(database, app: app.id, environment: draft.environment)
    return Lint.Context(app, credential: credential, now: now)
  }

  // MARK: For real

  private func create() async throws -> Response {
    let (call, draft, idempotency) = (call, draft, idempotency)
    let (answer, id) = try await call.store.write { database in
      try idempotency.once(database) {
        let app = try Self.check(database, draft, now: call.now)
        let new = NewPush(draft, app: app, source: "api", by: call.actor).held(draft, now: call.now)
        let audit = call.audit("push.create", "push \(new.uid)", ["app": .string(app.bundleID)])
        try Device.registerUnknown(database, of: draft, app: app.id, by: call.actor, now: call.now)
        let push = try Push.create(database, new, audit: audit, now: call.now)
        let answer = Idempotency.Answer(
          status: .accepted, json: try PushesAPI.json(database, push), location: "/api/v1/pushes/\(push.uid)")
        return (answer, push.id)
      }
    }
    if let id { call.console.engine.enqueue(id) }
    return answer.response
  }

  /// What repeats is a schedule, that makes its pushes when their time comes.
  private func schedule() async throws -> Response {
    let (call, draft, idempotency) = (call, draft, idempotency)
    let answer = try await call.store.write { database in
      try idempotency.once(database) {
        let app = try Self.check(database, draft, now: call.now)
        let new = NewSchedule(draft, app: app, source: "api", by: call.actor)
        let audit = call.audit("schedule.create", "schedule \(new.uid)", ["app": .string(app.bundleID)])
        try Device.registerUnknown(database, of: draft, app: app.id, by: call.actor, now: call.now)
        let schedule = try Schedule.create(database, new, audit: audit, now: call.now)
        let json = try SchedulesAPI.json(database, schedule, call)
        return (
          Idempotency.Answer(status: .accepted, json: json, location: "/api/v1/schedules/\(schedule.uid)"), ()
        )
      }.answer
    }
    return answer.response
  }

  // MARK: Dry run

  private func preview() async throws -> Response {
    let (call, draft, idempotency) = (call, draft, idempotency)
    let (app, context) = try await call.store.read { database in
      let app = try Self.check(database, draft, now: call.now)
      return (app, try Self.context(database, app, draft, now: call.now))
    }
    let count = try await AudienceAPI.count(call) { _ in
      AudienceQuery(app: app.id, environment: draft.environment, platforms: draft.platforms, audience: draft.audience)
    }
    let unknown = try await call.store.read {
      try Device.unknownTokens($0, app: app.id, audience: draft.audience).count
    }
    let answer = Idempotency.Answer(status: .ok, json: json(context, count, unknown: unknown))
    guard idempotency.isAsked else { return answer.response }
    return try await call.store.write { database in
      try idempotency.once(database) { (answer, ()) }.answer
    }.response
  }

  private func json(_ context: Lint.Context, _ count: AudienceCount, unknown: Int) -> PushDryRun {
    PushDryRun(
      draft: draft, payload: APNsPayload(draft, uid: NewPush.sampleID), reachable: count.reachable + unknown,
      unreachable: count.unreachable, findings: Lint.findings(in: draft, context), now: call.now)
  }
}

/// The schema `DryRun`: what a push would do.
private struct PushDryRun: JSONWritable {
  let draft: PushDraft
  let payload: APNsPayload
  let reachable: Int
  let unreachable: Int
  let findings: [Lint.Finding]
  let now: Date

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("dry_run", true)
      json.member("reachable", reachable)
      json.member("unreachable", unreachable)
      json.member("payload_bytes", payload.body.count)
      json.member("payload", payload.json)
      json.object("headers") { json in
        for header in payload.headers(sentAt: now) {
          json.key(dynamic: header.name)
          json.string(header.value)
        }
      }
      json.array("findings", findings) { json, finding in
        json.object { json in
          json.member("code", finding.problem.code)
          json.member("severity", finding.severity.rawValue)
          json.member("message", finding.problem.text)
          if !finding.problem.field.isEmpty { json.member("field", finding.problem.field) }
        }
      }
      guard let rule = draft.recurrence else { return }
      json.member(
        "next",
        Recurrence(rule, from: draft.sendAt ?? now).occurrences(from: now, limit: Schedule.shownTimes))
    }
  }
}
