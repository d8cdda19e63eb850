package import JSON

/// The body of the legacy `POST /fcm/send` (docs/protocols.md §3.5) as a draft.
package struct LegacyRequest: Sendable, Hashable {
  package enum Target: Sendable, Hashable {
    /// 1 to 1000 texts, as given; an empty one is a missing token.
    case tokens([String])
    /// A topic or a condition of FCM, and the same as a rule over tags of these names; nil: no rule can say it.
    case topics(Audience, tags: Audience.Rule?)
  }

  package let target: Target
  /// Checks only.
  package let isDryRun: Bool
  /// The content; environment and audience are the caller's.
  package let draft: PushDraft
  /// Paths of the keys without effect, in order.
  package let unused: [String]

  /// A request that cannot be read: status 400, with this text.
  package struct Malformed: Error, Sendable, Hashable {
    package let text: String
  }

  /// What the protocol says of a receiver that a message does not reach.
  package enum Word: String, Sendable, CaseIterable {
    case invalidParameters = "InvalidParameters"
    case invalidPackageName = "InvalidPackageName"
    case invalidTTL = "InvalidTtl"
    case invalidDataKey = "InvalidDataKey"
    case messageTooBig = "MessageTooBig"
    case missingRegistration = "MissingRegistration"
    case invalidRegistration = "InvalidRegistration"
    case notRegistered = "NotRegistered"
    case mismatchSenderID = "MismatchSenderId"
    case deviceRateExceeded = "DeviceMessageRateExceeded"
    case invalidAPNsCredential = "InvalidApnsCredential"
    case internalServerError = "InternalServerError"
  }

  /// A message that is refused for every receiver: status 200, and this word in its results.
  package struct Refused: Error, Sendable, Hashable {
    package let word: Word
    package let reason: String
    /// The path of what is wrong, such as `notification.badge`; empty: no single field.
    package let field: String

    package init(_ word: Word, _ reason: String, field: String = "") {
      (self.word, self.reason, self.field) = (word, reason, field)
    }

    /// What the checks of every push say, in the protocol's words.
    package init(_ problems: Problems) {
      let problem = problems.all.first
      switch problem?.code {
      case PayloadMessage.tooLarge.code, FCMMessageProblem.tooLarge.code, JPushMessageProblem.tooLarge.code:
        word = .messageTooBig
      case FCMMessageProblem.reservedKey.code, PayloadMessage.reservedKey.code: word = .invalidDataKey
      default: word = .invalidParameters
      }
      reason = problem?.description ?? ""
      field = ""
    }
  }

  /// The most tokens of a request.
  package static let idLimit = 1000

  /// Keys of `notification` that Android's block has under the same name.
  private static let androidKeys: Set<String> = [
    "body_loc_args", "body_loc_key", "click_action", "color", "icon", "tag", "title_loc_args", "title_loc_key",
  ]
  private static let keys: Set<String> = [
    "collapse_key", "condition", "content_available", "data", "dry_run", "mutable_content", "notification", "priority",
    "registration_ids", "restricted_package_name", "time_to_live", "to",
  ]

  /// - Parameter app: bundle ID.
  /// - Throws: ``Malformed``, ``Refused``.
  package init(_ json: JSONValue, app: String) throws {
    guard let members = json.object?.filter({ $0.value != .null }) else {
      throw Malformed(text: "JSON_PARSING_ERROR: an object is expected.")
    }
    target = try Self.target(members)
    isDryRun = members["dry_run"] == true
    var draft = PushDraft(
      app: app, environment: .production, platforms: Set(Platform.allCases), audience: .all,
      notification: Notification())
    draft.options.timeToLive = try Self.timeToLive(members["time_to_live"])
    draft.options.collapseID = try Self.text(members, "collapse_key")
    switch try Self.text(members, "priority") {
    case nil: break
    case "high"?: draft.options.priority = .high
    case "normal"?: draft.options.priority = .normal
    case let word?:
      throw Refused(.invalidParameters, "priority must be high or normal, not \(word.prefix(20)).", field: "priority")
    }
    draft.notification.contentAvailable = members["content_available"] == true
    draft.notification.mutableContent = members["mutable_content"] == true
    draft.notification.extras = try Self.data(members["data"])
    var android: [String: JSONValue] = [:]
    android["restricted_package_name"] = members["restricted_package_name"]
    var unused = members.keys.filter { !Self.keys.contains($0) }
    if let shown = members["notification"] {
      guard let shown = shown.object?.filter({ $0.value != .null }) else {
        throw Refused(.invalidParameters, "notification must be an object.", field: "notification")
      }
      unused += try Self.read(shown, &draft.notification, &android)
    }
    draft.android = android
    let shown = draft.notification
    if shown.title == nil, shown.body == nil, shown.badge == nil, shown.sound == nil {
      // Data alone: iOS has no other push that shows nothing.
      draft.notification.contentAvailable = true
      // APNs refuses a background push of priority 10; on Android it stays high.
      if draft.options.priority == .high { draft.apns.headers[APNsHeader.priority] = "5" }
    }
    // Devices that are not registered any more are told one by one.
    draft.options.allowEmptyAudience = true
    self.unused = unused.sorted()
    do {
      // A draft is kept as JSON: what cannot be read back is refused now.
      self.draft = try PushDraft(json: draft.json)
    } catch {
      throw Refused(error)
    }
  }

  private static func target(_ members: [String: JSONValue]) throws -> Target {
    let given = ["to", "registration_ids", "condition"].filter { members[$0] != nil }
    guard given.count == 1, let name = given.first, let value = members[name] else {
      throw Malformed(text: given.isEmpty ? "MissingRegistration" : "Use one of to, registration_ids and condition.")
    }
    if name == "registration_ids" {
      guard let ids = value.array, (1...idLimit).contains(ids.count) else {
        throw Malformed(text: "\"registration_ids\" must have from 1 to \(idLimit) elements.")
      }
      return .tokens(ids.map { $0.string ?? "" })
    }
    let text = value.string ?? ""
    if name == "to", !text.hasPrefix("/topics/") { return .tokens([text]) }
    let topic = String(text.dropFirst(8))
    let problem = name == "to" ? TopicCondition.problem(withTopic: topic) : TopicCondition.problem(with: text)
    if let problem { throw Refused(.invalidParameters, problem.text, field: name) }
    return name == "to"
      ? .topics(.topic(topic), tags: TopicCondition.topic(topic).asTags)
      : .topics(.condition(text), tags: TopicCondition(text)?.asTags)
  }

  private static func timeToLive(_ value: JSONValue?) throws -> Int? {
    guard let value else { return nil }
    let seconds = value.integer ?? value.string.flatMap { Int64($0) }
    guard let seconds = seconds.flatMap({ Int(exactly: $0) }), PushLimits.timeToLive.contains(seconds) else {
      throw Refused(
        .invalidTTL, "time_to_live must be from 0 to \(PushLimits.timeToLive.upperBound) seconds.",
        field: "time_to_live")
    }
    return seconds
  }

  private static func text(_ members: [String: JSONValue], _ name: String, in group: String = "") throws -> String? {
    guard let value = members[name] else { return nil }
    guard let text = value.string else {
      throw Refused(.invalidParameters, "\(name) must be a string.", field: group + name)
    }
    return text.isEmpty ? nil : text
  }

  /// The legacy protocol turns all values into text.
  private static func data(_ value: JSONValue?) throws -> [String: JSONValue] {
    guard let value else { return [:] }
    guard let members = value.object else {
      throw Refused(.invalidParameters, "data must be an object.", field: "data")
    }
    if let key = members.keys.filter(FCMMessage.isReserved).min() {
      throw Refused(.invalidDataKey, "“\(key)” is reserved by FCM.", field: "data[\"\(key)\"]")
    }
    return members.mapValues { .string($0.string ?? $0.text()) }
  }

  /// - Returns: paths of the keys without effect.
  private static func read(
    _ shown: [String: JSONValue], _ notification: inout Notification, _ android: inout [String: JSONValue]
  ) throws -> [String] {
    let group = "notification."
    notification.title = try text(shown, "title", in: group)
    notification.body = try text(shown, "body", in: group)
    notification.subtitle = try text(shown, "subtitle", in: group)
    notification.sound = try text(shown, "sound", in: group)
    notification.image = try text(shown, "image", in: group)
    // On iOS it names the category of the notification.
    notification.category = try text(shown, "click_action", in: group)
    if let badge = shown["badge"] {
      // Clients write the number as a text, too.
      let number = badge.string.flatMap { $0.first?.isNumber == true ? Int64($0) : nil }.map(JSONValue.integer)
      guard let badge = Badge(json: number ?? badge) else {
        throw Refused(
          .invalidParameters, "badge must be a number from 0 to \(PushLimits.badge.upperBound).",
          field: "notification.badge")
      }
      notification.badge = badge
    }
    var details = shown.filter { androidKeys.contains($0.key) }
    // Clients write lists as JSON in a text, too.
    for name in ["body_loc_args", "title_loc_args"] {
      if let text = details[name]?.string, let list = try? JSONValue(checking: Array(text.utf8)) {
        details[name] = list
      }
    }
    details["channel_id"] = shown["android_channel_id"]
    if !details.isEmpty { android["notification"] = .object(details) }
    let known = androidKeys.union(["title", "body", "subtitle", "sound", "image", "badge", "android_channel_id"])
    return shown.keys.filter { !known.contains($0) }.map { "notification.\($0)" }
  }
}

