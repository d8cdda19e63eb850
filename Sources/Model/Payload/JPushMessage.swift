package import JSON

/// A draft as JPush receives it (REST API v3, push): one request for up to 1000 registration IDs, with a block for each
/// platform (docs/protocols.md §4.2).
///
/// The block for iOS is made of the payload for APNs, so that both show the same: JPush writes `aps` itself and puts
/// `extras` beside it. The data for Android has the same keys.
package struct JPushMessage: Sendable, Hashable {
  /// The most registration IDs of one request.
  package static let deviceLimit = 1000
  /// Seconds that JPush keeps a push at most: 10 days.
  package static let longestLife = Int(JPushRequest.timeToLive.upperBound)

  /// `notification.ios`.
  package let ios: JSONValue
  /// `notification.android`; nil for a push that shows nothing.
  package let android: JSONValue?
  /// What reaches the app on Android without being shown: its own `message`, or the data of a push that shows nothing.
  /// On an iPhone too, if the request names any.
  package let message: JSONValue?
  /// Keys of `aps` that JPush has no place for.
  package let lost: [String]

  private let platforms: Set<Platform>
  private let isRaw: Bool
  private let isProduction: Bool
  private let timeToLive: Int?
  private let collapseID: String?
  private let block: JPushBlock

  /// - Parameters:
  ///   - uid: the push's public ID, for the key `sbid`; nil omits the key.
  ///   - signature: of the push, for the key `sbsig`; nil omits the key.
  package init(_ draft: PushDraft, uid: String? = nil, signature: String? = nil) {
    let payload = APNsPayload(draft, uid: uid, signature: signature)
    (ios, lost) = Self.ios(payload.json)
    let notification = draft.notification
    var data = APNsPayload.data(of: notification, uid: uid, signature: signature)
    // The app reads msg_content, so a message goes out as it came in through the JPush-compatible API.
    let own = JPushContent.message(in: data)
    if own != nil { data[JPushContent.messageKey] = nil }
    if notification.title != nil || notification.body != nil {
      (android, message) = (Self.android(draft, data), own.map { JSONValue.object($0) })
    } else {
      var silent = own ?? ["msg_content": "data"]
      silent["extras"] = .object(data.merging(silent["extras"]?.object ?? [:]) { $1 })
      (android, message) = (nil, .object(silent))
    }
    platforms = draft.platforms
    isRaw = draft.apns.payload != nil
    isProduction = draft.environment == .production
    timeToLive = draft.options.timeToLive
    collapseID = payload.collapseID
    block = draft.jpush
  }

  private static let keys = ["alert", "sound", "badge", "category", "thread-id"]
  private static let flags = ["content-available", "mutable-content"]

  private static func ios(_ payload: JSONValue) -> (JSONValue, lost: [String]) {
    var root = payload.object ?? [:]
    let aps = root.removeValue(forKey: "aps")?.object ?? [:]
    // It is required; empty shows nothing.
    var ios: [String: JSONValue] = ["alert": ""]
    for key in keys { if let value = aps[key], value != .null { ios[key] = value } }
    for key in flags where [1, true].contains(aps[key]) { ios[key] = true }
    if let level = aps["interruption-level"]?.string {
      // Apple's word has a hyphen (docs/protocols.md §4.2).
      ios["interruption-level"] = .string(level == "time-sensitive" ? "timeSensitive" : level)
    }
    if !root.isEmpty { ios["extras"] = .object(root) }
    return (.object(ios), aps.keys.filter { !(keys + flags + ["interruption-level"]).contains($0) }.sorted())
  }

  private static func android(_ draft: PushDraft, _ data: [String: JSONValue]) -> JSONValue {
    let notification = draft.notification
    var android: [String: JSONValue] = ["alert": .string(notification.body ?? "")]
    android["title"] = notification.title.map(JSONValue.string)
    android["sound"] = notification.sound.map(JSONValue.string)
    switch notification.badge {
    case .set(let number) where number > 0: android["badge_set_num"] = .integer(Int64(min(number, 99)))
    case .add(let number) where number > 0: android["badge_add_num"] = .integer(Int64(min(number, 99)))
    // JPush can neither clear nor lower it on Android.
    case .set, .add, nil: break
    }
    if let image = notification.image {
      // Style 3 shows the picture large.
      android["style"] = 3
      android["big_pic_path"] = .string(image)
    }
    android["channel_id"] = draft.android["notification"]?["channel_id"].flatMap { $0.string.map { .string($0) } }
    if !data.isEmpty { android["extras"] = .object(data) }
    return .object(android.merging(draft.jpush.android) { $1 })
  }

  // MARK: The request

  /// The body of `POST /v3/push`.
  ///
  /// - Parameters:
  ///   - platforms: of the devices.
  ///   - audience: `{"registration_id": […]}`; nil: the caller adds it.
  ///   - cid: JPush sends once for each in a day; nil: for a body that sends nothing.
  ///   - sendno: comes back with the answer.
  ///   - timeToLive: seconds left to deliver it; nil: the draft's.
  package func request(
    to platforms: Set<Platform>, audience: JSONValue? = nil, cid: String?, sendno: Int64? = nil, timeToLive: Int? = nil
  ) -> JSONValue {
    var notification: [String: JSONValue] = [:]
    if platforms.contains(.ios) { notification["ios"] = ios }
    if platforms.contains(.android) { notification["android"] = android }
    var options = block.options
    options["apns_production"] = .bool(isProduction)
    options["sendno"] = sendno.map(JSONValue.integer)
    options["time_to_live"] = (timeToLive ?? self.timeToLive).map { .integer(Int64(min($0, Self.longestLife))) }
    options["apns_collapse_id"] = collapseID.map(JSONValue.string)
    var body: [String: JSONValue] = [
      "platform": .array(Platform.allCases.filter(platforms.contains).map { .string($0.rawValue) }),
      "options": .object(options),
    ]
    body["audience"] = audience
    body["callback"] = block.callback
    if !notification.isEmpty { body["notification"] = .object(notification) }
    if platforms.contains(.android) { body["message"] = message }
    body["cid"] = cid.map(JSONValue.string)
    return .object(body)
  }

  /// Whether devices of both platforms can be in one request: a `message` would reach iPhones too.
  package var fitsBothPlatforms: Bool { message == nil }

  // MARK: Limits

  /// The part that is nearest to its limit, in bytes.
  package var size: (bytes: Int, limit: Int) {
    let ios = platforms.contains(.ios) ? ios.bytes.count : 0
    let android = platforms.contains(.android) ? androidSize : 0
    return ios * JPushContent.messageLimit >= android * JPushContent.iosLimit
      ? (ios, JPushContent.iosLimit) : (android, JPushContent.messageLimit)
  }

  private var androidSize: Int { (android?.bytes.count ?? 0) + (message?.bytes.count ?? 0) }

  /// Why JPush would refuse the push for all its devices; paths are the draft's.
  package var problems: [Problem] {
    var problems: [Problem] = []
    let field = isRaw ? "apns.payload" : "notification"
    if platforms.contains(.ios) { tooLarge(ios.bytes.count, JPushContent.iosLimit, .ios, field, &problems) }
    if platforms.contains(.android) {
      tooLarge(androidSize, JPushContent.messageLimit, .android, "notification", &problems)
    }
    if let timeToLive, timeToLive > Self.longestLife {
      problems.append(
        Problem("options.time_to_live", JPushMessageProblem.timeToLive, ["limit": String(Self.longestLife)]))
    }
    return problems
  }

  private func tooLarge(_ size: Int, _ limit: Int, _ platform: Platform, _ field: String, _ problems: inout [Problem]) {
    guard size > limit else { return }
    problems.append(
      Problem(
        field, JPushMessageProblem.tooLarge,
        [
          "platform": platform.name, "size": String(size), "limit": String(limit), "excess": String(size - limit),
        ]))
  }
}

package enum JPushMessageProblem: String, MessageSet {
  case tooLarge = "jpush.too_large"
  case block = "jpush.block_too_large"
  case timeToLive = "jpush.time_to_live"
  case lost = "jpush.lost"
  case pushType = "jpush.push_type"

  package var english: String {
    switch self {
    case .tooLarge:
      """
      The {platform} part has {size} bytes, but JPush allows at most {limit} (JPush: 1005). Shorten it by {excess}.
      """
    case .timeToLive: "JPush keeps a push for at most {limit} seconds, or 10 days (JPush: 1003)."
    case .block: "The options and the callback for JPush have {size} bytes; the limit is {limit}."
    case .lost: "JPush cannot carry these keys of aps: {keys}. Devices reached through JPush get the push without them."
    case .pushType:
      "JPush does not support the push type {type}. Devices reached through JPush get an ordinary notification."
    }
  }
}
