import Calendar
package import Foundation
package import JSON
package import Model
package import SQLite

/// A push that will be sent at a time to come.
package struct PlannedPush: Sendable, Hashable {
  /// Public id.
  package let uid: String
  /// Its title, or its text; nil if it has neither.
  package let title: String?
  /// The app.
  package let appID: Int64
  /// The app.
  package let bundleID: String
  /// Where it is sent.
  package let environment: Environment
  /// What it is sent to.
  package let platforms: [Platform]
  /// When.
  package let sendAt: Date

  /// Creates one, as for the next time of a schedule.
  package init(
    uid: String, title: String?, appID: Int64, bundleID: String, environment: Environment, platforms: [Platform],
    sendAt: Date
  ) {
    self.uid = uid
    self.title = title
    self.appID = appID
    self.bundleID = bundleID
    self.environment = environment
    self.platforms = platforms
    self.sendAt = sendAt
  }

  /// All that wait for their time, the next first. Quick whatever the number of pushes that are over.
  package static func all(_ database: Database, after now: Date, app: Int64? = nil) throws -> [PlannedPush] {
    // The first condition is the index's own; the planner knows it by its text.
    try database.fetchAll(
      """
      SELECT p.uid, coalesce(p.title, p.body), p.app_id, a.bundle_id, p.environment,
        iif(json_valid(p.draft), json_extract(p.draft, '$.platforms'), '[]'), p.send_at
      FROM pushes p INDEXED BY pushes_unfinished JOIN apps a ON a.id = p.app_id
      WHERE p.state IN ('queued', 'sending') AND p.state = 'queued' AND p.send_at > ?1
        AND (?2 IS NULL OR p.app_id = ?2)
      ORDER BY p.send_at, p.id
      """, now, app
    ) { row in
      PlannedPush(
        uid: row.text(0), title: row.optionalText(1), appID: row.int64(2), bundleID: row.text(3),
        environment: try row.value(4, as: Environment.self),
        platforms: try texts(row.optionalText(5) ?? "[]", "pushes.draft").compactMap(Platform.init(rawValue:)),
        sendAt: row.date(6))
    }
  }
}

extension PlannedPush: JSONWritable {
  /// The schema `PlannedPush`.
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("push", uid)
      json.member("app", bundleID)
      json.member("environment", environment.rawValue)
      json.member("send_at", sendAt)
    }
  }
}