extension LegacyRequest.Word {
  /// For an outcome that is not *accepted*.
  ///
  /// - Parameter reason: the provider's, or one of ours.
  package init(reason: String) {
    let code = Reason.head(reason)
    // FCM has one code for all fields of a message, the legacy protocol a word for this one.
    if code == FCMCode.badRequest.rawValue, reason.contains("restricted_package_name") {
      self = .invalidPackageName
      return
    }
    self =
      APNsCode(rawValue: code).map { Self($0) } ?? FCMCode(rawValue: code).map { Self($0) }
      ?? OwnReason(rawValue: code).map { Self($0) } ?? .internalServerError
  }

  private init(_ code: APNsCode) {
    switch code {
    case .unregistered, .expiredToken: self = .notRegistered
    case .badDeviceToken: self = .invalidRegistration
    case .deviceTokenNotForTopic: self = .mismatchSenderID
    case .payloadTooLarge: self = .messageTooBig
    case .tooManyRequests: self = .deviceRateExceeded
    case .badCertificate, .expiredProviderToken, .invalidProviderToken: self = .invalidAPNsCredential
    case .badTopic, .idleTimeout, .missingTopic, .tooManyProviderTokenUpdates, .topicDisallowed:
      self = .internalServerError
    }
  }

  private init(_ code: FCMCode) {
    switch code {
    case .unregistered: self = .notRegistered
    case .invalidArgument: self = .invalidRegistration
    case .senderMismatch: self = .mismatchSenderID
    case .quotaExceeded: self = .deviceRateExceeded
    case .thirdPartyAuthError: self = .invalidAPNsCredential
    case .badRequest: self = .invalidParameters
    case .internal, .notFound, .permissionDenied, .unauthenticated, .unavailable:
      self = .internalServerError
    }
  }

  private init(_ own: OwnReason) {
    switch own {
    case .noCredential, .credentialUnusable, .credentialRefused: self = .invalidAPNsCredential
    default: self = .internalServerError
    }
  }
}

extension TopicCondition {
  /// The same condition over tags of the same names; nil if a tag rule cannot say it: it has one group of which any is
  /// enough.
  var asTags: Audience.Rule? {
    var rule = Audience.Rule()
    for part in conjuncts {
      switch part {
      case .topic(let name): rule.tagAnd.append(name)
      case .not(.topic(let name)): rule.tagNot.append(name)
      default:
        guard rule.tag.isEmpty, let names = part.alternatives else { return nil }
        rule.tag = names
      }
    }
    if rule.tag.isEmpty, rule.tagAnd.count == 1 { (rule.tag, rule.tagAnd) = (rule.tagAnd, []) }
    return rule
  }

  private var conjuncts: [TopicCondition] {
    if case .both(let one, let other) = self { one.conjuncts + other.conjuncts } else { [self] }
  }

  private var alternatives: [String]? {
    switch self {
    case .topic(let name): [name]
    case .either(let one, let other): one.alternatives.flatMap { names in other.alternatives.map { names + $0 } }
    case .not, .both: nil
    }
  }
}
