package import Foundation
package import Model
package import SQLite

extension AudienceQuery {
  /// The number of devices by platform and state.
  ///
  /// A broadcast and a single tag are read from counters. Everything else is counted device by device, which takes
  /// about a second for a million: give the read a limit.
  package func count(_ database: Database) throws -> AudienceCount {
    if let member = AudienceMember.subscribers(of: audience) {
      let isReached = try !page(database, after: 0, limit: 1).isEmpty
      return AudienceCount(counts: isReached ? [AudienceCount.Kind(platform: member.platform, state: .active): 1] : [:])
    }
    if retry == nil, case .all = audience {
      return try fromCounters(database, "device_counters", "app_id", app)
    }
    if retry == nil, case .rule(let rule) = audience, rule.isSingleTag {
      guard let tag = try Tag.ids(database, rule.tag + rule.tagAnd, app: app).first else { return AudienceCount() }
      return try fromCounters(database, "tag_counters", "tag_id", tag)
    }
    guard let plan = try plan(database, states: DeviceState.allCases, DeviceSource.Range()) else {
      return AudienceCount()
    }
    let (sql, arguments) = plan.source.query(
      "d.platform, coalesce(d.provider, d.platform) AS service, d.state, count(*)", where: plan.condition,
      tail: "GROUP BY d.platform, service, d.state")
    return try count(database, sql, arguments)
  }

  /// The next reachable devices in the order of their IDs.
  ///
  /// - Parameters:
  ///   - after: the last ID of the previous page; 0 at the start.
  ///   - upTo: the highest ID to include.
  ///   - push: excludes devices with an outcome in this push, or waiting for it.
  /// - Returns: up to `limit` devices; fewer only at the end.
  package func page(
    _ database: Database, after: Int64, upTo: Int64 = .max, limit: Int, withoutDeliveriesOf push: Int64? = nil
  ) throws -> [AudienceMember] {
    if let member = AudienceMember.subscribers(of: audience) {
      return try only(member, database, after: after, upTo: upTo, push)
    }
    guard let (sql, arguments) = try pageQuery(database, after: after, upTo: upTo, limit: limit, push) else {
      return []
    }
    var last = after
    return try database.fetchAll(sql, arguments: arguments) { row in
      let provider = try ProviderKind(code: row.int(3))
      let member = AudienceMember(
        id: row.int64(0), platform: try Platform(code: row.int(1)),
        token: DeviceToken(bytes: row.blob(2), provider: provider), provider: provider,
        environment: try Environment(code: row.int(4)))
      // The source determines the order, because an ORDER BY of the whole query would sort millions of rows for each
      // page. A page in another order would lose devices, so it is an error.
      guard member.id > last else { throw StoreError.outOfOrder(after: last, found: member.id) }
      last = member.id
      return member
    }
  }

  /// The next reachable devices, those with an outcome in a push or waiting for it marked: after a restart, the pages
  /// are cut where they were.
  package func markedPage(
    _ database: Database, after: Int64, upTo: Int64, limit: Int, push: Int64
  ) throws -> [AudienceMember] {
    let members = try page(database, after: after, upTo: upTo, limit: limit)
    return try database.withStatement(Self.isKnown) { statement in
      try statement.bind(1, push)
      return try members.map { member in
        var member = member
        try statement.bind(2, member.id)
        if try statement.step() { member.isDone = statement.row.bool(0) }
        statement.reset()
        return member
      }
    }
  }

  /// Whether a device has an outcome in a push, or waits for it.
  private static let isKnown = """
    SELECT EXISTS (SELECT 1 FROM deliveries WHERE push_id = ?1 AND device_id = ?2)
      OR EXISTS (SELECT 1 FROM push_waiting WHERE push_id = ?1 AND device_id = ?2)
    """

  /// A channel or a topic is one request, which takes part as one member.
  private func only(
    _ member: AudienceMember, _ database: Database, after: Int64, upTo: Int64, _ push: Int64?
  ) throws -> [AudienceMember] {
    guard platforms.contains(member.platform), after < member.id, member.id <= upTo else { return [] }
    if let push {
      if try database.fetchOne(Self.isKnown, push, member.id, row: { $0.bool(0) }) == true { return [] }
    }
    guard let retry else { return [member] }
    let before = try database.fetchOne(
      """
      SELECT y.outcome, r.text FROM deliveries y LEFT JOIN reasons r ON r.id = y.reason_id
      WHERE y.push_id = ? AND y.device_id = ?
      """, retry.push, member.id
    ) { (try $0.value(0, as: OutcomeKind.self), $0.text(1)) }
    guard let before, retry.outcomes.contains(before.0), !retry.withoutReasons.contains(before.1) else { return [] }
    return [member]
  }

  /// Why the devices of the audience are parked, from the first ``sample`` of them.
  package func parkedReasons(_ database: Database) throws -> [String] {
    guard let plan = try plan(database, states: [.quarantined], DeviceSource.Range()) else { return [] }
    let (sql, arguments) = plan.source.query(
      "d.state_reason AS reason", where: plan.condition, tail: "LIMIT \(Self.sample)")
    return try database.fetchAll(
      "SELECT DISTINCT reason FROM (\(sql)) WHERE reason IS NOT NULL ORDER BY reason", arguments: arguments
    ) { $0.text(0) }
  }

  private static let sample = 1000

  /// The ID of the last member that takes part in a push that begins now.
  package func lastID(_ database: Database) throws -> Int64 {
    if let member = AudienceMember.subscribers(of: audience) { return member.id }
    return try Device.lastID(database)
  }

