internal import SQLite

extension Schema {
  /// `pushes.draft` is the API's own JSON of the push, the one place of truth; the columns beside it are for lists.
  ///
  /// Laid out for 100 million deliveries: no foreign keys there (history outlives a device), one index by device, and
  /// one that holds only what was not accepted, so that 14 failures among 10 million are found at once.
  static let pushes = Migration(
    id: "2026-11-20 pushes",
    sql: """
      CREATE TABLE pushes(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        seed INTEGER NOT NULL,               -- of APNsID, which needs no column of its own
        app_id INTEGER NOT NULL REFERENCES apps(id),
        environment TEXT NOT NULL,
        draft TEXT NOT NULL,
        title TEXT,
        body TEXT,
        search TEXT NOT NULL,                -- title, body, tags, aliases, registration ids, one a line
        state TEXT NOT NULL,
        error TEXT,
        source TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        send_at INTEGER,
        started_at INTEGER,
        finished_at INTEGER,
        target INTEGER,
        accepted INTEGER NOT NULL DEFAULT 0,
        failed INTEGER NOT NULL DEFAULT 0,
        dead_token INTEGER NOT NULL DEFAULT 0,
        skipped INTEGER NOT NULL DEFAULT 0,
        unknown INTEGER NOT NULL DEFAULT 0,
        cursor INTEGER NOT NULL DEFAULT 0,   -- every device of the audience up to this id has its outcome
        last_device_id INTEGER,              -- devices registered later are not of this push
        parent_id INTEGER REFERENCES pushes(id)
      ) STRICT;
      CREATE INDEX pushes_app ON pushes(app_id);
      CREATE INDEX pushes_created ON pushes(created_at);
      CREATE INDEX pushes_parent ON pushes(parent_id) WHERE parent_id IS NOT NULL;
      CREATE INDEX pushes_unfinished ON pushes(id) WHERE state IN ('queued', 'sending');

      CREATE TABLE push_targets(
        push_id INTEGER NOT NULL REFERENCES pushes(id),
        platform INTEGER NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY(push_id, platform)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE reasons(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

      CREATE TABLE deliveries(
        push_id INTEGER NOT NULL,
        device_id INTEGER NOT NULL,
        outcome INTEGER NOT NULL,            -- OutcomeKind
        status INTEGER NOT NULL,             -- HTTP; 0 without an answer
        reason_id INTEGER,
        at INTEGER NOT NULL,
        duration_ms INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        PRIMARY KEY(push_id, device_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX deliveries_device ON deliveries(device_id);
      CREATE INDEX deliveries_trouble ON deliveries(push_id, outcome, device_id) WHERE outcome <> 1;

      CREATE TABLE push_reasons(
        push_id INTEGER NOT NULL,
        platform INTEGER NOT NULL,
        outcome INTEGER NOT NULL,
        reason_id INTEGER NOT NULL,          -- 0: none
        count INTEGER NOT NULL,
        PRIMARY KEY(push_id, platform, outcome, reason_id)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE push_latencies(
        push_id INTEGER NOT NULL,
        bucket INTEGER NOT NULL,             -- LatencyHistogram.bounds
        count INTEGER NOT NULL,
        PRIMARY KEY(push_id, bucket)
      ) STRICT, WITHOUT ROWID;
      """)
}
