import Calendar
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store

/// Exports the push history with the filters of `/pushes`, newest first: a line for each push, with its totals.
struct PushListExport: Sendable {
  private static let columns =
    [
      "id", "app", "environment", "audience", "title", "body", "state", "error", "source", "created_by", "created_at",
      "send_at", "started_at", "finished_at", "push_type", "target",
    ] + OutcomeKind.allCases.map(\.name)

  private struct Item: Sendable {
    let push: Push
    /// The app's bundle ID.
    let app: String
  }

  private let pages: PagedExport<Item>

  init(_ store: Store, _ filter: PushFilter) {
    pages = PagedExport(store: store, name: "pushes") { database, cursor, limit in
      let apps = try App.bundleIDs(database)
      return try Push.list(database, filter, cursor: cursor, limit: limit)
        .map { Item(push: $0, app: apps[$0.appID] ?? "") }
    }
  }

  func csv() -> Response { pages.csv(columns: Self.columns, cells: Self.cells) }

  func json() -> Response { pages.json { json, item in Self.write(item, to: &json) } }

  private static func cells(_ item: Item) -> [String] {
    let push = item.push
    let times = [push.createdAt, push.sendAt, push.startedAt, push.finishedAt]
    return [
      push.uid, item.app, push.environment.rawValue, audience(push), push.title ?? "", push.body ?? "",
      push.state.rawValue, push.error ?? "", push.source.rawValue, push.createdBy,
    ] + times.map { $0.map { Timestamp.text($0) } ?? "" }
      + [push.pushType.rawValue, push.target.map(String.init) ?? ""]
      + OutcomeKind.allCases.map { String(push.counts[$0]) }
  }

  private static func write(_ item: Item, to json: inout JSONWriter) {
    let push = item.push
    json.object { json in
      json.member("id", push.uid)
      json.member("app", item.app)
      json.member("environment", push.environment.rawValue)
      json.key("audience")
      if let draft = RawJSON(object: push.draftJSON) { draft.writeMember("audience", to: &json) } else { json.null() }
      json.member("title", push.title)
      json.member("body", push.body)
      json.member("state", push.state.rawValue)
      json.member("error", push.error)
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

  /// As the API writes it, everyone as a plain word; empty if it cannot be read.
  private static func audience(_ push: Push) -> String {
    let written = RawJSON(object: push.draftJSON)?.member("audience").map { String($0) } ?? ""
    return written == "\"all\"" ? "all" : written
  }
}
