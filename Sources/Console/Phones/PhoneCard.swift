import Calendar
import Foundation
import JSON
import Mustache
import Model
import Simulator
import Store

/// The phone on the stage: its screen, and the actions on it.
struct PhoneCard: View {
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
  let notifications: [PhoneButton]
  let power: PhoneButton
  let install: PhoneButton
  /// Nil for an iPhone.
  let android: AndroidCard?
  /// What stands on the screen, newest first.
  let screen: [PhoneNotificationRow]
  /// The notification that a tap opens; nil: there is none.
  let tap: Int64?
  /// The broadcast channels of the phone's app.
  let broadcasts: [PhoneBroadcast]
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
    .text("token") { $0.phone.tokenText },
    .text("short_token") { $0.phone.token.abbreviated },
    .view("android") { $0.android },
    .view("device") { $0.device.map { PhoneDevice(id: $0) } },
    .flag("is_off") { $0.isOff },
    .text("state") { $0.state },
    .view("time") { MomentView(date: $0.now) },
    .written("clock") { $1.write(clock: $0.now) },
    .flag("alternate") { $0.phone.id % 2 == 0 },
    .list("screen") { $0.screen },
    .view("tap") { $0.tap.map { PhoneTap(notification: $0) } },
    .list("app_states") { $0.appStates },
    .list("notifications") { $0.notifications },
    .flag("denied") { $0.isDenied },
    .view("power") { $0.power },
    .view("install") { $0.install },
    .flag("has_notifications") { !$0.phone.received.isEmpty },
    .list("broadcasts") { $0.broadcasts },
    .flag("has_broadcasts") { !$0.broadcasts.isEmpty },
    .view("waiting") { $0.phone.waiting.isEmpty ? nil : CountView(count: $0.phone.waiting.count) },
  ]

  private var isOff: Bool { phone.power == .off }
  private var isDenied: Bool { phone.state == .installed && phone.notifications == .off }
}

extension PhoneCard {
  init(
    _ phone: SimulatedPhone, app: App?, device: Int64?, channels: [ChannelBook.Channel], chosen: Int64? = nil,
    texts: Texts, now: Date
  ) {
    let isInstalled = phone.state == .installed
    let isOff = phone.power == .off
    let isDozing = phone.android?.isDozing == true && isInstalled
    let state = isOff ? "off" : isDozing ? "dozing" : isInstalled ? phone.appState.rawValue : "uninstalled"
    func button(_ action: String) -> PhoneButton { PhoneButton(action: action, label: texts("phones.\(action)")) }
    // With the app, its notifications went, and with the permission; Live Activities have one of their own.
    let activities = phone.activities
    func isGone(_ item: ReceivedNotification) -> Bool {
      activities[item.id].map { $0.current != item.id || $0.isDismissed(at: now) } ?? (phone.notifications == .off)
    }
    let shown = isOff || !isInstalled ? [] : phone.received.filter { $0.isShown && !isGone($0) }
    let open = shown.filter { $0.tapped == nil }
    // The lock screen stacks what has the same thread, with the newest on top.
    var stacks: [(top: ReceivedNotification, count: Int)] = []
    var places: [String: Int] = [:]
    for item in shown {
      let thread = activities[item.id] == nil ? item.json["aps"]?["thread-id"]?.string : nil
      if let place = thread.flatMap({ places[$0] }) {
        stacks[place].count += 1
      } else {
        if let thread { places[thread] = stacks.count }
        stacks.append((item, 1))
      }
    }
    self.init(
      phone: phone, app: app, device: device, environment: phone.environment.word(texts),
      state: texts("phones.state_\(state)"),
      appStates: SimulatedPhone.AppState.allCases.map { other in
        PhoneButton(
          action: other.rawValue, label: texts("phones.\(other.rawValue)"),
          isPressed: isInstalled && phone.appState == other, isDisabled: isOff || !isInstalled)
      },
      notifications: SimulatedPhone.Notifications.allCases.map { setting in
        PhoneButton(
          action: "notifications_\(setting.rawValue)", label: texts("phones.notifications_\(setting.rawValue)"),
          isPressed: isInstalled && phone.notifications == setting, isDisabled: !isInstalled)
      }, power: button(isOff ? "on" : "off"), install: button(isInstalled ? "uninstall" : "reinstall"),
      android: phone.android.map { AndroidCard($0, isInstalled: isInstalled, phone, texts) },
      screen: stacks.prefix(Self.onScreen).map { stack -> PhoneNotificationRow in
        var row = PhoneNotificationRow(
          stack.top, in: activities[stack.top.id], on: phone, app: app?.name ?? phone.topic, texts: texts, now: now)
        row.more = stack.count - 1
        return row
      }, tap: (open.first { $0.id == chosen } ?? open.first)?.id,
      broadcasts: channels.filter {
        phone.platform == .ios && $0.app == phone.topic && $0.environment == phone.environment
      }
      .map { PhoneBroadcast(channel: $0.id, isSubscribed: $0.subscribers.contains(phone.id)) },
      now: now)
  }
}

