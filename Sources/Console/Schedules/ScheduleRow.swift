import Calendar
import Foundation
import JSON
import Mustache
import Model
import SQLite
import Store

/// A schedule as its pages show it.
struct ScheduleRow: View {
  let schedule: Schedule
  let draft: PushDraft?
  let app: App?
  let last: SchedulePushView?
  let title: String
  /// What JPush’s clients call it, or called it; nil: it is none of theirs.
  let name: String?
  /// The `schedule_id` that JPush’s clients got; nil like ``name``.
  let jpushID: String?
  /// The recurrence in words.
  let rule: String
  let audience: String
  let stateText: String
  /// The number of runs sent and missed.
  let sums: String
  /// The next run, in the schedule's time zone.
  let nextText: String
  let texts: Texts
  let now: Date

  init(_ database: Database, _ schedule: Schedule, _ texts: Texts, now: Date) throws {
    self.schedule = schedule
    self.texts = texts
    self.now = now
    draft = schedule.draft
    app = try App.find(database, id: schedule.appID)
    last = try Schedule.lastPush(database, id: schedule.id).map { SchedulePushView($0, texts, now: now) }
    title = texts.heading(schedule.title, schedule.body)
    rule = draft?.recurrence.map { texts.rule($0, from: schedule.startAt) } ?? ""
    let known = schedule.source == .jpush ? try JPushSchedule.names(database, schedule: schedule.id) : nil
    (name, jpushID) = (known?.name, known?.uid)
    audience = draft?.audience.text(texts) ?? ""
    stateText = texts("schedules.\(schedule.state.rawValue)")
    sums = texts("schedules.sums", ["sent": schedule.sent.grouped, "missed": schedule.missed.grouped])
    nextText = schedule.nextAt.map { [zone = draft?.recurrence?.zone ?? .utc] in texts.moment($0, zone) } ?? ""
  }

  /// The schedule's time zone; UTC if the draft cannot be read.
  var zone: NamedZone { draft?.recurrence?.zone ?? .utc }

  /// Who created it, as the activity log names them.
  var who: String { ActivityActor(schedule.createdBy).name(texts) }

  static let fields: [Field<Self>] = [
    .text("id") { $0.schedule.uid },
    .text("title") { $0.title },
    .optional("name") { $0.name },
    .text("app") { $0.app?.name ?? "" },
    .flag("production") { $0.schedule.environment == .production },
    .text("tone") { $0.tone },
    .text("state_text") { $0.stateText },
    .text("rule") { $0.rule },
    .text("rule_heading") { $0.rule.capitalizedFirst },
    .text("sums") { $0.sums },
    .text("who") { $0.who },
    .text("audience") { $0.audience },
    .view("next") { row in row.schedule.nextAt.map { MomentView(date: $0, now: row.now) } },
    .text("next_text") { $0.nextText },
    .view("last") { $0.last },
  ]

  /// The CSS class of the dot.
  private var tone: String {
    if schedule.error != nil { return "red" }
    switch schedule.state {
    case .active: return ""
    case .needsApproval: return "amber"
    case .paused: return "none"
    case .ended: return "dead"
    }
  }
}

/// A push that a schedule created.
struct SchedulePushView: View {
  let push: Push
  let stateText: String
  let outcomes: String
  let now: Date

  init(_ push: Push, _ texts: Texts, now: Date) {
    self.push = push
    self.now = now
    stateText = texts(push.stateKey(now: now))
    outcomes = push.counts.text(texts)
  }

  static let fields: [Field<Self>] = [
    .written("push") { view, output in
      output.write("/pushes/" as StaticString)
      output.write(view.push.uid)
    },
    .text("push_state") { $0.stateText },
    .text("push_tone") { PushStateView($0.push, now: $0.now).tone },
    .view("bar") { OutcomeBar($0.push.counts, target: $0.push.target ?? 0) },
    .text("outcomes") { $0.outcomes },
  ]
}
