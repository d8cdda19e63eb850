package import Foundation
import JSON
import Model
package import SQLite

extension Device {
  /// Makes one device of two that are the same installation.
  ///
  /// The one that stays keeps its token. Of the other it gets the tags, the timeline, and what it lacks of alias,
  /// registration ID, name and details; the other is removed. Its deliveries stay in the pushes' history.
  ///
  /// - Throws: `StoreError.notFound`; `Problem` if they differ in app, environment, platform or service, or exceed a limit.
  @discardableResult
  package static func merge(
    _ database: Database, _ other: Int64, into id: Int64, by actor: String, now: Date
  ) throws -> Device {
    let (kept, gone) = (try get(database, id: id), try get(database, id: other))
    guard kept.isLike(gone) else { throw Problem("device", DeviceMergeMessage.different) }
    try DeviceWriter.run(database, now: now, actor: actor) { writer in
      guard let before = try writer.find(id), let removed = try writer.find(other) else { return }
      let tags = Set(kept.tags).union(gone.tags).sorted()
      let limits = DeviceLimits()
      if let problem = try writer.problem(limits, app: before.app, alias: .keep, before: [before], tags: tags.count) {
        throw problem
      }
      try writer.moveTimeline(from: other, to: id)
      try database.run(
        "INSERT OR IGNORE INTO own_devices(user_id, device_id) SELECT user_id, ? FROM own_devices WHERE device_id = ?",
        id, other)
      try writer.noteReplaced(gone.token, by: id, app: before.app, former: other)
      // First, because a registration ID belongs to one device of an app.
      try writer.remove(removed)
      try database.run("UPDATE devices SET created_at = min(created_at, ?) WHERE id = ?", gone.createdAt, id)
      var target = DeviceWriter.Target(kind: before.kind, tags: .set(tags))
      if kept.alias == nil { target.alias = .set(gone.alias) }
      if kept.name == nil { target.name = .set(gone.name) }
      target.details = DeviceDetails.Changes(gone.details.missing(in: kept.details))
      // JPush's own is the token.
      if kept.registrationID == nil, kept.provider != .jpush { target.registrationID = .set(gone.registrationID) }
      try writer.change(before, to: target)
      var detail: [String: JSONValue] = ["from": .string(gone.token.abbreviated), "device": .integer(other)]
      if let dropped = gone.alias, let alias = kept.alias, alias != dropped { detail["alias"] = .string(dropped) }
      try writer.note(id, .merged, detail)
    }
    return try get(database, id: id)
  }

  /// Whether both may be the same installation.
  package func isLike(_ other: Device) -> Bool {
    id != other.id && appID == other.appID && environment == other.environment && platform == other.platform
      && provider == other.provider
  }
}

extension DeviceWriter {
  /// Puts the events of one device among those of another one, by time; the last ``DeviceEvent/limit`` of both.
  fileprivate func moveTimeline(from other: Int64, to device: Int64) throws {
    let events = try database.fetchAll(
      """
      SELECT at, kind, detail, incident_id FROM device_events WHERE device_id IN (?1, ?2)
      ORDER BY at, device_id = ?2, number
      """, other, device
    ) { ($0.int64(0), $0.text(1), $0.optionalText(2), $0.optionalInt64(3)) }
    try database.run("DELETE FROM device_events WHERE device_id IN (?, ?)", other, device)
    for (index, (at, kind, detail, incident)) in events.suffix(DeviceEvent.limit).enumerated() {
      try database.run(
        "INSERT INTO device_events(device_id, number, at, kind, detail, incident_id) VALUES (?, ?, ?, ?, ?, ?)", device,
        index + 1, at, kind, detail, incident)
    }
  }
}

package enum DeviceMergeMessage: String, MessageSet {
  case different = "device.merge_different"

  package var english: String { "Only two devices of one app, environment, platform, and push service can be merged." }
}
