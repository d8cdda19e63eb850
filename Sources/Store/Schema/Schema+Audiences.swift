import SQLite

extension Schema {
  /// Broadcast channels of APNs that are known here. Apple's list has IDs only.
  static let channels = Migration(
    id: "2026-11-23 channels",
    sql: """
      CREATE TABLE channels(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        environment TEXT NOT NULL,
        channel TEXT NOT NULL,               -- Apple's ID, Base64
        policy INTEGER,                      -- ChannelPolicy; NULL: not known
        name TEXT NOT NULL,                  -- for people; may be empty
        created_by TEXT,                     -- NULL: found in Apple's list
        created_at INTEGER NOT NULL,
        listed_at INTEGER,                   -- when Apple last listed it
        missing_since INTEGER,               -- when Apple first listed others without it; NULL: it exists
        UNIQUE(app_id, environment, channel)
      ) STRICT;
      """)
}
