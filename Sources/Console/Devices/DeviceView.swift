import Foundation
import JSON
import Mustache
import Model
import Store

/// `/devices/:id`: one device, its history, and the actions on it.
struct DeviceView: PageView {
  static let template = "devices/show"
  static let section: Section? = .devices

  let device: Device
  /// Whether the reader marked it as their own.
  let isOwn: Bool
  /// The simulated phone that has its token now.
  let phone: Int64?
  let app: App
  let platform: String
  let now: Date
  /// Nil if the device is active.
  let parked: ParkedDevice?
  /// Pushes without an outcome yet.
  let waiting: [DeviceWaitingRow]
  let deliveries: [DeviceDeliveryRow]
  /// Days that deliveries are kept; 0: forever.
  let keptDays: Int
  let events: [DeviceEventRow]
  let form: DeviceEditView
  /// Nil: the device is not registered with JPush.
  let jpush: JPushDeviceView?

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.device.id)) },
    .text("title") { $0.device.heading },
    .view("state") { DeviceStateView(state: $0.device.state) },
    .flag("own") { $0.isOwn },
    .optional("phone_href") { $0.phone.map { "/phones?phone=\($0)" } },
    .text("app") { $0.app.name },
    .text("bundle_id") { $0.app.bundleID },
    .flag("production") { $0.device.environment == .production },
    .text("platform") { $0.platform },
    .view("seen") { MomentView(date: $0.device.seenAt, now: $0.now) },
    .view("parked") { $0.parked },
    .flag("has_pushes") { !$0.deliveries.isEmpty || !$0.waiting.isEmpty },
    .flag("has_deliveries") { !$0.deliveries.isEmpty },
    .list("waiting") { $0.waiting },
    .view("shown") { CountView(count: $0.deliveries.count) },
    .list("deliveries") { $0.deliveries },
    .view("kept") { $0.keptDays == 0 ? nil : CountView(count: $0.keptDays) },
    .list("events") { $0.events },
    .view("about") { DeviceFactsView(device: $0.device, app: $0.app, now: $0.now) },
    .text("token") { $0.device.tokenText },
    .view("form") { $0.form },
    .view("jpush") { $0.jpush },
  ]
}

/// Why nothing is sent to a device, and how to change that.
struct ParkedDevice: View {
  let isDead: Bool
  let date: Date
  let reason: String
  /// Nil for a reason that is no code.
  let words: ReasonWords?
  /// The environment that the token may belong to instead.
  let other: Environment
  let otherName: String

  static let fields: [Field<Self>] = [
    .flag("is_dead") { $0.isDead },
    .written("date") { $1.write(utc: $0.date) },
    .text("reason") { $0.reason },
    .text("code") { $0.reason },
    .view("words") { $0.words },
    .text("other") { $0.other.rawValue },
    .text("environment") { $0.otherName },
  ]
}

/// The outcome of one push on the device.
struct DeviceDeliveryRow: View {
  let item: Delivery.WithPush
  let title: String
  let outcome: String
  let now: Date

  static let fields: [Field<Self>] = [
    .written("href") { row, output in
      output.write("/pushes/" as StaticString)
      output.write(row.item.uid)
      output.write("/deliveries/" as StaticString)
      output.write(Int(row.item.delivery.deviceID))
    },
    .text("title") { $0.title },
    .text("outcome") { $0.outcome },
    .text("tone") { $0.item.delivery.outcome.tone },
    .flag("is_failed") { $0.item.delivery.outcome == .failed },
    .text("answer") { Delivery.answer($0.item.delivery.status, $0.item.delivery.reason) },
    .view("at") { MomentView(date: $0.item.delivery.at, now: $0.now) },
  ]
}

/// A push that waits to be tried again on the device.
struct DeviceWaitingRow: View {
  let item: WaitingDelivery.WithPush
  let device: Device
  let title: String
  let now: Date

  private var isRetried: Bool { item.waiting.isRetried(device.state) }

  static let fields: [Field<Self>] = [
    .text("href") { "/pushes/\($0.item.uid)/deliveries/\($0.device.id)" },
    .text("title") { $0.title },
    .text("answer") { Delivery.answer($0.item.waiting.last.status, $0.item.waiting.last.reason) },
    .flag("inactive") { !$0.isRetried },
    .view("due") { row in
      row.item.waiting.isUnderWay || !row.isRetried ? nil : MomentView(date: row.item.waiting.dueAt, now: row.now)
    },
  ]
}

struct DeviceFactsView: View {
  let device: Device
  let app: App
  let now: Date

