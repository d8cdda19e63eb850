package import Foundation
package import Model
package import SQLite

/// When a push was last sent to a tag, an alias or a segment: a row for each name, written when a push begins, and
/// removed when it is older than the pushes that are kept.
package enum AudienceUse {
  package enum Kind: Int, Sendable, CaseIterable { case tag = 1, alias, segment }

  /// Notes the names that a push is sent to; not those whose devices it leaves out.
  package static func note(_ database: Database, app: Int64, _ audience: Audience, now: Date) throws {
    guard case .rule(let rule) = audience else { return }
    let used: [(kind: Kind, names: Set<String>)] = [
      (.tag, Set(rule.tag).union(rule.tagAnd)), (.alias, Set(rule.alias)), (.segment, Set(rule.segment)),
    ]
    for (kind, names) in used {
      for name in names {
        try database.run(
          """
          INSERT INTO audience_uses(app_id, kind, name, sent_at) VALUES (?, ?, ?, ?)
          ON CONFLICT(app_id, kind, name) DO UPDATE SET sent_at = max(sent_at, excluded.sent_at)
          """, app, kind.rawValue, name, now)
      }
    }
  }

  /// When pushes were last sent to these names: one search along the key for each. Unknown ones are missing.
  package static func last(
    _ database: Database, app: Int64, _ kind: Kind, _ names: [String]
  ) throws -> [String: Date] {
    var found: [String: Date] = [:]
    for name in names {
      found[name] = try database.fetchOne(
        "SELECT sent_at FROM audience_uses WHERE app_id = ? AND kind = ? AND name = ?", app, kind.rawValue, name
      ) { $0.date(0) }
    }
    return found
  }

  /// The history of a segment goes with its new name, and ends with the segment.
  ///
  /// - Parameter new: nil: it is deleted.
  static func rename(_ database: Database, segment name: String, to new: String?, app: Int64) throws {
    let kind = Kind.segment.rawValue
    // What another segment of that name had is over.
    try database.run(
      "DELETE FROM audience_uses WHERE app_id = ? AND kind = ? AND name = ?", app, kind, new ?? name)
    guard let new else { return }
    try database.run(
      "UPDATE audience_uses SET name = ? WHERE app_id = ? AND kind = ? AND name = ?", new, app, kind, name)
  }

  /// Removes the oldest rows.
  ///
  /// - Returns: how many, at most `limit`.
  static func trim(_ database: Database, before date: Date, limit: Int) throws -> Int {
    let old = try database.fetchAll(
      "SELECT app_id, kind, name FROM audience_uses INDEXED BY audience_uses_sent WHERE sent_at < ? LIMIT ?", date,
      limit
    ) { ($0.int64(0), $0.int(1), $0.text(2)) }
    // One by one: SQLite uses only two parts of the key for a list of keys.
    for (app, kind, name) in old {
      try database.run("DELETE FROM audience_uses WHERE app_id = ? AND kind = ? AND name = ?", app, kind, name)
    }
    return old.count
  }
}
