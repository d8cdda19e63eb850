package import JSON

/// The receivers of a push, within one app, its environment and platforms.
///
/// The kinds of conditions are ANDed, as at JPush: `tag` any of, `tagAnd` all of, `tagNot` none of, `alias` any of,
/// `registrationID` any of, `deviceToken` any of. An empty kind is no condition.
package enum Audience: Sendable, Hashable {
  case all
  case rule(Rule)
  /// Whoever subscribed to a broadcast channel of APNs: one request, whose receivers Apple does not tell.
  case channel(String)

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

    package init() {}
  }
}

extension Audience {
  package var json: JSONValue {
    if case .channel(let id) = self { return ["channel": .string(id)] }
    guard case .rule(let rule) = self else { return "all" }
    let lists: [(String, [String])] = [
      ("tag", rule.tag), ("tag_and", rule.tagAnd), ("tag_not", rule.tagNot), ("alias", rule.alias),
      ("registration_id", rule.registrationID), ("device_token", rule.deviceToken.map(\.text)),
    ]
    var members: [String: JSONValue] = [:]
    for (name, list) in lists where !list.isEmpty { members[name] = .array(list.map(JSONValue.string)) }
    return .object(members)
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
    if let members = value.object, members["channel"] != nil { return channel(fields, isAlone: members.count == 1) }
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

  private static func channel(_ fields: JSONFields, isAlone: Bool) -> Audience? {
    guard isAlone else {
      fields.report("audience", Problem("", ChannelMessage.alone))
      return nil
    }
    let id = fields.object("audience") { $0.string("channel", required: true, check: ChannelID.problem(with:)) }
    return (id ?? nil).map { .channel($0) }
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
    fields.notYet("segment")
    return rule
  }
}
