import Foundation
import Mustache
import Push
import SQLite
import Store

/// A schedule with what its pages say about it.
struct ScheduleRow: Sendable {
  let schedule: Schedule
  let draft: PushDraft?
  let app: App?
  let last: PushRecord?

  init(_ database: Database, _ schedule: Schedule) throws {
    self.schedule = schedule
    draft = schedule.draft
    app = try App.find(database, id: schedule.appID)
    last = try Schedule.lastPush(database, id: schedule.id)
  }

  /// By whose clocks it happens.
  var zone: NamedZone { draft?.recurrence?.zone ?? .utc }

  func members(_ page: PageContext) -> [String: Value] {
    let texts = page.texts
    let heading = [schedule.title, schedule.body].compactMap { $0 }.first { !$0.isEmpty }
    return [
      "id": .string(schedule.uid), "href": .string("/schedules/\(schedule.uid)"),
      "title": .string(heading ?? texts("pushes.no_text")), "app": .string(app?.name ?? ""),
      "environment": .string(schedule.environment.word(texts)),
      "production": .bool(schedule.environment == .production), "state": .string(schedule.state.rawValue),
      "state_text": .string(texts("schedules.\(schedule.state.rawValue)")),
      "rule": .string(draft?.recurrence.map { texts.rule($0) } ?? ""),
      "sums": .string(
        texts("schedules.sums", ["sent": schedule.sent.grouped, "missed": schedule.missed.grouped])),
      "who": .string(schedule.createdBy), "audience": .string(draft?.audience.text(texts) ?? ""),
      "next": schedule.nextAt.map { date in
        [
          [
            "datetime": .string(Timestamp.text(date)), "text": .string(date.utcText),
            "zoned": .string(texts.moment(date, zone)), "ahead": .string(texts.ahead(date, now: page.now)),
          ]
        ]
      } ?? [],
      "last": last.map { push in
        [
          [
            "href": .string("/pushes/\(push.uid)"), "state": .string(push.state.rawValue),
            "state_text": .string(texts(push.stateKey(now: page.now))),
            "outcome_bar": push.counts.bar(target: push.target ?? 0),
            "outcome_text": .string(push.counts.text(texts)),
          ]
        ]
      } ?? [],
    ]
  }

  func value(_ page: PageContext) -> Value { .object(members(page)) }
}
