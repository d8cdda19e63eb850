import Foundation
import JSON
import Model
import SQLite

/// One condition of an audience: what it asks of a device, and the index along which its devices are found.
///
/// Sending, counting and explaining use the same parts, so that they agree.
struct AudiencePart: Sendable, Hashable {
  let kind: AudienceStep.Kind
  /// What the condition names, for people.
  let names: [String]
  /// The segment that it belongs to.
  var segment: String?
  /// Over `devices d`.
  let condition: DeviceCondition
  var walk: Walk?
  /// Nil: does not restrict platforms.
  var platforms: Set<Platform>?
  /// Whether no device can meet it.
  var isImpossible = false

  /// How to find its devices in the order of their IDs.
  enum Walk: Sendable, Hashable {
    case tokens([DeviceToken])
    case registrationIDs([String])
    case aliases([String])
    case tags([Int64])
    /// What an alias begins with; the condition decides.
    case aliasPrefix(String)
    case details(DeviceSource.Detail, [String])

    /// Names and tokens are few, whatever else is asked for.
    var isShort: Bool {
      switch self {
      case .tokens, .registrationIDs, .aliases: true
      case .tags, .aliasPrefix, .details: false
      }
    }

    /// Whether what is found needs no further look at the condition.
    var isExact: Bool { if case .aliasPrefix = self { false } else { true } }

    func source(app: Int64, _ range: DeviceSource.Range) -> DeviceSource? {
      switch self {
      case .tokens(let tokens): .token(tokens, app: app, range)
      case .registrationIDs(let ids): .registrationID(ids, app: app, range)
      case .aliases(let aliases): .alias(aliases, app: app, range)
      case .tags(let ids): .tags(ids, range)
      case .aliasPrefix(let prefix): .alias(prefix: prefix, app: app, range)
      case .details(let detail, let values): .details(detail, values, range)
      }
    }

    /// About how many devices it passes; nil: too many to be worth it.
    func weight(_ database: Database, app: Int64) throws -> Int? {
      switch self {
      case .tokens(let tokens): tokens.count
      case .registrationIDs(let ids): ids.count
      case .aliases(let aliases): aliases.count
      case .tags(let ids): try ids.reduce(0) { $0 + (try Tag.members(database, id: $1)) }
      case .aliasPrefix(let prefix): try DeviceSource.weight(database, aliasPrefix: prefix, app: app)
      case .details(let detail, let values): try DeviceSource.weight(database, detail, values)
      }
    }
  }

  /// The best of the parts to walk along; nil: all devices of the app.
  static func narrowest(_ parts: [AudiencePart], _ database: Database, app: Int64) throws -> Int? {
    let candidates = parts.indices.filter { parts[$0].walk != nil }
    if let short = candidates.first(where: { parts[$0].walk?.isShort == true }) { return short }
    // Sizes matter only for a choice, except where a walk may be too long.
    if candidates.count == 1, case .tags? = parts[candidates[0]].walk { return candidates[0] }
    let weights = try candidates.compactMap { index in
      try parts[index].walk?.weight(database, app: app).map { (index: index, weight: $0) }
    }
    return weights.min { $0.weight < $1.weight }?.index
  }
}

// MARK: From an audience

extension AudiencePart {
  /// The parts of an audience in the order of its kinds. Every device of the audience meets all of them.
  static func all(_ database: Database, _ query: AudienceQuery) throws -> [AudiencePart] {
    guard case .rule(let rule) = query.audience else { return [] }
    var parts: [AudiencePart] = []
    func listed(_ kind: AudienceStep.Kind, _ column: String, _ values: [SQLiteValue], _ names: [String], _ walk: Walk) {
      guard !values.isEmpty else { return }
      var condition = DeviceCondition()
      condition.add(column, in: values)
      parts.append(AudiencePart(kind: kind, names: names, condition: condition, walk: walk))
    }
    let tokens = try ReplacedToken.current(database, rule.deviceToken, app: query.app)
    listed(.deviceToken, "token", tokens.map { .blob($0.bytes) }, tokens.map(\.abbreviated), .tokens(tokens))
    listed(
      .registrationID, "registration_id", rule.registrationID.map { .text($0) }, rule.registrationID,
      .registrationIDs(rule.registrationID))
    listed(.alias, "alias", rule.alias.map { .text($0) }, rule.alias, .aliases(rule.alias))
    parts += try tags(database, rule.tag, rule.tagAnd, rule.tagNot, app: query.app)
    if !rule.segment.isEmpty { parts += try segments(database, query) }
    return parts
  }

  private static func tags(
    _ database: Database, _ any: [String], _ all: [String], _ none: [String], app: Int64
  ) throws -> [AudiencePart] {
    var parts: [AudiencePart] = []
    for name in Set(all).sorted() { parts.append(tagged(.tagAnd, [name], try Tag.ids(database, [name], app: app))) }
    if !any.isEmpty {
      let names = Set(any).sorted()
      parts.append(tagged(.tag, names, try Tag.ids(database, names, app: app)))
    }
    let ids = try Tag.ids(database, Set(none).sorted(), app: app)
    if !none.isEmpty {
      var condition = DeviceCondition()
      // Without devices of such tags nobody is excluded.
      if ids.isEmpty { condition.add("1") } else { condition.addTags(ids, negated: true) }
      parts.append(AudiencePart(kind: .tagNot, names: Set(none).sorted(), condition: condition))
    }
    return parts
  }

