package import JSON

extension Audience {
  /// As `POST /api/v1/pushes` has it; empty conditions are left out.
  package var json: JSONValue {
    guard case .rule(let rule) = self else { return "all" }
    let lists: [(String, [String])] = [
      ("tag", rule.tag), ("tag_and", rule.tagAnd), ("tag_not", rule.tagNot), ("alias", rule.alias),
      ("registration_id", rule.registrationID), ("device_token", rule.deviceToken.map(\.text)),
    ]
    var members: [String: JSONValue] = [:]
    for (name, list) in lists where !list.isEmpty { members[name] = .array(list.map(JSONValue.string)) }
    return .object(members)
  }

  /// The audience of a push's JSON, without a look at the rest; nil if it cannot be read.
  package init?(draft: JSONValue) {
    let fields = JSONFields(draft)
    let platforms = Set((draft["platforms"]?.array ?? []).compactMap { $0.string.flatMap(Platform.init) })
    guard let audience = Self.read(fields, platforms: platforms.isEmpty ? Set(Platform.allCases) : platforms),
      fields.problems.isEmpty
    else { return nil }
    self = audience
  }

  /// The field `audience`, `"all"` or an object of conditions; what is wrong with it is reported, each with its path.
  package static func read(_ fields: JSONFields, platforms: Set<Platform>) -> Audience? {
    guard let value = fields.value("audience") else {
      fields.report("audience", Problem("", DraftMessage.audienceMissing))
      return nil
    }
    if value == "all" { return .all }
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
}

extension Audience.Rule {
  /// Whether no condition is given; such a rule must never be taken for "all".
  package var isEmpty: Bool { self == Self() }

  static func read(_ fields: JSONFields, platforms: Set<Platform>) -> Self {
    var rule = Self()
    // The names are judged by the app's own rule later (`Lint`), here only by what any app may have.
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
