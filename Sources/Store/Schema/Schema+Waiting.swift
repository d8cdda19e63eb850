internal import SQLite

extension Schema {
  /// Devices that a push is to be sent to again: kept until they have their outcome, so that a restart keeps the wait.
  static let waiting = Migration(
    id: "2026-11-21 waiting",
    sql: """
      ALTER TABLE pushes ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0;     -- rows of push_waiting
      ALTER TABLE pushes ADD COLUMN handed_out INTEGER NOT NULL DEFAULT 0;  -- at most once: sent up to this id, perhaps

      CREATE TABLE push_waiting(
        push_id INTEGER NOT NULL,
        device_id INTEGER NOT NULL,
        due_at INTEGER NOT NULL,             -- the greatest number: on its way, at most once
        attempts INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        outcome INTEGER NOT NULL,            -- OutcomeKind, of the last attempt
        status INTEGER NOT NULL,             -- HTTP; 0 without an answer
        reason_id INTEGER NOT NULL,
        PRIMARY KEY(push_id, device_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX push_waiting_due ON push_waiting(push_id, due_at, device_id);
      """)
}
