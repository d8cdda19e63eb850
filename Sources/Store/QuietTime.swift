package import Foundation
package import SQLite

/// The time in which a worker has nothing to do. It does not depend on the clock, so it holds until the next commit, and
/// looking at the clock replaces the queries.
package struct QuietTime: Sendable, Hashable {
  /// Before it, the clock was set back: a stored time is too far in the future.
  private let start: Int64
  /// When the first thing is due.
  private let end: Int64

  /// From the last of some times until the first of others.
  init(from starts: [Date?] = [], until ends: [Date?]) {
    start = starts.compactMap { $0?.milliseconds }.max() ?? .min
    end = ends.compactMap { $0?.milliseconds }.min() ?? .max
  }

  /// Of the engine: until the first push or schedule is due, or the first approval expires.
  package static func find(_ database: Database) throws -> QuietTime {
    // The planner recognises the index's condition by its text.
    let pushes = try database.fetchOne(
      """
      SELECT min(max(coalesce(p.send_at, 0), coalesce(p.hold_until, 0))), max(p.hold_until)
      FROM pushes p INDEXED BY pushes_unfinished
      WHERE p.state IN ('queued', 'sending') AND p.state = 'queued'
      """
    ) { (due: $0.optionalDate(0), hold: $0.optionalDate(1)) }
    func date(_ sql: String) throws -> Date? { try database.fetchOne(sql) { $0.optionalDate(0) } ?? nil }
    let next = try date("SELECT min(next_at) FROM schedules INDEXED BY schedules_due WHERE state = 'active'")
    let looked = try date("SELECT max(looked_at) FROM schedules INDEXED BY schedules_looked WHERE state = 'active'")
    let expiry = try date("SELECT min(expires_at) FROM approvals INDEXED BY approvals_open WHERE decision IS NULL")
    let hold = pushes?.hold?.addingTimeInterval(-Push.longestHold)
    let check = looked?.addingTimeInterval(-Schedule.clockSlack)
    return QuietTime(from: [hold, check], until: [pushes?.due, next, expiry])
  }

  /// Whether a query for what is due would find nothing.
  package func contains(_ now: Date) -> Bool {
    // In milliseconds, as the queries compare.
    start <= now.milliseconds && now.milliseconds < end
  }
}

extension Store {
  /// Whether a worker has nothing to do now. Asks the database only after a commit of any process.
  ///
  /// - Parameters:
  ///   - worker: its name among those that ask.
  ///   - find: must not depend on the time.
  package func isQuiet(
    _ worker: String, now: Date, _ find: @escaping @Sendable (Database) throws -> QuietTime
  ) async throws -> Bool {
    let quiet: QuietTime = try await read(keptAs: "quiet time of \(worker)", bytes: { _ in 16 }, find)
    return quiet.contains(now)
  }
}
