import SQLite

extension Schema {
  /// Key pairs of the API that is compatible with JPush, and the schedules made through it.
  static let jpush = Migration(
    id: "2026-11-22 jpush",
    sql: """
      CREATE TABLE jpush_keys(
        app_id INTEGER PRIMARY KEY REFERENCES apps(id) ON DELETE CASCADE,
        app_key TEXT NOT NULL UNIQUE,        -- 24 hexadecimal digits; not secret
        secret_hash BLOB NOT NULL,           -- SHA-256 of the master secret
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        rotated_at INTEGER,                  -- NULL: the first secret
        last_used_at INTEGER                 -- to the minute
      ) STRICT;

      -- The rest of a schedule that Signalbox has no column for, as JPush's clients read it back.
      CREATE TABLE jpush_schedules(
        schedule_id INTEGER PRIMARY KEY REFERENCES schedules(id) ON DELETE CASCADE,
        uid TEXT NOT NULL UNIQUE,            -- a UUID: JPush's schedule_id
        name TEXT NOT NULL,
        trigger TEXT NOT NULL,               -- JSON, as sent
        push TEXT NOT NULL                   -- JSON, as sent
      ) STRICT;
      """)

  /// Schedules that JPush's clients have deleted keep their names in the console.
  static let removedSchedules = Migration(
    id: "2026-11-28 removed schedules",
    sql: "ALTER TABLE jpush_schedules ADD COLUMN is_removed INTEGER NOT NULL DEFAULT 0;")

  /// Pushes are found by the `msg_id` that JPush gave them.
  static let jpushMessageIDs = Migration(
    id: "2026-11-29 jpush message ids",
    sql: "CREATE INDEX jpush_messages_id ON jpush_messages(msg_id);")
}
