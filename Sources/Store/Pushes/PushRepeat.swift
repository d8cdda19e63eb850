internal import Model
package import SQLite

/// What sending a push again to those whom it did not reach would be.
package struct PushRepeat: Sendable, Hashable {
  /// Devices that would be sent to: failed, unknown or skipped, for a reason that may be gone.
  package var devices = 0
  /// Those among them that may have it already: no answer had come.
  package var unknown = 0
  /// Devices that would not, by reason: refused for what stays as it is, or their token is gone.
  package var excluded: [Delivery.ReasonCount] = []

  /// What a repeat of a push would be now. Read from counters.
  package static func find(_ database: Database, push: Int64) throws -> PushRepeat {
    var found = PushRepeat()
    for count in try Delivery.reasonCounts(database, push: push) where count.outcome != .accepted {
      if count.outcome == .deadToken || count.reason.map(Reason.of)?.isPermanent ?? false {
        found.excluded.append(count)
      } else {
        found.devices += count.count
        if count.outcome == .unknown { found.unknown += count.count }
      }
    }
    return found
  }

  /// The choice of devices of a push that repeats `push`.
  package static func choice(_ database: Database, push: Int64) throws -> AudienceQuery.Retry {
    let excluded = try find(database, push: push).excluded.compactMap(\.reason)
    return AudienceQuery.Retry(
      push: push, outcomes: [.failed, .unknown, .skipped], withoutReasons: Array(Set(excluded)).sorted())
  }
}

extension Push {
  /// The push that already goes, or went, to those that a push did not reach; nil: there is none. One that ended before
  /// it had counted its devices does not count: it took nobody over.
  ///
  /// What that one leaves out is repeated from there: two repeats of the same push would send the same twice.
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
