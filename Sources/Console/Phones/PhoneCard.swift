import Calendar
import Foundation
import JSON
import Mustache
import Model
import Simulator
import Store

/// One phone: its lock screen, received notifications, and actions.
struct PhoneCard: View {
  /// More are stored; the page lists the newest.
  private static let listed = 20
  /// A lock screen has no room for more.
  private static let onScreen = 3

  let phone: SimulatedPhone
  let app: App?
  /// The device registered with this phone's token.
  let device: Int64?
  let environment: String
  /// The phone's current state as text.
  let state: String
  let appStates: [PhoneButton]
  let power: PhoneButton
  let install: PhoneButton
  let notifications: [PhoneNotificationRow]
  let now: Date

  static let fields: [Field<Self>] = [
    .written("id") { $1.write(Int($0.phone.id)) },
    .text("name") { $0.phone.name },
    .text("model") { $0.phone.model },
    .text("app") { $0.app?.name ?? $0.phone.topic },
    .written("app_href") { card, output in
      output.write("/apps" as StaticString)
      guard let app = card.app else { return }
      output.write("/" as StaticString)
      output.write(Int(app.id))
    },
    .text("environment") { $0.environment },
    .flag("production") { $0.phone.environment == .production },
    .text("token") { $0.phone.tokenHex },
    .text("short_token") { $0.phone.token.abbreviated },
    .view("device") { $0.device.map { PhoneDevice(id: $0) } },
    .flag("is_off") { $0.isOff },
    .text("state") { $0.state },
    .view("time") { MomentView(date: $0.now) },
    .written("clock") { $1.write(clock: $0.now) },
    .list("screen") { $0.isOff ? [] : Array($0.notifications.filter { !$0.isSilent }.prefix(onScreen)) },
    .list("app_states") { $0.appStates },
    .view("power") { $0.power },
    .view("install") { $0.install },
    .list("notifications") { $0.notifications },
    .flag("has_notifications") { !$0.notifications.isEmpty },
    .view("waiting") { $0.phone.waiting.isEmpty ? nil : CountView(count: $0.phone.waiting.count) },
  ]

  private var isOff: Bool { phone.power == .off }
}

extension PhoneCard {
  init(_ phone: SimulatedPhone, app: App?, device: Int64?, texts: Texts, now: Date) {
    let isInstalled = phone.state == .installed
    let isOff = phone.power == .off
    let state = isOff ? "off" : isInstalled ? phone.appState.rawValue : "uninstalled"
    func button(_ action: String) -> PhoneButton { PhoneButton(action: action, label: texts("phones.\(action)")) }
    self.init(
      phone: phone, app: app, device: device, environment: phone.environment.word(texts),
      state: texts("phones.state_\(state)"),
      appStates: SimulatedPhone.AppState.allCases.map { other in
        PhoneButton(
          action: other.rawValue, label: texts("phones.\(other.rawValue)"),
          isPressed: isInstalled && phone.appState == other, isDisabled: isOff || !isInstalled)
      }, power: button(isOff ? "on" : "off"), install: button(isInstalled ? "uninstall" : "reinstall"),
      notifications: phone.received.prefix(Self.listed).map {
        PhoneNotificationRow(
          $0, on: phone, app: app?.name ?? phone.topic, canTap: isInstalled && !isOff, texts: texts, now: now)
      }, now: now)
  }
}

struct PhoneDevice: View {
  let id: Int64

  static let fields: [Field<Self>] = [.written("device") { $1.write(Int($0.id)) }]
}

/// An action on a phone.
struct PhoneButton: View {
  let action: String
  let label: String
  var isPressed = false
  var isDisabled = false

  static let fields: [Field<Self>] = [
    .text("action") { $0.action },
    .text("label") { $0.label },
    .flag("pressed") { $0.isPressed },
    .flag("disabled") { $0.isDisabled },
  ]
}
