import Foundation
import JSON
import Mustache
import Model
import Simulator

/// A received push: what the phone shows, which app methods it calls, and the exact request.
struct PhoneNotificationRow: View {
  let item: ReceivedNotification
  /// What it belongs to; nil: it is no push of a Live Activity.
  let live: LiveActivity?
  let phone: SimulatedPhone
  let app: String
  /// The alert of a push from APNs.
  let alert: JSONValue?
  /// The notification of a message from FCM.
  let android: AndroidNotification?
  /// The content of a Live Activity, and what becomes of it.
  let activity: (title: String, content: String)?
  /// Whether it stands on the lock screen, or in the shade.
  let isShown: Bool
  /// Why nothing is shown; nil if it is.
  let hidden: String?
  /// Channel, priority and picture of an Android notification.
  let style: String?
  /// Indented JSON.
  let payload: String
  let calls: [CallView]
  /// What gets a push that calls none.
  let uncalled: String
  /// Where the calls are documented; nil for JPush, whose library makes them.
  let origin: CallbackOrigin?
  /// Notes about the calls, as text.
  let notes: [String]
  let now: Date
  /// How many of its thread lie under it on the lock screen.
  var more = 0

  init(
    _ item: ReceivedNotification, in live: LiveActivity? = nil, on phone: SimulatedPhone, app: String, texts: Texts,
    now: Date
  ) {
    let json = try? JSONValue(parsing: Data(item.payload.utf8))  // services take JSON only; else nothing is shown of it
    self.item = item
    self.live = live
    self.phone = phone
    self.app = app
    alert = json?["aps"]?["alert"]
    android = item.androidNotification
    activity = item.pushType == .liveactivity ? Self.activity(json?["aps"], texts, last: live?.content(at: item)) : nil
    isShown = item.isShown
    payload = json?.text(pretty: true) ?? item.payload
    let receiver = item.pushType?.receiver
    let isJPush = phone.provider == .jpush
    uncalled = receiver.map(texts.receiver) ?? texts("phones.called_none")
    if item.pushType == nil {
      (hidden, style) = (Self.hidden(item, android, texts), android.map { Self.style($0, texts) })
      calls = Self.calls(isJPush ? item.jpushCallbacks : item.androidCallbacks, texts)
      (origin, notes) = (isJPush ? nil : CallbackOrigin(firebase: texts), [])
    } else {
      let isIgnored = live?.ignored.contains(item.id) == true
      let silence = isShown ? nil : texts(Self.silence(json ?? .null, receiver, isDenied: item.isDenied))
      (hidden, style) = (isIgnored ? texts("phones.activity_ignored") : silence, nil)
      let cell = try? receiver == nil ? item.callbacks(backgroundMode: true) : nil  // as above
      calls =
        (cell?.arrival.map { CallView($0, moment: texts("phones.on_arrival"), isJPush: isJPush, texts) } ?? [])
        + (cell?.tap.map { CallView($0, moment: texts("phones.on_tap"), isJPush: isJPush, texts) } ?? [])
      origin = cell.map { CallbackOrigin($0.sources, $0.contradictions, [], texts) }
      // The line above the calls says that there are none.
      notes = (cell?.notes ?? []).filter { $0 != .nothingHappens }.map { texts.text(Problem("", $0)) }
    }
    self.now = now
  }

  /// The key of why an iPhone shows nothing.
  private static func silence(_ payload: JSONValue, _ receiver: PushType.Receiver?, isDenied: Bool) -> String {
    let facts = APNsPayload.Facts(payload: payload)
    if receiver != nil { return "phones.no_notification" }
    if isDenied, facts.isVisible { return "phones.denied" }
    return facts.isVisible ? "phones.no_alert" : facts.contentAvailable ? "phones.silent" : "phones.no_content"
  }

  /// A text of an alert. Of one that the app is to translate, iOS shows the key if the app has no text for it.
  static func text(_ alert: JSONValue?, _ name: String, _ key: String) -> String? {
    alert?[name]?.string ?? alert?[key]?.string
  }

