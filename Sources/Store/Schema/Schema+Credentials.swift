import SQLite

extension Schema {
  static let credentials = """
    CREATE TABLE credentials(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
      provider TEXT NOT NULL,
      environment TEXT NOT NULL,
      certificate_id INTEGER REFERENCES certificates(id),
      endpoint TEXT NOT NULL,              -- ProviderKind.serviceWord | simulator | host:port
      trust_pem TEXT,                      -- NULL: the system's trust store
      created_at INTEGER NOT NULL,
      last_accepted_at INTEGER,
      last_refused_at INTEGER,
      last_refusal TEXT,
      UNIQUE(app_id, provider, environment)
    ) STRICT;
    CREATE INDEX credentials_certificate ON credentials(certificate_id);

    -- The key that every sealed column is sealed with; the key itself is in a file.
    CREATE TABLE sealing_key(
      id INTEGER PRIMARY KEY CHECK (id = 1),
      identifier TEXT NOT NULL,            -- SealingKey.identifier: tells keys apart and reveals nothing of them
      since INTEGER NOT NULL
    ) STRICT;
    """

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
