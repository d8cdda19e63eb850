package import Foundation
package import Model
package import SQLite

/// A device that joins or leaves a topic: a line of the queue that the worker carries out at FCM. A line is done when
/// FCM has said so, so that a change that a kill interrupts is made once more; FCM takes it twice.
package struct TopicSubscription: Sendable, Hashable {
  package let topicID: Int64
  package let deviceID: Int64
  package let token: DeviceToken
  package let joins: Bool
  /// Attempts before this one.
  package let attempts: Int

  enum State: Int { case pending = 1, done, refused }

  // MARK: The queue

  /// The changes of one app and environment that are due, by their topic.
  package struct Due: Sendable {
    package let app: Int64
    package let environment: Environment
    /// Each of at most 1000 lines that join, or leave, the same topic.
    package let batches: [(topic: String, lines: [TopicSubscription])]
  }

  /// Lines of one round.
  private static let roundLimit = 8000

  /// The due changes of the app that has waited longest; nil: nothing is due.
  ///
  /// - Parameter size: the most lines of a batch.
  package static func due(_ database: Database, now: Date, size: Int) throws -> Due? {
    let first = try database.fetchOne(
      """
      SELECT t.app_id, t.environment FROM topic_subscriptions s INDEXED BY topic_subscriptions_due
        JOIN topics t ON t.id = s.topic_id
      WHERE s.state = 1 AND s.due_at <= ? ORDER BY s.due_at LIMIT 1
      """, now
    ) { (app: $0.int64(0), environment: try Environment(code: $0.int(1))) }
    guard let first else { return nil }
    let lines = try database.fetchAll(
      """
      SELECT t.name, s.topic_id, s.device_id, s.token, s.joins, s.attempts
      FROM topic_subscriptions s INDEXED BY topic_subscriptions_due JOIN topics t ON t.id = s.topic_id
      WHERE s.state = 1 AND s.due_at <= ? AND t.app_id = ? AND t.environment = ? ORDER BY s.due_at LIMIT \(roundLimit)
      """, now, first.app, first.environment.code
    ) { row in
      (
        topic: row.text(0),
        line: TopicSubscription(
          topicID: row.int64(1), deviceID: row.int64(2), token: DeviceToken(bytes: row.blob(3), provider: .fcm),
          joins: row.bool(4), attempts: row.int(5))
      )
    }
    var batches: [(topic: String, lines: [TopicSubscription])] = []
    for (topic, found) in Dictionary(grouping: lines, by: \.topic).sorted(by: { $0.key < $1.key }) {
      for joins in [false, true] {
        let chosen = found.map(\.line).filter { $0.joins == joins }
        for start in stride(from: 0, to: chosen.count, by: size) {
          batches.append((topic, Array(chosen[start..<min(start + size, chosen.count)])))
        }
      }
    }
    return Due(app: first.app, environment: first.environment, batches: batches)
  }

  /// The time in which no device is to be compared with the rules, no audience to be queued, and no change to be made.
  package static func quietTime(_ database: Database) throws -> QuietTime {
    if try hasChecks(database) { return QuietTime(until: [.distantPast]) }
    func date(_ sql: String) throws -> Date? { try database.fetchOne(sql) { $0.optionalDate(0) } ?? nil }
    return QuietTime(until: [
      try date("SELECT min(due_at) FROM topic_subscriptions INDEXED BY topic_subscriptions_due WHERE state = 1"),
      try date("SELECT min(settle_at) FROM topic_changes INDEXED BY topic_changes_open WHERE ended_at IS NULL"),
    ])
  }

  /// What became of a line.
  package enum Ending: Sendable, Hashable {
    case done
    case refused(reason: String)
    case later(reason: String, at: Date)
  }

  /// Records what FCM said. A line that has changed since is left alone, and carried out again.
  package static func record(
    _ database: Database, _ endings: [(line: TopicSubscription, ending: Ending)], askedAt: Date, now: Date
  ) throws {
    var tally = TopicChange.Tally()
    for (line, ending) in endings {
      let place = "topic_id = ?1 AND device_id = ?2 AND joins = ?3 AND token = ?4 AND state = 1"
      func write(_ sql: String, _ date: Date, _ reason: String?) throws -> Int {
        try database.run(
          "\(sql) WHERE \(place)", line.topicID, line.deviceID, line.joins, line.token.bytes, date, reason)
      }
      switch ending {
      case .later(let reason, let date):
        _ = try write(
          "UPDATE topic_subscriptions SET attempts = attempts + 1, due_at = ?5, reason = ?6", date, reason)
      case .refused(let reason) where line.joins:
        let changed = try write(
          "UPDATE topic_subscriptions SET state = \(State.refused.rawValue), due_at = ?5, reason = ?6", now, reason)
        if changed > 0 { try tally.note(database, line, refusal: reason) }
      case .done where line.joins:
        let changed = try write(
          "UPDATE topic_subscriptions SET state = \(State.done.rawValue), due_at = ?5, reason = ?6", now, nil)
        if changed > 0 { try tally.note(database, line) }
      // A device that FCM cannot unsubscribe is not subscribed.
      case .done, .refused:
        let removed = try database.run(
          "DELETE FROM topic_subscriptions WHERE \(place)", line.topicID, line.deviceID, line.joins, line.token.bytes)
        if removed > 0 { try tally.note(database, line) }
        try rejoin(database, line, now: now)
      }
    }
    try tally.keep(database, now: now)
    try judge(database, endings.map { ($0.line.deviceID, $0.ending) }, askedAt: askedAt, now: now)
    try Topic.removeEmpty(database, Set(endings.map(\.line.topicID)))
  }

  /// Environments can share a project of Firebase, where a token has one subscription: leaving it for one row takes it
  /// from another that has the same token, as after a move. That one joins again.
  private static func rejoin(_ database: Database, _ line: TopicSubscription, now: Date) throws {
    try database.run(
      """
      UPDATE topic_subscriptions SET state = 1, attempts = 0, due_at = ?1
      WHERE device_id IN (SELECT id FROM devices WHERE token = ?2) AND token = ?2 AND joins = 1 AND state = 2
        AND topic_id IN (
          SELECT o.id FROM topics t JOIN topics o ON o.app_id = t.app_id AND o.name = t.name WHERE t.id = ?3)
      """, now, line.token.bytes, line.topicID)
  }

  /// Retires and parks devices whose token FCM refuses, as for a push.
  static func judge(
    _ database: Database, _ endings: [(device: Int64, ending: Ending)], askedAt: Date, now: Date
  ) throws {
    let verdicts = endings.compactMap { device, ending -> TokenVerdict? in
      guard case .refused(let reason) = ending else { return nil }
      let outcome = Outcome.rejected(
        status: Reason.of(reason).status ?? 0, reason: reason, tokenInvalidSince: nil)
      return TokenVerdict(device: device, outcome: outcome, askedAt: askedAt, push: nil)
    }
    try TokenVerdict.carryOut(database, verdicts, now: now)
  }

  /// Puts off every change of an app in an environment, because none can be made now.
  package static func postpone(
    _ database: Database, app: Int64, environment: Environment, reason: String, to date: Date, now: Date
  ) throws {
    try database.run(
      """
      UPDATE topic_subscriptions SET attempts = attempts + 1, due_at = ?1, reason = ?2
      WHERE state = 1 AND due_at <= ?3
        AND topic_id IN (SELECT id FROM topics WHERE app_id = ?4 AND environment = ?5)
      """, date, reason, now, app, environment.code)
  }

  /// Why changes of an app wait longer than usual: the reasons of the last attempts, with their number and the next
  /// attempt.
  package static func delays(
    _ database: Database, app: Int64
  ) throws -> [(reason: String, count: Int, next: Date)] {
    try database.fetchAll(
      """
      SELECT s.reason, count(*), min(s.due_at) FROM topics t JOIN topic_subscriptions s ON s.topic_id = t.id
      WHERE t.app_id = ? AND s.state = 1 AND s.attempts > 0 AND s.reason IS NOT NULL
      GROUP BY s.reason ORDER BY count(*) DESC LIMIT 5
      """, app
    ) { ($0.text(0), $0.int(1), $0.date(2)) }
  }

  /// Records a change that a person or a program has just made at FCM. What FCM could not do yet goes into the queue.
  package static func keep(
    _ database: Database, app: Int64, environment: Environment, topic: String, joins: Bool,
    _ endings: [(device: Int64, token: DeviceToken, ending: Ending)], askedAt: Date, now: Date
  ) throws {
    guard !endings.isEmpty else { return }
    try TopicRules.watch(database, app: app)
    let id = try Topic.id(database, app: app, environment: environment, name: topic, now: now)
    for (device, token, ending) in endings {
      switch ending {
      case .done where !joins, .refused where !joins:
        try database.run("DELETE FROM topic_subscriptions WHERE topic_id = ? AND device_id = ?", id, device)
      case .refused: break
      case .done: try put(database, id, device, token, joins: true, byRule: false, .done, due: now)
      case .later(let reason, let date):
        try put(database, id, device, token, joins: joins, byRule: false, .pending, due: date, reason: reason)
      }
    }
    try judge(database, endings.map { ($0.device, $0.ending) }, askedAt: askedAt, now: now)
    try Topic.removeEmpty(database, [id])
  }

  /// Queues a change that somebody asked for.
  static func queue(
    _ database: Database, topic: Int64, device: Int64, _ token: DeviceToken, joins: Bool, now: Date
  ) throws {
    try put(database, topic, device, token, joins: joins, byRule: false, .pending, due: now)
  }

  fileprivate static func put(
    _ database: Database, _ topic: Int64, _ device: Int64, _ token: DeviceToken, joins: Bool, byRule: Bool,
    _ state: State, due: Date, reason: String? = nil
  ) throws {
    try database.run(
      """
      INSERT INTO topic_subscriptions(topic_id, device_id, token, by_rule, joins, state, attempts, due_at, reason)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      ON CONFLICT DO UPDATE SET token = excluded.token, joins = excluded.joins, state = excluded.state,
        attempts = excluded.attempts, due_at = excluded.due_at, reason = excluded.reason
      """, topic, device, token.bytes, byRule ? 1 : 0, joins ? 1 : 0, state.rawValue, reason == nil ? 0 : 1, due, reason
    )
  }
}

