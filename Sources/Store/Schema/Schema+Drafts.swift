import SQLite

extension Schema {
  /// What people keep for the send form: unsent drafts, and the devices that are their own.
  static let drafts = Migration(
    id: "2026-11-23 drafts",
    sql: """
      CREATE TABLE drafts(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        title TEXT NOT NULL,
        fields TEXT NOT NULL,                -- JSON: the form's fields as [[name, value], …]
        push_id INTEGER,                     -- the last one to a device of the user's own
        changed_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX drafts_user ON drafts(user_id, changed_at);
      CREATE INDEX drafts_push ON drafts(push_id) WHERE push_id IS NOT NULL;

      CREATE TABLE own_devices(
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        device_id INTEGER NOT NULL REFERENCES devices(id) ON DELETE CASCADE,
        PRIMARY KEY(user_id, device_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX own_devices_device ON own_devices(device_id);
      """)

  /// Saved messages with places.
  static let templates = Migration(
    id: "2026-11-23 templates",
    sql: """
      CREATE TABLE push_templates(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL COLLATE NOCASE UNIQUE,
        content TEXT NOT NULL,               -- JSON of MessageTemplate
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL
      ) STRICT;
      """)
}
