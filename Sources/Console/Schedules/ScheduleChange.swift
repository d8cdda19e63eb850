import Foundation
import SQLite
import Store

/// What can be done with a schedule, on its page and over the API.
enum ScheduleChange: String, CaseIterable {
  case pause, resume
  /// For good.
  case cancel

  /// - Returns: false if the schedule is not where it would have to be.
  func carryOut(_ database: Database, _ id: Int64, now: Date) throws -> Bool {
    switch self {
    case .pause: try Schedule.pause(database, id: id)
    case .resume: try Schedule.resume(database, id: id, now: now)
    case .cancel: try Schedule.end(database, id: id, now: now)
    }
  }

  /// Why not, for programs.
  var otherwise: String {
    switch self {
    case .pause: "The schedule is not active. Nothing was changed."
    case .resume: "The schedule is not paused. Nothing was changed."
    case .cancel: "The schedule has already ended. Nothing was changed."
    }
  }
}
