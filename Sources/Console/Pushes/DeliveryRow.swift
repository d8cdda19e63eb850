import Foundation
import Mustache
import Model
import Store

/// One page of a push's devices.
struct PushDevicesView: View {
  let search: String
  let outcomes: [ChoiceView]
  /// Whether the outcomes are final: then each is shown with its number, and those without devices are left out.
  let isCounted: Bool
  /// Empty, as the next two: there is nothing to choose.
  let platforms: [ChoiceView]
  let providers: [ChoiceView]
  let receipts: [ChoiceView]
  let isFiltered: Bool
  /// Whether the push was handed to the engine.
  let hasStarted: Bool
  let csv: String
  let json: String
  /// When the details were removed, and why; empty while they exist.
  let gone: String
  /// Whether only devices without an outcome are asked for. They are not in the files.
  let isWaiting: Bool
  let waiting: [WaitingRow]
  /// Whether more devices wait than are shown above the others.
  let hasMoreWaiting: Bool
  let rows: [DeliveryRow]
  let shown: String
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .text("q") { $0.search },
    .view("outcome") { FieldView(choices: $0.outcomes) },
    .flag("counted") { $0.isCounted },
    .view("platform") { $0.platforms.isEmpty ? nil : FieldView(choices: $0.platforms) },
    .view("provider") { $0.providers.isEmpty ? nil : FieldView(choices: $0.providers) },
    .view("receipt") { $0.receipts.isEmpty ? nil : FieldView(choices: $0.receipts) },
    .flag("has_choice") { $0.outcomes.count > 2 },
    // Before that there is nothing to look through.
    .flag("has_filters") { $0.hasStarted || $0.isFiltered },
    .flag("active") { $0.isFiltered },
    .text("csv") { $0.csv },
    .text("json") { $0.json },
    .text("gone") { $0.gone },
    .flag("has_files") { $0.gone.isEmpty && !$0.isWaiting },
    .flag("only_waiting") { $0.isWaiting },
    .list("waiting") { $0.waiting },
    .flag("has_waiting") { !$0.waiting.isEmpty },
    .flag("has_more_waiting") { $0.hasMoreWaiting },
    .list("rows") { $0.rows },
    .flag("has_rows") { !$0.rows.isEmpty },
    .flag("has_reports") { view in view.rows.contains { !$0.reported.isEmpty } },
    .flag("has_devices") { !$0.rows.isEmpty || !$0.waiting.isEmpty },
    .text("shown") { $0.shown },
    .view("pager") { $0.pager },
  ]
}

struct DeliveryRow: View {
  let push: String
  let item: Delivery.WithDevice
  let title: String
  let summary: String
  let outcomeText: String
  let duration: String
  /// The last thing that the app reported, such as “Opened”; empty: nothing.
  let reported: String

  init(_ item: Delivery.WithDevice, push: Push, _ draft: PushDraft?, texts: Texts) {
    self.push = push.uid
    self.item = item
    let token = item.device?.token.abbreviated ?? texts("push.removed_device")
    title = item.device?.name ?? token
    let language = item.variant.map { draft?.language(of: $0)?.text ?? texts("send.default_text") }
    summary = [item.device?.alias, language, item.device?.name == nil ? nil : token].compactMap { $0 }
      .joined(separator: " · ")
    outcomeText = texts("words.\(item.delivery.outcome.name)")
    duration = texts.duration(milliseconds: item.delivery.durationMilliseconds)
    let last: [ReceiptKind] = [.opened, .dismissed, .displayed]
    reported = last.first { item.receipt?[$0] != nil }.map { texts("receipts.\($0.name)") } ?? ""
  }

  static let fields: [Field<Self>] = [
    .written("href") { row, output in
      output.write("/pushes/" as StaticString)
      output.write(row.push)
      output.write("/deliveries/" as StaticString)
      output.write(Int(row.item.delivery.deviceID))
    },
    .text("title") { $0.title },
    .flag("is_token") { $0.item.device?.name == nil },
    .text("summary") { $0.summary },
    .text("tone") { $0.item.delivery.outcome.tone },
    .text("outcome_text") { $0.outcomeText },
    .flag("has_status") { $0.item.delivery.status != 0 },
    .written("status") { $1.write($0.item.delivery.status) },
    .optional("reason") { $0.item.delivery.reason },
    .flag("failed") { $0.item.delivery.outcome == .failed },
    .flag("tried") { $0.item.delivery.attempts > 0 },
    .written("attempts") { $1.write($0.item.delivery.attempts) },
    .text("duration") { $0.duration },
    .text("reported") { $0.reported },
  ]
}

/// A device that waits to be tried again.
struct WaitingRow: View {
  let item: WaitingDelivery.Listed
  let push: String
  let texts: Texts
  let now: Date

  private var token: String { item.device?.token.abbreviated ?? texts("push.removed_device") }

  static let fields: [Field<Self>] = [
    .text("href") { "/pushes/\($0.push)/deliveries/\($0.item.waiting.deviceID)" },
    .text("title") { $0.item.device?.name ?? $0.token },
    .flag("is_token") { $0.item.device?.name == nil },
    .text("summary") { row in
      [row.item.device?.alias, row.item.device?.name == nil ? nil : row.token].compactMap { $0 }
        .joined(separator: " · ")
    },
    .flag("has_status") { $0.item.waiting.last.status != 0 },
    .written("status") { $1.write($0.item.waiting.last.status) },
    .text("reason") { $0.item.waiting.last.reason ?? "" },
    .text("attempts") { row in
      let attempts = row.item.waiting.attempts
      return attempts == 0 ? row.texts("push.untried") : attempts.grouped
    },
    .view("due") { row in
      row.item.waiting.isUnderWay || !row.item.isRetried
        ? nil : MomentView(date: row.item.waiting.dueAt, now: row.now)
    },
    .flag("inactive") { !$0.item.isRetried },
  ]
}

extension OutcomeKind {
  /// The CSS class of the dot.
  var tone: String {
    switch self {
    case .accepted: ""
    case .failed: "red"
    case .deadToken: "dead"
    case .skipped: "none"
    case .unknown: "amber"
    }
  }

  /// The CSS class of the color in the bar's legend.
  var colour: String {
    switch self {
    case .accepted: "acc"
    case .failed: "fail"
    case .deadToken: "dead"
    case .skipped: "left"
    case .unknown: "unknown"
    }
  }
}
