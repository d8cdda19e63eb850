import Calendar
package import Foundation
package import JSON
package import Model
package import SQLite

/// What a person changes of an incident.
package struct IncidentChange: Sendable, Hashable {
  package var event: IncidentEvent?
  /// Why it is closed.
  package var remark: String?
  /// A user's name; `.some(nil)`: nobody; nil: unchanged.
  package var assignee: String??

  /// In characters.
  package static let remarkLimit = 500
  /// A snooze is at most this long, in days.
  package static let longestSnooze = 366

  package init(event: IncidentEvent? = nil, remark: String? = nil, assignee: String?? = nil) {
    (self.event, self.remark, self.assignee) = (event, remark, assignee)
  }

  /// Carries it out, with an entry of the activity log for each change.
  ///
  /// - Parameter entry: who, and from where; its action and subject are filled in.
  /// - Throws: `Problems` for a missing remark, a time, or a person that is not known; `StoreError.notFound`.
  @discardableResult
  package func carryOut(
    _ database: Database, id: Int64, by entry: NewAuditEntry, now: Date
  ) throws -> Incident {
    var incident = try Incident.get(database, id: id)
    try check(database, incident, now: now)
    func log(_ action: String, _ detail: JSONValue?) throws {
      var entry = entry
      (entry.action, entry.subject, entry.detail) = (action, incident.subject, detail)
      try AuditEntry.add(database, entry, now: now)
    }
    if let assignee, assignee != incident.assignee {
      let before = incident.assignee
      incident = try Incident.assign(database, id: id, to: assignee)
      try log(
        "incident.assign",
        [
          "before": ["assignee": before.map { .string($0) } ?? .null],
          "after": ["assignee": assignee.map { .string($0) } ?? .null],
        ])
    }
    if let event {
      let (changed, action) = try Incident.act(database, id: id, event, by: entry.actor, remark: remark, now: now)
      incident = changed
      if let action { try log(action, detail(event)) }
    }
    return incident
  }

  private func detail(_ event: IncidentEvent) -> JSONValue? {
    switch event {
    case .snooze(let until): ["until": .string(Timestamp.text(until))]
    case .close: remark.map { ["remark": .string($0)] }
    default: nil
    }
  }

  private func check(_ database: Database, _ incident: Incident, now: Date) throws {
    var problems: [Problem] = []
    switch event {
    case .close where incident.stored != .closed && (remark ?? "").isEmpty:
      problems.append(Problem("remark", IncidentMessage.remark))
    case .snooze where incident.stored == .closed:
      problems.append(Problem("state", IncidentMessage.closed))
    case .snooze(let until)
    where until <= now || until > now.addingTimeInterval(Double(Self.longestSnooze) * 86_400):
      problems.append(Problem("snoozed_until", IncidentMessage.until, ["days": "\(Self.longestSnooze)"]))
    default: break
    }
    if case .some(.some(let name)) = assignee {
      let user = try User.find(database, name: name)
      if user == nil || user?.disabledAt != nil {
        problems.append(Problem("assignee", IncidentMessage.nobody, ["name": name]))
      }
    }
    if !problems.isEmpty { throw Problems(problems) }
  }
}

/// An incident as the API writes it.
package struct IncidentAnswer: Sendable {
  package let incident: Incident
  /// Bundle ID.
  package let app: String
  let now: Date
  /// Of one incident: its newest pushes; nil in lists.
  let pushes: [IncidentPush]?

  /// Pushes in an answer of one incident.
  private static let pushLimit = 50

  /// One incident.
  package init(_ database: Database, id: Int64, now: Date) throws {
    incident = try Incident.get(database, id: id)
    app = try App.get(database, id: incident.place.app).bundleID
    self.now = now
    pushes = try Incident.pushes(database, id: id, limit: Self.pushLimit)
  }

  private init(_ incident: Incident, app: String, now: Date) {
    (self.incident, self.app, self.now, pushes) = (incident, app, now, nil)
  }

  package static func list(
    _ database: Database, _ filter: IncidentFilter, cursor: String? = nil, limit: Int
  ) throws -> Page<IncidentAnswer> {
    let apps = try App.bundleIDs(database)
    return try Incident.list(database, filter, cursor: cursor, limit: limit).map {
      IncidentAnswer($0, app: apps[$0.place.app] ?? "", now: filter.now)
    }
  }
}

extension IncidentAnswer: JSONObject {
  package func writeMembers(to json: inout JSONWriter) {
    let reason = Reason.of(incident.cause.reason)
    json.member("id", incident.id)
    json.member("state", incident.state(at: now).rawValue)
    json.member("app", app)
    json.member("environment", incident.place.environment.rawValue)
    json.member("provider", incident.place.provider.rawValue)
    json.member("kind", incident.cause.kind.rawValue)
    json.member("reason", incident.cause.reason)
    json.member("cause", reason.cause)
    json.member("actor", reason.actor.rawValue)
    json.member("remedy", reason.remedy)
    json.member("certificate", incident.certificateID)
    json.member("devices", incident.devices)
    json.member("pushes", incident.pushes)
    json.member("first_seen_at", incident.firstAt)
    json.member("last_seen_at", incident.lastAt)
    json.member("opened_at", incident.openedAt)
    json.member("assignee", incident.assignee)
    json.member("snoozed_until", incident.state(at: now) == .snoozed ? incident.snoozedUntil : nil)
    json.member("closed_at", incident.closedAt)
    json.member("closed_by", incident.closedBy)
    json.member("remark", incident.remark)
    if let pushes {
      json.objects("recent_pushes", pushes) { json, one in
        json.member("push", one.push.uid)
        json.member("devices", one.devices)
        json.member("last_seen_at", one.lastAt)
      }
    }
  }
}
