package import JSON
import Text

/// The body of `POST /v3/push`, or one push of a batch or a schedule (docs/protocols.md §4.2), as a draft.
///
/// What would change who gets what is sent as JPush would, or refused by name. What only JPush knows goes on to the
/// devices that JPush reaches (``PushDraft/jpush``); what nobody can use has no effect, and ``PushDraft/unused`` names it.
package struct JPushRequest: Sendable, Hashable {
  package private(set) var draft: PushDraft
  /// 0 if absent.
  package let sendno: Int64
  /// Makes the request idempotent for a day; nil: it is not.
  package let cid: String?
  /// `override_msg_id`: the push whose notification this one replaces.
  package let replaces: Int64?

  /// The receiver of a push in a batch.
  package enum Target: String, Sendable, CaseIterable {
    case registrationID = "regid"
    case alias
  }

  /// Seconds that JPush keeps a push without a `time_to_live`.
  static let usualTimeToLive = 86_400
  /// Seconds: 10 days.
  static let timeToLive: ClosedRange<Int64> = 0...864_000
  /// Minutes of `big_push_duration`.
  static let spreadMinutes: ClosedRange<Int64> = 1...1400
  /// Letters, digits, `_` and `-` of a `cid`.
  static let cidLimit = 64

  /// Platforms of JPush that Signalbox has no devices of.
  static let otherPlatforms: Set<String> = ["winphone", "hmos", "quickapp"]

  /// Segments of an audience.
  private static let segmentsLimit = 1

  private static let refused: JPushFields.Refusals = [
    "sms_message": (.noRight, "Signalbox sends no text messages. Remove this key."),
    "live_activity": (.noRight, "Signalbox does not update Live Activities here. Remove this key."),
    "inapp_message": (.paidFeature, "Signalbox has no in-app messages of this kind. Remove this key."),
    "notification_3rd": (.paidFeature, "Signalbox sends no second notification. Remove this key."),
    "voip": (.noRight, "Signalbox sends no VoIP pushes here. Remove this key."),
  ]

  /// - Parameters:
  ///   - app: bundle ID.
  ///   - target: what `target` names in a batch; nil: the body has an `audience`.
  /// - Throws: ``JPushError``, the first thing that is wrong.
  package init(_ json: JSONValue, app: String, target: Target? = nil) throws(JPushError) {
    let receiver = target == nil ? ["audience", "cid"] : ["target"]
    let fields = try JPushFields(
      json, known: Set(["platform", "notification", "message", "options", "callback"] + receiver),
      refused: Self.refused, moved: Self.moved)
    for name in ["platform", target == nil ? "audience" : "target"] where fields[name] == nil {
      throw JPushError(.missing, "Missing parameter: \(name)")
    }
    cid = try Self.cid(fields)
    let (platforms, otherPlatforms) = try Self.platforms(fields)
    let audience: Audience
    if let target { audience = try Self.audience(fields, target) } else { audience = try Self.audience(fields) }
    let content = try JPushContent(fields, platforms: platforms)
    let options = try Self.optionFields(fields)
    (sendno, replaces) = (
      try options.integer("sendno", in: .min ... .max) ?? 0, try options.messageID("override_msg_id")
    )
    var draft = PushDraft(
      app: app, environment: try options.flag("apns_production") ?? true ? .production : .development,
      platforms: content.platforms, audience: audience, notification: content.notification)
    draft.apns.payload = content.payload
    draft.apns.isIdentified = content.payload != nil
    draft.android = content.android
    draft.jpush.android = content.jpush
    draft.jpush.options = options.members(of: JPushBlock.optionKeys)
    draft.jpush.callback = try fields.object("callback").flatMap { $0.isEmpty ? nil : .object($0) }
    draft.options.anyAndroid = content.platforms.contains(.android)
    draft.options.timeToLive = Int(
      try options.integer("time_to_live", in: Self.timeToLive) ?? Int64(Self.usualTimeToLive))
    draft.options.collapseID = try Self.collapseID(options)
    draft.options.spreadMinutes = try options.integer("big_push_duration", in: Self.spreadMinutes).map { Int($0) }
    draft.unused = fields.unused + otherPlatforms.map { "platform.\($0)" } + content.unused + options.unused
    self.draft = try Self.storable(draft)
  }

  /// Replaces the notification of an earlier push.
  ///
  /// - Parameter earlier: that push's draft; nil: the app sent no such push within a day.
  /// - Throws: ``JPushError`` if it cannot be replaced.
  package mutating func replace(_ earlier: PushDraft?) throws(JPushError) {
    guard let earlier else {
      throw JPushError(.invalid, "options.override_msg_id: this app sent no such push within the last day.")
    }
    guard let collapseID = earlier.options.collapseID else {
      throw JPushError(
        .noRight,
        "options.override_msg_id: Signalbox can replace only a push that was sent with options.apns_collapse_id.")
    }
    guard draft.options.collapseID ?? collapseID == collapseID else {
      throw JPushError(.invalid, "options.apns_collapse_id must be that of the push in options.override_msg_id.")
    }
    draft.options.collapseID = collapseID
  }

  /// The same request with another content.
  func without(content notification: Notification) -> JPushRequest {
    var request = self
    (request.draft.notification, request.draft.apns) = (notification, PushDraft.APNsOverrides())
    return request
  }

  // MARK: Who

  private static func cid(_ fields: JPushFields) throws(JPushError) -> String? {
    guard let cid = try fields.text("cid") else { return nil }
    guard isCID(cid) else { throw fields.invalid("cid", "must have 1 to \(cidLimit) letters, digits, “_” and “-”.") }
    return cid
  }

  package static func isCID(_ text: String) -> Bool {
    (1...cidLimit).contains(text.utf8.count)
      && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
  }

  /// Ours, and those that Signalbox has no devices of.
  private static func platforms(_ fields: JPushFields) throws(JPushError) -> (Set<Platform>, others: [String]) {
    let value = fields["platform"]
    // Ruby's library writes the word as a list.
    if value == "all" || value == ["all"] { return (Set(Platform.allCases), []) }
    // JPush's documents write a single platform as a string, too.
    let words = value?.string.map { [$0] } ?? value?.array?.compactMap(\.string) ?? []
    guard !words.isEmpty, words.count == value?.array?.count ?? 1 else {
      throw fields.invalid("platform", "must be \"all\" or a list of ios and android.")
    }
    var (platforms, others) = (Set<Platform>(), [String]())
    for word in words {
      if otherPlatforms.contains(word) {
        if !others.contains(word) { others.append(word) }
      } else if let platform = Platform(rawValue: word) {
        platforms.insert(platform)
      } else {
        throw fields.invalid("platform", "“\(word.abbreviated(to: 40))” is not ios or android.")
      }
    }
    guard !platforms.isEmpty else {
      throw JPushError(
        .noRight, "platform: Signalbox does not send to \(others.joined(separator: ", ")). Use ios and android.",
        field: "platform[0]")
    }
    return (platforms, others)
  }

  private static func audience(_ fields: JPushFields, _ target: Target) throws(JPushError) -> Audience {
    guard let text = fields["target"]?.string else { throw fields.invalid("target", "must be a string.") }
    var rule = Audience.Rule()
    let problem: Problem?
    switch target {
    case .registrationID: (rule.registrationID, problem) = ([text], RegistrationID.problem(with: text))
    case .alias: (rule.alias, problem) = ([text], AliasRule.jpush.problem(with: text))
    }
    if let problem { throw JPushError(.invalid, "Invalid target “\(text.abbreviated(to: 60))”: \(problem.text)") }
    return .rule(rule)
  }

  private static func audience(_ fields: JPushFields) throws(JPushError) -> Audience {
    if fields["audience"] == "all" { return .all }
    guard fields["audience"]?.object != nil else {
      throw fields.invalid("audience", "must be \"all\" or a JSON object.")
    }
    let paid = (code: JPushCode.paidFeature, why: "Signalbox has no such audience. Use tags and aliases.")
    let kinds = try JPushFields(
      fields["audience"] ?? .null, at: "audience",
      known: ["tag", "tag_and", "tag_not", "alias", "registration_id", "segment"],
      refused: ["abtest": paid, "live_activity_id": paid, "file": paid])
    let tag: (String) -> Problem? = { TagRule.problem(with: $0, rule: .jpush) }
    var rule = Audience.Rule()
    rule.tag = try kinds.texts("tag", atMost: PushLimits.tags, check: tag)
    rule.tagAnd = try kinds.texts("tag_and", atMost: PushLimits.tags, check: tag)
    rule.tagNot = try kinds.texts("tag_not", atMost: PushLimits.tags, check: tag)
    rule.alias = try kinds.texts("alias", atMost: PushLimits.names, check: AliasRule.jpush.problem(with:))
    rule.registrationID = try kinds.texts(
      "registration_id", atMost: PushLimits.names, check: RegistrationID.problem(with:))
    rule.segment = try kinds.texts("segment", atMost: segmentsLimit, check: Audience.problem(withSegment:))
    guard !rule.isEmpty else {
      throw JPushError(
        .invalid, "audience is empty. Use \"all\", or at least one tag, alias, registration_id or segment.",
        field: "audience")
    }
    return .rule(rule)
  }

  // MARK: Options

  private static let ownOptions: Set = [
    "sendno", "time_to_live", "override_msg_id", "apns_production", "apns_collapse_id", "big_push_duration",
  ]

  /// They choose other people, or another text.
  private static let refusedOptions: JPushFields.Refusals = [
    "active_push": (.paidFeature, "Signalbox does not choose devices by their use. Remove this key."),
    "alternate_set": (.paidFeature, "Signalbox sends no alternate texts. Remove this key."),
    "geofence": (.paidFeature, "Signalbox does not know where a phone is. Remove this key."),
    "notification_switch_filter":
      (.paidFeature, "Signalbox does not leave out phones with notifications off. Remove this key."),
    "target_event": (.paidFeature, "Signalbox has no events to choose people by. Use a segment."),
    "test_model": (.paidFeature, "Signalbox has no test devices of JPush’s. Name registration IDs."),
  ]

  /// Keys that are often written beside `options` or `notification` instead of inside.
  private static let moved: [String: String] = Dictionary(
    uniqueKeysWithValues: (ownOptions.union(JPushBlock.optionKeys)).map { ($0, "options.\($0)") } + [
      ("alert", "notification.alert"), ("ios", "notification.ios"), ("android", "notification.android"),
      ("msg_content", "message.msg_content"),
    ])

  private static func optionFields(_ fields: JPushFields) throws(JPushError) -> JPushFields {
    let nested =
      "this is another object inside options. Put its members directly into options: with jpush.options(…), "
      + "use the value of its key \"options\"."
    if fields["options"]?["options"] ?? .null != .null {
      throw JPushError(.unknownKey, "options.options: \(nested)", field: "options.options")
    }
    return try JPushFields(
      fields["options"] ?? [:], at: "options", known: ownOptions.union(JPushBlock.optionKeys),
      refused: refusedOptions)
  }

  private static func collapseID(_ options: JPushFields) throws(JPushError) -> String? {
    guard let text = try options.text("apns_collapse_id") else { return nil }
    if let problem = APNsHeader.problem(with: APNsHeader.collapseID, value: text) {
      throw JPushError(.invalid, "options.apns_collapse_id: \(problem.text)", field: options.place("apns_collapse_id"))
    }
    return text
  }

  /// A draft is stored as JSON and read back when it is sent: what cannot be read back is refused now.
  private static func storable(_ draft: PushDraft) throws(JPushError) -> PushDraft {
    do {
      return try PushDraft(json: draft.json)
    } catch {
      let problem = error.all.first.map(draft.jpushProblem)
      throw JPushError(.invalid, problem?.description ?? "This push cannot be sent.", field: problem?.field ?? "")
    }
  }
}

extension JPushFields {
  /// JPush's clients send message IDs as numbers or as strings of digits.
  func messageID(_ name: String) throws(JPushError) -> Int64? {
    guard let value = members[name] else { return nil }
    guard let id = value.integer ?? value.string.flatMap({ Int64($0) }), id > 0 else {
      throw invalid(name, "must be a msg_id.")
    }
    return id
  }
}
