internal import SQLite

extension Schema {
  /// Successors in place, requests for certificates, and which key seals.
  static let renewal = Migration(
    id: "2026-11-21 renewal",
    sql: """
      ALTER TABLE certificates ADD COLUMN replaced_by INTEGER REFERENCES certificates(id) ON DELETE SET NULL;
      ALTER TABLE certificates ADD COLUMN replaced_at INTEGER;
      ALTER TABLE certificates ADD COLUMN kept_until INTEGER;               -- for undo; then it is swept
      ALTER TABLE certificates ADD COLUMN moved TEXT NOT NULL DEFAULT '[]'; -- JSON: credentials that went over
      CREATE INDEX certificates_replaced_by ON certificates(replaced_by);
      CREATE INDEX certificates_kept_until ON certificates(kept_until) WHERE kept_until IS NOT NULL;

      CREATE TABLE certificate_candidates(   -- a successor that was looked at and is not in place yet
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
        certificate_id INTEGER REFERENCES certificates(id) ON DELETE SET NULL,  -- that it is to renew
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

      CREATE TABLE sealing_key(
        id INTEGER PRIMARY KEY CHECK (id = 1),
        identifier TEXT NOT NULL,            -- SealingKey.identifier: tells keys apart, tells nothing of them
        since INTEGER NOT NULL
      ) STRICT;
      """)
}
