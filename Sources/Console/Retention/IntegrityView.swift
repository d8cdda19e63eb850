import Foundation
import Mustache
import Store

/// The last check of the database, for `settings/_check`.
struct IntegrityView: View {
  let report: IntegrityReport?
  /// Since when a check runs; nil: none does.
  let since: Date?
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .view("since") { view in view.since.map { MomentView(date: $0, now: view.now) } },
    .view("report") { view in view.report.map { IntegrityReportView(report: $0, texts: view.texts, now: view.now) } },
  ]
}

struct IntegrityReportView: View {
  let report: IntegrityReport
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("tone") { $0.isSound ? "accent" : "red" },
    .text("icon") { $0.isSound ? "check" : "error" },
    .text("heading") { $0.texts($0.isSound ? "about.sound" : "about.unsound") },
    .text("file") { view in
      view.report.faults == 0
        ? view.texts("about.file_sound") : view.texts("about.file_faults", count: Int(view.report.faults))
    },
    .list("sentences") { $0.report.sentences },
    .text("log") { view in
      let checked = view.texts("activity.checked", count: Int(view.report.logEntries))
      let verdict =
        view.report.logFaults == 0
        ? view.texts("about.log_sound") : view.texts("about.log_faults", count: Int(view.report.logFaults))
      return [verdict, checked].sentences
    },
    .flag("log_broken") { $0.report.logFaults > 0 },
    .flag("unsound") { $0.report.faults > 0 },
    .text("by") { $0.report.by },
    .text("took") { $0.took },
    .view("at") { MomentView(date: $0.report.at, now: $0.now) },
  ]

  private var isSound: Bool { report.faults == 0 && report.logFaults == 0 }

  /// As “0.4 s”.
  private var took: String { String(format: "%.1f s", max(0.1, Double(report.milliseconds) / 1000)) }
}
