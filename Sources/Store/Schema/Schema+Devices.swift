import SQLite

extension Schema {
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

  /// The number on each app icon, as far as Signalbox has set or changed it.
  static let badges = Migration(
    id: "2026-11-23 badges",
    sql: """
      ALTER TABLE devices ADD COLUMN badge INTEGER NOT NULL DEFAULT 0;
      -- 1: a push of this app has counted, so that every number that is set must be known, too.
      ALTER TABLE apps ADD COLUMN counts_badges INTEGER NOT NULL DEFAULT 0;
      """)

  /// The service that reaches each device, where counts differ by it, and JPush's messages of a push.
  static let deviceProviders = Migration(
    id: "2026-11-23 device providers",
    sql: """
      -- ProviderKind.code; NULL: the platform's own service, whose code is that of the platform.
      ALTER TABLE devices ADD COLUMN provider INTEGER;
      CREATE INDEX devices_provider ON devices(app_id, environment, provider, platform, state)
        WHERE provider IS NOT NULL;

      CREATE TABLE device_counters_by_provider(
        app_id INTEGER NOT NULL REFERENCES apps(id),
        environment INTEGER NOT NULL,
        platform INTEGER NOT NULL,
        provider INTEGER NOT NULL,           -- ProviderKind.code
        state INTEGER NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY(app_id, environment, platform, provider, state)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO device_counters_by_provider
        SELECT app_id, environment, platform, platform, state, count FROM device_counters;
      DROP TABLE device_counters;
      ALTER TABLE device_counters_by_provider RENAME TO device_counters;

      CREATE TABLE tag_counters_by_provider(
        tag_id INTEGER NOT NULL REFERENCES tags(id),
        environment INTEGER NOT NULL,
        platform INTEGER NOT NULL,
        provider INTEGER NOT NULL,
        state INTEGER NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY(tag_id, environment, platform, provider, state)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO tag_counters_by_provider
        SELECT tag_id, environment, platform, platform, state, count FROM tag_counters;
      DROP TABLE tag_counters;
      ALTER TABLE tag_counters_by_provider RENAME TO tag_counters;

      CREATE TABLE push_targets_by_provider(
        push_id INTEGER NOT NULL REFERENCES pushes(id),
        platform INTEGER NOT NULL,
        provider INTEGER NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY(push_id, platform, provider)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO push_targets_by_provider SELECT push_id, platform, platform, count FROM push_targets;
      DROP TABLE push_targets;
      ALTER TABLE push_targets_by_provider RENAME TO push_targets;

      CREATE TABLE push_reasons_by_provider(
        push_id INTEGER NOT NULL,
        platform INTEGER NOT NULL,
        provider INTEGER NOT NULL,
        outcome INTEGER NOT NULL,
        reason_id INTEGER NOT NULL,          -- 0: none
        count INTEGER NOT NULL,
        PRIMARY KEY(push_id, platform, provider, outcome, reason_id)
      ) STRICT, WITHOUT ROWID;
      INSERT INTO push_reasons_by_provider
        SELECT push_id, platform, platform, outcome, reason_id, count FROM push_reasons;
      DROP TABLE push_reasons;
      ALTER TABLE push_reasons_by_provider RENAME TO push_reasons;

      -- One request to JPush, which names up to 1000 devices, and what JPush says of it later.
      CREATE TABLE jpush_messages(
        push_id INTEGER NOT NULL,
        msg_id TEXT NOT NULL,
        first_device INTEGER NOT NULL,       -- the devices lie between these ids
        last_device INTEGER NOT NULL,
        devices INTEGER NOT NULL,
        sent_at INTEGER NOT NULL,
        ask_at INTEGER,                      -- when JPush is asked next; NULL: not any more
        result TEXT,                         -- JSON, as received
        result_at INTEGER,
        PRIMARY KEY(push_id, msg_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX jpush_messages_ask ON jpush_messages(ask_at) WHERE ask_at IS NOT NULL;
      """)

  /// Who sends to a token that an app replaced means the device that has another one now.
  static let replacedTokens = Migration(
    id: "2026-11-29 replaced tokens",
    sql: """
      CREATE TABLE replaced_tokens(
        token BLOB NOT NULL,
        app_id INTEGER NOT NULL,             -- of the device
        device_id INTEGER NOT NULL REFERENCES devices(id) ON DELETE CASCADE,
        replaced_at INTEGER NOT NULL,
        PRIMARY KEY(token, app_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX replaced_tokens_device ON replaced_tokens(device_id, replaced_at);
      """)
}
