import Foundation
import Mustache
import Model
import Store

struct DeviceListView: PageView {
  static let template = "devices/index"
  static let section: Section? = .devices

  let total: Int
  /// Parked and retired devices.
  let unreachable: Int
  let filter: DeviceFilterView
  let problem: String?
  let devices: [DeviceRow]
  let exports: ExportLinks
  /// What can be done with those that are chosen.
  let actions: [ChoiceView]
  /// How many rows there are, and which of how many.
  let shown: String
  /// The address's query, to come back to.
  let query: String
  let pager: PagerView

  static let fields: [Field<Self>] = [
    .number("count") { $0.total },
    .view("unreachable") { list in
      list.unreachable > 0 ? UnreachableDevices(count: list.unreachable, total: list.total) : nil
    },
    .view("filter") { $0.filter },
    .optional("problem") { $0.problem },
    .list("devices") { $0.devices },
    .flag("has_devices") { !$0.devices.isEmpty },
    .view("exports") { $0.devices.isEmpty ? nil : $0.exports },
    .view("actions") { FieldView(choices: $0.actions) },
    .text("query") { $0.query },
    .text("shown") { $0.shown },
    .view("pager") { $0.pager },
  ]
}

struct UnreachableDevices: View {
  let count: Int
  let total: Int

  static let fields: [Field<Self>] = [.number("count") { $0.count }, .number("total") { $0.total }]
}

/// The filter form, filled in as submitted.
struct DeviceFilterView: View {
  let search: String
  let apps: [ChoiceView]
  let environments: [ChoiceView]
  let platforms: [ChoiceView]
  let providers: [ChoiceView]
  let states: [ChoiceView]
  let isActive: Bool

  static let fields: [Field<Self>] = [
    .text("q") { $0.search },
    .view("app") { FieldView(choices: $0.apps) },
    .view("environment") { FieldView(choices: $0.environments) },
    .view("platform") { FieldView(choices: $0.platforms) },
    .view("provider") { FieldView(choices: $0.providers) },
    .view("state") { FieldView(choices: $0.states) },
    .flag("active") { $0.isActive },
  ]
}

struct DeviceRow: View {
  /// More tags do not fit on the line.
  private static let shownTags = 3

  let device: Device
  let app: String
  let platform: String
  let now: Date
  /// Whether it can be chosen for ``DeviceBatch``.
  var isChoosable = false
  var isChosen = false

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.device.id)) },
    .flag("choosable") { $0.isChoosable },
    .flag("chosen") { $0.isChosen },
    .text("title") { $0.device.heading },
    // The heading already shows it.
    .optional("alias") { $0.device.alias == $0.device.heading ? nil : $0.device.alias },
    .optional("short_token") { $0.device.token.abbreviated == $0.device.heading ? nil : $0.device.token.abbreviated },
    .text("token") { $0.device.tokenText },
    .text("app") { $0.app },
    .flag("production") { $0.device.environment == .production },
    .text("platform") { $0.platform },
    .list("tags") { Array($0.device.tags.prefix(shownTags)) },
    .number("more_tags") { max(0, $0.device.tags.count - shownTags) },
    .view("state") { DeviceStateView(state: $0.device.state) },
    .optional("reason") { $0.device.stateReason },
    .view("seen") { MomentView(date: $0.device.seenAt, now: $0.now) },
  ]
}

/// For `devices/_state`.
struct DeviceStateView: View {
  let state: DeviceState

  static let fields: [Field<Self>] = [
    .flag("active") { $0.state == .active },
    .flag("quarantined") { $0.state == .quarantined },
    .flag("dead") { $0.state == .dead },
    .text("tone") { $0.tone },
  ]

  /// The CSS class of the dot.
  private var tone: String {
    switch state {
    case .active: ""
    case .quarantined: "amber"
    case .dead: "dead"
    }
  }
}
