import SQLite

extension Schema {
  /// Audiences that somebody subscribes to a topic of FCM, or unsubscribes, with a result for each device. What is to be
  /// done at FCM stands in `topic_subscriptions`.
  static let topicChanges = Migration(
    id: "2026-11-23 topic changes",
    sql: """
      CREATE TABLE topic_changes(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        environment INTEGER NOT NULL,        -- 1 development, 2 production
        topic TEXT NOT NULL,
        joins INTEGER NOT NULL,              -- 0: leaves the topic
        audience TEXT NOT NULL,              -- JSON, as in a push
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        queued_to INTEGER NOT NULL,          -- devices of the audience up to this ID are queued
        queue_to INTEGER NOT NULL,           -- the last device when it was created
        devices INTEGER NOT NULL,            -- queued so far
        done INTEGER NOT NULL,
        refused INTEGER NOT NULL,
        replaced INTEGER NOT NULL,
        settle_at INTEGER NOT NULL,          -- when to look next for devices that another change took over
        ended_at INTEGER                     -- every device has a result
      ) STRICT;
      CREATE INDEX topic_changes_app ON topic_changes(app_id, id);
      CREATE INDEX topic_changes_open ON topic_changes(settle_at) WHERE ended_at IS NULL;

      CREATE TABLE topic_change_devices(
        change_id INTEGER NOT NULL REFERENCES topic_changes(id) ON DELETE CASCADE,
        device_id INTEGER NOT NULL,
        state INTEGER NOT NULL,              -- 1 pending, 2 done, 3 refused, 4 replaced
        reason TEXT,                         -- of a refusal
        PRIMARY KEY(change_id, device_id)
      ) STRICT, WITHOUT ROWID;
      """)
}
