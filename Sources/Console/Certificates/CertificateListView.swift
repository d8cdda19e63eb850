import Certificates
import Foundation
import Mustache
import Model
import Store

/// `/certificates`: the list by expiry date, and the forms to add files and hosts.
struct CertificateListView: PageView {
  static let template = "certificates/index"
  static let section: Section? = .certificates

  let list: ExpiryListView
  let sealing: SealingNotice?
  /// Nil for people who may not upload.
  let upload: CertificateUploadView?
  /// Nil for people who may not add a host.
  let watch: WatchHostView?
  let calendar: CalendarView?

  static let fields: [Field<Self>] = [
    .view("list") { $0.list },
    .view("sealing") { $0.sealing },
    .flag("may_change") { $0.upload != nil },
    // A refused form comes first.
    .view("refused") { $0.upload?.state.isRefused == true ? $0.upload : nil },
    .view("upload") { $0.upload?.state.isRefused == true ? nil : $0.upload },
    .view("watch") { $0.watch },
    .view("calendar") { $0.calendar },
  ]
}

/// Everything that expires, in pages, for `certificates/index`.
struct ExpiryListView: View {
  let counts: ExpiryCounts
  let bands: [BandLink]
  let filter: ExpiryFilterView
  let rows: [ExpiryRow]
  let exports: ExportLinks
  let pager: PagerView
  let timeline: ExpiryTimeline
  /// The next item to expire; nil with a filter and on later pages.
  let next: ExpiryRow?

  static let fields: [Field<Self>] = [
    .view("counts") { $0.counts },
    .list("bands") { $0.bands },
    .view("filter") { $0.filter },
    .list("rows") { $0.rows },
    .flag("has_rows") { !$0.rows.isEmpty },
    .flag("filterable") { !$0.rows.isEmpty || $0.filter.isActive && $0.counts.total > 0 },
    .view("shown") { CountView(count: $0.rows.count) },
    .view("exports") { $0.rows.isEmpty ? nil : $0.exports },
    .view("pager") { $0.pager },
    .view("timeline") { $0.timeline.total > 0 ? $0.timeline : nil },
    .view("next") { $0.next },
  ]
}

/// The counts in the heading. Only the most severe one is shown.
struct ExpiryCounts: View {
  let expired: Int
  /// Items that expire within 30 days.
  let due: Int
  let failing: Int
  let total: Int

  static let fields: [Field<Self>] = [
    .view("expired") { $0.expired > 0 ? CountView(count: $0.expired) : nil },
    .view("due") { $0.expired == 0 && $0.due > 0 ? CountView(count: $0.due) : nil },
    .view("failing") { $0.expired + $0.due == 0 && $0.failing > 0 ? CountView(count: $0.failing) : nil },
    .flag("fine") { $0.expired + $0.due + $0.failing == 0 && $0.total > 0 },
    .flag("none") { $0.total == 0 },
  ]
}

/// A band with its number of items and its link.
struct BandLink: View {
  let band: String
  let label: String
  let count: Int
  let tone: String

  static let fields: [Field<Self>] = [
    .text("band") { $0.band },
    .text("label") { $0.label },
    .number("count") { $0.count },
    .text("tone") { $0.tone },
  ]
}

/// The filter fields above the list, with the chosen values.
struct ExpiryFilterView: View {
  let search: String
  let bands: [ChoiceView]
  let kinds: [ChoiceView]
  let apps: [ChoiceView]
  /// Days, set when a week of the timeline was chosen.
  let span: SpanView?
  let isActive: Bool

  static let fields: [Field<Self>] = [
    .text("q") { $0.search },
    .view("band") { FieldView(choices: $0.bands) },
    .view("kind") { FieldView(choices: $0.kinds) },
    .view("app") { FieldView(choices: $0.apps) },
    .view("span") { $0.span },
    .flag("active") { $0.isActive },
  ]
}

/// From one day up to, but not including, another.
struct SpanView: View {
  let from: String
  let before: String
  /// Both days in the form of the language.
  let shown: (from: String, before: String)

  static let fields: [Field<Self>] = [
    .text("machine_from") { $0.from },
    .text("machine_before") { $0.before },
    .text("from") { $0.shown.from },
    .text("before") { $0.shown.before },
  ]
}

