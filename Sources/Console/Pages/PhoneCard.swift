import Foundation
import Mustache
import Push
import Simulator
import Store

/// One handset as the page shows it: a lock screen, and what can be done with it.
struct PhoneCard {
  /// More are kept; a lock screen shows the newest.
  private static let shown = 20

  let phone: SimulatedPhone
  let app: App?
  /// The device that is registered with its token.
  let device: Int64?
  let now: Date

  private var isInstalled: Bool { phone.state == .installed }
  private var isOff: Bool { phone.power == .off }

  func value(_ texts: Texts) -> Value {
    let state =
      isOff ? "off" : isInstalled ? phone.appState.rawValue : "uninstalled"
    return [
      "id": .integer(phone.id), "name": .string(phone.name), "model": .string(phone.model),
      "app": .string(app?.name ?? phone.topic), "app_href": .string(app.map { "/apps/\($0.id)" } ?? "/apps"),
      "environment": .string(phone.environment.word(texts)), "production": .bool(phone.environment == .production),
      "token": .string(phone.tokenHex), "token_short": .string("\(phone.tokenHex.prefix(8))…"),
      "device_href": .string(device.map { "/devices/\($0)" } ?? ""),
      "send_href": .string(device.map { "/pushes/new?device=\($0)" } ?? ""),
      "clock": .string(Self.clock(now, seconds: false)), "off": .bool(isOff),
      "state_text": .string(texts("phones.state_\(state)")),
      "app_states": .list(
        SimulatedPhone.AppState.allCases.map { other in
          [
            "value": .string(other.rawValue), "label": .string(texts("phones.\(other.rawValue)")),
            "pressed": .bool(isInstalled && phone.appState == other), "disabled": .bool(isOff || !isInstalled),
          ]
        }),
      "power": button(isOff ? "on" : "off", texts), "install": button(isInstalled ? "uninstall" : "reinstall", texts),
      "can_clear": .bool(!phone.received.isEmpty),
      "waiting_text": .string(
        phone.waiting.isEmpty ? "" : texts("phones.waiting", count: phone.waiting.count)),
      "notifications": .list(phone.received.prefix(Self.shown).map { notification($0, texts) }),
    ]
  }

  private func button(_ action: String, _ texts: Texts) -> Value {
    ["value": .string(action), "label": .string(texts("phones.\(action)"))]
  }

  private func notification(_ item: ReceivedNotification, _ texts: Texts) -> Value {
    let json = try? JSONValue(parsing: Data(item.payload.utf8))  // what APNs took is JSON; else nothing is shown of it
    let aps = json?["aps"]
    let alert = aps?["alert"]
    let name = app?.name ?? phone.topic
    let body = alert?["body"]?.string ?? alert?.string
    let isSilent = alert == nil
    let cell = try? item.callbacks(backgroundMode: true)  // as above
    let calls =
      (cell?.arrival.map { call($0, "on_arrival", texts) } ?? []) + (cell?.tap.map { call($0, "on_tap", texts) } ?? [])
    var notes: [String] = []
    if let tapped = item.tapped { notes.append(texts("phones.tapped", ["time": Self.clock(tapped, seconds: true)])) }
    if item.duplicates > 0 { notes.append(texts("phones.duplicates", count: item.duplicates)) }
    if item.replaced > 0 { notes.append(texts("phones.replaced", count: item.replaced)) }
    return [
      "phone": .integer(phone.id), "id": .integer(item.id), "initial": .string(String(name.prefix(1)).uppercased()),
      "app": .string(name), "at": .string(Timestamp.text(item.receivedAt)),
      "at_text": .string(Self.clock(item.receivedAt, seconds: true)), "title": .string(alert?["title"]?.string ?? ""),
      "subtitle": .string(alert?["subtitle"]?.string ?? ""), "body": .string(body ?? ""), "silent": .bool(isSilent),
      "note": .string(notes.joined(separator: ", ")),
      "can_tap": .bool(!isSilent && item.tapped == nil && isInstalled && !isOff),
      "callbacks_text": .string(texts(calls.isEmpty ? "phones.called_none" : "phones.called")),
      "callbacks": .list(calls), "headers": .string(headers(item)),
      "payload": .string(json?.text(pretty: true) ?? item.payload),
    ]
  }

  private func call(_ call: CallbackTable.Call, _ when: String, _ texts: Texts) -> Value {
    guard case .object(var members) = CallbackRows.call(call, texts) else { return false }
    let condition = texts("callbacks.\(call.condition.rawValue)")
    members["when"] = .string([texts("phones.\(when)"), condition].filter { !$0.isEmpty }.joined(separator: ", "))
    return .object(members)
  }

  private func headers(_ item: ReceivedNotification) -> String {
    var lines = [
      ":path: /3/device/\(phone.tokenHex)", "apns-id: \(item.apnsID)", "apns-topic: \(item.topic)",
      "apns-push-type: \(item.pushType.rawValue)", "apns-priority: \(item.priority)",
    ]
    if let collapseID = item.collapseID { lines.append("apns-collapse-id: \(collapseID)") }
    if let expiration = item.expiration {
      lines.append("apns-expiration: \(Int64(expiration.timeIntervalSince1970))")
    }
    return lines.joined(separator: "\n")
  }

  /// UTC, until a script puts the viewer's zone in.
  private static func clock(_ date: Date, seconds: Bool) -> String {
    String(Timestamp.text(date).dropFirst(11).prefix(seconds ? 8 : 5))
  }
}
