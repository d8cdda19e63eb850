import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

enum RetentionAPI {
  static func add(to routes: inout ConsoleRouter) {
    routes.call(.get, "/settings/retention", role: .viewer, scope: .read) { call in
      let policy = try await call.store.read { try RetentionPolicy.find($0) }
      return APIContext.answer(RetentionAnswer(policy: policy, due: try await RetentionPage.due(call, policy)))
    }
    routes.call(.put, "/settings/retention", role: .admin, scope: .admin, change)
  }

  private static func change(_ call: APIContext) async throws -> Response {
    let body = try await call.body()
    let fields = JSONFields(body)
    var changes: [(RetentionPolicy.Field, Int)] = []
    for field in RetentionPolicy.fields {
      if let days = fields.integer(field.name, in: 0...RetentionPolicy.limit) { changes.append((field, days)) }
    }
    let isDryRun = fields.bool("dry_run") ?? false
    try fields.finish()
    let chosen = changes
    let wanted = try await call.store.read { try changed($0, chosen) }
    let due = try await RetentionPage.due(call, wanted)
    guard !isDryRun else { return APIContext.answer(RetentionAnswer(policy: wanted, due: due)) }
    let (saved, isNew) = try await call.store.write { database in
      // Another admin may have changed other periods meanwhile.
      let policy = try changed(database, chosen)
      let stored = try RetentionPolicy.find(database)
      guard policy != stored else { return (policy, false) }
      try policy.save(database)
      try call.record(database, call.audit("retention.update", "retention").changing(stored.json, to: policy.json))
      return (policy, true)
    }
    if isNew { call.console.configuration.retentionChanged() }
    return APIContext.answer(RetentionAnswer(policy: saved, due: due))
  }

  /// The stored policy with some periods changed.
  ///
  /// - Throws: `Problems` if they do not fit together.
  private static func changed(
    _ database: Database, _ changes: [(RetentionPolicy.Field, Int)]
  ) throws -> RetentionPolicy {
    var policy = try RetentionPolicy.find(database)
    for (field, days) in changes { policy[keyPath: field.value] = days }
    if !policy.problems.isEmpty { throw Problems(policy.problems) }
    return policy
  }
}

extension RetentionPolicy {
  var revision: Revision { Revision(json.text()) }

  var json: JSONValue {
    .object(
      Dictionary(
        uniqueKeysWithValues: Self.fields.map { ($0.name, JSONValue.integer(Int64(self[keyPath: $0.value]))) }))
  }
}
