package import Foundation
import JSON
import Model
package import SQLite

/// Devices whose token a push found not to be of its environment: development builds get tokens of the one, TestFlight
/// and App Store builds of the other.
///
/// They can be moved to the other environment together, where they are active again, and back, where they are parked
/// as before. Both are found by the push's own deliveries and the devices' histories; no list of them is kept.
package struct MovedTokens: Sendable, Hashable {
  /// Parked, in the push's environment: may be moved. At most ``limit``, the first by number.
  package var parked: [Int64] = []
  /// How many of ``parked`` were of the other environment once, by their own registration or by a person: there is
  /// evidence that they belong there.
  package var proven = 0
  /// Moved because of this push, and still there: may be moved back. At most ``limit``.
  package var moved: [Int64] = []

  /// So many are looked at, and moved at once; the next step finds the next.
  package static let limit = 10_000

  /// The provider's word for a token that may belong to the other environment.
  package static let reason = "BadDeviceToken"

  /// What can be moved because of a push. Walks along what the push was refused, ``limit`` at most.
  package static func find(_ database: Database, push: Push) throws -> MovedTokens {
    var found = MovedTokens()
    guard let reason = try Reasons.find(database, reason) else { return found }
    let other: Environment = push.environment == .production ? .development : .production
    try database.forEach(
      """
      SELECT d.id, d.environment = ?1,
        EXISTS (SELECT 1 FROM device_events e WHERE e.device_id = d.id AND e.kind = 'environment_changed'
          AND json_extract(e.detail, '$.from') = ?2),
        (SELECT json_extract(e.detail, '$.push') FROM device_events e WHERE e.device_id = d.id
          AND e.kind = 'environment_changed' ORDER BY e.number DESC LIMIT 1) IS ?3
      FROM (
        SELECT device_id FROM deliveries INDEXED BY deliveries_trouble
        WHERE push_id = ?4 AND outcome = \(OutcomeKind.failed.rawValue) AND outcome <> 1 AND reason_id = ?5
        ORDER BY device_id
      ) x CROSS JOIN devices d ON d.id = x.device_id
      WHERE d.app_id = ?6 AND ((d.environment = ?1 AND d.state = ?7) OR (d.environment <> ?1 AND d.state = ?8))
      LIMIT \(limit)
      """, push.environment.code, other.rawValue, push.uid, push.id, reason, push.appID,
      DeviceState.quarantined.rawValue, DeviceState.active.rawValue
    ) { row in
      if row.int(1) == 1 {
        found.parked.append(row.int64(0))
        if row.int(2) == 1 { found.proven += 1 }
      } else if row.int(3) == 1 {
        found.moved.append(row.int64(0))
      }
      return .continue
    }
    return found
  }

  /// Moves the parked ones to the other environment, where they are active.
  ///
  /// - Returns: how many.
  package static func move(_ database: Database, push: Push, by actor: String, now: Date) throws -> Int {
    let ids = try find(database, push: push).parked
    try DeviceWriter.run(database, now: now, actor: actor) { writer in
      for id in ids {
        guard let before = try writer.find(id) else { continue }
        var kind = before.kind
        kind.state = DeviceState.active.rawValue
        kind.environment = (push.environment == .production ? Environment.development : .production).code
        try writer.change(before, to: DeviceWriter.Target(kind: kind, push: push.uid))
      }
    }
    return ids.count
  }

  /// Moves those that ``move(_:push:by:now:)`` moved back, and parks them again.
  ///
  /// - Returns: how many.
  package static func moveBack(_ database: Database, push: Push, by actor: String, now: Date) throws -> Int {
    let ids = try find(database, push: push).moved
    try DeviceWriter.run(database, now: now, actor: actor) { writer in
      for id in ids {
        guard let before = try writer.find(id) else { continue }
        var kind = before.kind
        kind.state = DeviceState.quarantined.rawValue
        kind.environment = push.environment.code
        try writer.change(before, to: DeviceWriter.Target(kind: kind, push: push.uid))
        try database.run("UPDATE devices SET state_reason = ?, state_at = ? WHERE id = ?", reason, now, id)
        try writer.note(id, .quarantined, ["reason": .string(reason), "push": .string(push.uid)])
      }
    }
    return ids.count
  }
}
