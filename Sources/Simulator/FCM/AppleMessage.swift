import Foundation
import JSON
import Model

/// What FCM hands to APNs for an iPhone: the block `apns` of a message, with the common notification and data where the
/// block says nothing else (docs/protocols.md §3.1).
struct AppleMessage: Sendable, Hashable {
  let payload: JSONValue
  /// Given or derived.
  let pushType: PushType
  let priority: Int
  /// Nil: 30 days.
  let expiration: Date?
  let collapseID: String?

  /// Whether APNs makes one attempt and stores nothing.
  var isOnceOnly: Bool { expiration?.timeIntervalSince1970 == 0 }

  init(_ message: FCMMessage) {
    let block = message.json["apns"]
    let headers = block?["headers"]
    var members: [String: JSONValue] = (message.json["data"]?.object ?? [:])
    members.merge(block?["payload"]?.object ?? [:]) { $1 }
    var aps = members["aps"]?.object ?? [:]
    let common = message.json["notification"]
    if aps["alert"] == nil {
      let alert = ["title", "body"].reduce(into: [String: JSONValue]()) { $0[$1] = common?[$1] }
      if !alert.isEmpty { aps["alert"] = .object(alert) }
    }
    members["aps"] = .object(aps)
    if let options = block?["fcm_options"] { members["fcm_options"] = options }
    payload = .object(members)
    let facts = APNsPayload.Facts(payload: payload)
    pushType =
      headers?[APNsHeader.pushType]?.string.flatMap(PushType.init)
      ?? (facts.contentAvailable && !facts.isVisible ? .background : .alert)
    priority = headers?[APNsHeader.priority]?.string.flatMap(Int.init) ?? 10
    expiration = headers?[APNsHeader.expiration]?.string.flatMap(Double.init).map(Date.init(timeIntervalSince1970:))
    collapseID = headers?[APNsHeader.collapseID]?.string
  }
}

extension FCMMessage {
  /// Why a phone's service does not take the message; nil: it does.
  func refusal(by phone: SimulatedPhone) -> FCMRefusal? {
    guard phone.platform == .ios else {
      return packageName.map { $0 == phone.topic } == false ? .otherPackage : nil
    }
    let topic = json["apns"]?["headers"]?[APNsHeader.topic]?.string
    if topic.map({ $0 == phone.topic }) == false { return .apns(reason: APNsCode.deviceTokenNotForTopic.rawValue) }
    // The token stands for that of the notifications alone.
    let type = AppleMessage(self).pushType
    return [.alert, .background].contains(type) ? nil : .apns(reason: APNsCode.topicDisallowed.rawValue)
  }
}
