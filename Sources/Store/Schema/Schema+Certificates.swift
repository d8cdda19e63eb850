import SQLite

extension Schema {
  /// An undone replacement brings back when its credentials were last accepted.
  static let acceptedBefore = Migration(
    id: "2026-11-27 accepted before",
    sql: """
      -- JSON: when each credential in `moved` was last accepted before the replacement, by its id
      ALTER TABLE certificates ADD COLUMN accepted_before TEXT NOT NULL DEFAULT '{}';
      """)

  /// `ends_key` is the end for sorting and counting by an index: the greatest number if there is no end (also for the
  /// year 9999 of RFC 5280 §4.1.2.5).
  static let certificates = """
    CREATE TABLE certificates(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL,                  -- CertificateKind
      name TEXT NOT NULL,
      app_id INTEGER REFERENCES apps(id) ON DELETE SET NULL,
      subject TEXT,
      issuer TEXT,
      serial TEXT,
      sha256 TEXT,
      team_id TEXT,
      key_id TEXT,
      environments TEXT NOT NULL,          -- JSON: ["development", "production"]
      topics TEXT NOT NULL,                -- JSON: ["com.example.app"]
      not_before INTEGER,
      not_after INTEGER,                   -- NULL: never expires
      has_private_key INTEGER NOT NULL,
      sealed BLOB NOT NULL,                -- file and key, sealed with "certificates/<id>"
      public_pem TEXT,
      file_name TEXT NOT NULL,
      uploaded_by TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      replaced_by INTEGER REFERENCES certificates(id) ON DELETE SET NULL,
      replaced_at INTEGER,
      kept_until INTEGER,                  -- until when the replacement can be undone; then the row is removed
      moved TEXT NOT NULL DEFAULT '[]',    -- JSON: ids of the credentials that now use the replacement
      ends_key INTEGER GENERATED ALWAYS AS (
        iif(not_after IS NULL OR not_after >= 253402300799000, 9223372036854775807, not_after)) VIRTUAL
    ) STRICT;
    CREATE INDEX certificates_not_after ON certificates(not_after);
    CREATE INDEX certificates_ends ON certificates(ends_key, id);
    CREATE INDEX certificates_app ON certificates(app_id);
    CREATE INDEX certificates_sha256 ON certificates(sha256);
    CREATE INDEX certificates_replaced_by ON certificates(replaced_by);
    CREATE INDEX certificates_kept_until ON certificates(kept_until) WHERE kept_until IS NOT NULL;

    -- What a file says beyond the columns of its row, and the notes of people.
    CREATE TABLE certificate_facts(
      certificate_id INTEGER PRIMARY KEY REFERENCES certificates(id) ON DELETE CASCADE,
      says TEXT NOT NULL,                  -- JSON, without secrets
      made_by TEXT,                        -- Apple ID
      note TEXT
    ) STRICT;

    -- A replacement that was inspected and is not in use yet.
    CREATE TABLE certificate_candidates(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      uid TEXT NOT NULL UNIQUE,
      certificate_id INTEGER NOT NULL REFERENCES certificates(id) ON DELETE CASCADE,
      created_by TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      sealed BLOB NOT NULL                 -- file and labels, sealed with "certificate_candidates/<id>"
    ) STRICT;
    CREATE INDEX certificate_candidates_certificate ON certificate_candidates(certificate_id);

    CREATE TABLE certificate_requests(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      uid TEXT NOT NULL UNIQUE,
      purpose TEXT NOT NULL,               -- push | host
      certificate_id INTEGER REFERENCES certificates(id) ON DELETE SET NULL,  -- the certificate to renew
      app_id INTEGER REFERENCES apps(id) ON DELETE SET NULL,
      subject TEXT NOT NULL,
      algorithm TEXT NOT NULL,             -- rsa-2048 | p-256
      public_key_sha256 TEXT NOT NULL UNIQUE,
      pem TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      fulfilled_by INTEGER REFERENCES certificates(id) ON DELETE SET NULL,
      fulfilled_at INTEGER,                -- NULL: waits for its certificate
      sealed BLOB NOT NULL                 -- the key, sealed with "certificate_requests/<id>"; empty when fulfilled
    ) STRICT;
    CREATE INDEX certificate_requests_certificate ON certificate_requests(certificate_id);
    CREATE INDEX certificate_requests_app ON certificate_requests(app_id);
    CREATE INDEX certificate_requests_fulfilled_by ON certificate_requests(fulfilled_by);

    -- Uploaded files that wait for their password.
    CREATE TABLE locked_files(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      uid TEXT NOT NULL UNIQUE,
      created_by TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      sealed BLOB NOT NULL                 -- name and content, JSON, sealed with "locked_files/<id>"
    ) STRICT;
    """
}
