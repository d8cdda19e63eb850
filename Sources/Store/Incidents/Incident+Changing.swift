package import Foundation
import JSON
package import Model
package import SQLite

extension Incident {
  /// Changes the state by a person's act.
  ///
  /// - Parameters:
  ///   - actor: a user's name, or as the activity log names it.
  ///   - remark: why it is closed; nil: unchanged.
  /// - Returns: the incident, and the action for the activity log; nil if nothing changes.
  package static func act(
    _ database: Database, id: Int64, _ event: IncidentEvent, by actor: String, remark: String? = nil, now: Date
  ) throws -> (incident: Incident, action: String?) {
    let before = try get(database, id: id)
    guard let (state, action) = before.state(at: now).after(event) else { return (before, nil) }
    try move(database, before, to: state, event, by: actor, remark: remark, now: now)
    return (try get(database, id: id), action)
  }

  /// Gives it to a person, or to nobody.
  package static func assign(_ database: Database, id: Int64, to name: String?) throws -> Incident {
    try database.run("UPDATE incidents SET assignee = ? WHERE id = ?", name, id)
    return try get(database, id: id)
  }

  private static func move(
    _ database: Database, _ before: Incident, to state: IncidentState, _ event: IncidentEvent, by actor: String,
    remark: String? = nil, now: Date
  ) throws {
    var until: Date?
    if case .snooze(let date) = event { until = date }
    let isOpening = before.stored == .closed && state == .open
    try database.run(
      """
      UPDATE incidents SET state = ?2, snoozed_until = ?3, closed_at = iif(?2 = 'closed', ?4, NULL),
        closed_by = iif(?2 = 'closed', ?5, NULL), remark = iif(?2 = 'closed', ?6, iif(?7, NULL, remark)),
        opened_at = iif(?7, ?4, opened_at), turn = iif(?7, \(nextTurn), turn)
      WHERE id = ?1
      """, before.id, state.rawValue, until, now, actor, remark, isOpening)
    if isOpening { try announce(database, before.id, now: now) }
    if state == .closed, before.stored != .closed {
      try Webhook.tell(database, ofIncident: before.id, .incidentClosed, now: now)
      try ReminderMessage.add(database, ofEnd: before, now: now)
    }
  }

  /// Tells webhooks and receivers that it has opened.
  private static func announce(_ database: Database, _ id: Int64, now: Date) throws {
    try Webhook.tell(database, ofIncident: id, .incidentOpened, now: now)
    try ReminderMessage.add(database, of: try get(database, id: id), now: now)
  }

  private static let nextTurn = "(SELECT coalesce(max(turn), 0) + 1 FROM incidents)"

  // MARK: By itself

  /// A cause that was seen: opens the incident, or opens it again.
  ///
  /// - Parameters:
  ///   - devices: missed now; `most`: at least this many in all.
  /// - Returns: its row ID.
  @discardableResult
  static func see(
    _ database: Database, _ place: IncidentPlace, _ cause: IncidentCause, certificate: Int64 = 0, devices: Int = 0,
    most: Int = 0, at: Date, now: Date
  ) throws -> Int64 {
    guard let before = try find(database, place, cause, certificate: certificate) else {
      try database.run(
        """
        INSERT INTO incidents(app_id, environment, provider, kind, reason, certificate_id, state, turn, devices,
          pushes, first_at, last_at, opened_at)
        VALUES (?, ?, ?, ?, ?, ?, 'open', \(nextTurn), ?, 0, ?, ?, ?)
        """, place.app, place.environment.rawValue, place.provider.rawValue, cause.kind.rawValue, cause.reason,
        certificate, max(devices, most), at, at, now)
      let id = database.lastInsertedID
      try log(database, id, "incident.open", cause, now: now)
      try announce(database, id, now: now)
      return id
    }
    try database.run(
      "UPDATE incidents SET devices = max(devices + ?, ?), last_at = max(last_at, ?) WHERE id = ?", devices, most, at,
      before.id)
    if let (state, action) = before.stored.after(.seen) {
      try move(database, before, to: state, .seen, by: healer, now: now)
      try log(database, before.id, action, cause, now: now)
    }
    return before.id
  }

  static func find(
    _ database: Database, _ place: IncidentPlace, _ cause: IncidentCause, certificate: Int64 = 0
  ) throws -> Incident? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM incidents i WHERE i.app_id = ? AND i.environment = ? AND i.provider = ? AND i.kind = ?
        AND i.reason = ? AND i.certificate_id = ?
      """, place.app, place.environment.rawValue, place.provider.rawValue, cause.kind.rawValue, cause.reason,
      certificate
    ) { try Incident($0) }
  }

  /// Incidents of a place that are not closed.
  static func going(_ database: Database, _ place: IncidentPlace) throws -> [Incident] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM incidents i INDEXED BY incidents_going
      WHERE i.app_id = ? AND i.environment = ? AND i.provider = ? AND i.state <> 'closed'
      """, place.app, place.environment.rawValue, place.provider.rawValue
    ) { try Incident($0) }
  }

  /// Closes an incident whose cause is gone.
  static func heal(_ database: Database, _ incident: Incident, now: Date) throws {
    guard let (state, action) = incident.stored.after(.healed) else { return }
    try move(database, incident, to: state, .healed, by: healer, now: now)
    try log(database, incident.id, action, incident.cause, now: now)
  }

  /// Opens the incident of parked devices again that closed by itself, because devices are parked once more.
  static func reopenHealed(_ database: Database, _ place: IncidentPlace, reason: String, now: Date) throws {
    let cause = IncidentCause(.parked, reason)
    guard let closed = try find(database, place, cause), closed.hasHealed else { return }
    try see(database, place, cause, at: now, now: now)
  }

  private static func log(
    _ database: Database, _ id: Int64, _ action: String, _ cause: IncidentCause, now: Date
  ) throws {
    try AuditEntry.add(database, by: healer, action, "incident \(id)", ["reason": .string(cause.reason)], now: now)
  }
}
