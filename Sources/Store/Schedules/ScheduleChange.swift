package import Foundation
package import SQLite

/// What can be done with a schedule: on its page, over the API, and on the command line.
package enum ScheduleChange: String, CaseIterable, Sendable {
  case pause, resume
  /// For good.
  case cancel

  /// Changes a schedule, with a line of the audit; see `Schedule.pause`, `resume` and `end`.
  ///
  /// - Returns: false if the schedule is not where it would have to be.
  package func carryOut(
    _ database: Database, _ schedule: Schedule, by actor: String, from address: String? = nil, now: Date
  ) throws -> Bool {
    let isChanged =
      switch self {
      case .pause: try Schedule.pause(database, id: schedule.id)
      case .resume: try Schedule.resume(database, id: schedule.id, now: now)
      case .cancel: try Schedule.end(database, id: schedule.id, now: now)
      }
    guard isChanged else { return false }
    let isWithdrawn = schedule.state == .needsApproval
    if isWithdrawn { try Approval.withdraw(database, .schedule(schedule.id), by: actor, now: now) }
    try AuditEntry.add(
      database, by: actor, isWithdrawn ? "schedule.withdraw" : "schedule.\(rawValue)", "schedule \(schedule.uid)",
      from: address, now: now)
    return true
  }

  /// Why it could not be done.
  package var otherwise: String {
    switch self {
    case .pause: "The schedule is not active. Nothing was changed."
    case .resume: "The schedule is not paused. Nothing was changed."
    case .cancel: "The schedule has already ended. Nothing was changed."
    }
  }
}