  /// What a Live Activity shows here: its content, whose design is the app's. The end of one may leave the last one.
  static func activity(
    _ aps: JSONValue?, _ texts: Texts, last: [String: JSONValue]? = nil
  ) -> (title: String, content: String)? {
    let isOver = aps?["event"]?.string == "end"
    guard let content = aps?["content-state"]?.object ?? (isOver ? last ?? [:] : nil) else { return nil }
    let parts = content.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.string ?? $0.value.text())" }
    return (texts(isOver ? "phones.activity_end" : "phones.activity"), parts.joined(separator: " · "))
  }

  private static func hidden(
    _ item: ReceivedNotification, _ notification: AndroidNotification?, _ texts: Texts
  ) -> String? {
    guard let notification else { return texts("phones.data") }
    if item.appState == .foreground { return texts("phones.in_foreground") }
    if item.isDenied { return texts("phones.denied") }
    return item.isMuted
      ? texts("phones.muted", ["channel": AndroidChannel.label(notification.channel, texts)]) : nil
  }

  private static func style(_ notification: AndroidNotification, _ texts: Texts) -> String {
    let channel = AndroidChannel.label(notification.channel, texts)
    let style =
      notification.priority.map { texts("phones.style_priority", ["channel": channel, "priority": $0]) }
      ?? texts("phones.style", ["channel": channel])
    return notification.image.map { texts("phones.image", ["style": style, "image": $0]) } ?? style
  }

  private static func calls(_ callbacks: AndroidCallbacks, _ texts: Texts) -> [CallView] {
    let tap = texts("phones.on_tap")
    return [
      callbacks.arrival.map {
        CallView(name: $0.rawValue, signature: $0.signature, condition: texts("phones.on_arrival"))
      },
      callbacks.tap.map {
        CallView(
          name: $0.rawValue, signature: $0.signature,
          condition: $0 == .notificationOpened ? tap : texts.clauses([tap, texts("phones.with_extras")]))
      },
    ].compactMap(\.self)
  }

  static let fields: [Field<PhoneNotificationRow>] = [
    .written("notification") { $1.write(Int($0.item.id)) },
    .text("initial") { $0.app.prefix(1).uppercased() },
    .optional("hidden") { $0.hidden },
    .text("phone_name") { $0.phone.name },
    .text("heading") { $0.heading },
    .optional("title") { $0.title },
    .optional("subtitle") { PhoneNotificationRow.text($0.alert, "subtitle", "subtitle-loc-key") },
    .optional("body") { $0.body },
    .view("received") { MomentView(date: $0.item.receivedAt, now: $0.now) },
    .view("more") { $0.more > 0 ? CountView(count: $0.more) : nil },
    .view("size") { CountView(count: $0.item.payload.utf8.count) },
    .list("calls") { $0.calls },
    .flag("has_calls") { !$0.calls.isEmpty },
    .text("uncalled") { $0.uncalled },
    .view("origin") { $0.origin },
    .list("notes") { $0.notes },
    .text("headers") { $0.headers },
    .text("payload") { $0.payload },
  ]

  var title: String? { activity?.title ?? android?.title ?? Self.text(alert, "title", "title-loc-key") }
  var body: String? {
    if let activity { return activity.content.isEmpty ? nil : activity.content }
    return android?.body ?? Self.text(alert, "body", "loc-key") ?? alert?.string
  }
  /// One line that stands for the whole.
  var heading: String { [title, body].compactMap { $0 }.first { !$0.isEmpty } ?? hidden ?? app }

  /// Where it is to be seen, or why it is not.
  func place(_ texts: Texts) -> String {
    if let hidden { return hidden }
    if phone.state != .installed { return texts("phones.off_screen") }
    if live == nil, phone.notifications == .off { return texts("phones.turned_off") }
    if let live, live.current != item.id { return texts("phones.activity_past") }
    if live == nil, item.pushType != nil, item.appState == .foreground { return texts("phones.if_presented") }
    return texts(live?.isDismissed(at: now) == true ? "phones.activity_gone" : "phones.on_screen")
  }

  private var headers: String {
    // JPush tells the phone no more of the request.
    if phone.provider == .jpush { return "msg_id: \(item.apnsID)" }
    let isFirebase = phone.provider == .fcm
    guard let pushType = item.pushType else {
      let priority = item.priority == 10 ? "HIGH" : "NORMAL"
      let collapse = item.collapseID.map { "\ncollapse_key: \($0)" } ?? ""
      return "name: \(item.apnsID)\npriority: \(priority)\(collapse)"
    }
    var lines =
      item.channel.map { [":path: /4/broadcasts/apps/\(phone.topic)", "apns-channel-id: \($0)"] }
      ?? (isFirebase
        ? ["name: \(item.apnsID)"]
        : [":path: /3/device/\(phone.tokenText)", "apns-id: \(item.apnsID)", "apns-topic: \(item.topic)"])
    lines += ["apns-push-type: \(pushType.rawValue)", "apns-priority: \(item.priority)"]
    if let collapseID = item.collapseID { lines.append("apns-collapse-id: \(collapseID)") }
    if let expiration = item.expiration {
      lines.append("apns-expiration: \(Int64(expiration.timeIntervalSince1970))")
    }
    return lines.joined(separator: "\n")
  }
}
