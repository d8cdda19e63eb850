import SQLite

extension Schema {
  /// Saved rules, and the indexes that find devices by what their app told: each value yields device IDs in order.
  static let segments = Migration(
    id: "2026-11-23 segments",
    sql: """
      CREATE TABLE segments(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        rule TEXT NOT NULL,                  -- the API's JSON
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL,
        UNIQUE(app_id, name)
      ) STRICT;

      -- The rules of a push's segments when it began, so that a change meanwhile, or a restart, does not change it.
      CREATE TABLE push_segments(
        push_id INTEGER NOT NULL REFERENCES pushes(id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        rule TEXT NOT NULL,
        at INTEGER NOT NULL,                 -- what “last seen” counts from
        PRIMARY KEY(push_id, name)
      ) STRICT, WITHOUT ROWID;

      CREATE INDEX device_details_app_version ON device_details(app_version, device_id) WHERE app_version IS NOT NULL;
      CREATE INDEX device_details_time_zone ON device_details(time_zone, device_id) WHERE time_zone IS NOT NULL;
      CREATE INDEX device_details_language ON device_details(language, device_id) WHERE language IS NOT NULL;
      """)
}
