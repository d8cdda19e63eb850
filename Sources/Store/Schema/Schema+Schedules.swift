extension Schema {
  /// The primary key of an occurrence prevents sending it twice. The indexes `…_missed` and `…_stopped` are for the
  /// overview, which does not read every past occurrence.
  static let schedules = """
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
      start_at INTEGER NOT NULL,           -- nothing is sent before
      next_at INTEGER,                     -- NULL: no further occurrence
      looked_at INTEGER,                   -- when occurrences were last made
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
    CREATE INDEX schedules_stopped ON schedules(id) WHERE error IS NOT NULL;

    CREATE TABLE schedule_occurrences(
      schedule_id INTEGER NOT NULL REFERENCES schedules(id),
      at INTEGER NOT NULL,
      push_id INTEGER,                     -- NULL: missed, the server was not running
      noted_at INTEGER NOT NULL,
      PRIMARY KEY(schedule_id, at)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX schedule_occurrences_missed ON schedule_occurrences(noted_at) WHERE push_id IS NULL;
    """
}
