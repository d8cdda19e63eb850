import SQLite

extension Schema {
  /// Broadcast channels of APNs that are known here. Apple's list has IDs only.
  static let channels = Migration(
    id: "2026-11-23 channels",
    sql: """
      CREATE TABLE channels(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        environment TEXT NOT NULL,
        channel TEXT NOT NULL,               -- Apple's ID, Base64
        policy INTEGER,                      -- ChannelPolicy; NULL: not known
        name TEXT NOT NULL,                  -- for people; may be empty
        created_by TEXT,                     -- NULL: found in Apple's list
        created_at INTEGER NOT NULL,
        listed_at INTEGER,                   -- when Apple last listed it
        missing_since INTEGER,               -- when Apple first listed others without it; NULL: it exists
        UNIQUE(app_id, environment, channel)
      ) STRICT;
      """)

  /// When a push was last sent to a name. Of the pushes that are there, the latest tell.
  static let audienceUses = Migration(
    id: "2026-11-27 audience uses",
    sql: """
      CREATE TABLE audience_uses(
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        kind INTEGER NOT NULL,               -- AudienceUse.Kind
        name TEXT NOT NULL,                  -- of a tag, an alias, or a segment
        sent_at INTEGER NOT NULL,
        PRIMARY KEY(app_id, kind, name)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX audience_uses_sent ON audience_uses(sent_at);

      INSERT INTO audience_uses(app_id, kind, name, sent_at)
      SELECT p.app_id, k.kind, n.value, max(p.started_at)
      FROM (
          SELECT app_id, draft, started_at FROM pushes
          WHERE started_at IS NOT NULL AND target > 0 AND json_valid(draft) ORDER BY id DESC LIMIT 100000
        ) p
        JOIN (
          SELECT 1 AS kind, '$.audience.tag' AS path UNION ALL SELECT 1, '$.audience.tag_and'
          UNION ALL SELECT 2, '$.audience.alias' UNION ALL SELECT 3, '$.audience.segment'
        ) k
        JOIN json_each(p.draft, k.path) n
      WHERE n.type = 'text'
      GROUP BY p.app_id, k.kind, n.value;
      """)
}