  private static func tagged(_ kind: AudienceStep.Kind, _ names: [String], _ ids: [Int64]) -> AudiencePart {
    guard !ids.isEmpty else { return impossible(kind, names) }
    var condition = DeviceCondition()
    condition.addTags(ids)
    return AudiencePart(kind: kind, names: names, condition: condition, walk: .tags(ids))
  }

  private static func impossible(_ kind: AudienceStep.Kind, _ names: [String]) -> AudiencePart {
    var condition = DeviceCondition()
    condition.add("0")
    return AudiencePart(kind: kind, names: names, condition: condition, isImpossible: true)
  }

  // MARK: Segments

  private static func segments(_ database: Database, _ query: AudienceQuery) throws -> [AudiencePart] {
    let segments =
      try query.segments ?? UsedSegment.current(database, query.audience, app: query.app, now: query.now)
    if segments.count == 1 { return try parts(database, segments[0], query) }
    // A device of any of them: one condition, which no index fits.
    let each = try segments.map { try parts(database, $0, query) }.filter { !$0.contains(where: \.isImpossible) }
    let names = segments.map(\.name)
    guard !each.isEmpty else { return [impossible(.segment, names)] }
    let conditions = each.map { parts in
      parts.reduce(into: DeviceCondition()) { $0.add($1.condition.sql, $1.condition.arguments) }
    }
    var condition = DeviceCondition()
    condition.add(
      "(" + conditions.map { "(\($0.sql))" }.joined(separator: " OR ") + ")", conditions.flatMap(\.arguments))
    return [AudiencePart(kind: .segment, names: names, condition: condition)]
  }

  private static func parts(
    _ database: Database, _ used: UsedSegment, _ query: AudienceQuery
  ) throws -> [AudiencePart] {
    guard let rule = used.rule else { return [impossible(.segment, [used.name])] }
    var parts: [AudiencePart] = []
    func add(
      _ kind: AudienceStep.Kind, _ names: [String], _ sql: String, _ values: [SQLiteValue] = [],
      _ change: (inout AudiencePart) -> Void = { _ in }
    ) {
      var condition = DeviceCondition()
      condition.add(sql, values)
      var part = AudiencePart(kind: kind, names: names, condition: condition)
      change(&part)
      parts.append(part)
    }
    if let environment = rule.environment {
      add(.environment, [environment.rawValue], "d.environment = ?", [.integer(Int64(environment.code))]) {
        $0.isImpossible = !query.environments.contains(environment)
      }
    }
    if !rule.platforms.isEmpty {
      let platforms = rule.platforms.sorted { $0.code < $1.code }
      add(
        .platforms, platforms.map(\.rawValue), "d.platform IN \(placeholders(platforms.count))",
        platforms.map { .integer(Int64($0.code)) }
      ) {
        $0.platforms = rule.platforms
        $0.isImpossible = rule.platforms.isDisjoint(with: query.platforms)
      }
    }
    parts += try tags(database, rule.tag, rule.tagAnd, rule.tagNot, app: query.app)
    if let form = rule.alias, let glob = rule.aliasGlob {
      let prefix = rule.aliasPrefix
      add(.aliasForm, [form], "d.alias GLOB ?", [.text(glob)]) {
        $0.walk = prefix.isEmpty ? nil : .aliasPrefix(prefix)
      }
    }
    if rule.namesVersion {
      parts.append(try told(database, .appVersion, .appVersion, rule.versionNames) { rule.holds(version: $0) })
    }
    if !rule.timeZone.isEmpty {
      parts.append(try told(database, .timeZone, .timeZone, rule.timeZone) { rule.holds(timeZone: $0) })
    }
    if !rule.language.isEmpty {
      parts.append(try told(database, .language, .language, rule.language) { rule.holds(language: $0) })
    }
    let day: TimeInterval = 86_400
    switch rule.lastSeen {
    case .within(let days):
      add(.seenWithin, [String(days)], "d.seen_at >= ?", [.integer((used.at - Double(days) * day).milliseconds)])
    case .over(let days):
      add(.seenOver, [String(days)], "d.seen_at < ?", [.integer((used.at - Double(days) * day).milliseconds)])
    case nil: break
    }
    if parts.isEmpty { add(.segment, [used.name], "1") }
    return parts.map { part in
      var part = part
      part.segment = used.name
      return part
    }
  }

  /// A condition on what apps told. The values that exist are few: those that fit are looked up first, so that the
  /// rule for them stands in one place, and versions compare by their numbers.
  private static func told(
    _ database: Database, _ kind: AudienceStep.Kind, _ detail: DeviceSource.Detail, _ names: [String],
    where holds: (String) -> Bool
  ) throws -> AudiencePart {
    let values = try DeviceSource.values(database, detail).filter(holds)
    guard !values.isEmpty else { return impossible(kind, names) }
    var condition = DeviceCondition()
    condition.add(
      """
      EXISTS (SELECT 1 FROM device_details x WHERE x.device_id = d.id
        AND x.\(detail.rawValue) IN (SELECT value FROM json_each(?)))
      """, [.text(JSONValue.array(values.map { .string($0) }).text())])
    return AudiencePart(kind: kind, names: names, condition: condition, walk: .details(detail, values))
  }
}
