import SQLite

extension Schema {
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
}
