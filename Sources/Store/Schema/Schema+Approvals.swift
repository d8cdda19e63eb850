import SQLite

extension Schema {
  /// Who may send to production, and what waits for a second person.
  static let approvals = Migration(
    id: "2026-11-23 approvals",
    sql: """
      -- 1: pushes to production of this app need a second person's approval.
      ALTER TABLE apps ADD COLUMN needs_approval INTEGER NOT NULL DEFAULT 0;
      -- 0: the person, and the person's tokens, may not send to production.
      ALTER TABLE users ADD COLUMN sends_production INTEGER NOT NULL DEFAULT 1;
      -- When a second person approved it; the time to live counts from then.
      ALTER TABLE pushes ADD COLUMN approved_at INTEGER;

      CREATE TABLE approvals(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        push_id INTEGER REFERENCES pushes(id) ON DELETE CASCADE,
        schedule_id INTEGER REFERENCES schedules(id) ON DELETE CASCADE,   -- one of the two
        asked_by TEXT NOT NULL,              -- as in the activity log
        asked_person INTEGER,                -- users.id, also of a person who was deleted; NULL: no person
        asked_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        reach INTEGER,                       -- devices when it was asked for; NULL: not counted
        undo_seconds INTEGER NOT NULL,       -- begins with the approval
        decision TEXT,                       -- Approval.Decision; NULL: open
        decided_by TEXT,                     -- NULL: nobody, it expired
        decided_at INTEGER,
        remark TEXT
      ) STRICT;
      CREATE UNIQUE INDEX approvals_push ON approvals(push_id);
      CREATE INDEX approvals_schedule ON approvals(schedule_id, id);
      CREATE INDEX approvals_open ON approvals(expires_at) WHERE decision IS NULL;
      """)

  /// A push waits again after a change of its segment.
  static let repeatedApprovals = Migration(
    id: "2026-11-27 repeated approvals",
    sql: """
      DROP INDEX approvals_push;
      CREATE INDEX approvals_push ON approvals(push_id, id);
      """)
}