/// A broadcast channel that the phone may subscribe to.
struct PhoneBroadcast: View {
  let channel: String
  let isSubscribed: Bool

  static let fields: [Field<Self>] = [
    .text("channel") { $0.channel },
    .flag("subscribed") { $0.isSubscribed },
  ]
}

/// What a button taps.
struct PhoneTap: View {
  let notification: Int64

  static let fields: [Field<Self>] = [.written("notification") { $1.write(Int($0.notification)) }]
}

struct PhoneDevice: View {
  let id: Int64

  static let fields: [Field<Self>] = [.written("device") { $1.write(Int($0.id)) }]
}

/// What only Android phones have.
struct AndroidCard: View {
  /// Notifications that are looked at for channels.
  private static let looked = 20

  let doze: PhoneButton
  let canRefresh: Bool
  let channels: [AndroidChannel]
  /// Nil: no subscriptions.
  let topics: String?
  let hasLostMessages: Bool

  /// - Parameter phone: what it received names the app's channels.
  init(_ android: AndroidState, isInstalled: Bool, _ phone: SimulatedPhone, _ texts: Texts) {
    let action = android.isDozing ? "wake" : "doze"
    doze = PhoneButton(action: action, label: texts("phones.\(action)"))
    canRefresh = isInstalled
    let names = android.mutedChannels.union(
      phone.received.prefix(Self.looked).compactMap { $0.androidNotification?.channel })
    channels = names.sorted().map { AndroidChannel(name: $0, isOn: !android.mutedChannels.contains($0), texts) }
    topics =
      phone.topics.isEmpty
      ? nil : texts("phones.topics", ["topics": texts.list(phone.topics.keys.sorted())])
    hasLostMessages = android.hasLostMessages
  }

  static let fields: [Field<Self>] = [
    .view("doze") { $0.doze },
    .flag("can_refresh") { $0.canRefresh },
    .list("channels") { $0.channels },
    .flag("has_channels") { !$0.channels.isEmpty },
    .optional("topics") { $0.topics },
    .flag("lost") { $0.hasLostMessages },
  ]
}

/// A notification channel that a button turns off, or on.
struct AndroidChannel: View {
  let name: String
  let action: String
  let label: String

  init(name: String, isOn: Bool, _ texts: Texts) {
    self.name = name
    action = isOn ? "channel_off" : "channel_on"
    label = texts("phones.\(action)", ["channel": Self.label(name, texts)])
  }

  /// As Android's settings name it.
  static func label(_ channel: String, _ texts: Texts) -> String {
    channel == AndroidNotification.defaultChannel ? texts("phones.channel_default") : channel
  }

  static let fields: [Field<Self>] = [
    .text("channel") { $0.name }, .text("action") { $0.action }, .text("label") { $0.label },
  ]
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
