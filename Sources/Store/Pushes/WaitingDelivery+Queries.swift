package import Foundation
internal import Model
package import SQLite

extension WaitingDelivery {
  /// A waiting device with what a provider needs to know of it.
  package struct Due: Sendable, Hashable {
    /// What waits.
    package let waiting: WaitingDelivery
    /// Nil: removed, or declared dead or doubtful, since it began to wait.
    package let member: AudienceMember?
  }

  /// Devices of a push whose time has come, the longest overdue first. Those on their way are not among them.
  package static func due(_ database: Database, push: Int64, now: Date, limit: Int) throws -> [Due] {
    try list(
      database, "w.due_at <= ? AND w.due_at < \(onItsWay) ORDER BY w.due_at, w.device_id LIMIT ?", push,
      min(now.milliseconds, onItsWay - 1), limit)
  }

  /// Devices of a push that wait, whenever they are due: for an end of the push before that. Those on their way are not
  /// among them.
  package static func all(_ database: Database, push: Int64, limit: Int) throws -> [Due] {
    try list(
      database, "w.due_at < ? ORDER BY w.due_at, w.device_id LIMIT ?", push, onItsWay, limit)
  }

  /// Devices that were on their way when the process ended (see ``take(_:push:devices:)``).
  package static func interrupted(_ database: Database, push: Int64, limit: Int) throws -> [Due] {
    try list(
      database, "w.due_at = ? ORDER BY w.due_at, w.device_id LIMIT ?", push, onItsWay, limit)
  }

  /// When the next device is due after `date`; nil: none waits.
  package static func nextDue(_ database: Database, push: Int64, after date: Date = .distantPast) throws -> Date? {
    let next = try database.fetchOne(
      "SELECT min(due_at) FROM push_waiting WHERE push_id = ? AND due_at > ? AND due_at < \(onItsWay)", push, date
    ) { $0.optionalDate(0) }
    return next ?? nil
  }

  /// Why devices of a push wait, most frequent first; of the first 10,000, so that a page never reads millions.
  package static func reasonCounts(_ database: Database, push: Int64) throws -> [(reason: String, count: Int)] {
    try database.fetchAll(
      """
      SELECT r.text, count(*) FROM (SELECT reason_id FROM push_waiting WHERE push_id = ? LIMIT 10000) w
      JOIN reasons r ON r.id = w.reason_id GROUP BY r.text ORDER BY count(*) DESC, r.text
      """, push
    ) { ($0.text(0), $0.int(1)) }
  }

  /// Marks devices as on their way, before they are sent to again: a restart knows that they may have the push.
  package static func take(_ database: Database, push: Int64, devices: [Int64]) throws {
    try database.withStatement(
      "UPDATE push_waiting SET due_at = \(onItsWay) WHERE push_id = ?1 AND device_id = ?2"
    ) { statement in
      try statement.bind(1, push)
      for device in devices {
        try statement.bind(2, device)
        try statement.run()
      }
    }
  }

  /// Lets devices that were on their way when the process ended wait again, until `date`: as what was not answered, for
  /// they may have the push.
  ///
  /// - Returns: how many of them may have had it before already, and so have it twice now.
  package static func releaseInterrupted(
    _ database: Database, push: Int64, dueAt date: Date
  ) throws -> Push.Repeats {
    let repeats = try repeats(database, "push_id = ? AND due_at = \(onItsWay)", push)
    try database.run(
      """
      UPDATE push_waiting SET due_at = ?, attempts = attempts + 1, outcome = \(OutcomeKind.unknown.rawValue),
        status = 0, reason_id = ?
      WHERE push_id = ? AND due_at = \(onItsWay)
      """, date, try interruptedReason(database), push)
    return repeats
  }

  /// Moves the times of a push's devices by what the clock was set by: they wait as long as they would have.
  package static func shift(_ database: Database, push: Int64, by seconds: TimeInterval) throws {
    let milliseconds = Int64((seconds * 1000).rounded())
    try database.run(
      """
      UPDATE push_waiting SET due_at = due_at + ?1, first_at = first_at + ?1 WHERE push_id = ?2 AND due_at < \(onItsWay)
      """, milliseconds, push)
  }

  /// How many rows stand for devices that may have the push from the attempt before the present one.
  static func repeats(
    _ database: Database, _ condition: String, _ arguments: any SQLiteBindable...
  ) throws -> Push.Repeats {
    var repeats = Push.Repeats()
    let interrupted = try interruptedReason(database)
    let found = try database.fetchAll(
      """
      SELECT reason_id, count(*) FROM push_waiting WHERE \(condition) AND outcome = \(OutcomeKind.unknown.rawValue)
      GROUP BY reason_id
      """, arguments: arguments
    ) { ($0.int64(0), $0.int(1)) }
    for (reason, count) in found {
      if reason == interrupted { repeats.interrupted += count } else { repeats.unanswered += count }
    }
    return repeats
  }

  static func interruptedReason(_ database: Database) throws -> Int64 {
    var words = Reasons()
    return try words.id(database, OwnReason.interrupted.rawValue)
  }

  /// Row ids of pushes that are over while devices of theirs have no outcome yet: cut short between the two.
  package static func leftBehind(_ database: Database) throws -> [Int64] {
    try database.fetchAll(
      """
      SELECT id FROM pushes WHERE (waiting > 0 OR settling) AND state IN ('finished', 'cancelled', 'failed') ORDER BY id
      """
    ) { $0.int64(0) }
  }

  private static func list(
    _ database: Database, _ condition: String, _ push: Int64, _ bound: Int64, _ limit: Int
  ) throws -> [Due] {
    try database.fetchAll(
      """
      SELECT w.device_id, w.due_at, w.attempts, w.first_at, w.outcome, w.status, r.text,
        d.id, d.platform, d.token, d.alias, d.registration_id, d.registered_at
      FROM push_waiting w JOIN reasons r ON r.id = w.reason_id
        LEFT JOIN devices d ON d.id = w.device_id AND d.state = \(DeviceState.active.rawValue)
      WHERE w.push_id = ? AND \(condition)
      """, push, bound, limit
    ) { row in
      let kind = try row.value(4, as: OutcomeKind.self)
      let waiting = WaitingDelivery(
        deviceID: row.int64(0), dueAt: row.date(1), attempts: row.int(2), firstAt: row.date(3),
        last: Outcome(kind, status: row.int(5), reason: row.text(6)))
      guard row.optionalInt64(7) != nil else { return Due(waiting: waiting, member: nil) }
      return Due(
        waiting: waiting,
        member: AudienceMember(
          id: row.int64(7), platform: try Platform(code: row.int(8)), token: DeviceToken(bytes: row.blob(9)),
          alias: row.optionalText(10), registrationID: row.optionalText(11), registeredAt: row.date(12)))
    }
  }
}

extension Outcome {
  fileprivate init(_ kind: OutcomeKind, status: Int, reason: String) {
    switch kind {
    case .skipped: self = .skipped(reason: reason)
    case .unknown: self = .unknown(reason: reason)
    case .failed, .deadToken, .accepted: self = .rejected(status: status, reason: reason, tokenInvalidSince: nil)
    }
  }
}
