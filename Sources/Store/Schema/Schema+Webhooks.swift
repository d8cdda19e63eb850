import SQLite

extension Schema {
  /// Event webhooks, and their events: an outbox that each transaction adds to, and the log of deliveries.
  static let webhooks = Migration(
    id: "2026-11-23 webhooks",
    sql: """
      CREATE TABLE webhooks(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        target TEXT NOT NULL,                -- the URL's host, which may be shown
        sealed BLOB NOT NULL,                -- URL and secrets, JSON, sealed with "webhooks/<id>"
        app_id INTEGER REFERENCES apps(id) ON DELETE CASCADE,    -- NULL: of every app
        events TEXT NOT NULL,                -- between blanks, as " push.finished device.dead "
        is_active INTEGER NOT NULL,
        gone_at INTEGER,                     -- when an answer 410 switched it off
        failures INTEGER NOT NULL DEFAULT 0, -- in a row
        failing_since INTEGER,
        next_try_at INTEGER NOT NULL DEFAULT 0,
        dropped INTEGER NOT NULL DEFAULT 0,  -- events that were never sent
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        rotated_at INTEGER                   -- NULL: the first secret
      ) STRICT;
      CREATE INDEX webhooks_app ON webhooks(app_id);

      CREATE TABLE webhook_events(
        id INTEGER PRIMARY KEY AUTOINCREMENT,    -- the order of sending
        webhook_id INTEGER NOT NULL REFERENCES webhooks(id) ON DELETE CASCADE,
        uid TEXT NOT NULL UNIQUE,            -- webhook-id: the same for each attempt
        type TEXT NOT NULL,
        data TEXT NOT NULL,                  -- JSON
        path TEXT,                           -- of the page that shows more
        state TEXT NOT NULL,                 -- pending | delivered | failed | dropped
        created_at INTEGER NOT NULL,
        queued_at INTEGER NOT NULL,          -- later than created_at: somebody sent it again
        attempts INTEGER NOT NULL DEFAULT 0,
        first_try_at INTEGER,
        tried_at INTEGER,
        status INTEGER,                      -- NULL: no answer
        duration_ms INTEGER,
        answer TEXT                          -- the other side's words, or why it failed
      ) STRICT;
      CREATE INDEX webhook_events_list ON webhook_events(webhook_id, id);
      CREATE INDEX webhook_events_pending ON webhook_events(webhook_id, id) WHERE state = 'pending';
      CREATE INDEX webhook_events_queued ON webhook_events(queued_at);
      """)
}
