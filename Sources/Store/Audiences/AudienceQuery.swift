package import Model
internal import SQLite

/// The receivers of a push, as a query along an index.
///
/// Follows the narrowest condition (tokens, registration IDs, aliases, the smallest required tag, any of the tags, else
/// all devices of the app), and checks the others for each device.
package struct AudienceQuery: Sendable, Hashable {
  package var app: Int64
  package var environment: Environment
  package var platforms: Set<Platform>
  package var audience: Audience
  /// Restricts it to the devices of one service; nil: any.
  package var provider: ProviderKind?
  /// Restricts it to devices that another push did not reach.
  package var retry: Retry?

  /// Devices that another push did not reach.
  package struct Retry: Sendable, Hashable {
    /// Row id of that push.
    package var push: Int64
    /// Excludes `accepted`.
    package var outcomes: [OutcomeKind]
    /// Excludes devices that would fail again.
    package var withoutReasons: [String]

    package init(push: Int64, outcomes: [OutcomeKind], withoutReasons: [String] = []) {
      self.push = push
      self.outcomes = outcomes.filter { $0 != .accepted }
      self.withoutReasons = withoutReasons
    }
  }
  package init(
    app: Int64, environment: Environment, platforms: Set<Platform>, audience: Audience, retry: Retry? = nil
  ) {
    self.app = app
    self.environment = environment
    self.platforms = platforms
    self.audience = audience
    self.retry = retry
  }

  /// The index to follow, and the conditions to check.
  struct Plan {
    let source: DeviceSource
    let condition: DeviceCondition
  }

  /// Finds the devices in `states` and `range`; nil: no device can match.
  func plan(_ database: Database, states: [DeviceState], _ range: DeviceSource.Range) throws -> Plan? {
    let platforms = platforms.filter { provider == nil || $0.providers.contains { $0 == provider } }
      .sorted { $0.code < $1.code }
    guard !platforms.isEmpty else { return nil }
    var condition = DeviceCondition()
    condition.add("app_id", equals: app)
    condition.add("environment", equals: Int64(environment.code))
    condition.add("platform", in: platforms.map { .integer(Int64($0.code)) })
    if let provider {
      condition.add("coalesce(d.provider, d.platform) = ?", [.integer(Int64(provider.code))])
    }
    condition.add("state", in: states.map { .integer(Int64($0.rawValue)) })
    var source: DeviceSource?
    if let retry {
      let reasons = try retry.withoutReasons.compactMap { try Reasons.find(database, $0) }
      source = .outcomes(push: retry.push, retry.outcomes, withoutReasons: reasons, range)
      if source == nil { return nil }
    }
    if case .rule(let rule) = audience {
      guard try narrow(database, rule, range, &source, &condition) else { return nil }
    }
    let walked =
      source
      ?? .kinds(
        apps: [app], environments: [environment], platforms: platforms,
        provider: provider.flatMap { $0 == .jpush ? $0 : nil }, states: states, range)
    return walked.map { Plan(source: $0, condition: condition) }
  }

  /// Adds a rule's conditions; the first becomes the source if there is none.
  ///
  /// - Returns: whether any device can match.
  private func narrow(
    _ database: Database, _ rule: Audience.Rule, _ range: DeviceSource.Range, _ source: inout DeviceSource?,
    _ condition: inout DeviceCondition
  ) throws -> Bool {
    func use(_ values: [SQLiteValue], _ column: String, _ made: @autoclosure () -> DeviceSource) {
      guard !values.isEmpty else { return }
      if source == nil { source = made() } else { condition.add(column, in: values) }
    }
    use(rule.deviceToken.map { .blob($0.bytes) }, "token", .token(rule.deviceToken, app: app, range))
    use(
      rule.registrationID.map { .text($0) }, "registration_id", .registrationID(rule.registrationID, app: app, range))
    use(rule.alias.map { .text($0) }, "alias", .alias(rule.alias, app: app, range))

    var all = try Tag.ids(database, Array(Set(rule.tagAnd)), app: app)
    guard all.count == Set(rule.tagAnd).count else { return false }
    if source == nil, !all.isEmpty {
      let sizes = try all.map { (id: $0, members: try Tag.members(database, id: $0)) }
      if let smallest = sizes.min(by: { $0.members < $1.members }) {
        source = .tags([smallest.id], range)
        all.removeAll { $0 == smallest.id }
      }
    }
    for tag in all { condition.addTags([tag]) }

    if !rule.tag.isEmpty {
      let any = try Tag.ids(database, Array(Set(rule.tag)), app: app)
      guard !any.isEmpty else { return false }
      if source == nil { source = .tags(any, range) } else { condition.addTags(any) }
    }
    let none = try Tag.ids(database, Array(Set(rule.tagNot)), app: app)
    if !none.isEmpty { condition.addTags(none, negated: true) }
    return true
  }
}
