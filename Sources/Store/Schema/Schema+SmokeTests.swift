import SQLite

extension Schema {
  /// Saved pushes with the answers that are expected, and what became of them.
  static let smokeTests = Migration(
    id: "2026-11-23 smoke tests",
    sql: """
      CREATE TABLE smoke_tests(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        name TEXT NOT NULL COLLATE NOCASE UNIQUE,
        draft TEXT NOT NULL,                 -- the API's JSON of the push
        expected TEXT NOT NULL,              -- the API's JSON of SmokeExpectation
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX smoke_tests_app ON smoke_tests(app_id);

      CREATE TABLE smoke_runs(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        test_id INTEGER NOT NULL REFERENCES smoke_tests(id) ON DELETE CASCADE,
        state TEXT NOT NULL,                 -- SmokeRunState
        error TEXT,                          -- SmokeRunError: why it failed, apart from its devices
        detail TEXT,                         -- what was wrong with the push, in English
        expected TEXT NOT NULL,              -- as the test was when it ran
        push_id INTEGER,                     -- NULL: the push was refused
        devices INTEGER NOT NULL,
        differences TEXT NOT NULL,           -- JSON, one for each device that got another answer
        source TEXT NOT NULL,                -- web, api, cli
        started_by TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER
      ) STRICT;
      CREATE INDEX smoke_runs_test ON smoke_runs(test_id, id);
      CREATE INDEX smoke_runs_going ON smoke_runs(id) WHERE state = 'running';
      """)
}