  static let fields: [Field<Self>] = [
    .written("app_id") { $1.write(Int($0.app.id)) },
    .text("app") { $0.app.name },
    .text("provider") { $0.device.provider.name },
    .optional("alias") { $0.device.alias },
    .list("tags") { $0.device.tags },
    .flag("has_tags") { !$0.device.tags.isEmpty },
    .optional("registration_id") { $0.device.registrationID },
    .optional("app_version") { $0.device.details.appVersion },
    .optional("time_zone") { $0.device.details.timeZone },
    .optional("language") { $0.device.details.language },
    .view("created") { MomentView(date: $0.device.createdAt, now: $0.now) },
    .view("registered") { MomentView(date: $0.device.registeredAt, now: $0.now) },
    .view("seen") { MomentView(date: $0.device.seenAt, now: $0.now) },
  ]
}

struct DeviceEditView: View {
  let form: Form
  let errors: FieldErrors
  let problem: String?
  /// Some of the app's, for browsers without script.
  let tags: [String]

  static let fields: [Field<DeviceEditView>] =
    names.map { name in .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) } }
    + [.optional("problem") { $0.problem }, .list("tag_names") { $0.tags }]

  static let names = ["name", "alias", "tags", "language"]
}

struct DeviceEventRow: View {
  let text: String
  /// Added and removed values, and who changed them.
  let detail: String
  let tone: String
  let at: Date
  let now: Date

  static let fields: [Field<Self>] = [
    .text("text") { $0.text },
    .text("detail") { $0.detail },
    .text("tone") { $0.tone },
    .view("at") { MomentView(date: $0.at, now: $0.now) },
  ]
}

extension DeviceEventRow {
  init(_ event: DeviceEvent, _ texts: Texts, now: Date) {
    func member(_ name: String) -> String {
      let text = event.detail?[name]?.string ?? ""
      if let environment = Environment(rawValue: text), event.kind == .environmentChanged {
        return environment.word(texts)
      }
      return text.isEmpty ? texts("devices.events.nobody") : text
    }
    func list(_ name: String) -> String? {
      let names = event.detail?[name]?.array?.compactMap(\.string) ?? []
      return names.isEmpty ? nil : texts("devices.events.\(name)", ["tags": texts.list(names)])
    }
    let dropped = event.kind == .merged ? event.detail?["alias"]?.string : nil
    let by = event.detail?["by"]?.string.map { texts("devices.events.by", ["who": ActivityActor($0).name(texts)]) }
    self.init(
      text: texts(
        "devices.events.\(event.kind.rawValue)",
        ["from": member("from"), "to": member("to"), "reason": event.detail?["reason"]?.string ?? ""]),
      detail: texts.phrases(
        [
          list("added"), list("removed"), dropped.map { texts("devices.events.dropped", ["alias": $0]) }, by,
        ].compactMap { $0 }),
      tone: Self.tone(event.kind), at: event.at, now: now)
  }

  /// The CSS class of the dot: state changes have a color.
  private static func tone(_ kind: DeviceEvent.Kind) -> String {
    switch kind {
    case .registered, .revived, .released, .proven: ""
    case .quarantined: "amber"
    case .declaredDead: "dead"
    default: "none"
    }
  }
}

/// Asks for confirmation before a device is deleted.
struct DeviceRemovalView: PageView {
  static let template = "devices/remove"
  static let section: Section? = .devices

  let device: Device
  let app: App
  let events: Int

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.device.id)) },
    .text("device") { $0.device.heading },
    .text("app") { $0.app.name },
    .view("history") { CountView(count: $0.events) },
    .view("tags") { $0.device.tags.isEmpty ? nil : CountView(count: $0.device.tags.count) },
    .optional("alias") { $0.device.alias },
  ]
}

struct NewDeviceView: PageView {
  static let template = "devices/new"
  static let section: Section? = .devices

  let form: Form
  let errors: FieldErrors
  let hasApps: Bool
  let apps: [ChoiceView]
  let environments: [ChoiceView]
  let platforms: [ChoiceView]
  let providers: [ChoiceView]
  /// Some of the app's, for browsers without script.
  let tags: [String]

  private static let typed = ["token", "alias", "tags", "registration_id", "name"]

  static let fields: [Field<NewDeviceView>] =
    typed.map { name in .view(name) { FieldView(value: $0.form.raw(name), error: $0.errors[name]) } } + others

  private static let others: [Field<NewDeviceView>] = [
    .optional("problem") { $0.errors.others(typed + ["app", "environment", "platform", "provider"]) },
    .flag("has_apps") { $0.hasApps },
    .list("tag_names") { $0.tags },
    .view("app") { FieldView(error: $0.errors["app"], choices: $0.apps) },
    .view("environment") { FieldView(error: $0.errors["environment"], choices: $0.environments) },
    .view("platform") { FieldView(error: $0.errors["platform"], choices: $0.platforms) },
    .view("provider") { FieldView(error: $0.errors["provider"], choices: $0.providers) },
  ]
}
