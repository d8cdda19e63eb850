import SQLite

extension Schema {
  /// Proxies of single credentials.
  static let proxies = Migration(
    id: "2026-11-23 proxies",
    sql: """
      CREATE TABLE credential_proxies(
        id INTEGER PRIMARY KEY REFERENCES credentials(id) ON DELETE CASCADE,
        address TEXT NOT NULL,               -- none: direct; else host:port of an HTTP proxy
        user TEXT,
        sealed BLOB                          -- the password
      ) STRICT;
      """)
}
