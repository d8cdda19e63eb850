public import Foundation

/// The headers of a request to APNs, all but path, authorization and `apns-id`, which differ from device to device.
///
/// Source: Apple, "Sending notification requests to APNs".
public struct APNsHeaders: Sendable, Hashable {
  /// `apns-topic`.
  public var topic: String
  /// `apns-push-type`.
  public var pushType: PushType
  /// `apns-priority`: 10, 5 or 1.
  public var priority: Int
  /// `apns-expiration` in seconds since 1970; 0: one attempt. Nil: Apple's storage policy.
  public var expiration: Int64?
  /// `apns-collapse-id`.
  public var collapseID: String?

  /// What a draft's headers are.
  ///
  /// - Parameters:
  ///   - created: the moment from which the time to live counts.
  public init(_ draft: PushDraft, created: Date) {
    pushType =
      draft.apns.headers["apns-push-type"].flatMap(PushType.init(rawValue:)) ?? draft.options.pushType
      ?? (draft.isSilent ? .background : .alert)
    topic = draft.apns.headers["apns-topic"] ?? draft.app + pushType.topicSuffix
    if let text = draft.apns.headers["apns-priority"], let number = Int(text) {
      priority = number
    } else {
      switch draft.options.priority {
      case .high: priority = 10
      case .normal: priority = 5
      case .low: priority = 1
      // Apple: with background, "using priority 10 is an error".
      case nil: priority = pushType == .background ? 5 : 10
      }
    }
    if let text = draft.apns.headers["apns-expiration"], let number = Int64(text) {
      expiration = number
    } else {
      expiration = draft.options.timeToLive.map {
        $0 == 0 ? 0 : Int64(created.timeIntervalSince1970.rounded(.down)) + Int64($0)
      }
    }
    collapseID = draft.apns.headers["apns-collapse-id"] ?? draft.options.collapseID
  }

  /// Name and value of each, in Apple's order.
  public var fields: [(name: String, value: String)] {
    var fields = [
      ("apns-topic", topic), ("apns-push-type", pushType.rawValue), ("apns-priority", String(priority)),
    ]
    if let expiration { fields.append(("apns-expiration", String(expiration))) }
    if let collapseID { fields.append(("apns-collapse-id", collapseID)) }
    return fields
  }

  /// Whether a header may be overridden, and by this value.
  ///
  /// - Throws: ``Problem`` with an empty field.
  public static func check(name: String, value: String) throws(Problem) {
    switch name {
    case "apns-topic":
      do throws(Problem) { try NameRules.checkBundleID(value) } catch {
        throw Problem("", code: "apns.topic", "A topic is a bundle id, with a suffix such as .voip where needed.")
      }
    case "apns-push-type":
      guard PushType(rawValue: value) != nil else {
        let types = PushType.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem("", code: "choice", "This must be one of: {choices}.", ["choices": types])
      }
    case "apns-priority":
      guard ["10", "5", "1"].contains(value) else {
        throw Problem("", code: "choice", "This must be one of: {choices}.", ["choices": "10, 5, 1"])
      }
    case "apns-expiration":
      guard Int64(value).map({ $0 >= 0 }) == true else {
        throw Problem("", code: "apns.expiration", "This must be a time in seconds since 1970, or 0.")
      }
    case "apns-collapse-id":
      guard (1...64).contains(value.utf8.count) else {
        throw Problem("", code: "apns.collapse_id", "A collapse id has 1 to 64 bytes.")
      }
    default:
      throw Problem(
        "", code: "apns.header",
        "Only apns-topic, apns-push-type, apns-priority, apns-expiration and apns-collapse-id can be set.")
    }
  }
}

extension PushType {
  /// What stands behind the bundle id in the topic (Apple, "Sending notification requests to APNs").
  public var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .location: ".location-query"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .controls: ".push-type.controls"
    case .widgets: ".push-type.widgets"
    }
  }

  /// The most bytes that APNs takes as payload.
  public var payloadLimit: Int { self == .voip ? 5120 : 4096 }
}

extension PushDraft {
  /// Whether there is nothing for a person to see or hear: a background push.
  public var isSilent: Bool {
    if let payload = apns.payload {
      guard let aps = payload["aps"] else { return false }
      return aps["alert"] == nil && aps["badge"] == nil && aps["sound"] == nil && aps["content-available"] != nil
    }
    return notification.title == nil && notification.subtitle == nil && notification.body == nil
      && notification.badge == nil && notification.sound == nil && notification.contentAvailable
  }
}
