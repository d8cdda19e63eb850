package import Foundation
package import Model
package import SQLite

/// The receivers of a push, as a query along an index.
///
/// Follows the narrowest condition (tokens, registration IDs, aliases, else the shortest of tags and of what segments
/// find by an index, else all devices of the app), and checks the others for each device.
package struct AudienceQuery: Sendable, Hashable {
  package var app: Int64
  package var environment: Environment
  package var platforms: Set<Platform>
  package var audience: Audience
  /// Whether Android devices of the other environment belong to it, too (``PushDraft/Options/anyAndroid``).
  package var anyAndroid = false
  /// Restricts it to the devices of one service; nil: any.
  package var provider: ProviderKind?
  /// Restricts it to devices that another push did not reach.
  package var retry: Retry?

  /// The segments of the audience; nil: as they are when it is asked.
  package var segments: [UsedSegment]?
  /// What a segment's “last seen” counts from.
  package var now: Date
  /// Found once for all pages of a push; nil: found anew for each question.
  private(set) var parts: [AudiencePart]?

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
    app: Int64, environment: Environment, platforms: Set<Platform>, audience: Audience, now: Date = Date()
  ) {
    self.app = app
    self.environment = environment
    self.platforms = platforms
    self.audience = audience
    self.now = now
  }

  /// The receivers of a draft.
  package init(app: Int64, _ draft: PushDraft, now: Date = Date()) {
    self.init(
      app: app, environment: draft.environment, platforms: draft.platforms, audience: draft.audience, now: now)
    anyAndroid = draft.options.anyAndroid
  }

  /// Whether a device's kind belongs to it.
  func has(_ environment: Environment, _ platform: Platform) -> Bool {
    platforms.contains(platform) && (environment == self.environment || anyAndroid && platform == .android)
  }

  /// The environments of its devices.
  var environments: [Environment] {
    Environment.allCases.filter { environment in Platform.allCases.contains { has(environment, $0) } }
  }

  /// Looks up what every page needs, if the audience has segments.
  package mutating func prepare(_ database: Database) throws {
    guard case .rule(let rule) = audience, !rule.segment.isEmpty else { return }
    parts = try AudiencePart.all(database, self)
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
    if environments.count > 1 {
      condition.add(
        "(d.environment = ? OR d.platform = ?)",
        [.integer(Int64(environment.code)), .integer(Int64(Platform.android.code))])
    } else {
      condition.add("environment", equals: Int64(environment.code))
    }
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
    let parts = try parts ?? AudiencePart.all(database, self)
    guard !parts.contains(where: \.isImpossible) else { return nil }
    let along = source == nil ? try AudiencePart.narrowest(parts, database, app: app) : nil
    if let along { source = parts[along].walk?.source(app: app, range) }
    for (index, part) in parts.enumerated() where index != along || part.walk?.isExact != true {
      condition.add(part.condition.sql, part.condition.arguments)
    }
    let walked =
      source
      ?? .kinds(
        apps: [app], environments: environments,
        platforms: platforms.filter { platform in parts.allSatisfy { $0.platforms?.contains(platform) ?? true } },
        provider: provider, states: states, range, only: has)
    return walked.map { Plan(source: $0, condition: condition) }
  }
}
