package import Foundation
package import JSON
package import Model
package import SQLite

/// An audience that somebody subscribes to a topic of FCM, or unsubscribes. The worker of the topics queues its devices
/// page by page and carries them out (docs/protocols.md §3.9).
package struct TopicChange: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let appID: Int64
  package let environment: Environment
  package let topic: String
  package let joins: Bool
  package let audience: Audience
  package let createdBy: String
  package let createdAt: Date
  /// Whether every device of the audience is queued.
  package let isQueued: Bool
  /// Queued so far.
  package let devices: Int
  package let done: Int
  package let refused: Int
  /// Taken over by a later change, or gone.
  package let replaced: Int
  package let endedAt: Date?

  package var pending: Int { max(0, devices - done - refused - replaced) }

  /// What became of a device.
  package enum State: Int, Sendable, CaseIterable {
    case pending = 1, done, refused, replaced
    package var name: String { "\(self)" }
  }

  /// Ended changes of an app that are kept.
  package static let kept = 20
  private static let columns = """
    id, app_id, environment, topic, joins, audience, created_by, created_at, queued_to >= queue_to, devices, done,
      refused, replaced, ended_at
    """

  private init(_ row: borrowing Row) throws {
    (id, appID) = (row.int64(0), row.int64(1))
    (environment, topic, joins) = (try Environment(code: row.int(2)), row.text(3), row.bool(4))
    let fields = JSONFields(["audience": try json(row.text(5), "topic_changes.audience") ?? .null])
    guard let audience = Audience.read(fields, platforms: Set(ProviderKind.fcm.platforms)) else {
      throw StoreError.unreadable(column: "topic_changes.audience", value: row.text(5))
    }
    self.audience = audience
    (createdBy, createdAt, isQueued) = (row.text(6), row.date(7), row.bool(8))
    (devices, done, refused, replaced) = (row.int(9), row.int(10), row.int(11), row.int(12))
    endedAt = row.optionalDate(13)
  }

  // MARK: Reading

  /// An app's changes, the newest first.
  package static func all(
    _ database: Database, app: Int64, environment: Environment? = nil
  ) throws -> [TopicChange] {
    try database.fetchAll(
      """
      SELECT \(columns) FROM topic_changes WHERE app_id = ?1 AND (?2 IS NULL OR environment = ?2) ORDER BY id DESC
      """, app, environment?.code
    ) { try TopicChange($0) }
  }

  package static func find(_ database: Database, app: Int64, id: Int64) throws -> TopicChange? {
    try database.fetchOne("SELECT \(columns) FROM topic_changes WHERE id = ? AND app_id = ?", id, app) {
      try TopicChange($0)
    }
  }

  /// A device of a change, and what became of it.
  package struct Member: Sendable, Hashable {
    package let deviceID: Int64
    /// Nil: it is deleted.
    package let token: DeviceToken?
    package let alias: String?
    package let state: State
    /// Of a refusal, or of the last attempt.
    package let reason: String?
    /// The next attempt; nil unless one has failed.
    package let nextAt: Date?
  }

  /// The devices of a change, by their IDs.
  package static func members(
    _ database: Database, of change: TopicChange, state: State? = nil, cursor: String? = nil, limit: Int
  ) throws -> Page<Member> {
    let found = try database.fetchAll(
      """
      SELECT c.device_id, d.token, d.alias, c.state, coalesce(c.reason, s.reason),
        CASE WHEN c.state = 1 AND s.attempts > 0 THEN s.due_at END
      FROM topic_change_devices c LEFT JOIN devices d ON d.id = c.device_id
        LEFT JOIN topics t ON t.app_id = ?2 AND t.environment = ?3 AND t.name = ?4
        LEFT JOIN topic_subscriptions s ON s.topic_id = t.id AND s.device_id = c.device_id AND c.state = 1
      WHERE c.change_id = ?1 AND c.device_id > ?5 AND (?6 IS NULL OR c.state = ?6) ORDER BY c.device_id LIMIT ?7
      """, change.id, change.appID, change.environment.code, change.topic, try position(cursor) ?? 0,
      state?.rawValue, limit + 1
    ) { row in
      Member(
        deviceID: row.int64(0), token: row.isNull(1) ? nil : DeviceToken(bytes: row.blob(1), provider: .fcm),
        alias: row.optionalText(2),
        state: try row.value(3, as: State.self), reason: row.optionalText(4), nextAt: row.optionalDate(5))
    }
    return Page(found, limit: limit, key: \.deviceID)
  }

  // MARK: Creating

  /// Stores a change for the worker, and forgets the app's oldest ended ones.
  ///
  /// - Throws: `Problems` at `audience`, if it has no device that FCM reaches.
  package static func create(
    _ database: Database, app: Int64, environment: Environment, topic: String, joins: Bool, audience: Audience,
    by creator: String, now: Date
  ) throws -> TopicChange {
    if audience.subscribers != nil { throw Problems([Problem("audience", TopicChangeProblem.devices)]) }
    let query = query(app, environment, audience, now: now)
    if try query.page(database, after: 0, limit: 1).isEmpty {
      throw Problems([Problem("audience", TopicChangeProblem.nobody)])
    }
    try TopicRules.watch(database, app: app)
    try database.run(
      """
      INSERT INTO topic_changes(app_id, environment, topic, joins, audience, created_by, created_at, queued_to, queue_to,
        devices, done, refused, replaced, settle_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, 0, 0, 0, 0, ?)
      """, app, environment.code, topic, joins, audience.json.text(), creator, now, try Device.lastID(database), now)
    let id = database.lastInsertedID
    try database.run(
      """
      DELETE FROM topic_changes WHERE app_id = ?1 AND ended_at IS NOT NULL AND id NOT IN (
        SELECT id FROM topic_changes WHERE app_id = ?1 ORDER BY id DESC LIMIT \(kept))
      """, app)
    guard let change = try find(database, app: app, id: id) else {
      throw StoreError.notFound(noun: "topic change", id: "\(id)")
    }
    return change
  }

  /// - Parameter now: when the change was made, for all its pages.
  private static func query(
    _ app: Int64, _ environment: Environment, _ audience: Audience, now: Date
  ) -> AudienceQuery {
    var query = AudienceQuery(
      app: app, environment: environment, platforms: Set(ProviderKind.fcm.platforms), audience: audience, now: now)
    query.provider = .fcm
    return query
  }

  // MARK: The worker

  /// Devices queued in one transaction.
  private static let pageSize = 1000
  /// Between two looks for devices that another change took over.
  private static let lookPause: TimeInterval = 60

  /// Whether ``work(_:now:)`` has something to do.
  package static func isDue(_ database: Database, now: Date) throws -> Bool {
    try database.int(
      "SELECT EXISTS (SELECT 1 FROM topic_changes WHERE ended_at IS NULL AND settle_at <= ?)", now) != 0
  }

  /// Queues the next devices of the oldest change, or ends a change whose last devices were taken over.
  package static func work(_ database: Database, now: Date) throws {
    let next = try database.fetchOne(
      """
      SELECT \(columns), queued_to, queue_to FROM topic_changes WHERE ended_at IS NULL AND settle_at <= ?
      ORDER BY settle_at, id LIMIT 1
      """, now
    ) { (change: try TopicChange($0), from: $0.int64(14), to: $0.int64(15)) }
    guard let (change, from, to) = next else { return }
    guard !change.isQueued else { return try countReplaced(database, change, now: now) }
    let query = query(change.appID, change.environment, change.audience, now: change.createdAt)
    let members = try query.page(database, after: from, upTo: to, limit: pageSize)
    let topic =
      members.isEmpty
      ? 0
      : try Topic.id(
        database, app: change.appID, environment: change.environment, name: change.topic, now: now)
    for member in members {
      try TopicSubscription.queue(
        database, topic: topic, device: member.id, member.token, joins: change.joins, now: now)
      try database.run(
        "INSERT INTO topic_change_devices(change_id, device_id, state) VALUES (?, ?, 1)", change.id, member.id)
    }
    let reached = members.count < pageSize ? to : members.last?.id ?? to
    try database.run(
      "UPDATE topic_changes SET queued_to = ?, devices = devices + ?, settle_at = ? WHERE id = ?", reached,
      members.count, reached < to ? now : now.addingTimeInterval(lookPause), change.id)
    try endIfDone(database, change.id, now: now)
  }

  /// Counts devices that left the queue without a result: a later change reversed theirs, or they were deleted.
  private static func countReplaced(_ database: Database, _ change: TopicChange, now: Date) throws {
    let replaced = try database.run(
      """
      UPDATE topic_change_devices SET state = 4 WHERE change_id = ?1 AND state = 1 AND NOT EXISTS (
        SELECT 1 FROM topics t JOIN topic_subscriptions s ON s.topic_id = t.id
        WHERE t.app_id = ?2 AND t.environment = ?3 AND t.name = ?4
          AND s.device_id = topic_change_devices.device_id AND s.joins = ?5 AND s.state = 1)
      """, change.id, change.appID, change.environment.code, change.topic, change.joins)
    try database.run(
      "UPDATE topic_changes SET replaced = replaced + ?, settle_at = ? WHERE id = ?", replaced,
      now.addingTimeInterval(lookPause), change.id)
    try endIfDone(database, change.id, now: now)
  }

  private static func endIfDone(_ database: Database, _ id: Int64, now: Date) throws {
    try database.run(
      """
      UPDATE topic_changes SET ended_at = ?
      WHERE id = ? AND ended_at IS NULL AND queued_to >= queue_to AND devices = done + refused + replaced
      """, now, id)
  }

  /// The results of lines of the queue, for the changes that asked for them.
  struct Tally {
    private var open: [Int64: [(id: Int64, joins: Bool)]] = [:]
    private var counts: [Int64: (done: Int, refused: Int)] = [:]

    /// Notes a result.
    mutating func note(_ database: Database, _ line: TopicSubscription, refusal reason: String? = nil) throws {
      let isRefused = reason != nil
      if open[line.topicID] == nil {
        open[line.topicID] = try database.fetchAll(
          """
          SELECT c.id, c.joins FROM topics t JOIN topic_changes c INDEXED BY topic_changes_app
            ON c.app_id = t.app_id AND c.environment = t.environment AND c.topic = t.name
          WHERE t.id = ? AND c.ended_at IS NULL
          """, line.topicID
        ) { (id: $0.int64(0), joins: $0.bool(1)) }
      }
      for change in open[line.topicID] ?? [] where change.joins == line.joins {
        let marked = try database.run(
          "UPDATE topic_change_devices SET state = ?, reason = ? WHERE change_id = ? AND device_id = ? AND state = 1",
          isRefused ? State.refused.rawValue : State.done.rawValue, reason, change.id, line.deviceID)
        guard marked > 0 else { continue }
        counts[change.id, default: (0, 0)].done += isRefused ? 0 : 1
        counts[change.id, default: (0, 0)].refused += isRefused ? 1 : 0
      }
    }

    func keep(_ database: Database, now: Date) throws {
      for (id, count) in counts {
        try database.run(
          "UPDATE topic_changes SET done = done + ?, refused = refused + ? WHERE id = ?", count.done, count.refused, id)
        try TopicChange.endIfDone(database, id, now: now)
      }
    }
  }
}

