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

  /// Second steps, passkeys, and when somebody signed in or proved who they are.
  static let signIn = Migration(
    id: "2026-11-23 second steps",
    sql: """
      ALTER TABLE users ADD COLUMN signed_in_at INTEGER;   -- NULL: never
      UPDATE users SET signed_in_at = (SELECT max(created_at) FROM sessions WHERE user_id = users.id);
      ALTER TABLE sessions ADD COLUMN proved_at INTEGER;   -- the last password or passkey; NULL: at sign-in

      CREATE TABLE authenticators(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id INTEGER NOT NULL UNIQUE REFERENCES users(id) ON DELETE CASCADE,
        sealed BLOB NOT NULL,                -- the TOTP secret, sealed with "authenticators/<id>"
        created_at INTEGER NOT NULL,
        confirmed_at INTEGER,                -- NULL: no code was entered yet, so none is asked for
        used_step INTEGER NOT NULL DEFAULT 0 -- of the last accepted code: it and older ones are refused
      ) STRICT;

      CREATE TABLE recovery_codes(
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        hash BLOB NOT NULL,                  -- SHA-256 of "<user_id> <code>"
        PRIMARY KEY(user_id, hash)           -- a used code is deleted
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE passkeys(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        credential BLOB NOT NULL UNIQUE,     -- the ID that the authenticator chose
        public_key BLOB NOT NULL,            -- subjectPublicKeyInfo, DER
        counter INTEGER NOT NULL,            -- of its signatures; 0 if it does not count
        created_at INTEGER NOT NULL,
        used_at INTEGER
      ) STRICT;
      CREATE INDEX passkeys_user ON passkeys(user_id);
      """)

  /// What a session was opened with beside a password. Sessions of before have none: where it is required, they ask.
  static let shownSecondSteps = Migration(
    id: "2026-11-24 shown second steps",
    sql: "ALTER TABLE sessions ADD COLUMN second_step TEXT;   -- Session.SecondStep; NULL: none")

  /// Sign-in with a provider of OpenID Connect.
  static let oidc = Migration(
    id: "2026-11-24 oidc",
    sql: """
      CREATE TABLE oidc_secrets(
        id INTEGER PRIMARY KEY CHECK (id = 1),
        sealed BLOB NOT NULL                 -- the client secret, sealed with "oidc_secrets/1"
      ) STRICT;

      -- Who somebody is at a provider: decides at sign-in, whatever the email address is then.
      CREATE TABLE identities(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        issuer TEXT NOT NULL,
        subject TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        used_at INTEGER NOT NULL,            -- the last sign-in
        UNIQUE(issuer, subject),
        UNIQUE(user_id, issuer)
      ) STRICT;
      """)
}