  /// Nil: no device can match.
  func pageQuery(
    _ database: Database, after: Int64, upTo: Int64, limit: Int, _ push: Int64?
  ) throws -> (sql: String, arguments: [SQLiteValue])? {
    let range = DeviceSource.Range(after: after, upTo: upTo)
    guard let plan = try plan(database, states: [.active], range) else { return nil }
    var condition = plan.condition
    if let push {
      condition.add(
        """
        NOT EXISTS (SELECT 1 FROM deliveries y WHERE y.push_id = ? AND y.device_id = d.id)
        AND NOT EXISTS (SELECT 1 FROM push_waiting y WHERE y.push_id = ? AND y.device_id = d.id)
        """, [.integer(push), .integer(push)])
    }
    return plan.source.query(
      "d.id, d.platform, d.token, coalesce(d.provider, d.platform), d.environment", where: condition,
      tail: "LIMIT \(limit)")
  }

  private func fromCounters(
    _ database: Database, _ table: String, _ owner: String, _ id: Int64
  ) throws -> AudienceCount {
    let codes = platforms.map { "\($0.code)" }.sorted().joined(separator: ",")
    return try count(
      database,
      """
      SELECT platform, provider, state, count FROM \(table)
      WHERE \(owner) = ? AND (environment = ? OR platform = ?) AND platform IN (\(codes)) AND count > 0
      """,
      [
        .integer(id), .integer(Int64(environment.code)),
        .integer(Int64(environments.count > 1 ? Platform.android.code : 0)),
      ])
  }

  private func count(_ database: Database, _ sql: String, _ arguments: [SQLiteValue]) throws -> AudienceCount {
    var result = AudienceCount()
    try database.forEach(sql, arguments: arguments) { row in
      let kind = AudienceCount.Kind(
        platform: try Platform(code: row.int(0)), provider: try ProviderKind(code: row.int(1)),
        state: try row.value(2, as: DeviceState.self))
      result.counts[kind, default: 0] += row.int(3)
      return .continue
    }
    return result
  }
}

extension Audience.Rule {
  fileprivate var isSingleTag: Bool {
    tag.count + tagAnd.count == 1 && tagNot.isEmpty && alias.isEmpty && registrationID.isEmpty && deviceToken.isEmpty
      && segment.isEmpty
  }
}

/// A device of an audience, with what a provider needs.
package struct AudienceMember: Sendable, Hashable {
  package let id: Int64
  package let platform: Platform
  package let token: DeviceToken
  /// The service that reaches it.
  package let provider: ProviderKind
  /// The token's; nil: the push's.
  package let environment: Environment?
  /// When it was first handed over to be sent; nil: not yet.
  package var firstAt: Date?
  /// The number on the app's icon before the push; 0 unless ``DeviceBadge`` has filled it in.
  package var badge = 0
  /// Which of the push's texts it gets; nil unless ``DeviceLanguage`` has filled it in.
  package var variant: Int?
  /// Whether it has its outcome or waits; see ``AudienceQuery/markedPage(_:after:upTo:limit:push:)``.
  package var isDone = false

  /// The one member of a push to a channel. Its ID is above every device's, and the greatest that JSON keeps exact.
  private static let channel = AudienceMember(
    id: (1 << 53) - 1, platform: .ios, token: DeviceToken(bytes: []))
  /// The one member of a push to a topic or a condition of FCM, likewise.
  private static let topic = AudienceMember(
    id: (1 << 53) - 2, platform: .android, token: DeviceToken(bytes: []))

  /// What takes part in a push to an audience without devices; nil: devices.
  static func subscribers(of audience: Audience) -> AudienceMember? {
    switch audience.subscribers {
    case .channel: channel
    case .topic: topic
    case nil: nil
    }
  }

  /// The same by its ID.
  static func subscribers(id: Int64) -> AudienceMember? { [channel, topic].first { $0.id == id } }

  /// - Parameter provider: nil: the platform's own.
  package init(
    id: Int64, platform: Platform, token: DeviceToken, provider: ProviderKind? = nil, environment: Environment? = nil
  ) {
    (self.id, self.platform, self.token, self.environment) = (id, platform, token, environment)
    self.provider = provider ?? platform.ownProvider
  }
}

/// The size of an audience.
package struct AudienceCount: Sendable, Hashable {
  package struct Kind: Sendable, Hashable {
    package let platform: Platform
    package let provider: ProviderKind
    package let state: DeviceState

    /// - Parameter provider: nil: the platform's own.
    package init(platform: Platform, provider: ProviderKind? = nil, state: DeviceState) {
      (self.platform, self.provider, self.state) = (platform, provider ?? platform.ownProvider, state)
    }
  }

  package internal(set) var counts: [Kind: Int] = [:]

  /// Devices that a push would be sent to.
  package var reachable: Int { sum { $0.state == .active } }
  /// Quarantined or dead devices.
  package var unreachable: Int { sum { $0.state != .active } }
  /// All devices of the audience.
  package var total: Int { sum { _ in true } }

  /// Devices in a state.
  package func total(_ state: DeviceState) -> Int { sum { $0.state == state } }

  /// Devices of a platform that a push would be sent to.
  package func reachable(_ platform: Platform) -> Int { sum { $0.platform == platform && $0.state == .active } }

  /// Devices of a service that a push would be sent to.
  package func reachable(_ provider: ProviderKind) -> Int { sum { $0.provider == provider && $0.state == .active } }

  /// Devices of a platform and a service that a push would be sent to.
  package func reachable(_ reach: Reach) -> Int {
    sum { $0.platform == reach.platform && $0.provider == reach.provider && $0.state == .active }
  }

  private func sum(_ isCounted: (Kind) -> Bool) -> Int {
    counts.reduce(0) { isCounted($1.key) ? $0 + $1.value : $0 }
  }
}
