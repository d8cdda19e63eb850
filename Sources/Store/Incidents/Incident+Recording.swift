internal import Foundation
internal import Model
internal import SQLite

/// Attributes the outcomes of a batch to causes, in the same transaction as the outcomes, so that neither a kill nor
/// a repeated batch changes the counts; a batch costs a few statements for each cause and service, whatever its number
/// of devices.
struct IncidentBatch {
  let push: Int64
  let app: Int64
  let environment: Environment
  /// Devices that missed the push, by what kept them from it.
  private(set) var causes: [ProviderKind: [IncidentCause: Int]] = [:]
  /// When the last of them was known.
  private var seenAt = Date.distantPast
  /// When the last request that was accepted was made, and answered.
  private(set) var accepted: [ProviderKind: (asked: Date, at: Date)] = [:]

  init(push: Int64, app: Int64, environment: Environment) {
    (self.push, self.app, self.environment) = (push, app, environment)
  }

  mutating func add(_ outcome: OutcomeKind, reason: String?, _ provider: ProviderKind, at: Date) {
    guard let cause = IncidentCause(outcome, reason: reason) else { return }
    seenAt = max(seenAt, at)
    causes[provider, default: [:]][cause, default: 0] += 1
  }

  /// - Parameters:
  ///   - asked: the time of the request.
  ///   - at: the time of its answer.
  mutating func accept(_ provider: ProviderKind, asked: Date, at: Date) {
    let before = accepted[provider] ?? (asked, at)
    accepted[provider] = (max(before.asked, asked), max(before.at, at))
  }

  /// What holds devices up, without an outcome. Not counted if others got through.
  mutating func holdUp(_ provider: ProviderKind, _ reason: String, at: Date) {
    guard accepted[provider] == nil, let cause = IncidentCause.holdUp(reason) else { return }
    seenAt = max(seenAt, at)
    causes[provider, default: [:]][cause, default: 0] += 0
  }

  private func place(_ provider: ProviderKind) -> IncidentPlace {
    IncidentPlace(app: app, environment: environment, provider: provider)
  }

  /// Call before token verdicts are applied: records the causes that were observed, and those that ended.
  func write(_ database: Database, now: Date) throws {
    for (provider, causes) in causes {
      let place = place(provider)
      // The refusal itself comes before the devices that waited behind it.
      let ordered = causes.filter { $0.key.kind != .unregistered }.sorted { one, other in
        let refused = OwnReason.credentialRefused.rawValue
        return (one.key.reason == refused ? 1 : 0, one.key.reason)
          < (other.key.reason == refused ? 1 : 0, other.key.reason)
      }
      for (cause, count) in ordered {
        let certificate = cause.kind == .parked ? 0 : try Self.certificate(database, place)
        let cause = try Self.whole(database, place, cause, certificate)
        let id = try Incident.see(
          database, place, cause, certificate: certificate, devices: count, at: seenAt, now: now)
        try tie(database, id, count, now: now)
      }
    }
    for (provider, last) in accepted {
      try heal(database, place(provider), asked: last.asked, answered: last.at, now: now)
    }
  }

  /// After them: a broadcast always has some devices whose app was removed, which is an incident only by number, see
  /// ``Incident/weigh(_:_:now:)``.
  func writeUnregistered(_ database: Database, now: Date) throws {
    for (provider, causes) in causes {
      for (cause, count) in causes where cause.kind == .unregistered {
        guard let incident = try Incident.find(database, place(provider), cause), incident.stored != .closed else {
          continue
        }
        try Incident.see(database, place(provider), cause, at: now, now: now)
        try tie(database, incident.id, count, now: now)
      }
      // A device that was refused may have registered again since: then none is parked.
      if causes.keys.contains(where: { $0.kind == .parked }) {
        try Incident.weigh(database, place(provider), now: now)
      }
    }
  }

  private func tie(_ database: Database, _ incident: Int64, _ devices: Int, now: Date) throws {
    let isNew =
      try database.run(
        "INSERT OR IGNORE INTO incident_pushes(incident_id, push_id, devices, last_at) VALUES (?, ?, 0, ?)", incident,
        push, now) == 1
    if isNew { try database.run("UPDATE incidents SET pushes = pushes + 1 WHERE id = ?", incident) }
    try database.run(
      "UPDATE incident_pushes SET devices = devices + ?, last_at = ? WHERE incident_id = ? AND push_id = ?", devices,
      now, incident, push)
  }

  private static func certificate(_ database: Database, _ place: IncidentPlace) throws -> Int64 {
    try database.fetchOne(
      """
      SELECT coalesce(certificate_id, 0) FROM credentials WHERE app_id = ? AND environment = ? AND provider = ?
      """, place.app, place.environment.rawValue, place.provider.rawValue
    ) { $0.int64(0) } ?? 0
  }

