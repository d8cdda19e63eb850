package import Foundation
package import Model
package import SQLite

extension Push {
  package static func find(_ database: Database, uid: String) throws -> Push? {
    try database.fetchOne("SELECT \(columns) FROM pushes p WHERE p.uid = ?", uid) { try Push($0) }
  }

  /// The push whose request to a device had this ID; nil if it is unknown, or its details were removed.
  package static func find(_ database: Database, apnsID id: APNsID) throws -> Push? {
    let pushes = try database.fetchAll("SELECT push_id FROM deliveries WHERE device_id = ?", id.device) { $0.int64(0) }
    for push in pushes.reversed() {
      if let found = try find(database, id: push), APNsID(seed: found.seed, device: id.device) == id { return found }
    }
    return nil
  }

  package static func find(_ database: Database, id: Int64) throws -> Push? {
    try database.fetchOne("SELECT \(columns) FROM pushes p WHERE p.id = ?", id) { try Push($0) }
  }

  package static let noun = "push"

  /// The devices of a push's audience by platform and service; empty until they are counted.
  package static func targets(_ database: Database, id: Int64) throws -> [Reach: Int] {
    let rows = try database.fetchAll(
      "SELECT platform, provider, count FROM push_targets WHERE push_id = ? AND count > 0", id
    ) { row in
      (Reach(try Platform(code: row.int(0)), try ProviderKind(code: row.int(1))), row.int(2))
    }
    return Dictionary(rows) { $0 + $1 }
  }

  /// For at-most-once pushes: for each service, the last device that may have been sent to. A push from a
  /// version that did not keep them has none.
  package static func handedOut(_ database: Database, id: Int64) throws -> [ProviderKind: Int64] {
    try latest(database, "handed_out", id: id)
  }

  /// Of a push with texts in several languages: up to where all devices of each service have their outcome or wait.
  package static func cursors(_ database: Database, id: Int64) throws -> [ProviderKind: Int64] {
    try latest(database, "cursor", id: id)
  }

  /// The greatest device ID in a column of a push's targets, by service.
  private static func latest(_ database: Database, _ column: String, id: Int64) throws -> [ProviderKind: Int64] {
    let rows = try database.fetchAll(
      "SELECT provider, \(column) FROM push_targets WHERE push_id = ? AND \(column) IS NOT NULL", id
    ) { (try ProviderKind(code: $0.int(0)), $0.int64(1)) }
    return Dictionary(rows) { max($0, $1) }
  }

