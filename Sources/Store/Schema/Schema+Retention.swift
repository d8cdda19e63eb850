internal import SQLite

extension Schema {
  /// What is removed after a time, and indexes with which pages stay quick at 100 million deliveries.
  ///
  /// `deliveries` keeps its form: rewriting 100 million rows would stop a server for minutes. The one index that is new
  /// there holds only what was not accepted; making it reads the table once, about half a minute for 100 million rows.
  static let retention = Migration(
    id: "2026-11-21 retention",
    sql: """
      ALTER TABLE pushes ADD COLUMN has_details INTEGER NOT NULL DEFAULT 1;      -- 0: no row of deliveries is left
      ALTER TABLE pushes ADD COLUMN details_removed_at INTEGER;                  -- when the first was removed
      ALTER TABLE pushes ADD COLUMN details_removed INTEGER NOT NULL DEFAULT 0;  -- how many were
      CREATE INDEX pushes_details ON pushes(has_details, finished_at) WHERE finished_at IS NOT NULL;

      CREATE INDEX deliveries_reason ON deliveries(push_id, reason_id, outcome, device_id) WHERE outcome <> 1;

      -- All that a list is narrowed down by, apart from the rest of the row: looked through newest first.
      CREATE INDEX pushes_list ON pushes(id, app_id, environment, state, source, created_at, search);
      CREATE INDEX pushes_state ON pushes(state, id) WHERE state <> 'finished';

      CREATE INDEX sign_in_failures_last ON sign_in_failures(last_at);
      CREATE INDEX sessions_expires ON sessions(expires_at);
      """)
}
