package import Foundation
internal import Model
package import SQLite

/// What the store knows of an incident's devices and credential, beside the reason that the provider gave.
package struct IncidentEvidence: Sendable, Hashable {
  /// Devices that are parked there now, and were looked at: at most ``sample``.
  package var parked = 0
  /// When the first and the last of them registered.
  package var registered: ClosedRange<Date>?
  /// An import that brought devices at that time.
  package var imported: AuditEntry?
  /// How many of them a provider accepted a push for, in this environment.
  package var accepted = 0
  /// How many of them were in the other environment once; nil: the reason does not speak of environments.
  package var proven: Int?
  /// The credential there; nil: there is none.
  package var credential: Credential?

  /// Devices that are looked at. They were usually parked by one push, so that others have the same story.
  package static let sample = 1000
  /// Registrations within this time can come from one import.
  package static let importTime: TimeInterval = 600

  package static func find(_ database: Database, _ incident: Incident) throws -> IncidentEvidence {
    var found = IncidentEvidence()
    let place = incident.place
    found.credential = try Credential.find(
      database, app: place.app, provider: place.provider, environment: place.environment)
    guard incident.cause.kind == .parked else { return found }
    try found.look(database, place, incident.cause.reason)
    if incident.cause.reason != MovedTokens.reason { found.proven = nil }
    found.imported = try found.registered.flatMap { try imported(database, $0) }
    return found
  }

  private mutating func look(_ database: Database, _ place: IncidentPlace, _ reason: String) throws {
    let platforms = place.provider.platforms.map { String($0.code) }
    let row = try database.fetchOne(
      """
      SELECT count(*), min(registered_at), max(registered_at),
        sum(EXISTS (SELECT 1 FROM deliveries x INDEXED BY deliveries_device JOIN pushes p ON p.id = x.push_id
          WHERE x.device_id = d.id AND x.outcome = \(OutcomeKind.accepted.rawValue) AND p.environment = ?1)),
        sum(\(MovedTokens.hasLeft("?2")))
      FROM (
        SELECT id, registered_at FROM devices INDEXED BY devices_kind
        WHERE app_id = ?3 AND environment = ?4 AND platform IN (\(platforms.joined(separator: ",")))
          AND state = \(DeviceState.quarantined.rawValue) AND state_reason = ?5 AND coalesce(provider, platform) = ?6
        LIMIT \(Self.sample)
      ) d
      """, place.environment.rawValue, place.environment.other.rawValue, place.app, place.environment.code, reason,
      place.provider.code
    ) { row in
      (
        count: row.int(0), dates: row.int(0) > 0 ? row.date(1)...row.date(2) : nil, accepted: row.int(3),
        proven: row.int(4)
      )
    }
    guard let row, row.count > 0 else { return }
    (parked, registered, accepted, proven) = (row.count, row.dates, row.accepted, row.proven)
  }

  /// The first import that ended after the registrations, if all of them can belong to it.
  private static func imported(_ database: Database, _ dates: ClosedRange<Date>) throws -> AuditEntry? {
    guard dates.upperBound.timeIntervalSince(dates.lowerBound) <= importTime else { return nil }
    let filter = AuditEntry.Filter(
      action: "device.import", from: dates.upperBound, before: dates.upperBound.addingTimeInterval(importTime))
    return try AuditEntry.list(database, filter, limit: 50).items.last
  }
}

extension Incident {
  /// When its pushes missed how many devices, oldest first; of the newest 10,000.
  package static func misses(_ database: Database, id: Int64) throws -> [(at: Date, devices: Int)] {
    try database.fetchAll(
      """
      SELECT last_at, devices FROM incident_pushes WHERE incident_id = ? AND devices > 0
      ORDER BY push_id DESC LIMIT 10000
      """, id
    ) { (at: $0.date(0), devices: $0.int(1)) }.sorted { $0.at < $1.at }
  }
}
