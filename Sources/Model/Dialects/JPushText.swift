import JSON

/// Writes a draft as the body of JPush's `POST /v3/push` (docs/protocols.md §4.2). ``JPushRequest`` reads it.
enum JPushText {
  static func json(_ draft: PushDraft) -> JSONValue {
    var parts: [String: JSONValue] = [:]
    if draft.platforms.contains(.ios) { parts["ios"] = .object(ios(APNsPayload(draft).json)) }
    if draft.platforms.contains(.android) {
      parts["android"] = .object(android(draft.notification).merging(draft.jpush.android) { $1 })
    }
    var options = draft.jpush.options
    options["apns_production"] = .bool(draft.environment == .production)
    options["time_to_live"] = draft.options.timeToLive.map { .integer(Int64($0)) }
    options["apns_collapse_id"] = draft.options.collapseID.map(JSONValue.string)
    options["big_push_duration"] = draft.options.spreadMinutes.map { .integer(Int64($0)) }
    var body: [String: JSONValue] = [
      "platform": .array(Platform.allCases.filter(draft.platforms.contains).map { .string($0.rawValue) }),
      "audience": audience(draft.audience), "notification": .object(parts), "options": .object(options),
    ]
    body["callback"] = draft.jpush.callback
    return .object(body)
  }

  /// What JPush's request lacks beside what all other dialects lack, and why JPush would refuse the rest.
  static func losses(_ draft: PushDraft) -> [Problem] {
    var losses: [Problem] = []
    if draft.options.timeToLive == nil { losses.append(Problem("options.time_to_live", DialectMessage.aDay)) }
    let aps = draft.apns.payload?["aps"]?.object ?? [:]
    for key in aps.keys.sorted() where !keys.contains(key) {
      losses.append(Problem("apns.payload.aps.\(key)", DialectMessage.lost, ["dialect": Dialect.jpush.name]))
    }
    do { _ = try JPushRequest(json(draft), app: draft.app) } catch {
      losses.append(Problem("", DialectMessage.refused, ["text": error.message]))
    }
    return losses
  }

  /// Members of `aps` that JPush's `ios` has too, under the same name.
  private static let keys = [
    "alert", "badge", "sound", "category", "thread-id", "interruption-level", "content-available", "mutable-content",
  ]

  private static func ios(_ payload: JSONValue) -> [String: JSONValue] {
    let aps = payload["aps"]?.object ?? [:]
    var part = aps.filter { keys.contains($0.key) }
    // JPush requires an alert; an empty one shows nothing.
    part["alert"] = aps["alert"] ?? ""
    for key in ["content-available", "mutable-content"] where part[key] != nil { part[key] = true }
    if part["interruption-level"] == "time-sensitive" { part["interruption-level"] = "timeSensitive" }
    let extras = (payload.object ?? [:]).filter { $0.key != "aps" }
    if !extras.isEmpty { part["extras"] = .object(extras) }
    return part
  }

  private static func android(_ notification: Notification) -> [String: JSONValue] {
    var part: [String: JSONValue] = ["alert": .string(notification.body ?? "")]
    part["title"] = notification.title.map(JSONValue.string)
    part["sound"] = notification.sound.map(JSONValue.string)
    switch notification.badge {
    case .set(let number): part["badge_set_num"] = .integer(Int64(number))
    case .add(let number): part["badge_add_num"] = .integer(Int64(number))
    case nil: break
    }
    var extras = notification.extras
    extras[APNsPayload.linkKey] = notification.link.map(JSONValue.string) ?? extras[APNsPayload.linkKey]
    extras[APNsPayload.imageKey] = notification.image.map(JSONValue.string) ?? extras[APNsPayload.imageKey]
    if !extras.isEmpty { part["extras"] = .object(extras) }
    return part
  }

  private static func audience(_ audience: Audience) -> JSONValue {
    let open: JSONValue = ["registration_id": [.string(Dialect.registrationPlaceholder)]]
    guard case .rule(var rule) = audience else { return audience == .all ? "all" : open }
    rule.deviceToken = []
    return rule.isEmpty ? open : Audience.rule(rule).json
  }
}
