import SQLite

extension Schema {
  /// Devices are found by the beginning of their name. Few have one.
  static let deviceNames = Migration(
    id: "2026-11-23 device names",
    sql: "CREATE INDEX devices_name ON devices(name COLLATE NOCASE) WHERE name IS NOT NULL;")

  /// Devices that were moved from an incident's page are found to be moved back.
  static let incidentMoves = Migration(
    id: "2026-11-24 incident moves",
    sql: """
      ALTER TABLE device_events ADD COLUMN incident_id INTEGER;  -- of a move to another environment
      CREATE INDEX device_events_incident ON device_events(incident_id) WHERE incident_id IS NOT NULL;
      """)

  /// Designed for 10 million devices: each way to choose an audience has an index that yields device IDs in order.
  ///
  /// `DeviceWriter` keeps the counters in the transaction that changes the devices; tests compare them with the rows.
  static let devices = """
    CREATE TABLE devices(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      app_id INTEGER NOT NULL REFERENCES apps(id),
      environment INTEGER NOT NULL,        -- 1 development, 2 production
      platform INTEGER NOT NULL,           -- 1 ios, 2 android
      state INTEGER NOT NULL,              -- 1 active, 2 quarantined, 3 dead
      state_reason TEXT,
      state_at INTEGER,
      token BLOB NOT NULL,
      alias TEXT,
      registration_id TEXT,
      name TEXT,
      created_at INTEGER NOT NULL,         -- first registration
      registered_at INTEGER NOT NULL,      -- last registration: a 410 counts only if it is later
      seen_at INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX devices_token ON devices(token, app_id);
    CREATE INDEX devices_alias ON devices(alias, app_id) WHERE alias IS NOT NULL;
    CREATE UNIQUE INDEX devices_registration_id ON devices(registration_id, app_id) WHERE registration_id IS NOT NULL;
    CREATE INDEX devices_kind ON devices(app_id, environment, platform, state);

    CREATE TABLE device_counters(
      app_id INTEGER NOT NULL REFERENCES apps(id),
      environment INTEGER NOT NULL,
      platform INTEGER NOT NULL,
      state INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY(app_id, environment, platform, state)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE tags(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      app_id INTEGER NOT NULL REFERENCES apps(id),
      name TEXT NOT NULL,
      UNIQUE(name, app_id)
    ) STRICT;
    CREATE INDEX tags_app ON tags(app_id);
    CREATE TABLE device_tags(
      tag_id INTEGER NOT NULL,
      device_id INTEGER NOT NULL,
      PRIMARY KEY(tag_id, device_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX device_tags_device ON device_tags(device_id);
    CREATE TABLE tag_counters(
      tag_id INTEGER NOT NULL REFERENCES tags(id),
      environment INTEGER NOT NULL,
      platform INTEGER NOT NULL,
      state INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY(tag_id, environment, platform, state)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE device_events(
      device_id INTEGER NOT NULL,
      number INTEGER NOT NULL,
      at INTEGER NOT NULL,
      kind TEXT NOT NULL,
      detail TEXT,
      PRIMARY KEY(device_id, number)
    ) STRICT, WITHOUT ROWID;
    """
}
