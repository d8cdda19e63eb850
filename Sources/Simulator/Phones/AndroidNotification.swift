package import JSON
import Model

/// What Android shows of a message from FCM.
package struct AndroidNotification: Sendable, Hashable {
  package let title: String?
  package let body: String?
  /// The address of a picture.
  package let image: String?
  /// The channel that the app created for such notifications.
  package let channel: String
  /// The next one with the same tag replaces it in the shade.
  package let tag: String?
  /// Without `PRIORITY_`, in lower case, such as `high`; nil: the channel decides.
  package let priority: String?

  /// The channel of messages that name none; people see it as “Miscellaneous”.
  package static let defaultChannel = "fcm_fallback_notification_channel"

  /// - Parameter message: as accepted by FCM, with names in snake_case.
  /// - Returns: nil for a data message, of which Android shows nothing.
  package init?(_ message: JSONValue) {
    let (common, own) = (message["notification"], message["android"]?["notification"])
    guard common != nil || own != nil else { return nil }
    func text(_ name: String) -> String? { own?[name]?.string ?? common?[name]?.string }
    title = text("title")
    body = text("body")
    image = text("image")
    channel = own?["channel_id"]?.string ?? Self.defaultChannel
    tag = own?["tag"]?.string
    priority = own?["notification_priority"]?.string.map { $0.replacing("PRIORITY_", with: "").lowercased() }
  }
}

/// What an Android app's code is told of a message (docs/protocols.md §5.1).
package struct AndroidCallbacks: Sendable, Hashable {
  package enum Call: String, Sendable, CaseIterable {
    case messageReceived = "onMessageReceived"
    /// A tap starts the app; the intent of its activity has the data.
    case create = "onCreate"
    /// A tap brings the app to the front; as ``create``.
    case newIntent = "onNewIntent"
    /// JPush's library hands a message to the app.
    case message = "onMessage"
    /// JPush's library shows a notification.
    case notificationArrived = "onNotifyMessageArrived"
    /// A tap on a notification of JPush's.
    case notificationOpened = "onNotifyMessageOpened"

    package var signature: String {
      switch self {
      case .messageReceived: "FirebaseMessagingService.onMessageReceived(RemoteMessage)"
      case .create: "Activity.onCreate(Bundle)"
      case .newIntent: "Activity.onNewIntent(Intent)"
      case .message: "JPushMessageService.onMessage(Context, CustomMessage)"
      case .notificationArrived: "JPushMessageService.onNotifyMessageArrived(Context, NotificationMessage)"
      case .notificationOpened: "JPushMessageService.onNotifyMessageOpened(Context, NotificationMessage)"
      }
    }
  }

  /// Nil: Android shows the message, and the app learns nothing of it before a tap.
  package let arrival: Call?
  /// Nil: there is nothing to tap.
  package let tap: Call?
  /// How often a push calls the app's code, if it is tapped.
  package var count: Int { [arrival, tap].count { $0 != nil } }

  /// - Parameter isShown: whether the message stands in the shade.
  package init(hasNotification: Bool, appState: SimulatedPhone.AppState, isShown: Bool) {
    arrival = hasNotification && appState != .foreground ? nil : .messageReceived
    tap = isShown ? (appState == .notRunning ? .create : .newIntent) : nil
  }

  /// What JPush's library tells the app. The phone maker's service shows the notification of an app that does not run.
  package init(jpushHasNotification hasNotification: Bool, appState: SimulatedPhone.AppState, isShown: Bool) {
    arrival = hasNotification ? (appState == .notRunning ? nil : .notificationArrived) : .message
    tap = isShown ? .notificationOpened : nil
  }
}

extension ReceivedNotification {
  /// Nil for a data message, and for a push from APNs.
  package var androidNotification: AndroidNotification? { pushType == nil ? AndroidNotification(json) : nil }

  package var androidCallbacks: AndroidCallbacks {
    AndroidCallbacks(hasNotification: androidNotification != nil, appState: appState, isShown: isShown)
  }

  /// Of a phone that is registered with JPush.
  package var jpushCallbacks: AndroidCallbacks {
    AndroidCallbacks(jpushHasNotification: androidNotification != nil, appState: appState, isShown: isShown)
  }

  /// Whether it stands on the lock screen of an iPhone, or in the shade of an Android phone.
  package var isShown: Bool {
    // A Live Activity stands there for as long as it lasts, and the app may leave its last content at its end.
    if pushType == .liveactivity { return json["aps"]?["content-state"] != nil || json["aps"]?["event"] == "end" }
    // What PushKit or WidgetKit gets is no notification, whatever it contains.
    if let pushType { return pushType.receiver == nil && !isDenied && APNsPayload.Facts(payload: json).alert }
    return appState != .foreground && !isMuted && !isDenied && androidNotification != nil
  }

  /// Notes what the phone makes of the message when it arrives.
  mutating func arrive(on phone: SimulatedPhone) {
    isDenied = phone.notifications == .off
    // JPush's library gives its notifications one of its own.
    let ownTag = tag
    tag = nil
    guard let notification = androidNotification, appState != .foreground else { return }
    isMuted = phone.android?.mutedChannels.contains(notification.channel) ?? false
    if !isMuted, !isDenied { tag = notification.tag ?? ownTag }
  }
}