/// An item that expires, with its runway.
struct ExpiryRow: View {
  let href: String
  let name: String
  /// What the line below the name says, the most important first.
  let about: [String]
  let band: Expiry.Band
  /// The band, or that the check fails.
  let state: String
  let notAfter: Date?
  /// Whole days; nil without an expiry date.
  let days: Int?
  /// False for a host whose certificate has not been seen yet.
  var isKnown = true
  var isFailing = false
  var isReplaced = false
  /// The apps that send with a certificate, or the findings about a host.
  let usedBy: [String]

  static let fields: [Field<ExpiryRow>] = [
    .text("href") { $0.href },
    .text("name") { $0.name },
    .text("about") { $0.about.filter { !$0.isEmpty }.joined(separator: " · ") },
    .flag("known") { $0.isKnown },
    .text("tone") { $0.tone },
    // “Never” says it already.
    .optional("state") { $0.isFailing || $0.isReplaced || $0.isKnown && $0.days != nil ? $0.state : nil },
    .text("state_tone") { $0.isFailing ? "red" : $0.isReplaced ? "none" : $0.tone },
    .view("ends") { row in row.notAfter.map { MomentView(date: $0) } },
    // Nothing is left of what was never valid, though it ends on a later day.
    .view("left") { row in row.band == .expired ? nil : row.days.flatMap { $0 > 0 ? CountView(count: $0) : nil } },
    .flag("last_day") { $0.days == 0 && $0.band != .expired },
    // Days are rounded down: one that expired 25 hours ago has -2.
    .view("past") { Expiry.daysSince(daysLeft: $0.days).flatMap { $0 > 0 ? CountView(count: $0) : nil } },
    .flag("past_day") { Expiry.daysSince(daysLeft: $0.days) == 0 },
    .flag("never") { $0.isKnown && $0.days == nil },
    .view("lane") { $0.lane },
    .list("used_by") { $0.usedBy },
  ]

  /// A replaced item raises no alarm, so it has no color.
  private var tone: String { isKnown && !isReplaced ? band.tone : "" }
  private var lane: RunwayView? { days.map { RunwayView(days: max(0, $0), tone: tone) } }
}

/// The remaining time, as a line from today to the expiry date.
struct RunwayView: View {
  let days: Int
  /// The tone of the band.
  let tone: String

  static let fields: [Field<Self>] = [
    .written("end") { $1.write(hundredths: Self.x($0.days)) },
    .text("color") { $0.tone == "red" || $0.tone == "amber" ? $0.tone : "acc" },
  ]

  /// Days and their positions, in hundredths of a percent. The first 60 days take most of the width: that is the time
  /// to act.
  private static let marks = [(0, 0), (7, 1400), (14, 2600), (30, 4600), (60, 7000), (182, 8400), (365, 10_000)]

  private static func x(_ days: Int) -> Int {
    for (low, high) in zip(marks, marks.dropFirst()) where days <= high.0 {
      return low.1 + (high.1 - low.1) * (days - low.0) / (high.0 - low.0)
    }
    return 10_000
  }
}

/// The form “Watch a host”, for `certificates/_watch`.
struct WatchHostView: View {
  let form: Form
  let errors: FieldErrors
  let protocols: [ChoiceView]

  static let fields: [Field<WatchHostView>] =
    ["host", "server_name", "note"].map { name in
      .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
    } + [.view("protocol") { FieldView(error: $0.errors["protocol"], choices: $0.protocols) }]
}

/// `/certificates` after “Inspect”: shows what a file contains without saving it.
struct CertificateFileView: PageView {
  static let template = "certificates/inspected"
  static let section: Section? = .certificates

  let name: String
  let details: FileDetailsView
  /// The stored certificate, if the same file is stored already.
  let known: LinkView?
  /// Nil for a file that cannot send, or that is stored: its own page says what uses it.
  let reach: FileReachView?
  let upload: CertificateUploadView
  /// Fields of a form that shows the page in another language.
  let repeated: [HiddenFieldView]

  static let fields: [Field<Self>] = [
    .text("title") { $0.name },
    .list("repeated") { $0.repeated },
    .view("details") { $0.details },
    .view("known") { $0.known },
    .view("reach") { $0.reach },
    .view("upload") { $0.upload },
  ]
}
