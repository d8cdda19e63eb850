import SQLite

extension Schema {
  static let people = """
    CREATE TABLE users(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE COLLATE NOCASE,
      password_hash TEXT,                  -- NULL: invited, no password yet
      role TEXT NOT NULL,
      language TEXT,
      created_at INTEGER NOT NULL,
      disabled_at INTEGER
    ) STRICT;

    CREATE TABLE sessions(
      id_hash BLOB PRIMARY KEY,            -- SHA-256 of the cookie's value
      user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
      csrf TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      seen_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      address TEXT,
      user_agent TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_user ON sessions(user_id);
    CREATE INDEX sessions_expires ON sessions(expires_at);

    CREATE TABLE sign_in_links(
      hash BLOB PRIMARY KEY,
      purpose TEXT NOT NULL,               -- SignInLink.Purpose
      user_id INTEGER REFERENCES users(id) ON DELETE CASCADE,
      expires_at INTEGER NOT NULL,
      used_at INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sign_in_links_user ON sign_in_links(user_id);

    CREATE TABLE sign_in_failures(
      subject TEXT PRIMARY KEY,            -- SignInFailures.Subject
      count INTEGER NOT NULL,
      first_at INTEGER NOT NULL,
      last_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sign_in_failures_last ON sign_in_failures(last_at);

    -- Browsers in which somebody has signed in: limits for strangers do not apply to them.
    CREATE TABLE known_devices(
      hash BLOB NOT NULL,                  -- SHA-256 of the cookie's value
      user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
      seen_at INTEGER NOT NULL,            -- the last sign-in
      PRIMARY KEY(hash, user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX known_devices_user ON known_devices(user_id, seen_at);
    CREATE INDEX known_devices_seen ON known_devices(seen_at);

    CREATE TABLE tokens(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      hash BLOB NOT NULL UNIQUE,
      scopes TEXT NOT NULL,                -- JSON
      user_id INTEGER REFERENCES users(id) ON DELETE CASCADE,
      created_at INTEGER NOT NULL,
      last_used_at INTEGER,
      expires_at INTEGER,
      revoked_at INTEGER
    ) STRICT;
    CREATE INDEX tokens_user ON tokens(user_id);

    CREATE TABLE calendar_feeds(
      id INTEGER PRIMARY KEY,
      user_id INTEGER NOT NULL UNIQUE REFERENCES users(id) ON DELETE CASCADE,
      hash BLOB NOT NULL UNIQUE,
      created_at INTEGER NOT NULL,
      read_at INTEGER
    ) STRICT;

    CREATE TABLE audit(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,
      actor TEXT NOT NULL,
      action TEXT NOT NULL,
      subject TEXT NOT NULL,
      detail TEXT,                         -- JSON, without secrets
      address TEXT
    ) STRICT;
    CREATE INDEX audit_subject ON audit(subject);
    CREATE INDEX audit_actor ON audit(actor);
    CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
    CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

    CREATE TABLE idempotency(
      actor TEXT NOT NULL,
      key TEXT NOT NULL,
      route TEXT NOT NULL,
      request_hash BLOB NOT NULL,
      status INTEGER NOT NULL,
      location TEXT,
      body BLOB NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      PRIMARY KEY(actor, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_expires ON idempotency(expires_at);
    """

  /// Apps and addresses that tokens are limited to.
  static let tokenLimits = Migration(
    id: "2026-11-23 token limits",
    sql: """
      ALTER TABLE tokens ADD COLUMN apps TEXT;                       -- JSON: IDs of apps; NULL: all
      ALTER TABLE tokens ADD COLUMN addresses TEXT NOT NULL DEFAULT '[]';  -- JSON: CIDR; empty: any
      """)

  /// The chain of the activity log, and the one deletion that it allows.
  static let auditChain = Migration(id: "2026-11-23 activity chain") { database in
    try database.script(
      """
      DROP TRIGGER audit_is_never_changed;
      DROP TRIGGER audit_is_never_deleted;
      ALTER TABLE audit ADD COLUMN hash BLOB NOT NULL DEFAULT x'';  -- AuditChain.hash

      -- Failed sign-ins that retention has deleted.
      CREATE TABLE audit_gaps(
        first_id INTEGER PRIMARY KEY,
        last_id INTEGER NOT NULL,
        hash BLOB NOT NULL                 -- of the last one
      ) STRICT;
      CREATE INDEX audit_refusals ON audit(at) WHERE action = 'session.refused';
      """)
    var (previous, last): ([UInt8], Int64) = ([], 0)
    while true {
      let rows = try database.fetchAll(
        """
        SELECT id, at, actor, action, subject, detail, address FROM audit WHERE id > ? ORDER BY id LIMIT 1000
        """, last
      ) { row in
        previous = AuditChain.hash(
          after: previous, id: row.int64(0), at: row.int64(1), actor: row.text(2), action: row.text(3),
          subject: row.text(4), detail: row.optionalText(5), address: row.optionalText(6))
        return (row.int64(0), previous)
      }
      guard let end = rows.last?.0 else { break }
      for (id, hash) in rows { try database.run("UPDATE audit SET hash = ? WHERE id = ?", hash, id) }
      last = end
    }
    try database.script(
      """
      CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
      -- Only failed sign-ins, 90 days before the newest entry, whose place in the chain is kept.
      CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
        WHEN NOT (OLD.action = 'session.refused'
          AND OLD.at < (SELECT at FROM audit ORDER BY id DESC LIMIT 1) - 7776000000
          AND EXISTS (SELECT 1 FROM audit_gaps WHERE OLD.id BETWEEN first_id AND last_id))
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
      CREATE TRIGGER audit_gaps_are_never_changed BEFORE UPDATE ON audit_gaps
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
      CREATE TRIGGER audit_gaps_are_never_deleted BEFORE DELETE ON audit_gaps
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
      """)
  }
}
