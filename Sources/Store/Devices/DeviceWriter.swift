internal import Foundation
import JSON
internal import Model
internal import SQLite

/// All changes of devices: keeps their counters, their tags' counters and their timeline consistent.
final class DeviceWriter {
  let database: Database
  let now: Date
  /// For the timeline; nil: the app itself.
  let actor: String?
  let leaving: LeavingProduction
  var counters = DeviceCounters()
  /// For webhooks.
  var news: [DeviceNews] = []
  private let tagOf: Statement
  private var tagIDs: [TagKey: Int64] = [:]
  private let tie: Statement

  private struct TagKey: Hashable {
    let app: Int64
    let name: String
  }

  /// The state of a device before a change.
  struct Before {
    let id: Int64
    let app: Int64
    let kind: DeviceCounters.Kind
    let reason: String?
    let alias: String?
    let registrationID: String?
    let name: String?
    let registeredAt: Date
  }

  private init(_ database: Database, now: Date, actor: String?, leaving: LeavingProduction) throws {
    (self.database, self.now, self.actor, self.leaving) = (database, now, actor, leaving)
    tagOf = try database.prepare("SELECT id FROM tags WHERE name = ? AND app_id = ?")
    tie = try database.prepare("INSERT OR IGNORE INTO device_tags(tag_id, device_id) VALUES (?, ?)")
  }

  /// Runs `body`, then writes the counters, and looks at the incidents of parked and unregistered devices. On an error
  /// everything is rolled back, so that they stay consistent.
  static func run<Result>(
    _ database: Database, now: Date, actor: String? = nil, leaving: LeavingProduction = .allowed,
    _ body: (DeviceWriter) throws -> Result
  ) throws -> Result {
    try database.transaction {
      let writer = try DeviceWriter(database, now: now, actor: actor, leaving: leaving)
      let result = try body(writer)
      let unreachable = try writer.counters.unreachable
      try writer.counters.flush(database)
      for place in unreachable { try Incident.weigh(database, place, now: now) }
      if !writer.news.isEmpty { try Webhook.tell(database, of: writer.news, now: now) }
      return result
    }
  }

  static let before =
    """
    id, app_id, environment, platform, coalesce(provider, platform), state, state_reason, alias, registration_id, name,
    registered_at
    """

  func find(_ id: Int64) throws -> Before? {
    try database.fetchOne("SELECT \(Self.before) FROM devices WHERE id = ?", id) { Self.before($0) }
  }

  static func before(_ row: borrowing Row) -> Before {
    Before(
      id: row.int64(0), app: row.int64(1),
      kind: DeviceCounters.Kind(
        environment: row.int(2), platform: row.int(3), provider: row.int(4), state: row.int(5)),
      reason: row.optionalText(6), alias: row.optionalText(7), registrationID: row.optionalText(8),
      name: row.optionalText(9), registeredAt: row.date(10))
  }

  /// Adds a timeline event. Beyond ``DeviceEvent/limit``, the oldest goes.
  func note(_ device: Int64, _ kind: DeviceEvent.Kind, _ detail: [String: JSONValue]) throws {
    var detail = detail
    if let actor { detail["by"] = .string(actor) }
    let last = try database.int("SELECT coalesce(max(number), 0) FROM device_events WHERE device_id = ?", device)
    try database.run(
      "INSERT INTO device_events(device_id, number, at, kind, detail) VALUES (?, ?, ?, ?, ?)", device, last + 1, now,
      kind.rawValue, detail.isEmpty ? nil : JSONValue.object(detail).text())
    guard last >= DeviceEvent.limit else { return }
    try database.run(
      "DELETE FROM device_events WHERE device_id = ? AND number <= ?", device, last + 1 - DeviceEvent.limit)
  }

  /// A tag's ID; creates the tag if it is new.
  func tagID(_ name: String, app: Int64) throws -> Int64 {
    let key = TagKey(app: app, name: name)
    if let id = tagIDs[key] { return id }
    try tagOf.bind(1, name)
    try tagOf.bind(2, app)
    let id: Int64
    if try tagOf.step() {
      id = tagOf.row.int64(0)
      tagOf.reset()
    } else {
      try database.run("INSERT INTO tags(app_id, name) VALUES (?, ?)", app, name)
      id = database.lastInsertedID
    }
    tagIDs[key] = id
    return id
  }

  /// Adds tags to a device; tags that it has are skipped.
  func addTags(_ names: some Sequence<String>, device: Int64, app: Int64, _ kind: DeviceCounters.Kind) throws {
    for name in names {
      let tag = try tagID(name, app: app)
      try tie.bind(1, tag)
      try tie.bind(2, device)
      try tie.run()
      if database.changes == 1 { counters.add(1, tag: tag, kind) }
    }
  }

  /// By name.
  func tags(of device: Int64) throws -> [String: Int64] {
    Dictionary(
      uniqueKeysWithValues: try database.fetchAll(
        "SELECT t.name, t.id FROM device_tags m JOIN tags t ON t.id = m.tag_id WHERE m.device_id = ?", device
      ) { ($0.text(0), $0.int64(1)) })
  }

  /// How many tags a device has after a change; 0 if they stay, which no limit refuses.
  func tagCount(_ device: Int64, after change: Change<[String]>) throws -> Int {
    if case .keep = change { return 0 }
    return change.applied(toTags: Set(try tags(of: device).keys)).count
  }

  /// Counts a device and its tags as another kind.
  func recount(_ before: Before, as kind: DeviceCounters.Kind) throws {
    guard kind != before.kind else { return }
    counters.add(-1, app: before.app, before.kind)
    counters.add(1, app: before.app, kind)
    for tag in try tags(of: before.id).values {
      counters.add(-1, tag: tag, before.kind)
      counters.add(1, tag: tag, kind)
    }
  }
}
