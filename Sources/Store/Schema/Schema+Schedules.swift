internal import SQLite

extension Schema {
  /// What repeats, and every time at which it should have happened: with the push that was made of it, or without one if
  /// the server came too late. The primary key of the latter is what keeps an occurrence from being sent twice.
  static let schedules = Migration(
    id: "2026-11-21 schedules",
    sql: """
      CREATE TABLE schedules(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        app_id INTEGER NOT NULL REFERENCES apps(id),
        environment TEXT NOT NULL,
        draft TEXT NOT NULL,                 -- the API's own JSON, with "repeat"
        title TEXT,
        body TEXT,
        search TEXT NOT NULL,                -- as of a push
        state TEXT NOT NULL,                 -- ScheduleState
        start_at INTEGER NOT NULL,           -- nothing happens before
        next_at INTEGER,                     -- NULL: never again
        looked_at INTEGER,                   -- when it was last carried on
        sent INTEGER NOT NULL DEFAULT 0,     -- occurrences with a push
        missed INTEGER NOT NULL DEFAULT 0,   -- occurrences without one
        error TEXT,
        source TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        ended_at INTEGER
      ) STRICT;
      CREATE INDEX schedules_app ON schedules(app_id);
      CREATE INDEX schedules_due ON schedules(next_at) WHERE state = 'active';
      CREATE INDEX schedules_looked ON schedules(looked_at) WHERE state = 'active';

      CREATE TABLE schedule_occurrences(
        schedule_id INTEGER NOT NULL REFERENCES schedules(id),
        at INTEGER NOT NULL,
        push_id INTEGER,                     -- NULL: missed
        noted_at INTEGER NOT NULL,
        PRIMARY KEY(schedule_id, at)
      ) STRICT, WITHOUT ROWID;

      ALTER TABLE pushes ADD COLUMN hold_until INTEGER;   -- the undo window's end
      ALTER TABLE pushes ADD COLUMN schedule_id INTEGER REFERENCES schedules(id);
      CREATE INDEX pushes_schedule ON pushes(schedule_id) WHERE schedule_id IS NOT NULL;
      """)
}
