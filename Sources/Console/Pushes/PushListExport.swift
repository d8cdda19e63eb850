import Foundation
import JSON
import Model
import SQLite
import Store

/// Exports the push history with the filters of `/pushes`, newest first: a line for each push, with its totals.
struct PushListExport: JSONObject, Sendable {
  static let columns =
    [
      "id", "app", "environment", "audience", "title", "body", "state", "error", "result", "source", "created_by",
      "created_at",
      "send_at", "started_at", "finished_at", "push_type", "target",
    ] + OutcomeKind.allCases.map(\.name)

  let push: Push
  /// The app's bundle ID.
  let app: String

  static func list(_ database: Database, _ filter: PushFilter, cursor: String?, limit: Int) throws -> Page<Self> {
    let apps = try App.bundleIDs(database)
    return try Push.list(database, filter, cursor: cursor, limit: limit)
      .map { PushListExport(push: $0, app: apps[$0.appID] ?? "") }
  }

  func writeMembers(to json: inout JSONWriter) {
    json.member("id", push.uid)
    json.member("app", app)
    json.member("environment", push.environment.rawValue)
    json.key("audience")
    if let draft = RawJSON(object: push.draftJSON) { draft.writeMember("audience", to: &json) } else { json.null() }
    json.member("title", push.title)
    json.member("body", push.body)
    json.member("state", push.state.rawValue)
    json.member("error", push.error)
    json.member("result", push.result?.rawValue)
    json.member("source", push.source.rawValue)
    json.member("created_by", push.createdBy)
    json.member("created_at", push.createdAt)
    json.member("send_at", push.sendAt)
    json.member("started_at", push.startedAt)
    json.member("finished_at", push.finishedAt)
    json.member("push_type", push.pushType.rawValue)
    json.member("target", push.target)
    for kind in OutcomeKind.allCases {
      json.key(dynamic: kind.name)
      json.integer(Int64(push.counts[kind]))
    }
  }
}
