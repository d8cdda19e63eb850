public import Calendar
public import Foundation
public import Model
public import SQLite

/// A push that goes on repeating by itself.
public struct PlannedSchedule: Sendable, Hashable {
  /// Public id.
  public let uid: String
  /// Its title, or its text; nil if it has neither.
  public let title: String?
  /// The app.
  public let appID: Int64
  /// The app.
  public let bundleID: String
  /// Where it is sent.
  public let environment: Environment
  /// What it is sent to.
  public let platforms: [Platform]
  /// When it is sent next; nothing happens before.
  public let nextAt: Date
  /// When it happens.
  public let recurrence: Recurrence

  /// Creates one.
  public init(
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
  public static func all(_ database: Database, app: Int64? = nil) throws -> [PlannedSchedule] {
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
  public func first(from date: Date) -> Date? { recurrence.first(from: max(date, nextAt)) }

  /// How many times there are from `from` on and before `to`; quick whatever the number.
  public func count(from: Date, to: Date) -> Int { recurrence.count(from: max(from, nextAt), to: to) }
}
