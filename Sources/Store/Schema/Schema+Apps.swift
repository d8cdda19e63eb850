import SQLite

extension Schema {
  static let apps = """
    CREATE TABLE apps(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      bundle_id TEXT NOT NULL UNIQUE,
      package_name TEXT,
      name TEXT NOT NULL,
      alias_rule TEXT,                     -- AliasRule; NULL: none
      created_at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    """

  /// The pages that taps open, for apps with rules of their own.
  static let pageRules = Migration(
    id: "2026-11-23 page rules",
    sql: """
      CREATE TABLE page_rules(
        app_id INTEGER PRIMARY KEY REFERENCES apps(id) ON DELETE CASCADE,
        rules TEXT NOT NULL,                 -- JSON of PageRules
        changed_at INTEGER NOT NULL
      ) STRICT;
      """)
}