/// Why an audience cannot be subscribed.
package enum TopicChangeProblem: String, MessageSet {
  case devices = "topic.devices"
  case nobody = "topic.nobody"

  package var english: String {
    switch self {
    case .devices: "Choose devices: by tag, alias, registration ID, token, or all."
    case .nobody: "No active device that FCM reaches matches this audience."
    }
  }
}

extension TopicChange: JSONObject {
  /// The schema `TopicChange`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("id", id)
    json.member("topic", topic)
    json.member("environment", environment.rawValue)
    json.member("action", joins ? "subscribe" : "unsubscribe")
    json.member("audience", audience.json)
    json.member("queued", isQueued)
    json.member("devices", devices)
    json.member("pending", pending)
    json.member("done", done)
    json.member("refused", refused)
    json.member("replaced", replaced)
    json.member("created_by", createdBy)
    json.member("created_at", createdAt)
    json.member("ended_at", endedAt)
  }
}

extension TopicChange.Member: JSONObject {
  /// The schema `TopicChangeDevice`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("device", deviceID)
    json.member("token", token?.text)
    json.member("alias", alias)
    json.member("state", state.name)
    guard let reason else { return }
    let known = Reason.of(reason)
    json.member("reason", reason)
    json.member("cause", known.cause)
    json.member("remedy", known.remedy)
    json.member("next_at", nextAt)
  }
}
