extension Schema {
  static let phones = """
    CREATE TABLE phones(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      platform TEXT NOT NULL,
      bundle_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      token BLOB NOT NULL,
      state TEXT NOT NULL,                 -- JSON
      created_at INTEGER NOT NULL,
      UNIQUE(token, environment, bundle_id)
    ) STRICT;

    CREATE TABLE phone_notifications(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      phone_id INTEGER NOT NULL REFERENCES phones(id) ON DELETE CASCADE,
      at INTEGER NOT NULL,
      apns_id TEXT,
      headers TEXT NOT NULL,               -- JSON
      payload BLOB NOT NULL
    ) STRICT;
    CREATE INDEX phone_notifications_phone ON phone_notifications(phone_id);
    """
}
