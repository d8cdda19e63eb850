import Calendar
import Certificates
import Delivery
import Foundation
import JSON
import Model
import Store

/// Keeps what repeats, and says when it will be sent.
struct ScheduleReport {
  private static let shownTimes = 5
  private let schedule: Schedule
  private let app: App
  private let times: [Date]

  /// Checks the draft against the app, and keeps the schedule.
  init(_ draft: PushDraft, _ store: Store, _ io: CommandIO) throws {
    let now = io.now()
    (schedule, app) = try store.writeSync { database in
      let app = try App.named(draft.app, database)
      let credential = try CredentialScope.find(database, app: app.id, environment: draft.environment)
      try Lint.check(draft, Lint.Context(app, credential: credential, now: now))
      try Device.registerUnknown(database, of: draft, app: app.id, by: "cli", now: now)
      let new = NewSchedule(draft, app: app, source: "cli", by: "cli")
      let audit = NewAuditEntry(
        actor: "cli", action: "schedule.create", subject: "schedule \(new.uid)", detail: ["app": .string(app.bundleID)])
      return (try Schedule.create(database, new, audit: audit, now: now), app)
    }
    times = schedule.occurrences(from: now, limit: Self.shownTimes)
  }

  var lines: [String] {
    let zone = schedule.draft?.recurrence?.zone ?? .utc
    return [
      "\(schedule.uid)  \(app.bundleID) \(schedule.environment.rawValue): while a server is running, it sends at"
    ] + times.map { "  \(zone.text($0)) \(zone.name)  (\($0.text))" }
  }

  var summary: ScheduleSummary {
    ScheduleSummary(schedule: schedule, app: app.bundleID, now: schedule.createdAt)
  }
}
