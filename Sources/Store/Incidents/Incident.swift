package import Foundation
package import Model
package import SQLite

/// Failures of one cause over pushes.
package struct Incident: Sendable, Hashable, Identifiable, StoredRecord {
  package let id: Int64
  package let place: IncidentPlace
  package let cause: IncidentCause
  /// What the app sent with; nil: nothing, or it is not part of the cause.
  package let certificateID: Int64?
  /// As stored: a snooze may be over, see ``state(at:)``.
  let stored: IncidentState
  package let snoozedUntil: Date?
  /// A user's name.
  package let assignee: String?
  /// Missed devices, each counted once for each push; of unregistered ones, the largest number of them.
  package let devices: Int
  package let pushes: Int
  package let firstAt: Date
  package let lastAt: Date
  /// The last opening.
  package let openedAt: Date
  package let closedAt: Date?
  /// A person, or ``healer``.
  package let closedBy: String?
  package let remark: String?
  /// Whether a push waits for its end, and none has missed a device.
  package let holdsUp: Bool
  /// Numbers the openings.
  let turn: Int64

  /// Closes incidents whose cause is gone.
  package static let healer = "signalbox"

  static let columns = """
    i.id, i.app_id, i.environment, i.provider, i.kind, i.reason, i.certificate_id, i.state, i.snoozed_until,
    i.assignee, i.devices, i.pushes, i.first_at, i.last_at, i.opened_at, i.closed_at, i.closed_by, i.remark, i.turn,
    CASE WHEN i.devices > 0 OR i.state = 'closed' THEN 0 ELSE EXISTS (
      SELECT 1 FROM incident_pushes ip JOIN pushes ipp ON ipp.id = ip.push_id
      WHERE ip.incident_id = i.id AND ipp.state IN ('queued', 'sending', 'paused')) END
    """

  init(_ row: borrowing Row) throws {
    id = row.int64(0)
    place = IncidentPlace(
      app: row.int64(1), environment: try row.value(2, as: Environment.self),
      provider: try row.value(3, as: ProviderKind.self))
    cause = IncidentCause(try row.value(4, as: IncidentKind.self), row.text(5))
    certificateID = row.int64(6) == 0 ? nil : row.int64(6)
    stored = try row.value(7, as: IncidentState.self)
    snoozedUntil = row.optionalDate(8)
    assignee = row.optionalText(9)
    (devices, pushes) = (row.int(10), row.int(11))
    (firstAt, lastAt, openedAt) = (row.date(12), row.date(13), row.date(14))
    closedAt = row.optionalDate(15)
    closedBy = row.optionalText(16)
    remark = row.optionalText(17)
    turn = row.int64(18)
    holdsUp = row.bool(19)
  }

  /// A snooze that is over is open.
  package func state(at now: Date) -> IncidentState {
    stored == .snoozed && (snoozedUntil ?? now) <= now ? .open : stored
  }

  /// Whether it ended by itself.
  package var hasHealed: Bool { stored == .closed && closedBy == Self.healer }

  /// In the activity log.
  package var subject: String { "incident \(id)" }
}

/// Where an incident is: one service of an app in one environment.
package struct IncidentPlace: Sendable, Hashable {
  package let app: Int64
  package let environment: Environment
  package let provider: ProviderKind

  package init(app: Int64, environment: Environment, provider: ProviderKind) {
    (self.app, self.environment, self.provider) = (app, environment, provider)
  }
}

package struct IncidentPush: Sendable, Hashable {
  package let push: Push
  /// 0: the push is held up.
  package let devices: Int
  package let lastAt: Date
}

/// Conditions of a list that all hold; nil: any.
package struct IncidentFilter: Sendable, Hashable {
  package var state: IncidentState?
  package var app: Int64?
  /// Decides which snoozes are over.
  package let now: Date

  package init(state: IncidentState? = nil, app: Int64? = nil, now: Date) {
    (self.state, self.app, self.now) = (state, app, now)
  }

  /// SQL over `incidents i`, with ?1 for ``now``.
  fileprivate var conditions: [(sql: String, value: (any SQLiteBindable)?)] {
    var all: [(String, (any SQLiteBindable)?)] = []
    switch state {
    case .open: all.append((Self.isOpen, nil))
    case .snoozed: all.append(("i.state = 'snoozed' AND i.snoozed_until > ?1", nil))
    case .closed: all.append(("i.state = 'closed'", nil))
    case nil: break
    }
    if let app { all.append(("i.app_id = ?", app)) }
    return all
  }

  fileprivate static let isOpen = "i.state <> 'closed' AND (i.state = 'open' OR i.snoozed_until <= ?1)"
}

extension Incident {
  /// A page, the last opened first.
  ///
  /// - Parameter cursor: `next` of the previous page; nil: the first page.
  /// - Throws: `StoreError.badCursor`.
  package static func list(
    _ database: Database, _ filter: IncidentFilter, cursor: String? = nil, limit: Int
  ) throws -> Page<Incident> {
    let conditions = filter.conditions
    let found = try database.fetchAll(
      """
      SELECT \(columns) FROM incidents i WHERE ?1 = ?1 AND i.turn < ?2\(conditions.map { " AND " + $0.sql }.joined())
      ORDER BY i.turn DESC LIMIT ?
      """,
      arguments: [filter.now, try position(cursor) ?? .max] + conditions.compactMap(\.value) + [limit + 1]
    ) { try Incident($0) }
    return Page(found, limit: limit, key: \.turn)
  }

  package struct Counts: Sendable, Hashable {
    package var open = 0
    package var snoozed = 0
    package var closed = 0
  }

  package static func counts(_ database: Database, app: Int64? = nil, now: Date) throws -> Counts {
    func count(_ state: IncidentState) throws -> Int {
      let conditions = IncidentFilter(state: state, app: app, now: now).conditions
      return try database.fetchOne(
        "SELECT count(*) FROM incidents i WHERE ?1 = ?1\(conditions.map { " AND " + $0.sql }.joined())",
        arguments: [now] + conditions.compactMap(\.value)
      ) { $0.int(0) } ?? 0
    }
    return Counts(open: try count(.open), snoozed: try count(.snoozed), closed: try count(.closed))
  }

  package static func find(_ database: Database, id: Int64) throws -> Incident? {
    try database.fetchOne("SELECT \(columns) FROM incidents i WHERE i.id = ?", id) { try Incident($0) }
  }

  package static let noun = "incident"

  /// The pushes of an incident that are still stored, the newest first.
  package static func pushes(_ database: Database, id: Int64, limit: Int) throws -> [IncidentPush] {
    try database.fetchAll(
      """
      SELECT x.push_id, x.devices, x.last_at FROM incident_pushes x WHERE x.incident_id = ? AND EXISTS
        (SELECT 1 FROM pushes p WHERE p.id = x.push_id)
      ORDER BY x.push_id DESC LIMIT ?
      """, id, limit
    ) { (push: $0.int64(0), devices: $0.int(1), lastAt: $0.date(2)) }
    .map { IncidentPush(push: try Push.get(database, id: $0.push), devices: $0.devices, lastAt: $0.lastAt) }
  }

  /// The pushes among these that belong to an incident.
  package static func covered(_ database: Database, pushes: [Int64]) throws -> Set<Int64> {
    try Set(
      pushes.filter { try database.int("SELECT EXISTS (SELECT 1 FROM incident_pushes WHERE push_id = ?)", $0) == 1 })
  }
}
