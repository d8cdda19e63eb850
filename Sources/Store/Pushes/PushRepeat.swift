internal import Model
package import SQLite

/// A possible retry of a push for devices that it did not reach.
package struct PushRepeat: Sendable, Hashable {
  /// Devices to be sent to: failed, unknown or skipped for a reason that may have gone.
  package var devices = 0
  /// Those that may have received it already: no answer had come.
  package var unknown = 0
  /// Excluded devices by reason: permanently refused, or an invalid token.
  package var excluded: [Delivery.ReasonCount] = []

  /// From counters; of few devices also from what they are now.
  package static func find(_ database: Database, push: Int64) throws -> PushRepeat {
    var found = PushRepeat()
    let counts = try Delivery.reasonCounts(database, push: push)
    var rows = 0
    for count in counts where count.outcome != .accepted {
      if retried.contains(count.outcome) { rows += count.count }
      if count.outcome == .deadToken || count.reason.map(Reason.of)?.isPermanent ?? false {
        found.excluded.append(count)
      } else {
        found.devices += count.count
        if count.outcome == .unknown { found.unknown += count.count }
      }
    }
    if found.devices > 0, rows <= looked, try areGone(database, push: push) { (found.devices, found.unknown) = (0, 0) }
    return found
  }

  private static let retried: [OutcomeKind] = [.failed, .unknown, .skipped]
  /// Of more devices it is not asked whether they are gone.
  private static let looked = 1000

  /// Whether the devices that could be retried were all retired or parked since: a retry would be sent to nobody.
  private static func areGone(_ database: Database, push: Int64) throws -> Bool {
    let outcomes = retried.map { String($0.rawValue) }.joined(separator: ", ")
    return try database.fetchOne(
      """
      SELECT count(*) > 0 AND sum(d.state = \(DeviceState.active.rawValue)) = 0
      FROM deliveries x INDEXED BY deliveries_trouble JOIN devices d ON d.id = x.device_id
      WHERE x.push_id = ? AND x.outcome <> \(OutcomeKind.accepted.rawValue) AND x.outcome IN (\(outcomes))
      """, push
    ) { $0.bool(0) } ?? false
  }

  /// The devices of a push that retries `push`.
  package static func choice(_ database: Database, push: Int64) throws -> AudienceQuery.Retry {
    let excluded = try find(database, push: push).excluded.compactMap(\.reason)
    return AudienceQuery.Retry(
      push: push, outcomes: retried, withoutReasons: Array(Set(excluded)).sorted())
  }
}

extension Push {
  /// The push that retries a push; nil: there is none. One that ended before it had counted its devices does not count.
  ///
  /// Devices that the retry does not reach are retried from there, because two retries of the same push would send
  /// twice.
  package static func repeating(_ database: Database, push: Int64) throws -> Push? {
    try database.fetchOne(
      """
      SELECT \(columns) FROM pushes p INDEXED BY pushes_parent
      WHERE p.parent_id = ? AND (p.target IS NOT NULL OR p.state NOT IN ('finished', 'cancelled', 'failed'))
      ORDER BY p.id DESC LIMIT 1
      """, push
    ) { try Push($0) }
  }
}
