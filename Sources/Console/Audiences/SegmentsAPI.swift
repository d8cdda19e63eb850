import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Store

/// `/api/v1/apps/{app}/segments`.
enum SegmentsAPI {
  static func add(to routes: inout ConsoleRouter) {
    let list = "/apps/:app/segments"
    routes.list(list) { call in
      let (limit, cursor) = try APIQuery.page(call.request)
      return try await call.kept { database in
        let app = try call.app(database)
        return try Segment.list(database, app: app.id, cursor: cursor, limit: limit).map { SegmentAnswer($0, app: app) }
      }
    }
    routes.call(.post, list, role: .operator, scope: .devices, create)
    routes.call(.get, list + "/:segment", role: .viewer, scope: .read) { call in
      try await call.read { SegmentAnswer(try find($0, call), app: try call.app($0)) }
    }
    routes.call(.put, list + "/:segment", role: .operator, scope: .devices) { call in
      let input = try SegmentInput(json: try await call.body())
      return try await call.write { database in
        let segment = try find(database, call)
        let app = try call.app(database)
        let changed = try input.change(database, segment, app, by: call.principal.approver, now: call.now) {
          call.audit($0, $1, $2)
        }
        return SegmentAnswer(changed, app: app)
      }
    }
    routes.call(.delete, list + "/:segment", role: .operator, scope: .devices) { call in
      try await call.store.write { database in
        let segment = try find(database, call)
        try segment.delete(database)
        try call.record(database, "segment.delete", "segment \(segment.id)", segment.audited(try call.app(database)))
      }
      return APIContext.nothing
    }
    routes.list(list + "/:segment/devices", members)
  }

  private static func find(_ database: Database, _ call: APIContext) throws -> Segment {
    try Segment.get(database, id: try call.request.parameter("segment"), app: try call.app(database).id)
  }

  private static func create(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let idempotency = try Idempotency(call, content: Array(body.text().utf8))
    if let known = try await call.store.read({ try idempotency.known($0) }) { return known.response }
    let input = try SegmentInput(json: body)
    return try await idempotency.response(call.store) { database in
      let app = try call.app(database)
      let segment = try input.add(database, app, by: call.principal.approver, now: call.now) {
        call.audit($0, $1, $2)
      }
      let location = "/api/v1/apps/\(app.bundleID)/segments/\(segment.id)"
      return Idempotency.Answer(status: .created, json: SegmentAnswer(segment, app: app), location: location)
    }
  }

  private static func members(_ call: APIContext) async throws -> Response {
    let (limit, cursor) = try APIQuery.page(call.request)
    do {
      return try await call.read(limit: AudienceAPI.patience) { database in
        let app = try call.app(database)
        return try find(database, call).members(database, cursor: cursor, limit: limit, now: call.now)
          .map { DeviceAnswer($0, app: app.bundleID) }
      }
    } catch let error as SQLiteError where error.code == .interrupt {
      throw AudienceAPI.tookTooLong
    }
  }
}

/// The body of a segment.
struct SegmentInput: Sendable {
  let name: String
  let rule: SegmentRule

  /// - Throws: all problems with their paths.
  init(json: JSONValue) throws(Problems) {
    let fields = JSONFields(json)
    let name = fields.string(
      "name", required: true, limit: .characters(SegmentRule.nameLimit), check: Audience.problem(withSegment:))
    let before = fields.problems.count
    let rule = fields.object("rule", required: true, SegmentRule.read)
    if rule?.isEmpty == true, fields.problems.count == before {
      fields.report("rule", Problem("", SegmentMessage.empty))
    }
    try fields.finish()
    // finish() has thrown if one of them is missing.
    (self.name, self.rule) = (name ?? "", rule ?? SegmentRule())
  }

  /// Adds a segment, with an entry in the activity log. What was approved for another rule under its name waits for
  /// approval again.
  ///
  /// - Throws: `Problems` at `name` if it is taken.
  func add(
    _ database: Database, _ app: App, by actor: ApprovalRule.Actor, now: Date,
    audit: (_ action: String, _ subject: String, _ detail: JSONValue) -> NewAuditEntry
  ) throws -> Segment {
    let segment = try telling { try Segment.add(database, app: app.id, name: name, rule, by: actor.name, now: now) }
    let entry = audit("segment.create", "segment \(segment.id)", segment.audited(app))
    try AuditEntry.add(database, entry, now: now)
    try segment.askAgain(database, by: actor, from: entry.address, now: now)
    return segment
  }

  /// Changes a segment, likewise. What was approved for another rule waits for approval again.
  ///
  /// - Throws: `Problems` at `name` if it is taken, or what sends to the segment would lose it.
  func change(
    _ database: Database, _ segment: Segment, _ app: App, by actor: ApprovalRule.Actor, now: Date,
    audit: (_ action: String, _ subject: String, _ detail: JSONValue) -> NewAuditEntry
  ) throws -> Segment {
    // Somebody else may have changed it since it was read.
    let segment = try Segment.get(database, id: segment.id)
    let changed = try telling { try segment.change(database, name: name, rule, now: now) }
    let detail: JSONValue = ["before": segment.audited(app), "after": changed.audited(app)]
    let entry = audit("segment.update", "segment \(segment.id)", detail)
    try AuditEntry.add(database, entry, now: now)
    if changed.rule != segment.rule || changed.name != segment.name {
      try changed.askAgain(database, by: actor, from: entry.address, now: now)
    }
    return changed
  }

  private func telling(_ body: () throws -> Segment) throws -> Segment {
    do { return try body() } catch StoreError.taken {
      throw Problems([Problem("name", SegmentMessage.taken)])
    }
  }
}

extension SegmentInput {
  /// Of the segment once this is saved.
  var revision: Revision { Revision(name, rule.json.text()) }
}

extension Segment {
  var revision: Revision { Revision(name, rule.json.text()) }

  /// For the activity log.
  func audited(_ app: App) -> JSONValue {
    ["app": .string(app.bundleID), "name": .string(name), "rule": rule.json]
  }
}

/// The schema `Segment`.
struct SegmentAnswer: JSONObject {
  private let segment: Segment
  private let app: String

  init(_ segment: Segment, app: App) { (self.segment, self.app) = (segment, app.bundleID) }

  func writeMembers(to json: inout JSONWriter) {
    json.member("id", Int(segment.id))
    json.member("app", app)
    json.member("name", segment.name)
    json.member("rule", segment.rule.json)
    json.member("created_by", segment.createdBy)
    json.member("created_at", segment.createdAt)
    json.member("changed_at", segment.changedAt)
  }
}
