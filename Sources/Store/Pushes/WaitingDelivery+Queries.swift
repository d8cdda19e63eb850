package import Foundation
package import Model
package import SQLite

extension WaitingDelivery {
  /// A waiting device with what a provider needs.
  package struct Due: Sendable, Hashable {
    package let waiting: WaitingDelivery
    /// Nil: removed, dead or quarantined since.
    package let member: AudienceMember?
  }

  /// Due devices of a push and a service, longest overdue first, without those in flight. Devices that are gone have no
  /// service any more, and are in every list.
  package static func due(
    _ database: Database, push: Int64, provider: ProviderKind, now: Date, limit: Int
  ) throws -> [Due] {
    try list(
      database,
      "w.due_at <= ? AND w.due_at < \(onItsWay) AND \(isOf(provider)) ORDER BY w.due_at, w.device_id LIMIT ?", push,
      min(now.milliseconds, onItsWay - 1), limit)
  }

  /// All waiting devices of a push and a service, for an early end, without those in flight; with those that are gone.
  package static func all(
    _ database: Database, push: Int64, provider: ProviderKind, limit: Int
  ) throws -> [Due] {
    try list(
      database, "w.due_at < ? AND \(isOf(provider)) ORDER BY w.due_at, w.device_id LIMIT ?", push, onItsWay, limit)
  }

  private static func isOf(_ provider: ProviderKind) -> String {
    "(d.id IS NULL OR coalesce(d.provider, d.platform) = \(provider.code))"
  }

  /// Devices in flight when the process ended (see ``take(_:push:devices:)``).
  package static func interrupted(_ database: Database, push: Int64, limit: Int) throws -> [Due] {
    try list(
      database, "w.due_at = ? ORDER BY w.due_at, w.device_id LIMIT ?", push, onItsWay, limit)
  }

  /// When the next device is due after `date`; nil: none waits.
  ///
  /// - Parameter provider: nil: any. Reads the waiting devices of other services too, until it finds one.
  package static func nextDue(
    _ database: Database, push: Int64, after date: Date = .distantPast, provider: ProviderKind? = nil
  ) throws -> Date? {
    let device = provider.map {
      """
      LEFT JOIN devices d ON d.id = w.device_id AND d.state = \(DeviceState.active.rawValue)
      WHERE \(isOf($0)) AND
      """
    }
    return try database.fetchOne(
      """
      SELECT w.due_at FROM push_waiting w \(device ?? "WHERE") w.push_id = ? AND w.due_at > ?
        AND w.due_at < \(onItsWay) ORDER BY w.due_at LIMIT 1
      """, push, date
    ) { $0.date(0) }
  }

  /// The reasons of waiting devices, most frequent first; of the first 10,000, so that a page never reads millions.
  package static func reasonCounts(_ database: Database, push: Int64) throws -> [(reason: String, count: Int)] {
    try database.fetchAll(
      """
      SELECT r.text, count(*) FROM (SELECT reason_id FROM push_waiting WHERE push_id = ? LIMIT 10000) w
      JOIN reasons r ON r.id = w.reason_id GROUP BY r.text ORDER BY count(*) DESC, r.text
      """, push
    ) { ($0.text(0), $0.int(1)) }
  }

  /// Marks devices as in flight before they are resent, so that a restart knows that they may have received the push.
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

  /// Makes devices in flight when the process ended wait until `date`, as unanswered, because they may have received
  /// the push.
  ///
  /// - Returns: how many may have received it before already, and so twice now.
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

  /// Follows a change of the clock. Set back: the devices of a push wait as long as planned. Set forward: they wait until
  /// the same time by the clock, because that is what a resumed virtual machine sees. Either way the time that they may
  /// take in all does not change.
  package static func shift(_ database: Database, push: Int64, by seconds: TimeInterval) throws {
    let milliseconds = Int64((seconds * 1000).rounded())
    try database.run(
      """
      UPDATE push_waiting SET due_at = due_at + min(?1, 0), first_at = first_at + ?1
      WHERE push_id = ?2 AND due_at < \(onItsWay)
      """, milliseconds, push)
  }

  /// The number of devices that may have received the push from an earlier attempt.
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

  /// Row IDs of ended pushes with devices without outcomes: interrupted between the two.
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
      SELECT \(columns), d.id, d.platform, d.token, coalesce(d.provider, d.platform), d.environment
      FROM push_waiting w JOIN reasons r ON r.id = w.reason_id
        LEFT JOIN devices d ON d.id = w.device_id AND d.state = \(DeviceState.active.rawValue)
      WHERE w.push_id = ? AND \(condition)
      """, push, bound, limit
    ) { row in
      let waiting = try WaitingDelivery(row)
      var member = AudienceMember.subscribers(id: waiting.deviceID)
      if member == nil, row.optionalInt64(7) != nil {
        let provider = try ProviderKind(code: row.int(10))
        member = AudienceMember(
          id: row.int64(7), platform: try Platform(code: row.int(8)),
          token: DeviceToken(bytes: row.blob(9), provider: provider), provider: provider,
          environment: try Environment(code: row.int(11)))
      }
      member?.firstAt = waiting.firstAt
      return Due(waiting: waiting, member: member)
    }
  }
}

extension WaitingDelivery {
  static let columns = "w.device_id, w.due_at, w.attempts, w.first_at, w.outcome, w.status, r.text"

  init(_ row: borrowing Row) throws {
    self.init(
      deviceID: row.int64(0), dueAt: row.date(1), attempts: row.int(2), firstAt: row.date(3),
      last: Outcome(try row.value(4, as: OutcomeKind.self), status: row.int(5), reason: row.text(6)))
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

/// A device waiting for a retry, with the last attempt's result.
package struct WaitingDelivery: Sendable, Hashable {
  package var deviceID: Int64
  package var dueAt: Date
  /// 0: never sent.
  package var attempts: Int
  /// When it was first tried.
  package var firstAt: Date
  /// The outcome if the last attempt was final.
  package var last: Outcome

  /// - Precondition: `last` is not `accepted`.
  package init(deviceID: Int64, dueAt: Date, attempts: Int, firstAt: Date, last: Outcome) {
    precondition(last != .accepted, "what was accepted does not wait")
    (self.deviceID, self.dueAt, self.attempts, self.firstAt, self.last) = (deviceID, dueAt, attempts, firstAt, last)
  }

  /// Marks a device in flight: never due.
  static let onItsWay = Int64.max
}