// MARK: Rules

extension TopicSubscription {
  /// Devices compared in one transaction.
  private static let checkLimit = 1000

  /// Whether devices are to be compared with the rules of their apps.
  package static func hasChecks(_ database: Database) throws -> Bool {
    try database.int(
      """
      SELECT EXISTS (SELECT 1 FROM topic_checks) OR EXISTS (
        SELECT 1 FROM topic_rules WHERE checked_to < check_to OR (rules <> '' AND check_to < ?))
      """, try Device.lastID(database)) != 0
  }

  /// Compares the next devices with the rules of their apps, and queues what is to be changed at FCM.
  package static func check(_ database: Database, now: Date) throws {
    let noted = try database.fetchAll("SELECT device_id FROM topic_checks LIMIT \(checkLimit)") { $0.int64(0) }
    for device in noted {
      try check(database, device: device, now: now)
      try database.run("DELETE FROM topic_checks WHERE device_id = ?", device)
    }
    guard noted.isEmpty else { return }
    let last = try Device.lastID(database)
    try database.run("UPDATE topic_rules SET check_to = ?1 WHERE rules <> '' AND check_to < ?1", last)
    let next = try database.fetchOne(
      "SELECT app_id, checked_to, check_to FROM topic_rules WHERE checked_to < check_to LIMIT 1"
    ) { (app: $0.int64(0), from: $0.int64(1), to: $0.int64(2)) }
    guard let (app, from, to) = next else { return }
    let devices = try database.fetchAll(
      """
      SELECT id FROM devices WHERE id > ? AND id <= ? AND app_id = ? AND coalesce(provider, platform) = ?
      ORDER BY id LIMIT \(checkLimit)
      """, from, to, app, ProviderKind.fcm.code
    ) { $0.int64(0) }
    for device in devices { try check(database, device: device, now: now) }
    let reached = devices.count < checkLimit ? to : devices.last ?? to
    try database.run("UPDATE topic_rules SET checked_to = ? WHERE app_id = ?", reached, app)
  }

