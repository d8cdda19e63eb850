package import Model
internal import SQLite

/// Whom a push reaches, as a query that walks along an index.
///
/// The narrowest of its conditions is walked (tokens, registration ids, aliases, the smallest of the tags that all must
/// have, any of the tags, else all devices of the app); the others are looked up for each device on the way.
package struct AudienceQuery: Sendable, Hashable {
  /// The app.
  package var app: Int64
  /// The environment.
  package var environment: Environment
  /// The platforms.
  package var platforms: Set<Platform>
  /// Whom among them.
  package var audience: Audience
  /// Only those whom another push did not reach.
  package var retry: Retry?

  /// Devices that another push did not reach.
  package struct Retry: Sendable, Hashable {
    /// Row id of that push.
    package var push: Int64
    /// What became of it there; `accepted` is not among them.
    package var outcomes: [OutcomeKind]
    /// Not those that failed for these: they would fail again.
    package var withoutReasons: [String]

    /// Creates a choice of devices.
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

  /// What to walk along, and what to look up on the way.
  struct Plan {
    let source: DeviceSource
    let condition: DeviceCondition
  }

  /// How the devices in `states` and `range` are found; nil: there can be none.
  func plan(_ database: Database, states: [DeviceState], _ range: DeviceSource.Range) throws -> Plan? {
    let platforms = platforms.sorted { $0.code < $1.code }
    guard !platforms.isEmpty else { return nil }
    var condition = DeviceCondition()
    condition.add("app_id", equals: app)
    condition.add("environment", equals: Int64(environment.code))
    condition.add("platform", in: platforms.map { .integer(Int64($0.code)) })
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
      ?? .kinds(apps: [app], environments: [environment], platforms: platforms, states: states, range)
    return walked.map { Plan(source: $0, condition: condition) }
  }

  /// Adds a rule's conditions; the first of them becomes the source if there is none.
  ///
  /// - Returns: whether any device can fit.
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
