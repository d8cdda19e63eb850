import Mustache
import Model
import Store

/// `/schedules`: repeating pushes and their next runs.
struct ScheduleListView: PageView {
  static let template = "schedules/index"
  static let section: Section? = .pushes

  let states: [ChoiceView]
  let isFiltered: Bool
  let schedules: [ScheduleRow]
  let exports: ExportLinks
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .view("state") { FieldView(choices: $0.states) },
    .flag("active") { $0.isFiltered },
    .flag("filterable") { $0.isFiltered || !$0.schedules.isEmpty },
    .list("schedules") { $0.schedules },
    .flag("has_schedules") { !$0.schedules.isEmpty },
    .view("exports") { $0.schedules.isEmpty ? nil : $0.exports },
    .view("pager") { $0.pager },
  ]
}

/// `/schedules/:uid`: a schedule, its next runs, and its run history.
struct ScheduleView: PageView {
  static let template = "schedules/show"
  static let section: Section? = .pushes

  let row: ScheduleRow
  /// Nil: it needs and needed no approval.
  let approval: ApprovalView?
  let canPause: Bool
  let canResume: Bool
  /// What the button that ends it says; nil: there is none.
  let endText: String?
  let times: [ScheduleTimeRow]
  let history: [OccurrenceRow]
  let exports: ExportLinks
  /// Of the runs; nil: unknown.
  let position: String?
  let pager: PagerView
  let facts: [FactView]
  let payload: String

  static let fields: [Field<Self>] = [
    .view("schedule") { $0.row },
    .flag("production") { $0.row.schedule.environment == .production },
    .view("approval") { $0.approval?.isOpen == true ? $0.approval : nil },
    .optional("problem") { view in view.row.schedule.error.map(view.row.texts.recorded) },
    .flag("can_pause") { $0.canPause },
    .flag("can_resume") { $0.canResume },
    .optional("end_text") { $0.endText },
    .list("times") { $0.times },
    .flag("has_times") { !$0.times.isEmpty },
    .list("history") { $0.history },
    .flag("has_history") { !$0.history.isEmpty },
    .view("exports") { $0.exports },
    .optional("position") { $0.position },
    .view("pager") { $0.pager },
    .flag("has_pages") { $0.pager.newer != nil || $0.pager.older != nil },
    .list("facts") { $0.facts },
    .text("payload") { $0.payload },
  ]
}

/// The confirmation before a schedule ends.
struct ScheduleEndView: PageView {
  static let template = "schedules/cancel"
  static let section: Section? = .pushes

  let row: ScheduleRow
  let label: String
  /// What becomes of its pushes.
  let means: String

  static let fields: [Field<Self>] = [
    .view("schedule") { $0.row }, .text("label") { $0.label }, .text("means") { $0.means },
  ]
}

/// An upcoming run, in the schedule's time zone and in the user's.
struct ScheduleTimeRow: View {
  let text: String
  let time: MomentView

  static let fields: [Field<Self>] = [.text("text") { $0.text }, .view("time") { $0.time }]
}

/// A past run, and the push it created.
struct OccurrenceRow: View {
  let text: String
  let isMissed: Bool
  /// Nil if the run was missed, or its push was deleted.
  let push: SchedulePushView?
  /// Why there is no push.
  let note: String

  static let fields: [Field<Self>] = [
    .text("text") { $0.text }, .flag("missed") { $0.isMissed }, .view("made") { $0.push }, .text("note") { $0.note },
  ]
}
