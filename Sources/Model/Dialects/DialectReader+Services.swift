import JSON

/// The requests of Signalbox, JPush and FCM.
extension DialectReader {
  mutating func readOwn() throws(Problems) {
    missing = []
    draft = try PushDraft(json: completed(json))
  }

  // MARK: JPush

  mutating func readJPush() throws(Problems) {
    var members = json.object ?? [:]
    let isOpen =
      members["audience"] == nil
      || members["audience"]?["registration_id"] == [.string(Dialect.registrationPlaceholder)]
    if isOpen { members["audience"] = "all" }
    if members["platform"] == nil { members["platform"] = "all" }
    let request = try jpushRequest(members)
    draft = request.draft
    if !isOpen { missing.remove("audience") }
    // JPush's documents and its libraries disagree on the default: a person chooses.
    if members["options"]?["apns_production"] != nil { missing.remove("environment") }
    for name in ["cid"] where members[name] != nil { lose(name, .ours) }
    for name in ["sendno", "override_msg_id"] where members["options"]?[name] != nil { lose("options.\(name)") }
    for name in draft.unused { lose(name) }
    (draft.unused, draft.options.anyAndroid) = ([], false)
    let payload = draft.apns.payload
    var android = draft.notification
    android.takeLinks()
    draft.notification = android
    guard let payload else { return }
    (draft.apns, draft.notification) = (PushDraft.APNsOverrides(), Notification())
    if draft.platforms.contains(.android) {
      take(payload: payload, beside: android)
    } else {
      take(payload: payload)
    }
  }

  /// A request without content is read for all else that it says.
  private mutating func jpushRequest(_ members: [String: JSONValue]) throws(Problems) -> JPushRequest {
    do throws(JPushError) {
      return try JPushRequest(.object(members), app: Self.noApp)
    } catch {
      let problem = Problem(error)
      guard error.code == .missing, error.field == JPushContent.field else { throw Problems([problem]) }
      lose(problem)
    }
    var members = members
    (members["notification"], members["message"]) = (["alert": .string(Self.noApp)], nil)
    do throws(JPushError) {
      let request = try JPushRequest(.object(members), app: Self.noApp)
      return request.without(content: Notification())
    } catch {
      throw Problems([Problem(error)])
    }
  }

  // MARK: FCM

  mutating func readFCM() throws(Problems) {
    var violations: [FCMField.Violation] = []
    let request = FCMField.request.read(json, "", &violations)
    let wrong = violations.map { violation in
      violation.member.map { Problem("\(violation.field).\($0)", DialectMessage.notTaken) }
        ?? Problem(violation.field, DialectMessage.invalid, ["text": violation.description])
    }
    guard var message = request?["message"]?.object else {
      throw Problems(wrong.isEmpty ? [Problem("", DialectMessage.unknown)] : wrong)
    }
    for problem in wrong { lose(problem) }
    if request?["validate_only"] == true { draft.options.dryRun = true }
    for name in ["name", "webpush", "fcm_options", "fid"] where message[name] != nil { lose(name) }
    let target = message.filter { ["topic", "condition"].contains($0.key) }
    if !target.isEmpty {
      take(target: target)
      // A push to a topic is made for Android, whoever subscribed.
      if message.removeValue(forKey: "apns") != nil { lose("apns") }
    }
    let common = message.filter { ["notification", "data", "android"].contains($0.key) }
    let (payload, android) = (message["apns"]?["payload"], message["android"])
    // The picture stands in the payload, too, if we wrote it.
    if let options = message["apns"]?["fcm_options"], options["image"] != payload?[APNsPayload.imageKey] {
      lose("apns.fcm_options")
    }
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

  // MARK: Legacy FCM

  mutating func readLegacy() throws(Problems) {
    var members = json.object ?? [:]
    let receivers = ["to", "registration_ids", "condition"]
    let isOpen = receivers.allSatisfy { (members[$0] ?? .null) == .null }
    if isOpen { members["to"] = .string(Dialect.tokenPlaceholder) }
    let request: LegacyRequest
    do {
      request = try LegacyRequest(.object(members), app: Self.noApp)
    } catch let error as LegacyRequest.Refused {
      throw Problems([Problem(error.field, DialectMessage.invalid, ["text": error.reason])])
    } catch {
      // The receivers cannot be read. Without them the rest can.
      let text = (error as? LegacyRequest.Malformed)?.text ?? ""
      let given = receivers.filter { members[$0] != nil }
      throw Problems(given.map { Problem($0, DialectMessage.invalid, ["text": text]) })
    }
    var read = request.draft
    (read.environment, read.options.allowEmptyAudience) = (draft.environment, false)
    read.options.dryRun = request.isDryRun
    draft = read
    switch request.target {
    case .topics(let audience, _):
      (draft.audience, draft.platforms) = (audience, [.android])
      missing.remove("audience")
    case .tokens(let texts): take(tokens: texts)
    }
    for name in request.unused { lose(name) }
  }

  /// A topic or a condition, which a push through FCM alone has.
  private mutating func take(target: [String: JSONValue]) {
    let fields = JSONFields(["audience": .object(target)])
    draft.platforms = [.android]
    guard let audience = Audience.read(fields, platforms: [.android]), fields.problems.isEmpty else {
      for problem in fields.problems { lose(problem) }
      return
    }
    draft.audience = audience
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
    for key in APNsPayload.ownKeys where notification.extras.removeValue(forKey: key) != nil {
      lose("data.\(key)", .ours)
    }
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
    for key in APNsPayload.ownKeys { data[key] = nil }
    let shown = message["notification"]?.object ?? [:]
    if own["data"]?.object ?? [:] != data || own["notification"]?.object ?? [:] != shown {
      lose("notification", .differs)
    }
  }

  /// What turns one object into the other when it is merged over it (RFC 7396).
  private static func patch(from old: [String: JSONValue], to new: [String: JSONValue]) -> [String: JSONValue] {
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

extension Problem {
  /// As JPush would refuse it, without the path, which is the problem's field.
  fileprivate init(_ error: JPushError) {
    let text = error.message.trimmingPrefix(error.field.prefix { $0 != "[" }).trimmingPrefix(":").trimmingPrefix(" ")
    self.init(error.field, DialectMessage.invalid, ["text": String(text)])
  }
}
