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
}