  /// A subscription as it is kept.
  private struct Kept {
    let topic: Int64
    let environment: Environment
    let name: String
    let token: DeviceToken
    let isByRule: Bool
    let joins: Bool
    let state: Int
  }

  private static func check(_ database: Database, device id: Int64, now: Date) throws {
    let kept = try database.fetchAll(
      """
      SELECT s.topic_id, t.environment, t.name, s.token, s.by_rule, s.joins, s.state
      FROM topic_subscriptions s JOIN topics t ON t.id = s.topic_id WHERE s.device_id = ?
      """, id
    ) { row in
      Kept(
        topic: row.int64(0), environment: try Environment(code: row.int(1)), name: row.text(2),
        token: DeviceToken(bytes: row.blob(3), provider: .fcm), isByRule: row.bool(4), joins: row.bool(5),
        state: row.int(6))
    }
    let device = try Device.find(database, id: id)
    // FCM has forgotten the subscriptions of a dead token; of one in doubt they stay as they are.
    if device?.state == .dead {
      try database.run("DELETE FROM topic_subscriptions WHERE device_id = ?", id)
      return try Topic.removeEmpty(database, kept.map(\.topic))
    }
    if device?.state == .quarantined { return }
    var wanted = try wanted(database, device)
    for one in kept {
      let isHere = device.map { $0.provider == .fcm && $0.environment == one.environment } ?? false
      let isWanted = isHere && (one.isByRule ? wanted.remove(one.name) != nil : one.joins)
      // Subscriptions made by hand stay, whatever the rules say.
      if !one.isByRule { wanted.remove(one.name) }
      let token = isWanted ? device?.token ?? one.token : one.token
      if isWanted == one.joins, token == one.token, one.state != State.refused.rawValue { continue }
      // A token that was replaced is gone from its topics.
      if !isWanted, let device, device.token != one.token, device.provider == .fcm {
        try database.run("DELETE FROM topic_subscriptions WHERE topic_id = ? AND device_id = ?", one.topic, id)
        continue
      }
      try put(database, one.topic, id, token, joins: isWanted, byRule: one.isByRule, .pending, due: now)
    }
    guard let device else { return }
    for name in wanted.sorted() {
      let topic = try Topic.id(database, app: device.appID, environment: device.environment, name: name, now: now)
      try put(database, topic, id, device.token, joins: true, byRule: true, .pending, due: now)
    }
    try Topic.removeEmpty(database, kept.map(\.topic))
  }

  /// The topics that the rules of its app give a device.
  private static func wanted(_ database: Database, _ device: Device?) throws -> Set<String> {
    guard let device, device.provider == .fcm, device.state == .active else { return [] }
    let text = try database.fetchOne("SELECT rules FROM topic_rules WHERE app_id = ?", device.appID) { $0.text(0) }
    let rules = TopicRules.rules(text ?? "")
    guard !rules.isEmpty else { return [] }
    let details = try DeviceDetails.find(database, device: device.id)
    return Set(
      rules.compactMap {
        $0.topic(platform: device.platform, version: details.appVersion, timeZone: details.timeZone)
      })
  }
}
