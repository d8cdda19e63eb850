package import JSON

/// The receivers of a push, within one app, its environment and platforms.
///
/// The kinds of conditions are ANDed, as at JPush: `tag` any of, `tagAnd` all of, `tagNot` none of, `alias` any of,
/// `registrationID` any of, `deviceToken` any of, `segment` any of. An empty kind is no condition.
package enum Audience: Sendable, Hashable {
  case all
  case rule(Rule)
  /// Whoever subscribed to a broadcast channel of APNs: one request, whose receivers Apple does not tell.
  case channel(String)
  /// Whoever subscribed to a topic of FCM: one request, whose receivers FCM does not tell.
  case topic(String)
  /// Whoever subscribed to topics of FCM as a ``TopicCondition`` says, likewise.
  case condition(String)

  /// Receivers that only the service knows: a push to them is one request, and has no devices.
  package enum Subscribers: String, Sendable { case channel, topic }

  /// Nil: devices.
  package var subscribers: Subscribers? {
    switch self {
    case .all, .rule: nil
    case .channel: .channel
    case .topic, .condition: .topic
    }
  }

  /// At least one kind is not empty.
  package struct Rule: Sendable, Hashable {
    /// Devices with any of these tags.
    package var tag: [String] = []
    /// Devices with all of these tags.
    package var tagAnd: [String] = []
    /// Devices with none of these tags.
    package var tagNot: [String] = []
    /// Devices of any of these users.
    package var alias: [String] = []
    package var registrationID: [String] = []
    package var deviceToken: [DeviceToken] = []
    /// Devices of any of these segments, by name.
    package var segment: [String] = []

    package init() {}
  }
}

extension Audience {
  package var json: JSONValue {
    let rule: Rule
    switch self {
    case .all: return "all"
    case .channel(let id): return ["channel": .string(id)]
    case .topic, .condition: return .object(topicTarget ?? [:])
    case .rule(let given): rule = given
    }
    let lists: [(String, [String])] = [
      ("tag", rule.tag), ("tag_and", rule.tagAnd), ("tag_not", rule.tagNot), ("alias", rule.alias),
      ("registration_id", rule.registrationID), ("device_token", rule.deviceToken.map(\.text)),
      ("segment", rule.segment),
    ]
    var members: [String: JSONValue] = [:]
    for (name, list) in lists where !list.isEmpty { members[name] = .array(list.map(JSONValue.string)) }
    return .object(members)
  }

  /// The target of a message to FCM, by its name there; nil: devices.
  package var topicTarget: [String: JSONValue]? {
    switch self {
    case .topic(let name): ["topic": .string(name)]
    case .condition(let text): ["condition": .string(text)]
    case .all, .rule, .channel: nil
    }
  }

  /// The audience of a push's JSON, ignoring the rest; nil if unreadable.
  package init?(draft: JSONValue) {
    let fields = JSONFields(draft)
    let platforms = Set((draft["platforms"]?.array ?? []).compactMap { $0.string.flatMap(Platform.init) })
    guard let audience = Self.read(fields, platforms: platforms.isEmpty ? Set(Platform.allCases) : platforms),
      fields.problems.isEmpty
    else { return nil }
    self = audience
  }

  /// Reads the field `audience`, `"all"` or an object of conditions, and reports every problem with its path.
  package static func read(_ fields: JSONFields, platforms: Set<Platform>) -> Audience? {
    guard let value = fields.value("audience") else {
      fields.report("audience", Problem("", DraftMessage.audienceMissing))
      return nil
    }
    if value == "all" { return .all }
    if let members = value.object, let name = singles.first(where: { members[$0] != nil }) {
      return single(name, fields, isAlone: members.count == 1)
    }
    guard value.object != nil else {
      fields.report("audience", Problem("", DraftMessage.audienceForm, ["found": value.typeName]))
      return nil
    }
    let before = fields.problems.count
    let rule = fields.object("audience") { Rule.read($0, platforms: platforms) } ?? Rule()
    if rule.isEmpty, fields.problems.count == before {
      fields.report("audience", Problem("", DraftMessage.audienceEmpty))
      return nil
    }
    return .rule(rule)
  }

  /// What stands alone, without a condition about devices beside it.
  private static let singles = ["channel", "topic", "condition"]

  private static func single(_ name: String, _ fields: JSONFields, isAlone: Bool) -> Audience? {
    guard isAlone else {
      let problem = name == "channel" ? Problem("", ChannelMessage.alone) : Problem("", TopicMessage.alone)
      fields.report("audience", problem)
      return nil
    }
    func read(_ limit: TextLimit, _ check: @escaping (String) -> Problem?) -> String? {
      fields.object("audience") { $0.string(name, required: true, limit: limit, check: check) } ?? nil
    }
    return switch name {
    case "channel": read(.characters(ChannelID.limit), ChannelID.problem(with:)).map { .channel($0) }
    case "topic": read(.characters(TopicCondition.nameLimit), TopicCondition.problem(withTopic:)).map { .topic($0) }
    default: read(.characters(TopicCondition.lengthLimit), TopicCondition.problem(with:)).map { .condition($0) }
    }
  }
}

extension Audience.Rule {
  /// Whether there is no condition; such a rule must never be taken for "all".
  package var isEmpty: Bool { self == Self() }

  static func read(_ fields: JSONFields, platforms: Set<Platform>) -> Self {
    var rule = Self()
    // `Lint` checks names by the app's own rule; here only by the most general one.
    let tag: (String) -> Problem? = { TagRule.problem(with: $0, rule: .none) }
    rule.tag = fields.strings("tag", atMost: PushLimits.tags, check: tag)
    rule.tagAnd = fields.strings("tag_and", atMost: PushLimits.tags, check: tag)
    rule.tagNot = fields.strings("tag_not", atMost: PushLimits.tags, check: tag)
    rule.alias = fields.strings("alias", atMost: PushLimits.names) { AliasRule.none.problem(with: $0) }
    rule.registrationID = fields.strings(
      "registration_id", atMost: PushLimits.names, check: RegistrationID.problem(with:))
    rule.deviceToken = fields.elements("device_token", atMost: PushLimits.names) { text throws(Problem) in
      try DeviceToken(parsing: text, platforms: platforms)
    }
    rule.segment = fields.strings("segment", atMost: PushLimits.segments, check: Audience.problem(withSegment:))
    return rule
  }
}
