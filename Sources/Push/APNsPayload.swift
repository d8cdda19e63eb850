/// The JSON that an iPhone gets (Apple, "Generating a remote notification").
public struct APNsPayload: Sendable, Hashable {
  /// The document.
  public let json: JSONValue
  /// Its text, as sent: keys sorted, so that the same draft always gives the same bytes.
  public let bytes: [UInt8]

  /// The top-level key under which the push's id travels, so that an app can tell a repeat from a new push.
  public static let uniqueIDKey = "signalbox-id"

  /// - Parameter uniqueID: the push's id; nil leaves the key out.
  public init(_ draft: PushDraft, uniqueID: String? = nil) {
    var members: [String: JSONValue]
    if case .object(let raw)? = draft.apns.payload {
      members = raw
    } else {
      members = draft.notification.extras
      if let link = draft.notification.link { members["link"] = .string(link) }
      if let image = draft.notification.image { members["image"] = .string(image) }
      members["aps"] = draft.notification.aps
      if let uniqueID { members[Self.uniqueIDKey] = .string(uniqueID) }
    }
    json = .object(members)
    bytes = Array(json.data())
  }

  /// - Throws: ``Problem`` for the whole payload if it is larger than APNs takes for the push type.
  public func check(for type: PushType) throws(Problem) {
    guard bytes.count <= type.payloadLimit else {
      throw Problem(
        "notification", code: "payload.too_large",
        "The payload has {bytes} bytes; APNs takes {limit}. Shorten the text or the extras.",
        ["bytes": String(bytes.count), "limit": String(type.payloadLimit)])
    }
  }
}

extension Notification {
  /// Apple's `aps` dictionary.
  fileprivate var aps: JSONValue {
    var aps: [String: JSONValue] = [:]
    var alert: [String: JSONValue] = [:]
    if let title { alert["title"] = .string(title) }
    if let subtitle { alert["subtitle"] = .string(subtitle) }
    if let body { alert["body"] = .string(body) }
    if !alert.isEmpty { aps["alert"] = .object(alert) }
    if let badge { aps["badge"] = .integer(Int64(badge)) }
    if let sound { aps["sound"] = .string(sound) }
    if let category { aps["category"] = .string(category) }
    if let threadID { aps["thread-id"] = .string(threadID) }
    if let interruptionLevel { aps["interruption-level"] = .string(interruptionLevel.rawValue) }
    if contentAvailable { aps["content-available"] = 1 }
    if mutableContent || image != nil { aps["mutable-content"] = 1 }
    return .object(aps)
  }
}
