package import Foundation
import JSON
import Model
package import SQLite

/// Devices whose token a push found to be of the other environment: development builds have tokens of one, TestFlight
/// and App Store builds of the other.
///
/// They can be moved together to the other environment, where they are active again, and back, where they are parked as
/// before. Both sets derive from the push's deliveries and the devices' timelines; no list is stored.
package struct MovedTokens: Sendable, Hashable {
  /// Parked devices in the push's environment, which may be moved. At most ``limit``, lowest IDs first.
  package var parked: [Int64] = []
  /// How many of ``parked`` were once in the other environment, by registration or by a person: evidence that they
  /// belong there.
  package var proven = 0
  /// Devices moved because of this push and still there, which may be moved back. At most ``limit``.
  package var moved: [Int64] = []

  package init() {}

  /// The most devices per move; the next move finds the next.
  package static let limit = 10_000

  /// The provider's reason for a token that may belong to the other environment.
  package static let reason = "BadDeviceToken"

  /// Finds the devices of a push, checking at most ``limit`` refusals.
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

  /// Finds the devices of an incident's place that are parked for ``reason``, whichever push parked them.
  package static func find(_ database: Database, in place: IncidentPlace) throws -> MovedTokens {
    var found = MovedTokens()
    let platforms = Platform.allCases.filter { $0.providers.contains(place.provider) }.map(\.code)
    let other: Environment = place.environment == .production ? .development : .production
    try database.forEach(
      """
      SELECT d.id, EXISTS (SELECT 1 FROM device_events e WHERE e.device_id = d.id AND e.kind = 'environment_changed'
        AND json_extract(e.detail, '$.from') = ?1)
      FROM devices d INDEXED BY devices_kind
      WHERE d.app_id = ?2 AND d.environment = ?3 AND d.platform IN (\(platforms.map(String.init).joined(separator: ",")))
        AND d.state = \(DeviceState.quarantined.rawValue) AND d.state_reason = ?4
        AND coalesce(d.provider, d.platform) = ?5
      LIMIT \(limit)
      """, other.rawValue, place.app, place.environment.code, reason, place.provider.code
    ) { row in
      found.parked.append(row.int64(0))
      if row.int(1) == 1 { found.proven += 1 }
      return .continue
    }
    return found
  }

  /// Moves the parked devices to the other environment and activates them.
  ///
  /// - Returns: how many.
  package static func move(_ database: Database, push: Push, by actor: String, now: Date) throws -> Int {
    try move(
      database, try find(database, push: push).parked, from: push.environment, push: push.uid, by: actor, now: now)
  }

  /// Likewise for an incident's place.
  package static func move(
    _ database: Database, in place: IncidentPlace, by actor: String, now: Date
  ) throws -> Int {
    try move(
      database, try find(database, in: place).parked, from: place.environment, push: nil, by: actor, now: now)
  }

  private static func move(
    _ database: Database, _ ids: [Int64], from environment: Environment, push: String?, by actor: String, now: Date
  ) throws -> Int {
    try DeviceWriter.run(database, now: now, actor: actor) { writer in
      for id in ids {
        guard let before = try writer.find(id) else { continue }
        var kind = before.kind
        kind.state = DeviceState.active.rawValue
        kind.environment = (environment == .production ? Environment.development : .production).code
        try writer.change(before, to: DeviceWriter.Target(kind: kind, push: push))
      }
    }
    return ids.count
  }

  /// Reverts ``move(_:push:by:now:)``, and parks the devices again.
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
