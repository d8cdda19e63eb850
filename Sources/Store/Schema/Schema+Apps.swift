internal import SQLite

extension Schema {
  static let apps = Migration(
    id: "2026-11-20 apps",
    sql: """
      CREATE TABLE apps(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        bundle_id TEXT NOT NULL UNIQUE,
        package_name TEXT,
        name TEXT NOT NULL,
        alias_rule TEXT,
        created_at INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      """)

  static let certificates = Migration(
    id: "2026-11-20 certificates",
    sql: """
      CREATE TABLE certificates(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        app_id INTEGER REFERENCES apps(id) ON DELETE SET NULL,
        subject TEXT,
        issuer TEXT,
        serial TEXT,
        sha256 TEXT,
        team_id TEXT,
        key_id TEXT,
        environments TEXT NOT NULL,          -- JSON: ["development", "production"]
        topics TEXT NOT NULL,                -- JSON: ["com.example.app"]
        not_before INTEGER,
        not_after INTEGER,                   -- NULL: never expires
        has_private_key INTEGER NOT NULL,
        sealed BLOB NOT NULL,                -- file and key, sealed with "certificates/<id>"
        public_pem TEXT,
        file_name TEXT NOT NULL,
        uploaded_by TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX certificates_not_after ON certificates(not_after);
      CREATE INDEX certificates_app ON certificates(app_id);
      CREATE INDEX certificates_sha256 ON certificates(sha256);

      CREATE TABLE credentials(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        provider TEXT NOT NULL,
        environment TEXT NOT NULL,
        certificate_id INTEGER REFERENCES certificates(id),
        endpoint TEXT NOT NULL,              -- apple | simulator | host:port
        trust_pem TEXT,                      -- NULL: the system's trust store
        created_at INTEGER NOT NULL,
        last_accepted_at INTEGER,
        last_refused_at INTEGER,
        last_refusal TEXT,
        UNIQUE(app_id, provider, environment)
      ) STRICT;
      CREATE INDEX credentials_certificate ON credentials(certificate_id);
      """)
}
