package import Foundation
import JSON
package import Model
package import SQLite

/// Devices whose token was found to be of the other environment: development builds have tokens of one, TestFlight and
/// App Store builds of the other.
///
/// They can be moved together to the other environment, where they are active again, and back, where they are parked as
/// before. Both sets derive from a push's deliveries and the devices' timelines; no list is stored.
package struct MovedTokens: Sendable, Hashable {
  /// Whose devices are moved: those that a push was refused for, or all that are parked where an incident is.
  package enum Origin: Sendable, Hashable {
    case push(Push)
    case incident(Incident)

    package var app: Int64 {
      switch self {
      case .push(let push): push.appID
      case .incident(let incident): incident.place.app
      }
    }

    /// Where the devices are, or were before they were moved.
    package var environment: Environment {
      switch self {
      case .push(let push): push.environment
      case .incident(let incident): incident.place.environment
      }
    }

    /// Only APNs has tokens of two environments.
    var place: IncidentPlace {
      switch self {
      case .push(let push): IncidentPlace(app: push.appID, environment: push.environment, provider: .apns)
      case .incident(let incident): incident.place
      }
    }

    var incidentID: Int64? {
      if case .incident(let incident) = self { incident.id } else { nil }
    }

    /// As the timelines of the devices name it.
    var detail: [String: JSONValue] {
      switch self {
      case .push(let push): ["push": .string(push.uid)]
      case .incident(let incident): ["incident": .integer(incident.id)]
      }
    }
  }

  /// Parked devices in the origin's environment, which may be moved. At most ``limit``, lowest IDs first.
  package var parked: [Int64] = []
  /// How many of ``parked`` were once in the other environment, by registration or by a person: evidence that they
  /// belong there.
  package var proven = 0
  /// Devices moved from there and still where they were moved to, which may be moved back. At most ``limit``.
  package var moved: [Int64] = []

  /// The most devices per move; the next move finds the next.
  package static let limit = 10_000

  /// SQL over `devices d`: whether the device left an environment by itself or by a person's hand, not with others from
  /// such a page, which proves nothing.
  ///
  /// - Parameter environment: the parameter with its name.
  static func hasLeft(_ environment: String) -> String {
    """
    EXISTS (SELECT 1 FROM device_events e WHERE e.device_id = d.id AND e.kind = 'environment_changed'
      AND json_extract(e.detail, '$.from') = \(environment) AND json_extract(e.detail, '$.push') IS NULL
      AND json_extract(e.detail, '$.incident') IS NULL)
    """
  }

  /// The provider's reason for a token that may belong to the other environment.
  package static let reason = APNsCode.badDeviceToken.rawValue

  package static func find(_ database: Database, _ origin: Origin) throws -> MovedTokens {
    switch origin {
    case .push(let push): try find(database, push: push)
    case .incident(let incident): try find(database, incident)
    }
  }

  /// Finds the devices of a push. Each set has a limit of its own, so that those that are moved leave the rest to be found.
  private static func find(_ database: Database, push: Push) throws -> MovedTokens {
    var found = MovedTokens()
    guard let reason = try Reasons.find(database, reason) else { return found }
    let refused = """
      FROM (
        SELECT device_id FROM deliveries INDEXED BY deliveries_trouble
        WHERE push_id = ?1 AND outcome = \(OutcomeKind.failed.rawValue) AND outcome <> 1 AND reason_id = ?2
        ORDER BY device_id
      ) x CROSS JOIN devices d ON d.id = x.device_id
      WHERE d.app_id = ?3 AND d.environment = ?4 AND d.state = ?5
      """
    try found.park(
      database, "SELECT d.id, \(hasLeft("?6")) \(refused) LIMIT \(limit)", push.id, reason, push.appID,
      push.environment.code, DeviceState.quarantined.rawValue, push.environment.other.rawValue)
    found.moved = try database.fetchAll(
      """
      SELECT d.id \(refused) AND (SELECT json_extract(e.detail, '$.push') FROM device_events e
        WHERE e.device_id = d.id AND e.kind = 'environment_changed' ORDER BY e.number DESC LIMIT 1) IS ?6
      LIMIT \(limit)
      """, push.id, reason, push.appID, push.environment.other.code, DeviceState.active.rawValue, push.uid
    ) { $0.int64(0) }
    return found
  }

  /// Finds the devices of an incident's place that are parked for ``reason``, whichever push parked them. Incidents of
  /// another cause have none.
  private static func find(_ database: Database, _ incident: Incident) throws -> MovedTokens {
    var found = MovedTokens()
    guard incident.cause == IncidentCause(.parked, reason) else { return found }
    let place = incident.place
    let platforms = place.provider.platforms.map(\.code)
    let other = place.environment.other
    try found.park(
      database,
      """
      SELECT d.id, \(hasLeft("?1")) FROM devices d INDEXED BY devices_kind
      WHERE d.app_id = ?2 AND d.environment = ?3 AND d.platform IN (\(platforms.map(String.init).joined(separator: ",")))
        AND d.state = \(DeviceState.quarantined.rawValue) AND d.state_reason = ?4
        AND coalesce(d.provider, d.platform) = ?5
      LIMIT \(limit)
      """, other.rawValue, place.app, place.environment.code, reason, place.provider.code)
    found.moved = try database.fetchAll(
      """
      SELECT DISTINCT d.id FROM device_events e INDEXED BY device_events_incident CROSS JOIN devices d ON d.id = e.device_id
      WHERE e.incident_id = ?1 AND d.app_id = ?2 AND d.environment = ?3 AND d.state = ?4
        AND e.number = (SELECT max(n.number) FROM device_events n WHERE n.device_id = d.id
          AND n.kind = 'environment_changed')
      ORDER BY d.id LIMIT \(limit)
      """, incident.id, place.app, other.code, DeviceState.active.rawValue
    ) { $0.int64(0) }
    return found
  }

  /// Adds the devices of a query for their IDs and whether they are ``proven``.
  private mutating func park(_ database: Database, _ sql: String, _ arguments: any SQLiteBindable...) throws {
    try database.forEach(sql, arguments: arguments) { row in
      parked.append(row.int64(0))
      if row.bool(1) { proven += 1 }
      return .continue
    }
  }

  /// Moves the parked devices to the other environment and activates them.
  ///
  /// - Returns: how many.
  /// - Throws: `Problem` at `environment` if they may not leave production.
  package static func move(
    _ database: Database, _ origin: Origin, leaving: LeavingProduction = .allowed, by actor: String, now: Date
  ) throws -> Int {
    let ids = try find(database, origin).parked
    try DeviceWriter.run(database, now: now, actor: actor, leaving: leaving) { writer in
      for id in ids { try writer.move(id, to: origin.environment.other, .active, origin) }
    }
    return ids.count
  }

  /// Reverts ``move(_:_:leaving:by:now:)``, and parks the devices again.
  ///
  /// - Returns: how many.
  /// - Throws: as ``move(_:_:leaving:by:now:)``.
  package static func moveBack(
    _ database: Database, _ origin: Origin, leaving: LeavingProduction = .allowed, by actor: String, now: Date
  ) throws -> Int {
    let ids = try find(database, origin).moved
    try DeviceWriter.run(database, now: now, actor: actor, leaving: leaving) { writer in
      for id in ids {
        guard try writer.move(id, to: origin.environment, .quarantined, origin) else { continue }
        try database.run("UPDATE devices SET state_reason = ?, state_at = ? WHERE id = ?", reason, now, id)
        try writer.note(id, .quarantined, origin.detail.merging(["reason": .string(reason)]) { $1 })
      }
    }
    // Also if they are too few to open it by their number: it closed only because of the move.
    if !ids.isEmpty { try Incident.reopenHealed(database, origin.place, reason: reason, now: now) }
    return ids.count
  }
}

extension DeviceWriter {
  /// - Returns: whether the device is there.
  @discardableResult
  fileprivate func move(
    _ id: Int64, to environment: Environment, _ state: DeviceState, _ origin: MovedTokens.Origin
  ) throws -> Bool {
    guard let before = try find(id) else { return false }
    var kind = before.kind
    (kind.environment, kind.state) = (environment.code, state.rawValue)
    try change(before, to: Target(kind: kind, origin: origin))
    return true
  }
}
