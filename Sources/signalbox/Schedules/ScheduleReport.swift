import Arguments
import Calendar
import Foundation
import JSON
import Model
import Store
import Text

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
    let subject = "\(schedule.uid)  \(app.bundleID) \(io.word(schedule.environment))"
    guard schedule.state != .needsApproval else {
      io.say(
        """
        \(subject): needs approval; it runs once a second person approves it: in the console, or signalbox pushes \
        approve \(schedule.uid)
        """)
      return
    }
    let zone = schedule.draft?.recurrence?.zone ?? .utc
    io.say("\(subject): while a server is running, it sends at")
    for time in schedule.occurrences(from: schedule.createdAt, limit: Self.shownTimes) {
      io.print("  \(zone.text(time)) \(zone.name)  (\(time.text))")
    }
  }
}
