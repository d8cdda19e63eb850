package import JSON

/// A draft as FCM receives it (HTTP v1, projects.messages.send): one message for all devices of the push, which differ in
/// their token (docs/protocols.md §3.1).
///
/// The data that the app receives has the same keys as the payload for APNs: the draft's extras, `link`, `image`,
/// `sbid` and `sbsig`. FCM takes only texts there: other values become JSON. The draft's own `android` block is merged over
/// the generated one, and its `data` over the data: FCM would hand the app that alone, without `sbid` and the extras.
package struct FCMMessage: Sendable, Hashable {
  /// Bytes of the keys and values that reach the app (Firebase, ErrorCode).
  private static let deviceLimit = 4096
  /// Of a message to a topic or a condition.
  private static let topicLimit = 2048

  /// The most bytes of ``size``.
  package let limit: Int
  /// The message without its target.
  package let json: JSONValue
  /// Those of ``APNsPayload/ownKeys`` that found no room: the app's own data come first.
  package private(set) var leftOut: [String] = []
  private let extras: [String: JSONValue]
  private let own: [String: JSONValue]

  /// - Parameters:
  ///   - uid: the push's public ID, for the key `sbid`; nil omits the key.
  ///   - signature: of the push, for the key `sbsig`; nil omits the key.
  ///   - timeToLive: seconds left to deliver it; nil: the draft's.
  package init(_ draft: PushDraft, uid: String? = nil, signature: String? = nil, timeToLive: Int? = nil) {
    self.init(draft, uid, signature, timeToLive)
    guard size > limit, uid ?? signature != nil else { return }
    let unsigned = FCMMessage(draft, uid, nil, timeToLive)
    let isEnough = signature != nil && unsigned.size <= limit
    self = isEnough ? unsigned : FCMMessage(draft, nil, nil, timeToLive)
    leftOut = zip(APNsPayload.ownKeys, [isEnough ? nil : uid, signature]).filter { $0.1 != nil }.map(\.0)
  }

  private init(_ draft: PushDraft, _ uid: String?, _ signature: String?, _ timeToLive: Int?) {
    let notification = draft.notification
    limit = draft.audience.topicTarget == nil ? Self.deviceLimit : Self.topicLimit
    extras = notification.extras
    own = draft.android
    let isVisible = notification.title != nil || notification.body != nil
    var message: [String: JSONValue] = [:]
    if isVisible {
      let parts = ["title": notification.title, "body": notification.body, "image": notification.image]
      message["notification"] = .object(parts.compactMapValues { $0.map(JSONValue.string) })
    }
    let generated = Self.data(notification, uid: uid, signature: signature, isVisible: isVisible)
    let data = Self.merged(generated.mapValues(JSONValue.string), with: draft.android["data"]?.object ?? [:])
    if !data.isEmpty { message["data"] = .object(data) }
    var android: [String: JSONValue] = [:]
    let isHigh = (draft.options.priority ?? (isVisible ? .high : .normal)) == .high
    android["priority"] = isHigh ? "HIGH" : "NORMAL"
    if let seconds = timeToLive ?? draft.options.timeToLive { android["ttl"] = .string("\(seconds)s") }
    android["collapse_key"] = draft.options.collapseID.map(JSONValue.string)
    if isVisible {
      var shown: [String: JSONValue] = [:]
      shown["sound"] = notification.sound.map(JSONValue.string)
      // The collapse key replaces what waits, the tag what is shown; APNs' collapse ID does both.
      shown["tag"] = draft.options.collapseID.map(JSONValue.string)
      if let badge = notification.badge, badge != .set(0) { shown[Self.countKey] = badge.json }
      if !shown.isEmpty { android["notification"] = .object(shown) }
    }
    message["android"] = .object(Self.merged(android, with: draft.android.filter { $0.key != "data" }))
    json = .object(message)
  }

  private static func data(
    _ notification: Notification, uid: String?, signature: String?, isVisible: Bool
  ) -> [String: String] {
    var data = notification.extras.mapValues { $0.string ?? $0.text() }
    if let link = notification.link { data[APNsPayload.linkKey] = link }
    // FCM shows the picture of a visible notification by itself.
    if let image = notification.image, !isVisible { data[APNsPayload.imageKey] = image }
    if let uid { data[APNsPayload.idKey] = uid }
    if let signature { data[APNsPayload.signatureKey] = signature }
    return data
  }

  /// Objects are merged, anything else is replaced, and null removes it (RFC 7396).
  private static func merged(_ base: [String: JSONValue], with own: [String: JSONValue]) -> [String: JSONValue] {
    base.merging(own) { old, new in
      guard case .object(let old) = old, case .object(let new) = new else { return new }
      return .object(merged(old, with: new))
    }.filter { $0.value != .null }
  }

  /// The key of the number on the icon, in `android.notification`.
  private static let countKey = "notification_count"

  /// Whether the number on the icon is counted for each device. It is a text in ``json``.
  package var isCounted: Bool { json["android"]?["notification"]?[Self.countKey]?.string != nil }

  /// The message with a number in place of a counted one.
  package func json(count: Int) -> JSONValue {
    guard isCounted, var members = json.object, var android = members["android"]?.object,
      var shown = android["notification"]?.object
    else { return json }
    shown[Self.countKey] = .integer(Int64(count))
    android["notification"] = .object(shown)
    members["android"] = .object(android)
    return .object(members)
  }

  /// Bytes of the keys and values that reach the app, as FCM counts them.
  package var size: Int {
    [json["notification"], json["data"], json["android"]?["notification"]].reduce(0) { size, part in
      (part?.object ?? [:]).reduce(size) { $0 + $1.key.utf8.count + ($1.value.string ?? $1.value.text()).utf8.count }
    }
  }

  /// Whether it shows something or carries data besides `sbid` and `sbsig`.
  package var isEmpty: Bool {
    let parts = [json["notification"], json["android"]?["notification"], json["android"]?["data"]]
    return parts.allSatisfy { $0?.object?.isEmpty ?? true }
      && (json["data"]?.object ?? [:]).keys.allSatisfy(APNsPayload.ownKeys.contains)
  }

  /// Why FCM would refuse the message for every device; paths are the draft's.
  package var problems: [Problem] {
    var problems: [Problem] = []
    for key in extras.keys.sorted() where Self.isReserved(key) {
      problems.append(Problem("notification.extras.\(key)", FCMMessageProblem.reservedKey, ["key": key]))
    }
    for (key, value) in (own["data"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
      if Self.isReserved(key) {
        problems.append(Problem("android.data.\(key)", FCMMessageProblem.reservedKey, ["key": key]))
      } else if value.string == nil, value != .null {
        problems.append(Problem("android.data.\(key)", FCMMessageProblem.dataText, ["found": value.typeName]))
      }
    }
    // The data was read above. What is generated is right.
    let options = own.filter { $0.key != "data" || $0.value.object == nil }
    var violations: [FCMField.Violation] = []
    _ = FCMField.android.read(.object(options), "android", &violations)
    problems += violations.map { Problem($0.field, FCMMessageProblem.value, ["text": $0.description]) }
    if size > limit {
      problems.append(
        Problem(
          "notification", FCMMessageProblem.tooLarge,
          ["size": String(size), "limit": String(limit), "excess": String(size - limit)]))
    }
    return problems
  }

  /// Keys of `data` that FCM keeps for itself.
  static func isReserved(_ key: String) -> Bool {
    key == "from" || key == "message_type" || key.hasPrefix("google") || key.hasPrefix("gcm")
  }
}

/// The draft's own part of FCM's message: AndroidConfig, in its own names (docs/protocols.md §3.1).
enum FCMAndroid {
  private static let keys = [
    "bandwidth_constrained_ok", "collapse_key", "data", "direct_boot_ok", "fcm_options", "notification", "priority",
    "restricted_package_name", "restricted_satellite_ok", "ttl",
  ]
  private static let notificationKeys = [
    "body", "body_loc_args", "body_loc_key", "channel_id", "click_action", "color", "default_light_settings",
    "default_sound", "default_vibrate_timings", "event_time", "icon", "image", "light_settings", "local_only",
    "notification_count", "notification_priority", "proxy", "sound", "sticky", "tag", "ticker", "title",
    "title_loc_args", "title_loc_key", "vibrate_timings", "visibility",
  ]

  /// Reads `android`; absent and empty mean the same.
  static func read(_ fields: JSONFields) -> [String: JSONValue] {
    fields.object("android") { android in
      for key in keys { _ = android.value(key) }
      android.object("notification") { shown in for key in notificationKeys { _ = shown.value(key) } }
    }
    return fields.value("android")?.object ?? [:]
  }
}

package enum FCMMessageProblem: String, MessageSet {
  case tooLarge = "fcm.too_large"
  case noRoom = "fcm.no_room"
  case pushType = "fcm.push_type"
  case reservedKey = "fcm.reserved_key"
  case dataText = "fcm.data_text"
  case value = "fcm.value"

  package var english: String {
    switch self {
    case .tooLarge:
      """
      The message for Android has {size} bytes, but FCM allows at most {limit} (FCM: INVALID_ARGUMENT). Shorten it by \
      {excess}.
      """
    case .noRoom:
      "The message for Android is sent without {keys}, for which it has no room: apps can report nothing of it, and drop "
        + "no repetitions. It may have {limit} bytes with them."
    case .pushType:
      "FCM does not send the push type {type}. iPhones that are registered with FCM do not get the push."
    case .reservedKey: "“{key}” is reserved by FCM (FCM: INVALID_ARGUMENT). Use another name for the app's own data."
    case .dataText: "FCM accepts only text here, not a JSON {found}."
    case .value: "FCM would refuse this (FCM: INVALID_ARGUMENT): {text}"
    }
  }
}
