package import Foundation
package import JSON
package import Model
package import SQLite

/// A topic of FCM that devices of an app are subscribed to, or shall be, as far as is known here.
package struct Topic: Sendable, Hashable, Identifiable {
  package let id: Int64
  package let environment: Environment
  package let name: String
  package let createdAt: Date
  /// Devices that FCM has subscribed.
  package let subscribed: Int
  /// Changes that FCM does not know yet.
  package let pending: Int
  /// Devices that FCM refused.
  package let refused: Int

  /// An app's topics with their counts, by environment and name.
  package static func all(
    _ database: Database, app: Int64, environment: Environment? = nil
  ) throws -> [Topic] {
    try database.fetchAll(
      """
      SELECT t.id, t.environment, t.name, t.created_at,
        coalesce(sum(s.state = 2), 0), coalesce(sum(s.state = 1), 0), coalesce(sum(s.state = 3), 0)
      FROM topics t LEFT JOIN topic_subscriptions s ON s.topic_id = t.id
      WHERE t.app_id = ?1 AND (?2 IS NULL OR t.environment = ?2)
      GROUP BY t.id ORDER BY t.environment, t.name
      """, app, environment?.code
    ) { row in
      Topic(
        id: row.int64(0), environment: try Environment(code: row.int(1)), name: row.text(2), createdAt: row.date(3),
        subscribed: row.int(4), pending: row.int(5), refused: row.int(6))
    }
  }

  /// The topic's ID; it is made if it is new.
  static func id(
    _ database: Database, app: Int64, environment: Environment, name: String, now: Date
  ) throws -> Int64 {
    let find = "SELECT id FROM topics WHERE app_id = ? AND environment = ? AND name = ?"
    let known = try database.fetchOne(find, app, environment.code, name) { $0.int64(0) }
    if let known { return known }
    try database.run(
      "INSERT INTO topics(app_id, environment, name, created_at) VALUES (?, ?, ?, ?)", app, environment.code, name, now)
    return database.lastInsertedID
  }

  /// Removes the topics that nobody is subscribed to, or is to be.
  static func removeEmpty(_ database: Database, _ ids: some Sequence<Int64>) throws {
    for id in ids {
      try database.run(
        "DELETE FROM topics WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM topic_subscriptions WHERE topic_id = ?1)", id)
    }
  }
}

extension Topic: JSONObject {
  /// The schema `Topic`.
  package func writeMembers(to json: inout JSONWriter) {
    json.member("name", name)
    json.member("environment", environment.rawValue)
    json.member("subscribed", subscribed)
    json.member("pending", pending)
    json.member("refused", refused)
    json.member("created_at", createdAt)
  }
}

/// The rules of an app's topics, and how far its devices are compared with them.
package struct TopicRules: Sendable, Hashable {
  package let rules: Set<TopicRule>
  /// Devices that are still to be compared; nil: none. A rough number while a change of the rules is carried out.
  package let unchecked: Int

  package static func find(_ database: Database, app: Int64) throws -> TopicRules {
    let found = try database.fetchOne(
      "SELECT rules, check_to - checked_to, check_to FROM topic_rules WHERE app_id = ?", app
    ) { (rules: $0.text(0), unchecked: $0.int(1), to: $0.int64(2)) }
    let noted = try database.int(
      "SELECT count(*) FROM (SELECT 1 FROM topic_checks c JOIN devices d ON d.id = c.device_id WHERE d.app_id = ?)", app
    )
    guard let found else { return TopicRules(rules: [], unchecked: noted) }
    let rules = rules(found.rules)
    let new =
      rules.isEmpty
      ? 0
      : try database.int(
        "SELECT count(*) FROM (SELECT 1 FROM devices WHERE id > ? AND app_id = ? AND platform = ? LIMIT 100000)",
        found.to, app, Platform.android.code)
    return TopicRules(rules: rules, unchecked: max(0, found.unchecked) + noted + new)
  }

  /// For the activity log.
  package static func audited(_ rules: Set<TopicRule>) -> JSONValue {
    ["rules": .array(TopicRule.allCases.filter(rules.contains).map { .string($0.rawValue) })]
  }

  static func rules(_ text: String) -> Set<TopicRule> {
    Set(text.split(separator: " ").compactMap { TopicRule(rawValue: String($0)) })
  }

  /// Sets the rules; the worker then compares every device of the app with them.
  package static func set(_ database: Database, app: Int64, _ rules: Set<TopicRule>) throws {
    try database.run(
      """
      INSERT INTO topic_rules(app_id, rules, checked_to, check_to) VALUES (?1, ?2, 0, ?3)
      ON CONFLICT(app_id) DO UPDATE SET rules = ?2, checked_to = 0, check_to = ?3
      """, app, TopicRule.allCases.filter(rules.contains).map(\.rawValue).joined(separator: " "),
      try Device.lastID(database))
  }

  /// From now on the app's devices are compared when they change.
  static func watch(_ database: Database, app: Int64) throws {
    try database.run(
      "INSERT INTO topic_rules(app_id, rules, checked_to, check_to) VALUES (?, '', 0, 0) ON CONFLICT DO NOTHING", app)
  }
}

extension TopicRules: JSONObject {
  /// The schema `TopicRules`.
  package func writeMembers(to json: inout JSONWriter) {
    json.array("rules", TopicRule.allCases.filter(rules.contains)) { json, rule in json.string(rule.rawValue) }
    json.member("unchecked", unchecked)
  }
}
