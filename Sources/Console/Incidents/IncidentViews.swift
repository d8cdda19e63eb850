import Foundation
import JSON
import Model
import Mustache
import Store

/// `/incidents`.
struct IncidentListView: PageView {
  static let template = "incidents/index"
  static let section: Section? = .incidents

  let heading: String
  let tabs: [IncidentTab]
  let apps: [ChoiceView]
  let state: IncidentState
  let rows: [IncidentRow]
  /// Blocked credentials, above the open incidents.
  let attention: [AttentionItem]
  let empty: String
  let exports: ExportLinks
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .text("heading") { $0.heading },
    .view("exports") { $0.rows.isEmpty ? nil : $0.exports },
    .list("tabs") { $0.tabs },
    .view("app") { FieldView(choices: $0.apps) },
    .text("state") { $0.state.rawValue },
    .list("rows") { $0.rows },
    .list("attention") { $0.attention },
    .flag("needs_attention") { !$0.attention.isEmpty },
    .flag("has_rows") { !$0.rows.isEmpty },
    .flag("filterable") { !$0.rows.isEmpty || $0.apps.contains(where: \.isSelected) },
    .text("empty") { $0.empty },
    .view("pager") { $0.pager },
  ]
}

struct IncidentTab: View {
  let href: String
  let label: String
  let count: Int
  let isHere: Bool

  static let fields: [Field<Self>] = [
    .text("href") { $0.href },
    .text("label") { $0.label },
    .number("count") { $0.count },
    .flag("here") { $0.isHere },
  ]
}

struct IncidentRow: View {
  let words: IncidentWords

  static let fields: [Field<Self>] = [
    .written("href") { row, output in
      output.write("/incidents/" as StaticString)
      output.write(Int(row.words.incident.id))
    },
    .text("heading") { $0.words.heading },
    .text("cause") { $0.words.cause },
    .text("code") { $0.words.incident.cause.reason },
    .text("state") { $0.words.state },
    .text("tone") { $0.words.tone },
    .text("app") { $0.words.app?.app.name ?? "" },
    .flag("production") { $0.words.incident.place.environment == .production },
    .text("assignee") { $0.words.incident.assignee ?? "" },
    .view("last") { MomentView(date: $0.words.incident.lastAt, now: $0.words.now) },
  ]
}

/// `/incidents/:id`.
struct IncidentView: PageView {
  static let template = "incidents/show"
  static let section: Section? = .incidents

  let words: IncidentWords
  let evidence: IncidentEvidenceView?
  let chart: IncidentChart?
  let pushes: [IncidentPushRow]
  let history: [IncidentEventRow]
  let mayAct: Bool
  /// Moves the parked devices where their tokens belong, or those that were moved back; nil: nothing is to move.
  let move: LinkView?
  /// Whether ``move`` undoes a move: then it is not what the page advises.
  let movesBack: Bool
  let people: [ChoiceView]
  let form: Form
  let errors: FieldErrors

