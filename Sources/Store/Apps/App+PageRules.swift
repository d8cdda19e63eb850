package import Foundation
import JSON
package import Model
package import SQLite

extension App {
  /// An app's own rules; nil: it has none, and ``PageRules/defaults`` hold.
  package static func ownPageRules(_ database: Database, id: Int64) throws -> PageRules? {
    let text = try database.fetchOne("SELECT rules FROM page_rules WHERE app_id = ?", id) { $0.text(0) }
    guard let text else { return nil }
    return try PageRules(json: try JSONValue(parsing: Data(text.utf8)))
  }

  /// The rules that hold for an app.
  package static func pageRules(_ database: Database, id: Int64) throws -> PageRules {
    try ownPageRules(database, id: id) ?? .defaults
  }

  /// The types that any app's rules name, for a choice.
  package static func pageTypes(_ database: Database) throws -> [String] {
    let types = try all(database).flatMap { try pageRules(database, id: $0.id).rules.map(\.type) }
    return Set(types).sorted()
  }

  /// Changes an app's rules; nil returns to the defaults.
  package static func setPageRules(_ database: Database, id: Int64, _ rules: PageRules?, now: Date) throws {
    guard let rules else {
      try database.run("DELETE FROM page_rules WHERE app_id = ?", id)
      return
    }
    try database.run(
      """
      INSERT INTO page_rules(app_id, rules, changed_at) VALUES (?, ?, ?)
      ON CONFLICT(app_id) DO UPDATE SET rules = excluded.rules, changed_at = excluded.changed_at
      """, id, rules.json.text(), now)
  }
}
