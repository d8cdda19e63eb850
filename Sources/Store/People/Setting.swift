package import SQLite

/// One value of the installation that people set in the console.
package enum Setting {
  /// The value of a key, nil if it was never set.
  package static func find(_ database: Database, _ key: String) throws -> String? {
    try database.fetchOne("SELECT value FROM settings WHERE key = ?", key) { $0.text(0) }
  }

  /// All values by key.
  package static func all(_ database: Database) throws -> [String: String] {
    let rows = try database.fetchAll("SELECT key, value FROM settings") { ($0.text(0), $0.text(1)) }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  /// Sets a value; nil takes it away.
  package static func set(_ database: Database, _ key: String, _ value: String?) throws {
    if let value {
      try database.run(
        "INSERT INTO settings(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", key,
        value)
    } else {
      try database.run("DELETE FROM settings WHERE key = ?", key)
    }
  }
}
