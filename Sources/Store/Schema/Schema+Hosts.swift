extension Schema {
  /// `ends_key` is that of `certificates`, and -1 for a host that never presented a certificate.
  static let hosts = """
    CREATE TABLE watched_hosts(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      protocol TEXT NOT NULL,              -- tls | smtp | imap | pop3 | postgres
      host TEXT NOT NULL,
      port INTEGER NOT NULL,
      server_name TEXT NOT NULL,           -- SNI
      note TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      probed_at INTEGER,
      answered_at INTEGER,                 -- the last probe that saw certificates
      failing_since INTEGER,
      failure TEXT,                        -- HostFailure.Code
      failure_detail TEXT,
      address TEXT,                        -- the address that answered
      tls_version TEXT,
      subject TEXT,
      issuer TEXT,
      serial TEXT,
      sha256 TEXT,
      names TEXT NOT NULL DEFAULT '[]',    -- JSON
      not_before INTEGER,
      not_after INTEGER,                   -- the earliest end in the chain
      chain TEXT NOT NULL DEFAULT '[]',    -- JSON: subject, sha256, not_after of each
      trust TEXT,                          -- TLSChainTrust
      name_matches INTEGER,
      ends_key INTEGER GENERATED ALWAYS AS (
        iif(sha256 IS NULL, -1, iif(not_after IS NULL OR not_after >= 253402300799000, 9223372036854775807, not_after))
      ) VIRTUAL,
      UNIQUE(host, port, server_name, protocol)
    ) STRICT;
    CREATE INDEX watched_hosts_ends ON watched_hosts(ends_key, id);
    CREATE INDEX watched_hosts_failing ON watched_hosts(failing_since) WHERE failing_since IS NOT NULL;

    CREATE TABLE host_events(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      host_id INTEGER NOT NULL REFERENCES watched_hosts(id) ON DELETE CASCADE,
      at INTEGER NOT NULL,
      kind TEXT NOT NULL,                  -- certificate | failed | answered
      sha256 TEXT,
      serial TEXT,
      issuer TEXT,
      not_after INTEGER,
      failure TEXT,
      failure_detail TEXT
    ) STRICT;
    CREATE INDEX host_events_host ON host_events(host_id);
    """
}