  private var incident: Incident { words.incident }
  private var state: IncidentState { incident.state(at: words.now) }
  private var reason: Reason { Reason.of(incident.cause.reason) }

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.incident.id)) },
    .text("title") { $0.words.texts("incidents.numbered", ["number": "\($0.incident.id)"]) },
    .text("heading") { $0.words.heading },
    .text("lead") { $0.words.lead },
    .text("state") { $0.words.state },
    .text("tone") { $0.words.tone },
    .flag("production") { $0.incident.place.environment == .production },
    .text("app") { $0.words.app?.app.name ?? "" },
    .text("provider") { $0.incident.place.provider.name },
    .text("code") { $0.incident.cause.reason },
    .view("words") { ReasonWords($0.reason, $0.words.texts) },
    .view("remedy") { $0.words.remedy },
    .view("move") { $0.move },
    .flag("moves_back") { $0.movesBack },
    .view("first") { MomentView(date: $0.incident.firstAt, now: $0.words.now) },
    .view("last") { MomentView(date: $0.incident.lastAt, now: $0.words.now) },
    .number("devices") { $0.incident.devices },
    .number("push_count") { $0.incident.pushes },
    .flag("counts_now") { view in
      [.parked, .unregistered].contains(view.incident.cause.kind)
        && (view.state != .closed || view.words.unreachable > 0)
    },
    .text("now_label") { $0.words.texts("incidents.now.\($0.incident.cause.kind == .parked ? "parked" : "dead")") },
    .number("unreachable") { $0.words.unreachable },
    .text("of_all") { $0.words.texts("incidents.of_all", ["all": $0.words.all.grouped]) },
    .text("assignee") { $0.incident.assignee ?? "" },
    .view("evidence") { $0.evidence },
    .view("chart") { $0.chart },
    .list("pushes") { $0.pushes },
    .flag("has_pushes") { !$0.pushes.isEmpty },
    .flag("has_more") { $0.incident.pushes > $0.pushes.count },
    .list("history") { $0.history },
    .flag("may_act") { $0.mayAct },
    .flag("closed") { $0.state == .closed },
    .flag("may_reopen") { $0.state != .open },
    .view("person") { FieldView(error: $0.errors["assignee"], choices: $0.people) },
    .view("hours") {
      FieldView(
        error: $0.errors["snoozed_until"],
        choices: ChoiceView.list(
          IncidentPages.snoozes.map { [texts = $0.words.texts] hours in
            ("\(hours)", hours < 48 ? texts("when.in_hours", count: hours) : texts("when.in_days", count: hours / 24))
          }))
    },
    .view("remark") { FieldView(value: $0.form.raw("remark"), error: $0.errors["remark"]) },
  ]
}

struct IncidentPushRow: View {
  let one: IncidentPush
  let reason: String
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("href") {
      "/pushes/\($0.one.push.uid)\($0.one.devices > 0 ? "?reason=\(ConsoleRouter.escaped($0.reason))#devices" : "")"
    },
    .text("title") { $0.one.push.heading($0.texts) },
    .view("state") { PushStateView($0.one.push, now: $0.now) },
    .flag("missed") { $0.one.devices > 0 },
    .number("devices") { $0.one.devices },
    .number("target") { $0.one.push.target ?? 0 },
    .view("last") { MomentView(date: $0.one.lastAt, now: $0.now) },
  ]
}

/// An entry of the activity log about an incident.
struct IncidentEventRow: View {
  let entry: AuditEntry
  let texts: Texts
  let now: Date

  static let fields: [Field<Self>] = [
    .text("text") { row in
      row.texts(
        "incidents.did.\(row.verb)",
        [
          "name": ActivityActor(row.entry.entry.actor).name(row.texts), "environment": row.environment,
          "person": row.assignee ?? "",
        ])
    },
    .optional("said") { $0.entry.entry.detail?["remark"]?.string },
    .optional("detail") { $0.detail },
    .text("tone") { $0.tone },
    .view("at") { MomentView(date: $0.entry.at, now: $0.now) },
  ]

  private var verb: String {
    let verb = entry.entry.action.replacing("incident.", with: "")
    return verb == "assign" && assignee == nil ? "unassign" : verb
  }

  /// Nil: the incident was unassigned.
  private var assignee: String? { entry.entry.detail?["after"]?["assignee"]?.string }

  /// Where devices were moved.
  private var environment: String {
    entry.entry.detail?["environment"]?.string.flatMap(Environment.init)?.word(texts) ?? ""
  }

  private var detail: String? {
    entry.entry.detail?["until"]?.string.map { texts("incidents.until", ["time": texts.localized($0)]) }
  }

  private var tone: String {
    switch entry.entry.action {
    case "incident.open", "incident.return": "red"
    case "incident.heal": ""
    default: "none"
    }
  }
}
