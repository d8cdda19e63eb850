import SQLite

extension Schema {
  /// What apps call themselves: the keys of their registrations, and what they report of pushes.
  ///
  /// Designed for hundreds of millions of receipts, as the deliveries: one row for a device of a push, no foreign keys,
  /// no other index.
  static let receipts = Migration(
    id: "2026-11-23 receipts",
    sql: """
      CREATE TABLE client_keys(
        key TEXT PRIMARY KEY,                -- not secret: it is in the app's binary
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        last_used_at INTEGER                 -- to the minute
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX client_keys_app ON client_keys(app_id);

      -- What an app told of itself with its registration.
      CREATE TABLE device_details(
        device_id INTEGER PRIMARY KEY REFERENCES devices(id) ON DELETE CASCADE,
        app_version TEXT,
        time_zone TEXT,                      -- such as Asia/Shanghai
        language TEXT                        -- such as zh-Hans
      ) STRICT;

      ALTER TABLE pushes ADD COLUMN signature TEXT;

      CREATE TABLE receipts(
        push_id INTEGER NOT NULL,
        device_id INTEGER NOT NULL,
        displayed_at INTEGER,
        opened_at INTEGER,
        dismissed_at INTEGER,
        PRIMARY KEY(push_id, device_id)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE receipt_counters(
        push_id INTEGER NOT NULL,
        platform INTEGER NOT NULL,
        devices INTEGER NOT NULL,            -- that reported anything
        displayed INTEGER NOT NULL,
        opened INTEGER NOT NULL,
        dismissed INTEGER NOT NULL,
        PRIMARY KEY(push_id, platform)
      ) STRICT, WITHOUT ROWID;
      """)

  /// Client keys for one phone.
  static let enrollments = Migration(
    id: "2026-11-23 enrollments",
    sql: """
      ALTER TABLE client_keys ADD COLUMN expires_at INTEGER;   -- NULL: valid until it is removed
      ALTER TABLE client_keys ADD COLUMN device_id INTEGER;    -- which phone registered with it; it may be deleted
      """)

  /// Counts by the service that reaches the device, where a platform has several.
  static let receiptServices = Migration(
    id: "2026-11-28 receipt services",
    sql: """
      CREATE TABLE receipt_counters_by_provider(
        push_id INTEGER NOT NULL,
        platform INTEGER NOT NULL,
        provider INTEGER NOT NULL,           -- ProviderKind.code; 0: counted before services were told apart
        devices INTEGER NOT NULL,            -- that reported anything
        displayed INTEGER NOT NULL,
        opened INTEGER NOT NULL,
        dismissed INTEGER NOT NULL,
        PRIMARY KEY(push_id, platform, provider)
      ) STRICT, WITHOUT ROWID;
      -- A push with one service on a platform needs no telling apart.
      INSERT INTO receipt_counters_by_provider
        SELECT c.push_id, c.platform,
          (SELECT iif(count(*) = 1, max(t.provider), 0) FROM push_targets t
            WHERE t.push_id = c.push_id AND t.platform = c.platform AND t.count > 0),
          c.devices, c.displayed, c.opened, c.dismissed
        FROM receipt_counters c;
      DROP TABLE receipt_counters;
      ALTER TABLE receipt_counters_by_provider RENAME TO receipt_counters;
      """)
}
