internal import SQLite

extension Schema {
  /// Browsers in which somebody has signed in: a throttle of strangers does not hold them up.
  static let knownDevices = Migration(
    id: "2026-11-22 known devices",
    sql: """
      CREATE TABLE known_devices(
        hash BLOB NOT NULL,                  -- SHA-256 of the cookie's value
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        seen_at INTEGER NOT NULL,            -- the last sign-in
        PRIMARY KEY(hash, user_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX known_devices_user ON known_devices(user_id, seen_at);
      CREATE INDEX known_devices_seen ON known_devices(seen_at);
      """)
}