  /// Pushes still to be sent, oldest first: resumed at startup.
  package static func unfinished(_ database: Database) throws -> [Push] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM pushes p INDEXED BY pushes_unfinished WHERE p.state IN ('queued', 'sending') ORDER BY p.id
      """
    ) { try Push($0) }
  }

  /// A push that is being sent, and one of the services that it needs.
  package struct Need: Sendable, Hashable {
    package let push: Int64
    package let app: Int64
    package let environment: Environment
    package let provider: ProviderKind
  }

  /// What the pushes that are being sent need, oldest first.
  package static func needs(_ database: Database, most: Int) throws -> [Need] {
    // The planner recognises the index's condition by its text.
    try database.fetchAll(
      """
      SELECT DISTINCT p.id, p.app_id, p.environment, t.provider
      FROM pushes p INDEXED BY pushes_unfinished JOIN push_targets t ON t.push_id = p.id AND t.count > 0
      WHERE p.state IN ('queued', 'sending') AND p.state = 'sending'
      ORDER BY p.id LIMIT ?
      """, most
    ) { row in
      Need(
        push: row.int64(0), app: row.int64(1), environment: try row.value(2, as: Environment.self),
        provider: try ProviderKind(code: row.int(3)))
    }
  }

  /// Row IDs of due pushes, oldest first. Fast for any number of pushes.
  package static func due(_ database: Database, now: Date) throws -> [Int64] {
    // The planner recognises the index's condition by its text.
    try database.fetchAll(
      """
      SELECT p.id FROM pushes p INDEXED BY pushes_unfinished
      WHERE p.state IN ('queued', 'sending') AND p.state = 'queued' AND (p.send_at IS NULL OR p.send_at <= ?1)
        AND (p.hold_until IS NULL OR p.hold_until <= ?1 OR p.hold_until > ?2)
      ORDER BY p.id
      """, now, now.addingTimeInterval(longestHold)
    ) { $0.int64(0) }
  }

  /// How many pushes were created since then, without those that are scheduled for later.
  ///
  /// - Parameter most: more are not counted: the answer is one more.
  package static func count(_ database: Database, since: Date, now: Date, most: Int) throws -> Int {
    let all = try database.int(
      "SELECT count(*) FROM (SELECT 1 FROM pushes INDEXED BY pushes_created WHERE created_at >= ? LIMIT ?)", since,
      most + 1)
    guard all <= most else { return all }
    let scheduled = try database.int(
      """
      SELECT count(*) FROM pushes p INDEXED BY pushes_unfinished
      WHERE p.state IN ('queued', 'sending') AND p.state = 'queued' AND p.send_at > ? AND p.created_at >= ?
      """, now, since)
    return all - scheduled
  }

  /// The outcomes of all pushes created in a period.
  package struct Sum: Sendable, Hashable {
    package let from: Date
    package let pushes: Int
    package let counts: OutcomeCounts
  }

  /// Sums per day, oldest first, for the 30-day chart. Days without a push are omitted.
  ///
  /// - Parameter from: the start of the first day, such as midnight in the viewer's time zone.
  package static func sums(_ database: Database, from: Date, before: Date) throws -> [Sum] {
    try database.fetchAll(
      """
      SELECT (created_at - ?1) / 86400000 AS day, count(*), sum(accepted), sum(failed), sum(dead_token), sum(skipped),
        sum(unknown)
      FROM pushes INDEXED BY pushes_created
      WHERE created_at >= ?1 AND created_at < ?2 GROUP BY day ORDER BY day
      """, from, before
    ) { row in
      Sum(
        from: from.addingTimeInterval(Double(row.int(0) * 86_400)), pushes: row.int(1),
        counts: OutcomeCounts(
          accepted: row.int(2), failed: row.int(3), deadToken: row.int(4), skipped: row.int(5), unknown: row.int(6)))
    }
  }
}

/// Uses a trail (a file that names the devices that left, see Delivery) after a crash.
extension Push {
  /// Row IDs of pushes whose devices in flight are in a trail.
  package static func ofTrail(_ database: Database, _ trail: Int64) throws -> [Int64] {
    try database.fetchAll("SELECT id FROM pushes WHERE trail = ? AND trail <> 0 ORDER BY id", trail) { $0.int64(0) }
  }

  /// Records the trail of a push, before its first device leaves.
  package static func setTrail(_ database: Database, id: Int64, _ trail: Int64) throws {
    try database.run("UPDATE pushes SET trail = ? WHERE id = ?", trail, id)
  }

  /// Records which devices a push had left for when its process ended: exactly those without an outcome are in flight.
  /// Idempotent.
  ///
  /// - Parameter left: row IDs of the devices in the trail.
  package static func follow(_ database: Database, id: Int64, left: [Int64], now: Date) throws {
    try database.transaction {
      let left = Set(left)
      let onItsWay = WaitingDelivery.onItsWay
      // Marked, and never sent.
      let taken = try database.fetchAll(
        "SELECT device_id FROM push_waiting WHERE push_id = ? AND due_at = \(onItsWay)", id
      ) { $0.int64(0) }
      for device in taken where !left.contains(device) {
        try database.run("UPDATE push_waiting SET due_at = ? WHERE push_id = ? AND device_id = ?", now, id, device)
      }
      let reason = try WaitingDelivery.interruptedReason(database)
      var added = 0
      for device in left {
        added += try database.run(
          """
          INSERT INTO push_waiting(push_id, device_id, due_at, attempts, first_at, outcome, status, reason_id)
          SELECT ?1, ?2, \(onItsWay), 0, ?3, \(OutcomeKind.skipped.rawValue), 0, ?4
          WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE push_id = ?1 AND device_id = ?2)
            AND NOT EXISTS (SELECT 1 FROM push_waiting WHERE push_id = ?1 AND device_id = ?2)
          """, id, device, now, reason)
      }
      try database.run(
        "UPDATE pushes SET handed_out = cursor, trail = 0, waiting = waiting + ? WHERE id = ?", added, id)
      try database.run(
        """
        UPDATE push_targets SET handed_out = min(handed_out, (SELECT cursor FROM pushes WHERE id = ?1))
        WHERE push_id = ?1
        """, id)
    }
  }
}