  /// A refused credential is one incident: devices that waited behind the refusal belong to it, and another word for the
  /// refusal is no second one while the first is open.
  private static func whole(
    _ database: Database, _ place: IncidentPlace, _ cause: IncidentCause, _ certificate: Int64
  ) throws -> IncidentCause {
    let waited = OwnReason.credentialRefused.rawValue
    guard cause.kind == .credential, cause.reason == waited || isRefusal(cause.reason) else { return cause }
    let known = try database.fetchAll(
      """
      SELECT id, reason, state FROM incidents WHERE app_id = ? AND environment = ? AND provider = ? AND kind = ?
        AND certificate_id = ? ORDER BY last_at DESC
      """, place.app, place.environment.rawValue, place.provider.rawValue, IncidentKind.credential.rawValue,
      certificate
    ) { (id: $0.int64(0), reason: $0.text(1), isClosed: $0.text(2) == IncidentState.closed.rawValue) }
    if cause.reason == waited { return known.first.map { IncidentCause(.credential, $0.reason) } ?? cause }
    guard let open = known.first(where: { !$0.isClosed && ($0.reason == waited || isRefusal($0.reason)) }) else {
      return cause
    }
    // Devices were recorded as waiting first; now the reason is known.
    if open.reason == waited, !known.contains(where: { $0.reason == cause.reason }) {
      try database.run("UPDATE incidents SET reason = ? WHERE id = ?", cause.reason, open.id)
      return cause
    }
    return IncidentCause(.credential, open.reason)
  }

  /// Whether the provider refuses the credential itself, whatever is sent with it.
  private static func isRefusal(_ reason: String) -> Bool {
    switch Reason.of(reason).retry {
    case .afterCredential, .resignOnce: true
    default: false
    }
  }

  private func heal(
    _ database: Database, _ place: IncidentPlace, asked: Date, answered: Date, now: Date
  ) throws {
    for incident in try Incident.going(database, place) {
      let isOver: Bool
      switch incident.cause.kind {
      // Nobody missed anything, and devices waited for any answer: this is one, however long ago it was asked for.
      case .service where incident.devices == 0 && OwnReason(rawValue: incident.cause.reason) != nil:
        isOver = incident.lastAt < answered
      case .credential, .service: isOver = incident.lastAt < asked
      case .request: isOver = try isRepeated(database, incident)
      case .parked, .unregistered: isOver = false
      }
      if isOver { try Incident.heal(database, incident, now: now) }
    }
  }

  /// Whether this push is a retry of one of the incident's pushes, or a later run of the schedule of one.
  private func isRepeated(_ database: Database, _ incident: Incident) throws -> Bool {
    try database.int(
      """
      SELECT EXISTS (
        SELECT 1 FROM pushes mine, incident_pushes x JOIN pushes p ON p.id = x.push_id
        WHERE mine.id = ?1 AND x.incident_id = ?2 AND p.id < mine.id
          AND (mine.parent_id = p.id OR mine.schedule_id = p.schedule_id))
        AND NOT EXISTS (SELECT 1 FROM incident_pushes WHERE incident_id = ?2 AND push_id = ?1)
      """, push, incident.id) == 1
  }
}

extension Incident {
  /// Looks at the parked and the unregistered devices of a place; whenever their number has changed.
  static func weigh(_ database: Database, _ place: IncidentPlace, now: Date) throws {
    let counts = Dictionary(
      uniqueKeysWithValues: try database.fetchAll(
        """
        SELECT state, sum(count) FROM device_counters WHERE app_id = ? AND environment = ? AND provider = ?
        GROUP BY state
        """, place.app, place.environment.code, place.provider.code
      ) { (try $0.value(0, as: DeviceState.self), $0.int(1)) })
    let all = counts.values.reduce(0, +)
    if let reason = Reason.parking(place.provider) {
      let count = counts[.quarantined] ?? 0
      try weigh(
        database, place, IncidentCause(.parked, reason), count,
        is: count == 0 ? .gone : IncidentLimit.isMany(count, of: all) ? .many : .some, now: now)
    }
    if let reason = Reason.unregistered(place.provider) {
      let count = counts[.dead] ?? 0
      try weigh(
        database, place, IncidentCause(.unregistered, reason), count,
        is: IncidentLimit.isMany(count, of: all) ? .many : .gone, now: now)
    }
  }

  private enum Weight { case gone, some, many }

  private static func weigh(
    _ database: Database, _ place: IncidentPlace, _ cause: IncidentCause, _ count: Int, is weight: Weight, now: Date
  ) throws {
    if weight == .some { return }
    let known = try find(database, place, cause)
    if weight == .gone {
      if let known { try heal(database, known, now: now) }
      return
    }
    // The person who closed the incident already knew of these devices.
    if let known, known.stored == .closed, !known.hasHealed,
      !IncidentLimit.hasGrown(count, since: known.devices)
    {
      return
    }
    guard known == nil || known?.stored == .closed || count > known?.devices ?? 0 else { return }
    try see(database, place, cause, most: count, at: now, now: now)
  }
}
