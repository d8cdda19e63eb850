import Foundation
import Model
import Mustache
import Store

/// `/audiences/segments/:id`.
struct SegmentView: PageView {
  static let template = "audiences/segment"
  static let section: Section? = .audiences

  let segment: Segment
  let app: App
  let words: String
  /// Empty: counting took too long.
  let counts: [SegmentCountView]
  let uses: [SegmentUseView]
  /// Why no devices are listed.
  let problem: String?
  let devices: [DeviceRow]
  /// How many are listed, of how many if they could be counted in time.
  let shown: String
  let exports: ExportLinks
  let pager: PagerView
  let mayChange: Bool
  let now: Date
  /// Some of the app's, for browsers without script.
  let deviceNames: [String]
  let environments: [ChoiceView]

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.segment.id)) },
    .text("name") { $0.segment.name },
    .text("value") { Form.parts([$0.segment.name]) },
    .text("words") { $0.words },
    .text("app") { $0.app.name },
    .text("bundle_id") { $0.app.bundleID },
    .text("author") { $0.segment.createdBy },
    .view("changed") { MomentView(date: $0.segment.changedAt, now: $0.now) },
    .list("counts") { $0.counts },
    .flag("has_counts") { !$0.counts.isEmpty },
    .list("uses") { $0.uses },
    .flag("has_uses") { !$0.uses.isEmpty },
    .optional("problem") { $0.problem },
    .list("devices") { $0.devices },
    .flag("has_devices") { !$0.devices.isEmpty },
    .text("shown") { $0.shown },
    .view("exports") { $0.devices.isEmpty ? nil : $0.exports },
    .view("pager") { $0.pager },
    .flag("may_change") { $0.mayChange },
    .list("device_names") { $0.deviceNames },
    .view("environment") { FieldView(choices: $0.environments) },
    .text("send") {
      "/pushes/new?app=\(ConsoleRouter.escaped($0.app.bundleID))&segment=\(ConsoleRouter.escaped($0.segment.name))"
    },
  ]
}

/// A segment's devices in an environment.
struct SegmentCountView: View {
  let environment: String
  let reachable: Int
  let total: Int
  let isProduction: Bool

  static let fields: [Field<Self>] = [
    .text("environment") { $0.environment },
    .flag("production") { $0.isProduction },
    .text("reachable") { $0.reachable.grouped },
    .text("total") { $0.total.grouped },
  ]
}

/// A schedule or a waiting push that sends to a segment.
struct SegmentUseView: View {
  let href: String
  let title: String
  let kind: String

  static func list(_ uses: Segment.Uses, _ texts: Texts) -> [SegmentUseView] {
    uses.schedules.map { schedule in
      SegmentUseView(
        href: "/schedules/\(schedule.uid)",
        title: texts.heading(schedule.title, schedule.body),
        kind: texts("segments.schedule"))
    }
      + uses.pushes.map {
        SegmentUseView(href: "/pushes/\($0.uid)", title: $0.heading(texts), kind: texts("segments.push"))
      }
  }

  static let fields: [Field<Self>] = [
    .text("href") { $0.href },
    .text("title") { $0.title },
    .text("kind") { $0.kind },
  ]
}

/// The form of a new or known segment.
struct SegmentFormView: PageView {
  static let template = "audiences/edit"
  static let section: Section? = .audiences

  /// Nil: a new one.
  let segment: Segment?
  let form: Form
  let errors: FieldErrors
  let apps: [App]
  /// Some of the app's, for browsers without script.
  let tags: [String]
  let texts: Texts

  static let fields: [Field<Self>] = typed + chosen + state

  private static let typed: [Field<Self>] = (SegmentForm.texts + SegmentForm.lists).map { name in
    .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) }
  }

  private static let state: [Field<Self>] = [
    .flag("is_known") { $0.segment != nil },
    .text("action") { "/audiences/segments" + ($0.segment.map { "/\($0.id)" } ?? "") },
    .text("known") { $0.segment?.name ?? "" },
    .optional("problem") { $0.errors.others(named) },
    .optional("revision") { $0.form.filled(Revision.field) },
    .list("tag_names") { $0.tags },
    .text("bundle_id") { view in
      view.apps.first { $0.id == view.segment?.appID }?.bundleID ?? view.form["app"]
    },
  ]

  private static let chosen: [Field<Self>] = [
    choice("app") { ChoiceView.apps($0.apps, none: $0.texts("send.choose_app"), chosen: $0.form["app"]) },
    choice("platforms") { view in
      SendForm.choices(
        Platform.allCases.map { ($0.rawValue, view.texts("platform.\($0.rawValue)")) },
        chosen: view.form.all("platforms"))
    },
    choice("environment") { view in
      let any = ChoiceView(
        value: "", label: view.texts("segments.any_environment"), isSelected: view.form["environment"].isEmpty)
      return [any] + SendForm(form: view.form).environments(view.texts)
    },
    choice("last_seen") { view in
      ["", "within_days", "over_days"].map { value in
        ChoiceView(
          value: value, label: view.texts("segments.last_seen_\(value.isEmpty ? "any" : value)"),
          isSelected: value == view.form["last_seen"])
      }
    },
  ]

  private static func choice(_ name: String, _ choices: @escaping @Sendable (Self) -> [ChoiceView]) -> Field<Self> {
    .view(name) { FieldView(error: $0.errors[name], choices: choices($0)) }
  }

  private static let named = SegmentForm.texts + SegmentForm.lists + ["app", "platforms", "environment"]
}

/// Asks before a segment is deleted.
struct SegmentRemovalView: PageView {
  static let template = "audiences/remove"
  static let section: Section? = .audiences

  let segment: Segment
  let uses: [SegmentUseView]

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.segment.id)) },
    .text("name") { $0.segment.name },
    .list("uses") { $0.uses },
    .flag("has_uses") { !$0.uses.isEmpty },
  ]
}
