import Arguments
import Calendar
import Foundation
import JSON
import Model
import Store

/// What `send` prints about a new schedule: its next runs.
struct ScheduleReport {
  private static let shownTimes = 5
  private let schedule: Schedule
  private let app: App

  init(_ schedule: Schedule, _ app: App) { (self.schedule, self.app) = (schedule, app) }

  func tell(_ values: Parsed, _ io: CommandIO) {
    if values[CommonOptions.json] {
      io.print(ScheduleSummary(schedule: schedule, app: app.bundleID, now: schedule.createdAt).prettyJSON)
      return
    }
    guard schedule.state != .needsApproval else {
      io.print(
        "\(schedule.uid)  \(app.bundleID) \(schedule.environment.rawValue): needs approval; it runs once a second person "
          + "approves it: in the console, or signalbox pushes approve \(schedule.uid)")
      return
    }
    let zone = schedule.draft?.recurrence?.zone ?? .utc
    io.print(
      "\(schedule.uid)  \(app.bundleID) \(schedule.environment.rawValue): while a server is running, it sends at")
    for time in schedule.occurrences(from: schedule.createdAt, limit: Self.shownTimes) {
      io.print("  \(zone.text(time)) \(zone.name)  (\(time.text))")
    }
  }
}
