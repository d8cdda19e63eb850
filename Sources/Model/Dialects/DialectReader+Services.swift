import JSON

/// The requests of Signalbox, JPush and FCM.
extension DialectReader {
  mutating func readOwn() throws(Problems) {
    var members = json.object ?? [:]
    let given = missing.filter { members[$0] != nil && members[$0] != .null }
    missing.subtract(given)
    let standIns: [String: JSONValue] = [
      "app": .string(Self.noApp), "environment": .string(draft.environment.rawValue), "audience": "all",
    ]
    for name in missing { members[name] = standIns[name] }
    draft = try PushDraft(json: .object(members))
  }

  // MARK: JPush

  mutating func readJPush() throws(Problems) {
    var members = json.object ?? [:]
    let isOpen = members["audience"]?["registration_id"] == [.string(Dialect.registrationPlaceholder)]
    if isOpen { members["audience"] = "all" }
    let request: JPushRequest
    do throws(JPushError) {
      request = try JPushRequest(.object(members), app: Self.noApp)
    } catch {
      throw Problems([Problem("", DialectMessage.invalid, ["text": error.message])])
    }
    draft = request.draft
    if !isOpen { missing.remove("audience") }
    // JPush's documents and its libraries disagree on the default: a person chooses.
    if members["options"]?["apns_production"] != nil { missing.remove("environment") }
    for name in ["cid"] where members[name] != nil { lose(name, .ours) }
    for name in ["sendno", "override_msg_id"] where members["options"]?[name] != nil { lose("options.\(name)") }
    for name in request.unused { lose(name) }
    let payload = draft.apns.payload
    var android = draft.notification
    android.takeLinks()
    draft.notification = android
    guard let payload else { return }
    (draft.apns.payload, draft.notification) = (nil, Notification())
    if draft.platforms.contains(.android) {
      take(payload: payload, beside: android)
    } else {
      take(payload: payload)
    }
  }

  // MARK: FCM

  mutating func readFCM() throws(Problems) {
    var violations: [FCMField.Violation] = []
    let request = FCMField.request.read(json, "", &violations)
    guard violations.isEmpty, var message = request?["message"]?.object else {
      let said = violations.map { Problem($0.field, DialectMessage.invalid, ["text": $0.description]) }
      throw Problems(said.isEmpty ? [Problem("", DialectMessage.unknown)] : said)
    }
    if request?["validate_only"] == true { draft.options.dryRun = true }
    for name in ["name", "webpush", "fcm_options", "fid"] where message[name] != nil { lose(name) }
    let target = message.filter { ["topic", "condition"].contains($0.key) }
    if !target.isEmpty {
      try take(target: target)
      // A push to a topic is made for Android, whoever subscribed.
      if message.removeValue(forKey: "apns") != nil { lose("apns") }
    }
    if message["apns"]?["fcm_options"] != nil { lose("apns.fcm_options") }
    let common = message.filter { ["notification", "data", "android"].contains($0.key) }
    let (payload, android) = (message["apns"]?["payload"], message["android"])
    if message["apns"] != nil, common.isEmpty { draft.platforms = [.ios] }
    if message["apns"] == nil, android != nil { draft.platforms = [.android] }
    if let token = message["token"]?.string { take(token: token) }
    let shown = take(common)
    if let payload, common.isEmpty {
      take(payload: payload)
    } else if let payload {
      take(payload: payload, beside: shown)
    } else {
      draft.notification = shown
    }
    if draft.platforms.contains(.android), !common.isEmpty { takeAndroid(common) }
    let headers = message["apns"]?["headers"]?.object ?? [:]
    take(headers: headers.compactMapValues(\.string).filter { APNsHeader.all.contains($0.key) })
  }

  /// A topic or a condition, which a push through FCM alone has.
  private mutating func take(target: [String: JSONValue]) throws(Problems) {
    let fields = JSONFields(["audience": .object(target)])
    guard let audience = Audience.read(fields, platforms: [.android]) else { throw Problems(fields.problems) }
    (draft.audience, draft.platforms) = (audience, [.android])
    missing.remove("audience")
  }

  /// What FCM's common part and its `android` block show.
  private mutating func take(_ message: [String: JSONValue]) -> Notification {
    var notification = Notification()
    let (shown, android) = (message["notification"], message["android"])
    func text(_ value: JSONValue?) -> String? { value?.string.flatMap { $0.isEmpty ? nil : $0 } }
    (notification.title, notification.body) = (text(shown?["title"]), text(shown?["body"]))
    notification.image = text(shown?["image"])
    notification.extras = message["data"]?.object ?? [:]
    if notification.extras.removeValue(forKey: APNsPayload.idKey) != nil { lose("data.\(APNsPayload.idKey)", .ours) }
    notification.takeLinks()
    notification.sound = text(android?["notification"]?["sound"])
    notification.badge = android?["notification"]?["notification_count"]?.integer.flatMap { Int(exactly: $0) }
      .map(Badge.set)
    draft.options.collapseID = text(android?["collapse_key"])
    if let seconds = android?["ttl"]?.string.flatMap(FCMField.seconds), seconds == seconds.rounded(), seconds >= 0 {
      draft.options.timeToLive = Int(exactly: min(seconds, Double(PushLimits.timeToLive.upperBound)))
    }
    let isVisible = notification.title != nil || notification.body != nil
    let isHigh = android?["priority"] == "HIGH"
    if android?["priority"] != nil, isHigh != isVisible { draft.options.priority = isHigh ? .high : .normal }
    return notification
  }

  /// Keeps of the `android` block what the draft alone would not give, and tells of the rest.
  private mutating func takeAndroid(_ message: [String: JSONValue]) {
    let own = FCMMessage(draft).json
    if let android = message["android"]?.object, let generated = own["android"]?.object {
      draft.android = Self.patch(from: generated, to: android)
    }
    var data = message["data"]?.object ?? [:]
    data[APNsPayload.idKey] = nil
    let shown = message["notification"]?.object ?? [:]
    if own["data"]?.object ?? [:] != data || own["notification"]?.object ?? [:] != shown {
      lose("notification", .differs)
    }
  }

  /// What turns one object into the other when it is merged over it (RFC 7396).
  private static func patch(
    from old: [String: JSONValue], to new: [String: JSONValue]
  ) -> [String: JSONValue] {
    var patch: [String: JSONValue] = [:]
    for key in Set(old.keys).union(new.keys) where old[key] != new[key] {
      if case .object(let before)? = old[key], case .object(let after)? = new[key] {
        patch[key] = .object(Self.patch(from: before, to: after))
      } else {
        patch[key] = new[key] ?? .null
      }
    }
    return patch
  }
}
