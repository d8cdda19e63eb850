import Foundation
import JSON
import Mustache
import Model
import Simulator

/// A received push: what the phone shows, which app methods it calls, and the exact request.
struct PhoneNotificationRow: View {
  let item: ReceivedNotification
  let phone: SimulatedPhone
  let app: String
  let alert: JSONValue?
  /// Indented JSON.
  let payload: String
  let canTap: Bool
  let calls: [PhoneCall]
  let now: Date

  init(
    _ item: ReceivedNotification, on phone: SimulatedPhone, app: String, canTap: Bool, texts: Texts, now: Date
  ) {
    let json = try? JSONValue(parsing: Data(item.payload.utf8))  // APNs takes JSON only; else nothing is shown of it
    self.item = item
    self.phone = phone
    self.app = app
    alert = json?["aps"]?["alert"]
    payload = json?.text(pretty: true) ?? item.payload
    self.canTap = canTap && alert != nil && item.tapped == nil
    let cell = try? item.callbacks(backgroundMode: true)  // as above
    calls =
      (cell?.arrival.map { PhoneCall($0, texts("phones.on_arrival"), texts) } ?? [])
      + (cell?.tap.map { PhoneCall($0, texts("phones.on_tap"), texts) } ?? [])
    self.now = now
  }

  /// A push without an alert.
  var isSilent: Bool { alert == nil }

  static let fields: [Field<PhoneNotificationRow>] = [
    .written("notification") { $1.write(Int($0.item.id)) },
    .text("initial") { $0.app.prefix(1).uppercased() },
    .flag("silent") { $0.isSilent },
    .optional("title") { $0.alert?["title"]?.string },
    .optional("subtitle") { $0.alert?["subtitle"]?.string },
    .optional("body") { $0.alert?["body"]?.string ?? $0.alert?.string },
    .view("received") { MomentView(date: $0.item.receivedAt, now: $0.now) },
    .view("tapped") { $0.item.tapped.map { TapTime(date: $0) } },
    .view("duplicates") { $0.item.duplicates > 0 ? CountView(count: $0.item.duplicates) : nil },
    .view("replaced") { $0.item.replaced > 0 ? CountView(count: $0.item.replaced) : nil },
    .flag("can_tap") { $0.canTap },
    .list("calls") { $0.calls },
    .flag("has_calls") { !$0.calls.isEmpty },
    .text("headers") { $0.headers },
    .text("payload") { $0.payload },
  ]

  private var headers: String {
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
}

/// The argument of the text that says when the notification was tapped.
struct TapTime: View {
  let date: Date

  static let fields: [Field<Self>] = [.written("time") { $1.write(utc: $0.date) }]
}

/// An app method that iOS calls for a push.
struct PhoneCall: View {
  let call: CallbackTable.Call
  /// When iOS calls it, as text.
  let condition: String

  init(_ call: CallbackTable.Call, _ moment: String, _ texts: Texts) {
    self.call = call
    condition = [moment, texts("callbacks.\(call.condition.rawValue)")].filter { !$0.isEmpty }.joined(separator: ", ")
  }

  static let fields: [Field<Self>] = [
    .text("name") { $0.call.method.label },
    .text("signature") { $0.call.method.swiftName },
    .text("condition") { $0.condition },
  ]
}

extension CallbackTable.Method {
  /// As “userNotificationCenter(willPresent)”: two methods share the name before the parenthesis.
  fileprivate var label: String {
    let base = swiftName.prefix { $0 != "(" }
    return switch self {
    case .launch: "\(base)(didFinishLaunching)"
    case .receive, .fetch: "\(base)(didReceiveRemoteNotification)"
    case .respond: "\(base)(didReceive)"
    case .present: "\(base)(willPresent)"
    }
  }
}
