package import JSON

extension APNsPayload {
  /// The effects of a payload, whoever wrote it.
  package struct Facts: Sendable, Hashable {
    /// `alert`: a banner.
    package private(set) var alert: Bool
    package private(set) var badge: Bool
    package private(set) var sound: Bool
    /// `content-available: 1`.
    package let contentAvailable: Bool

    /// Whether a person sees or hears something.
    package var isVisible: Bool { alert || badge || sound }

    /// What is left of it on a phone where the app's notifications are off.
    package var denied: Self {
      var facts = self
      (facts.alert, facts.badge, facts.sound) = (false, false, false)
      return facts
    }

    package init(payload: JSONValue) {
      let aps = payload["aps"]?.object ?? [:]
      alert = aps["alert"].map { ![.null, "", [:]].contains($0) } ?? false
      badge = aps["badge"] != nil
      sound = aps["sound"].map { ![.null, ""].contains($0) } ?? false
      // JPush's clients send `true`; iOS accepts either.
      contentAvailable = [1, true].contains(aps["content-available"])
    }
  }

  package var facts: Facts { Facts(payload: json) }

  /// `alert`, or `background` if there is nothing to show; Apple: the type must match the payload.
  static func pushType(of payload: JSONValue) -> PushType {
    if payload["mdm"] != nil { return .mdm }
    if payload["aps"]?["content-state"] != nil { return .liveactivity }
    let facts = Facts(payload: payload)
    return facts.contentAvailable && !facts.isVisible ? .background : .alert
  }

  /// The payload of a notification (Apple, Generating a remote notification).
  static func payload(of notification: Notification, uid: String?, signature: String? = nil) -> JSONValue {
    var aps: [String: JSONValue] = [:]
    aps["alert"] = alert(of: notification)
    aps["badge"] = notification.badge?.json
    aps["sound"] = notification.sound.map(JSONValue.string)
    aps["category"] = notification.category.map(JSONValue.string)
    aps["thread-id"] = notification.threadID.map(JSONValue.string)
    aps["interruption-level"] = notification.interruptionLevel.map { .string($0.rawValue) }
    if notification.contentAvailable { aps["content-available"] = 1 }
    if notification.mutableContent { aps["mutable-content"] = 1 }
    var payload = data(of: notification, uid: uid, signature: signature)
    payload["aps"] = .object(aps)
    return .object(payload)
  }

  /// A raw payload with the keys of its push.
  static func identified(_ payload: JSONValue, _ uid: String?, _ signature: String?) -> JSONValue {
    guard var members = payload.object else { return payload }
    if let uid { members[idKey] = .string(uid) }
    if let signature { members[signatureKey] = .string(signature) }
    return .object(members)
  }

  /// What the app receives beside `aps`.
  static func data(of notification: Notification, uid: String?, signature: String?) -> [String: JSONValue] {
    var data = notification.extras
    if let link = notification.link { data[linkKey] = .string(link) }
    if let image = notification.image { data[imageKey] = .string(image) }
    if let uid { data[idKey] = .string(uid) }
    if let signature { data[signatureKey] = .string(signature) }
    return data
  }

  /// A body alone becomes the alert itself, which Apple allows and which is shorter.
  private static func alert(of notification: Notification) -> JSONValue? {
    let parts = ["title": notification.title, "subtitle": notification.subtitle, "body": notification.body]
      .compactMapValues { $0.map(JSONValue.string) }
    if parts.count == 1, let body = parts["body"] { return body }
    return parts.isEmpty ? nil : .object(parts)
  }
}
