import SQLite

extension Schema {
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
