package import Foundation
package import JSON

/// A draft as APNs receives it: one body and one set of headers for all devices of the push.
///
/// Besides Apple's `aps` the payload contains the draft's extras and four optional keys of ours: `link` (which page a
/// tap opens), `image` (the address of a picture, for the app's service extension), `sbid`, the push's ID, by which an
/// app drops the duplicates that iOS makes of one push (docs/protocols.md §5), and `sbsig`, with which it reports
/// what became of the push (docs/protocols.md §8). A raw payload is sent unchanged, without them, unless the draft asks
/// for them.
package struct APNsPayload: Sendable, Hashable {
  /// The push's ID.
  package static let idKey = "sbid"
  /// The proof that a receipt comes from a device that was sent the push.
  package static let signatureKey = "sbsig"
  /// Both are of one push: another one has its own.
  static let ownKeys = [idKey, signatureKey]
  /// The type by which the app chooses a page.
  package static let linkKey = "link"
  /// A picture's address.
  package static let imageKey = "image"

  /// Given or derived.
  package let pushType: PushType
  /// `apns-topic`; nil for a channel, and for an ``PushType/mdm`` push of an app that is no topic of device management.
  package let topic: String?
  /// 10, 5 or 1.
  package let priority: Int
  /// At most 64 bytes.
  package let collapseID: String?
  /// `apns-channel-id`; nil: it goes to devices.
  package let channel: String?
  package let json: JSONValue
  /// Keys sorted, so that the same draft always gives the same bytes.
  package let body: [UInt8]

  private let timeToLive: Int?
  private let fixedExpiration: String?
  private let reservedExtra: Bool
  private let bundleID: String
  private let isRaw: Bool
  private let headersGiven: [String: String]

  /// Builds the request; ``problems`` lists what APNs would refuse.
  ///
  /// - Parameters:
  ///   - uid: the push's public ID, for the key `sbid`; nil omits the key.
  ///   - signature: of the push, for the key `sbsig`; nil omits the key.
  package init(_ draft: PushDraft, uid: String? = nil, signature: String? = nil) {
    let headers = draft.apns.headers
    // Wallet gets an empty payload, and then asks the passes' server (Apple, Adding a Web Service to Update Passes).
    let isUpdate = AppName.isPassType(draft.app) && draft.notification == Notification()
    let made = isUpdate ? [:] : Self.payload(of: draft.notification, uid: uid, signature: signature)
    json = draft.apns.payload.map { draft.apns.isIdentified ? Self.identified($0, uid, signature) : $0 } ?? made
    body = json.bytes
    let given = headers[APNsHeader.pushType].flatMap(PushType.init) ?? draft.options.pushType
    if case .channel(let id) = draft.audience { channel = id } else { channel = nil }
    let isManagement = AppName.isDeviceManagement(draft.app)
    pushType = given ?? (channel != nil ? .liveactivity : isManagement ? .mdm : Self.pushType(of: json))
    if let topic = headers[APNsHeader.topic] {
      self.topic = topic
    } else if channel != nil {
      topic = nil
    } else {
      topic = pushType == .mdm && !isManagement ? nil : draft.app + pushType.topicSuffix
    }
    priority =
      headers[APNsHeader.priority].flatMap(Int.init) ?? draft.options.priority?.apns
      ?? (pushType == .background ? 5 : 10)
    collapseID = headers[APNsHeader.collapseID] ?? draft.options.collapseID
    timeToLive = draft.options.timeToLive
    fixedExpiration = headers[APNsHeader.expiration]
    reservedExtra = draft.apns.payload == nil && draft.notification.extras["aps"] != nil
    bundleID = draft.app
    isRaw = draft.apns.payload != nil
    headersGiven = headers
  }

  /// The number on the icon. One that is counted is a text in ``json``, and a number in ``body(badge:)``.
  package var badge: Badge? { json["aps"]?["badge"].flatMap { Badge(json: $0) } }

  /// The body for devices whose badge shall be a number.
  package func body(badge: Int) -> [UInt8] { Self.counted(json, badge).bytes }

  /// The payload of one device, whose badge is a number instead of a text such as `"+1"`.
  package static func counted(_ json: JSONValue, _ badge: Int) -> JSONValue {
    guard var members = json.object, var aps = members["aps"]?.object else { return json }
    aps["badge"] = .integer(Int64(badge))
    members["aps"] = .object(aps)
    return .object(members)
  }

  /// Bytes (Apple: 4096; VoIP and channels 5120).
  package var limit: Int { pushType == .voip || channel != nil ? 5120 : 4096 }

  /// `apns-expiration` of a push sent at `date`; nil: without the header Apple's own policy applies (at most 30 days).
  package func expiration(sentAt date: Date) -> String? {
    if let fixedExpiration { return fixedExpiration }
    // Every channel takes 0, but only some take more.
    if channel != nil, timeToLive == nil { return "0" }
    return timeToLive.map { $0 == 0 ? "0" : String(Int(date.timeIntervalSince1970) + $0) }
  }

  /// The headers shared by all requests of the push, without `apns-id` and `authorization`, in the order of
  /// ``APNsHeader/all``.
  package func headers(sentAt date: Date) -> [(name: String, value: String)] {
    if let channel {
      return [
        (APNsHeader.channelID, channel), (APNsHeader.pushType, pushType.rawValue),
        (APNsHeader.priority, String(priority)), (APNsHeader.expiration, expiration(sentAt: date) ?? "0"),
      ]
    }
    let values = [
      APNsHeader.topic: topic, APNsHeader.pushType: pushType.rawValue, APNsHeader.priority: String(priority),
      APNsHeader.expiration: expiration(sentAt: date), APNsHeader.collapseID: collapseID,
    ]
    return APNsHeader.all.compactMap { name in (values[name] ?? nil).map { (name, $0) } }
  }

  /// As FCM takes it for an iPhone that is registered with FCM, and passes it on to APNs: the same payload and headers in
  /// the block `apns` (docs/protocols.md §3.1). FCM knows the topic by the token, and sends to no channel.
  package func fcmBlock(sentAt date: Date) -> JSONValue {
    let ours = [APNsHeader.topic, APNsHeader.channelID]
    let headers = headers(sentAt: date).filter { !ours.contains($0.name) }
    var block: [String: JSONValue] = [
      "headers": .object(Dictionary(uniqueKeysWithValues: headers.map { ($0.name, .string($0.value)) })),
      "payload": json,
    ]
    // Firebase's service extension finds the picture there.
    if !isRaw, let image = json[Self.imageKey]?.string { block["fcm_options"] = ["image": .string(image)] }
    return .object(block)
  }

  /// Why APNs would refuse every request of the push; paths are the draft's.
  package var problems: [Problem] {
    var problems: [Problem] = []
    if reservedExtra { problems.append(Problem("notification.extras.aps", PayloadMessage.reservedKey)) }
    if let aps = json["aps"], aps.object == nil {
      problems.append(Problem("apns.payload.aps", PayloadMessage.apsForm, ["found": aps.typeName]))
    }
    for (name, value) in headersGiven.sorted(by: { $0.key < $1.key }) {
      if let problem = APNsHeader.problem(with: name, value: value) {
        problems.append(problem.under("apns.headers.\(name)"))
      }
    }
    if let collapseID, headersGiven[APNsHeader.collapseID] == nil,
      let problem = APNsHeader.problem(with: APNsHeader.collapseID, value: collapseID)
    {
      problems.append(problem.under("options.collapse_id"))
    }
    if channel != nil { problems += channelProblems }
    if topic == nil, channel == nil { problems.append(Problem("apns.headers.apns-topic", PayloadMessage.topicNeeded)) }
    if size > limit { problems.append(tooLarge) }
    return problems
  }

  private var channelProblems: [Problem] {
    var problems: [Problem] = []
    if pushType != .liveactivity { problems.append(Problem("options.push_type", ChannelMessage.pushType)) }
    if json["aps"]?["event"]?.string == "start" { problems.append(Problem("apns.payload", ChannelMessage.start)) }
    for name in [APNsHeader.topic, APNsHeader.collapseID] where headersGiven[name] != nil {
      problems.append(Problem("apns.headers.\(name)", ChannelMessage.header))
    }
    if collapseID != nil, headersGiven[APNsHeader.collapseID] == nil {
      problems.append(Problem("options.collapse_id", ChannelMessage.header))
    }
    return problems
  }

  /// The topic that the push type requires, if another one is given.
  package var topicMismatch: Problem? {
    guard pushType != .mdm, let topic, topic != bundleID + pushType.topicSuffix else { return nil }
    let arguments = ["type": pushType.rawValue, "expected": bundleID + pushType.topicSuffix, "value": topic]
    return Problem("apns.headers.apns-topic", PayloadMessage.topicSuffix, arguments)
  }

  /// Of the largest body; a badge that is counted has up to five digits.
  var size: Int { badge?.isRelative == true ? body(badge: PushLimits.badge.upperBound).count : body.count }

  private var tooLarge: Problem {
    Problem(
      isRaw ? "apns.payload" : "notification", PayloadMessage.tooLarge,
      [
        "size": String(size), "limit": String(limit), "type": pushType.rawValue,
        "excess": String(size - limit),
      ])
  }
}

extension PushDraft.Priority {
  package var apns: Int {
    switch self {
    case .high: 10
    case .normal: 5
    case .low: 1
    }
  }
}
