import Foundation
package import JSON
import Model
import SQLite
package import Store

extension Schedule {
  /// The number of upcoming runs that are shown.
  static let shownTimes = 5
}

/// The schema `Schedule`.
struct ScheduleAnswer: JSONObject, Sendable {
  /// What the checks found; only in the answer to the request that created the schedule.
  var findings: [Lint.Finding]?
  private let schedule: Schedule
  private let draft: RawJSON
  private let app: String
  private let last: String?
  private let approval: Approval?
  private let jpushID: String?
  private let now: Date

  /// - Parameters:
  ///   - app: the app's bundle ID.
  ///   - approval: the last one; nil: it needed none.
  ///   - last: public ID of the schedule's latest push; nil if it has none.
  ///   - jpushID: JPush's `schedule_id`; nil: it was not made by one of JPush's clients.
  /// - Throws: `StoreError.unreadable` if the stored draft is not a JSON object.
  private init(
    _ schedule: Schedule, app: String, last: String?, approval: Approval?, jpushID: String?, now: Date
  ) throws {
    guard let draft = RawJSON(object: schedule.draftJSON) else {
      // The value is left out of the error: the column holds no JSON at all.
      throw StoreError.unreadable(column: "schedules.draft", value: schedule.uid)
    }
    self.schedule = schedule
    self.draft = draft
    self.app = app
    self.last = last
    self.approval = approval
    self.jpushID = jpushID
    self.now = now
  }

  init(_ database: Database, _ schedule: Schedule, now: Date) throws {
    let app = try App.get(database, id: schedule.appID)
    let last = try Schedule.lastPush(database, id: schedule.id)
    try self.init(
      schedule, app: app.bundleID, last: last?.uid, approval: try Approval.find(database, .schedule(schedule.id)),
      jpushID: try JPushSchedule.names(database, schedule: schedule.id)?.uid, now: now)
  }

  func writeMembers(to json: inout JSONWriter) {
    json.member("kind", "schedule")
    json.member("id", schedule.uid)
    json.member("schedule_id", jpushID)
    json.member("state", schedule.state.rawValue)
    json.member("error", schedule.error)
    json.member("app", app)
    json.member("environment", schedule.environment.rawValue)
    json.member("draft", draft)
    json.member("start_at", schedule.startAt)
    json.member("next_at", schedule.nextAt)
    json.member("next", schedule.occurrences(from: now, limit: Schedule.shownTimes))
    json.member("sent", schedule.sent)
    json.member("missed", schedule.missed)
    json.member("last_push", last)
    json.member("approval", approval)
    json.member("source", schedule.source.rawValue)
    json.member("created_by", schedule.createdBy)
    json.member("created_at", schedule.createdAt)
    json.member("ended_at", schedule.endedAt)
    if let findings { json.member("findings", findings) }
  }
}

extension Schedule.Occurrence: JSONObject {
  /// The schema `Occurrence`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("at", at)
    json.member("state", isMissed ? "missed" : "sent")
    json.member("push", push?.uid)
    json.member("noted_at", notedAt)
  }
}
