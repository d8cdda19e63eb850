package import Calendar
package import Foundation
package import Model
package import SQLite

/// A push that goes on repeating by itself.
package struct PlannedSchedule: Sendable, Hashable {
  /// Public id.
  package let uid: String
  /// Its title, or its text; nil if it has neither.
  package let title: String?
  /// The app.
  package let appID: Int64
  /// The app.
  package let bundleID: String
  /// Where it is sent.
  package let environment: Environment
  /// What it is sent to.
  package let platforms: [Platform]
  /// When it is sent next; nothing happens before.
  package let nextAt: Date
  /// When it happens.
  package let recurrence: Recurrence
  package init(
    uid: String, title: String?, appID: Int64, bundleID: String, environment: Environment, platforms: [Platform],
    nextAt: Date, recurrence: Recurrence
  ) {
    self.uid = uid
    self.title = title
    self.appID = appID
    self.bundleID = bundleID
    self.environment = environment
    self.platforms = platforms
    self.nextAt = nextAt
    self.recurrence = recurrence
  }

  /// All that are active, the next first; without those that another version wrote and this one cannot read.
  package static func all(_ database: Database, app: Int64? = nil) throws -> [PlannedSchedule] {
    let schedules = try Schedule.active(database, app: app)
    guard !schedules.isEmpty else { return [] }
    let apps = Dictionary(try App.all(database).map { ($0.id, $0.bundleID) }) { first, _ in first }
    return schedules.compactMap { schedule in
      guard let nextAt = schedule.nextAt, let draft = schedule.draft, let rule = draft.recurrence else { return nil }
      return PlannedSchedule(
        uid: schedule.uid, title: schedule.title ?? schedule.body, appID: schedule.appID,
        bundleID: apps[schedule.appID] ?? draft.app, environment: schedule.environment,
        platforms: Platform.allCases.filter(draft.platforms.contains), nextAt: nextAt,
        recurrence: Recurrence(rule, from: schedule.startAt))
    }
  }

  /// The first time at or after a moment; nil if it has ended by then.
  package func first(from date: Date) -> Date? { recurrence.first(from: max(date, nextAt)) }

  /// How many times there are from `from` on and before `to`; quick whatever the number.
  package func count(from: Date, to: Date) -> Int { recurrence.count(from: max(from, nextAt), to: to) }
}
