import JSON
import Model

/// Reports (docs/protocols.md §4.5).
extension JPushService {
  /// What phones received: those that are off, or asleep, count later.
  func report(_ call: SimulatedCall) throws(JPushError) -> SimulatedReply {
    let ids = try JPushMembers.messageIDs(call.query["msg_ids"] ?? "")
    let isOfMessage = call.path[1] == "messages"
    let isDetail = call.path.last == "detail"
    return SimulatedReply(
      .array(
        ids.map { id in
          let targets = targets(of: id)
          let figures = targets.map { phones.figures(of: id, for: $0) }
          return isOfMessage
            ? isDetail ? Self.message(id, figures) : Self.summary(id, figures)
            : Self.received(id, figures, isDetail: isDetail)
        }))
  }

  private static func number(_ value: Int?) -> JSONValue { value.map(JSONValue.number) ?? .null }

  private static func received(_ id: Int64, _ figures: JPushFigures?, isDetail: Bool) -> JSONValue {
    var members: [String: JSONValue] = [
      "msg_id": .string(String(id)), "ios_apns_sent": number(figures?.iosTargets),
      "ios_apns_received": number(figures?.iosReceived), "ios_msg_received": .null, "wp_mpns_sent": .null,
    ]
    members[isDetail ? "jpush_received" : "android_received"] = number(figures?.androidReceived)
    if isDetail { members["android_pns_sent"] = number(figures.map { _ in 0 }) }
    return .object(members)
  }

  private static func summary(_ id: Int64, _ figures: JPushFigures?) -> JSONValue {
    [
      "msg_id": .string(String(id)),
      "android": [
        "target": number(figures?.androidTargets), "online_push": number(figures?.androidReceived),
        "received": number(figures?.androidReceived), "click": number(figures?.androidTapped), "msg_click": .null,
      ],
      "ios": [
        "apns_target": number(figures?.iosTargets), "apns_sent": number(figures?.iosTargets),
        "apns_received": number(figures?.iosReceived), "click": number(figures?.iosTapped), "target": .null,
        "received": .null,
      ], "winphone": .null,
    ]
  }

  private static func message(_ id: Int64, _ figures: JPushFigures?) -> JSONValue {
    [
      "msg_id": .integer(id),
      "jpush": [
        "target": number(figures?.androidTargets), "online_push": number(figures?.androidReceived),
        "received": number(figures?.androidReceived), "click": number(figures?.androidTapped), "msg_click": .null,
      ],
      "android_pns": ["pns_target": number(figures.map { _ in 0 }), "pns_sent": number(figures.map { _ in 0 })],
      "ios": [
        "apns_target": number(figures?.iosTargets), "apns_sent": number(figures?.iosTargets),
        "apns_received": number(figures?.iosReceived), "apns_click": number(figures?.iosTapped), "msg_target": .null,
        "msg_received": .null,
      ], "winphone": .null,
    ]
  }

  /// Phones that were online, which received something, and active, on which a notification was tapped, in each step.
  /// When a phone was added is not kept, so `new` is null.
  func users(_ call: SimulatedCall) throws(JPushError) -> SimulatedReply {
    let now = now()
    let span = try JPushSpan(
      unit: call.query["time_unit"], start: call.query["start"], duration: call.query["duration"], now: now)
    let all = phones.jpushPhones().compactMap { phones.phone($0.id) }
    return SimulatedReply(
      span.json { step in
        let range = step.start..<step.end
        var platforms: [String: JSONValue] = [:]
        for platform in Platform.allCases {
          let phones = all.filter { $0.platform == platform }
          let online = phones.count { phone in
            range.contains(now) && phone.power == .on || phone.received.contains { range.contains($0.receivedAt) }
          }
          let active = phones.count { $0.received.contains { $0.tapped != nil && range.contains($0.receivedAt) } }
          platforms[platform.rawValue] = ["new": .null, "online": .number(online), "active": .number(active)]
        }
        return platforms
      })
  }

  /// JPush's numbers: 0 received, 1 not received, 2 not of this app, 3 not of this push.
  func status(_ json: JSONValue) throws(JPushError) -> SimulatedReply {
    guard let id = json["msg_id"]?.integer ?? json["msg_id"]?.string.flatMap({ Int64($0) }) else {
      throw JPushError(.missing, "Missing parameter: msg_id")
    }
    let list = json["registration_ids"]?.array?.compactMap(\.string) ?? []
    guard !list.isEmpty, list.count <= JPushMembers.limit else {
      throw JPushError(.invalid, "registration_ids must be a list of 1 to \(JPushMembers.limit) strings.")
    }
    if let date = json["date"], date != .null, date.string.flatMap({ JPushTime.day($0) }) == nil {
      throw JPushError(.invalid, "date must be a day such as 2026-12-01.")
    }
    let targets = targets(of: id) ?? []
    var answer: [String: JSONValue] = [:]
    for text in list {
      let phone = phones.phone(jpush: text)
      let hasArrived = phone?.received.contains { $0.apnsID == String(id) } ?? false
      let number: Int64 =
        if let phone { targets.contains(phone.id) ? hasArrived ? 0 : 1 : 3 } else { 2 }
      answer[text] = ["status": .integer(number)]
    }
    return SimulatedReply(.object(answer))
  }
}
