import SQLite

extension Schema {
  /// Failures of one cause over pushes. A cause has one row for good: it closes and comes back.
  static let incidents = Migration(
    id: "2026-11-23 incidents",
    sql: """
      CREATE TABLE incidents(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id),
        environment TEXT NOT NULL,
        provider TEXT NOT NULL,
        kind TEXT NOT NULL,                  -- IncidentKind
        reason TEXT NOT NULL,
        certificate_id INTEGER NOT NULL,     -- what the app sent with; 0: none, or not part of the cause
        state TEXT NOT NULL,                 -- IncidentState
        turn INTEGER NOT NULL,               -- numbers the openings: lists are in their order
        snoozed_until INTEGER,
        assignee TEXT,
        devices INTEGER NOT NULL,            -- missed, each once for each push; unregistered ones: how many there are
        pushes INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        opened_at INTEGER NOT NULL,
        closed_at INTEGER,
        closed_by TEXT,                      -- signalbox: by itself
        remark TEXT,
        UNIQUE(app_id, environment, provider, kind, reason, certificate_id)
      ) STRICT;
      CREATE UNIQUE INDEX incidents_turn ON incidents(turn);
      CREATE INDEX incidents_going ON incidents(app_id, environment, provider) WHERE state <> 'closed';

      CREATE TABLE incident_pushes(
        incident_id INTEGER NOT NULL REFERENCES incidents(id),
        push_id INTEGER NOT NULL,
        devices INTEGER NOT NULL,            -- 0: the push is held up
        last_at INTEGER NOT NULL,
        PRIMARY KEY(incident_id, push_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX incident_pushes_push ON incident_pushes(push_id);
      """)

  /// Who is told when an incident opens.
  static let incidentMessages = Migration(
    id: "2026-11-23 incident messages",
    sql: """
      ALTER TABLE receivers ADD COLUMN incidents INTEGER NOT NULL DEFAULT 0;
      -- Of a message about an incident; others have their items in reminder_message_items.
      ALTER TABLE reminder_messages ADD COLUMN incident_id INTEGER REFERENCES incidents(id) ON DELETE CASCADE;
      CREATE INDEX reminder_messages_incident ON reminder_messages(incident_id) WHERE incident_id IS NOT NULL;
      """)

  /// Receivers who were told of an opening hear of its end.
  static let incidentEnds = Migration(
    id: "2026-11-24 incident ends",
    sql: "ALTER TABLE reminder_messages ADD COLUMN is_end INTEGER NOT NULL DEFAULT 0;  -- 1: the incident closed")
}
