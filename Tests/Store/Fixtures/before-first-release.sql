-- A database of the last build before the first release, whole: `.dump` of a file that its migrations made.
PRAGMA application_id = 1397178968;
BEGIN TRANSACTION;
CREATE TABLE acknowledgements(
        item_key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        by TEXT NOT NULL,
        until INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY(item_key, fingerprint)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE apps(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        bundle_id TEXT NOT NULL UNIQUE,
        package_name TEXT,
        name TEXT NOT NULL,
        alias_rule TEXT,
        created_at INTEGER NOT NULL
      ) STRICT;
INSERT INTO "apps" VALUES(1,'com.example.shop',NULL,'Shop',NULL,1795176000000);
CREATE TABLE audit(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        subject TEXT NOT NULL,
        detail TEXT,
        address TEXT
      ) STRICT;
CREATE TABLE calendar_feeds(
        id INTEGER PRIMARY KEY,
        user_id INTEGER NOT NULL UNIQUE REFERENCES users(id) ON DELETE CASCADE,
        hash BLOB NOT NULL UNIQUE,
        created_at INTEGER NOT NULL,
        read_at INTEGER
      ) STRICT;
CREATE TABLE certificate_candidates(   -- a successor that was looked at and is not in place yet
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        certificate_id INTEGER NOT NULL REFERENCES certificates(id) ON DELETE CASCADE,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        sealed BLOB NOT NULL                 -- file and labels, sealed with "certificate_candidates/<id>"
      ) STRICT;
CREATE TABLE certificate_facts(
        certificate_id INTEGER PRIMARY KEY REFERENCES certificates(id) ON DELETE CASCADE,
        says TEXT NOT NULL,                  -- JSON, without secrets
        made_by TEXT,                        -- Apple ID
        note TEXT
      ) STRICT;
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
CREATE TABLE certificates(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
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
        created_at INTEGER NOT NULL
      , replaced_by INTEGER REFERENCES certificates(id) ON DELETE SET NULL, replaced_at INTEGER, kept_until INTEGER, moved TEXT NOT NULL DEFAULT '[]', ends_key INTEGER GENERATED ALWAYS AS (
        iif(not_after IS NULL OR not_after >= 253402300799000, 9223372036854775807, not_after)) VIRTUAL) STRICT;
CREATE TABLE checks(
        source TEXT PRIMARY KEY,             -- cron | serve
        at INTEGER NOT NULL,
        exit_code INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
CREATE TABLE credentials(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        provider TEXT NOT NULL,
        environment TEXT NOT NULL,
        certificate_id INTEGER REFERENCES certificates(id),
        endpoint TEXT NOT NULL,              -- apple | simulator | host:port
        trust_pem TEXT,                      -- NULL: the system's trust store
        created_at INTEGER NOT NULL,
        last_accepted_at INTEGER,
        last_refused_at INTEGER,
        last_refusal TEXT,
        UNIQUE(app_id, provider, environment)
      ) STRICT;
CREATE TABLE deliveries(
        push_id INTEGER NOT NULL,
        device_id INTEGER NOT NULL,
        outcome INTEGER NOT NULL,            -- OutcomeKind
        status INTEGER NOT NULL,             -- HTTP; 0 without an answer
        reason_id INTEGER,
        at INTEGER NOT NULL,
        duration_ms INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        PRIMARY KEY(push_id, device_id)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE device_counters(
        app_id INTEGER NOT NULL REFERENCES apps(id),
        environment INTEGER NOT NULL,
        platform INTEGER NOT NULL,
        state INTEGER NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY(app_id, environment, platform, state)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE device_events(
        device_id INTEGER NOT NULL,
        number INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        detail TEXT,
        PRIMARY KEY(device_id, number)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE device_tags(
        tag_id INTEGER NOT NULL,
        device_id INTEGER NOT NULL,
        PRIMARY KEY(tag_id, device_id)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE devices(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id),
        environment INTEGER NOT NULL,        -- 1 development, 2 production
        platform INTEGER NOT NULL,           -- 1 ios, 2 android
        state INTEGER NOT NULL,              -- 1 active, 2 quarantined, 3 dead
        state_reason TEXT,
        state_at INTEGER,
        token BLOB NOT NULL,
        alias TEXT,
        registration_id TEXT,
        name TEXT,
        created_at INTEGER NOT NULL,         -- first registration
        registered_at INTEGER NOT NULL,      -- last registration: a 410 counts only if it is later
        seen_at INTEGER NOT NULL
      ) STRICT;
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
CREATE TABLE known_devices(
        hash BLOB NOT NULL,                  -- SHA-256 of the cookie's value
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        seen_at INTEGER NOT NULL,            -- the last sign-in
        PRIMARY KEY(hash, user_id)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE locked_files(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        sealed BLOB NOT NULL                 -- name and content, JSON, sealed with "locked_files/<id>"
      ) STRICT;
CREATE TABLE mail_passwords(
        id INTEGER PRIMARY KEY CHECK (id = 1),
        sealed BLOB NOT NULL                 -- sealed with "mail_passwords/1"
      ) STRICT;
CREATE TABLE migrations(position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, applied_at INTEGER NOT NULL) STRICT;
INSERT INTO "migrations" VALUES(1,'2026-11-20 apps',1795176000000);
INSERT INTO "migrations" VALUES(2,'2026-11-20 certificates',1795176000000);
INSERT INTO "migrations" VALUES(3,'2026-11-20 devices',1795176000000);
INSERT INTO "migrations" VALUES(4,'2026-11-20 pushes',1795176000000);
INSERT INTO "migrations" VALUES(5,'2026-11-20 people',1795176000000);
INSERT INTO "migrations" VALUES(6,'2026-11-20 phones',1795176000000);
INSERT INTO "migrations" VALUES(7,'2026-11-21 waiting',1795176000000);
INSERT INTO "migrations" VALUES(8,'2026-11-21 schedules',1795176000000);
INSERT INTO "migrations" VALUES(9,'2026-11-21 retention',1795176000000);
INSERT INTO "migrations" VALUES(10,'2026-11-21 renewal',1795176000000);
INSERT INTO "migrations" VALUES(11,'2026-11-21 endings',1795176000000);
INSERT INTO "migrations" VALUES(12,'2026-11-21 certificate facts',1795176000000);
INSERT INTO "migrations" VALUES(13,'2026-11-21 reminders',1795176000000);
INSERT INTO "migrations" VALUES(14,'2026-11-21 hosts',1795176000000);
INSERT INTO "migrations" VALUES(15,'2026-11-21 schedule trouble',1795176000000);
INSERT INTO "migrations" VALUES(16,'2026-11-21 covering reasons',1795176000000);
INSERT INTO "migrations" VALUES(17,'2026-11-22 known devices',1795176000000);
INSERT INTO "migrations" VALUES(18,'2026-11-22 locked files',1795176000000);
INSERT INTO "migrations" VALUES(19,'2026-11-22 trail',1795176000000);
CREATE TABLE phone_notifications(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        phone_id INTEGER NOT NULL REFERENCES phones(id) ON DELETE CASCADE,
        at INTEGER NOT NULL,
        apns_id TEXT,
        headers TEXT NOT NULL,               -- JSON
        payload BLOB NOT NULL
      ) STRICT;
CREATE TABLE phones(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        platform TEXT NOT NULL,
        bundle_id TEXT NOT NULL,
        environment TEXT NOT NULL,
        token BLOB NOT NULL,
        state TEXT NOT NULL,                 -- JSON
        created_at INTEGER NOT NULL,
        UNIQUE(token, environment, bundle_id)
      ) STRICT;
CREATE TABLE push_latencies(
        push_id INTEGER NOT NULL,
        bucket INTEGER NOT NULL,             -- LatencyHistogram.bounds
        count INTEGER NOT NULL,
        PRIMARY KEY(push_id, bucket)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE push_reasons(
        push_id INTEGER NOT NULL,
        platform INTEGER NOT NULL,
        outcome INTEGER NOT NULL,
        reason_id INTEGER NOT NULL,          -- 0: none
        count INTEGER NOT NULL,
        PRIMARY KEY(push_id, platform, outcome, reason_id)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE push_targets(
        push_id INTEGER NOT NULL REFERENCES pushes(id),
        platform INTEGER NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY(push_id, platform)
      ) STRICT, WITHOUT ROWID;
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
CREATE TABLE pushes(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        seed INTEGER NOT NULL,               -- of APNsID, which needs no column of its own
        app_id INTEGER NOT NULL REFERENCES apps(id),
        environment TEXT NOT NULL,
        draft TEXT NOT NULL,
        title TEXT,
        body TEXT,
        search TEXT NOT NULL,                -- title, body, tags, aliases, registration ids, one a line
        state TEXT NOT NULL,
        error TEXT,
        source TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        send_at INTEGER,
        started_at INTEGER,
        finished_at INTEGER,
        target INTEGER,
        accepted INTEGER NOT NULL DEFAULT 0,
        failed INTEGER NOT NULL DEFAULT 0,
        dead_token INTEGER NOT NULL DEFAULT 0,
        skipped INTEGER NOT NULL DEFAULT 0,
        unknown INTEGER NOT NULL DEFAULT 0,
        cursor INTEGER NOT NULL DEFAULT 0,   -- every device of the audience up to this id has its outcome
        last_device_id INTEGER,              -- devices registered later are not of this push
        parent_id INTEGER REFERENCES pushes(id)
      , waiting INTEGER NOT NULL DEFAULT 0, handed_out INTEGER NOT NULL DEFAULT 0, hold_until INTEGER, schedule_id INTEGER REFERENCES schedules(id), has_details INTEGER NOT NULL DEFAULT 1, details_removed_at INTEGER, details_removed INTEGER NOT NULL DEFAULT 0, settling INTEGER NOT NULL DEFAULT 0, repeated_unanswered INTEGER NOT NULL DEFAULT 0, repeated_interrupted INTEGER NOT NULL DEFAULT 0, trail INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE reasons(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE receivers(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        channel TEXT NOT NULL,               -- email | webhook | slack | dingtalk | feishu | wecom
        name TEXT NOT NULL,
        target TEXT NOT NULL,                -- what may be shown: a mail address, or a webhook's host
        sealed BLOB NOT NULL,                -- address and secret, JSON, sealed with "receivers/<id>"
        language TEXT NOT NULL,              -- en | zh-Hans
        app_id INTEGER REFERENCES apps(id) ON DELETE SET NULL,   -- NULL: of every app
        is_active INTEGER NOT NULL,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT;
CREATE TABLE reminder_message_items(
        message_id INTEGER NOT NULL REFERENCES reminder_messages(id) ON DELETE CASCADE,
        reminder_id INTEGER NOT NULL REFERENCES reminders(id),
        PRIMARY KEY(message_id, reminder_id)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE reminder_messages(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,            -- the same for each attempt
        receiver_id INTEGER REFERENCES receivers(id) ON DELETE SET NULL,
        channel TEXT NOT NULL,
        target TEXT NOT NULL,                -- as it was shown then
        state TEXT NOT NULL,                 -- pending | sent | dropped
        created_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        next_try_at INTEGER NOT NULL,
        leased_until INTEGER NOT NULL DEFAULT 0,
        sent_at INTEGER,
        answer TEXT                          -- the other side's words, or why it failed
      ) STRICT;
CREATE TABLE reminders(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        item_key TEXT NOT NULL,              -- as "certificates/12"
        fingerprint TEXT NOT NULL,           -- SHA-256; empty if it has none
        step INTEGER NOT NULL,               -- days; -1: expired
        item_name TEXT NOT NULL,
        claimed_at INTEGER NOT NULL,
        UNIQUE(item_key, fingerprint, step)
      ) STRICT;
CREATE TABLE schedule_occurrences(
        schedule_id INTEGER NOT NULL REFERENCES schedules(id),
        at INTEGER NOT NULL,
        push_id INTEGER,                     -- NULL: missed
        noted_at INTEGER NOT NULL,
        PRIMARY KEY(schedule_id, at)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE schedules(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        app_id INTEGER NOT NULL REFERENCES apps(id),
        environment TEXT NOT NULL,
        draft TEXT NOT NULL,                 -- the API's own JSON, with "repeat"
        title TEXT,
        body TEXT,
        search TEXT NOT NULL,                -- as of a push
        state TEXT NOT NULL,                 -- ScheduleState
        start_at INTEGER NOT NULL,           -- nothing happens before
        next_at INTEGER,                     -- NULL: never again
        looked_at INTEGER,                   -- when it was last carried on
        sent INTEGER NOT NULL DEFAULT 0,     -- occurrences with a push
        missed INTEGER NOT NULL DEFAULT 0,   -- occurrences without one
        error TEXT,
        source TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        ended_at INTEGER
      ) STRICT;
CREATE TABLE sealing_key(
        id INTEGER PRIMARY KEY CHECK (id = 1),
        identifier TEXT NOT NULL,            -- SealingKey.identifier: tells keys apart, tells nothing of them
        since INTEGER NOT NULL
      ) STRICT;
CREATE TABLE sessions(
        id_hash BLOB PRIMARY KEY,
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        csrf TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        seen_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        address TEXT,
        user_agent TEXT
      ) STRICT, WITHOUT ROWID;
CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sign_in_failures(
        subject TEXT PRIMARY KEY,            -- account:… or address:…
        count INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        last_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
CREATE TABLE sign_in_links(
        hash BLOB PRIMARY KEY,
        purpose TEXT NOT NULL,
        user_id INTEGER REFERENCES users(id) ON DELETE CASCADE,
        expires_at INTEGER NOT NULL,
        used_at INTEGER
      ) STRICT, WITHOUT ROWID;
CREATE TABLE tag_counters(
        tag_id INTEGER NOT NULL REFERENCES tags(id),
        environment INTEGER NOT NULL,
        platform INTEGER NOT NULL,
        state INTEGER NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY(tag_id, environment, platform, state)
      ) STRICT, WITHOUT ROWID;
CREATE TABLE tags(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id),
        name TEXT NOT NULL,
        UNIQUE(name, app_id)
      ) STRICT;
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
CREATE TABLE users(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE COLLATE NOCASE,
        password_hash TEXT,                  -- NULL: invited, no password yet
        role TEXT NOT NULL,
        language TEXT,
        created_at INTEGER NOT NULL,
        disabled_at INTEGER
      ) STRICT;
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
        address TEXT,                        -- where it was reached
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
CREATE INDEX certificates_not_after ON certificates(not_after);
CREATE INDEX certificates_app ON certificates(app_id);
CREATE INDEX certificates_sha256 ON certificates(sha256);
CREATE INDEX credentials_certificate ON credentials(certificate_id);
CREATE UNIQUE INDEX devices_token ON devices(token, app_id);
CREATE INDEX devices_alias ON devices(alias, app_id) WHERE alias IS NOT NULL;
CREATE UNIQUE INDEX devices_registration_id ON devices(registration_id, app_id) WHERE registration_id IS NOT NULL;
CREATE INDEX devices_kind ON devices(app_id, environment, platform, state);
CREATE INDEX tags_app ON tags(app_id);
CREATE INDEX device_tags_device ON device_tags(device_id);
CREATE INDEX pushes_app ON pushes(app_id);
CREATE INDEX pushes_created ON pushes(created_at);
CREATE INDEX pushes_parent ON pushes(parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX pushes_unfinished ON pushes(id) WHERE state IN ('queued', 'sending');
CREATE INDEX deliveries_device ON deliveries(device_id);
CREATE INDEX deliveries_trouble ON deliveries(push_id, outcome, device_id) WHERE outcome <> 1;
CREATE INDEX sessions_user ON sessions(user_id);
CREATE INDEX sign_in_links_user ON sign_in_links(user_id);
CREATE INDEX tokens_user ON tokens(user_id);
CREATE INDEX audit_subject ON audit(subject);
CREATE INDEX audit_actor ON audit(actor);
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE INDEX idempotency_expires ON idempotency(expires_at);
CREATE INDEX phone_notifications_phone ON phone_notifications(phone_id);
CREATE INDEX push_waiting_due ON push_waiting(push_id, due_at, device_id);
CREATE INDEX schedules_app ON schedules(app_id);
CREATE INDEX schedules_due ON schedules(next_at) WHERE state = 'active';
CREATE INDEX schedules_looked ON schedules(looked_at) WHERE state = 'active';
CREATE INDEX pushes_schedule ON pushes(schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX pushes_details ON pushes(has_details, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX pushes_list ON pushes(id, app_id, environment, state, source, created_at, search);
CREATE INDEX pushes_state ON pushes(state, id) WHERE state <> 'finished';
CREATE INDEX sign_in_failures_last ON sign_in_failures(last_at);
CREATE INDEX sessions_expires ON sessions(expires_at);
CREATE INDEX certificates_replaced_by ON certificates(replaced_by);
CREATE INDEX certificates_kept_until ON certificates(kept_until) WHERE kept_until IS NOT NULL;
CREATE INDEX certificate_candidates_certificate ON certificate_candidates(certificate_id);
CREATE INDEX certificate_requests_certificate ON certificate_requests(certificate_id);
CREATE INDEX certificate_requests_app ON certificate_requests(app_id);
CREATE INDEX certificate_requests_fulfilled_by ON certificate_requests(fulfilled_by);
CREATE INDEX receivers_app ON receivers(app_id);
CREATE INDEX reminder_messages_pending ON reminder_messages(id) WHERE state = 'pending';
CREATE INDEX reminder_messages_receiver ON reminder_messages(receiver_id);
CREATE INDEX reminder_message_items_reminder ON reminder_message_items(reminder_id);
CREATE INDEX certificates_ends ON certificates(ends_key, id);
CREATE INDEX pushes_states ON pushes(state);
CREATE INDEX watched_hosts_ends ON watched_hosts(ends_key, id);
CREATE INDEX watched_hosts_failing ON watched_hosts(failing_since) WHERE failing_since IS NOT NULL;
CREATE INDEX host_events_host ON host_events(host_id);
CREATE INDEX schedule_occurrences_missed ON schedule_occurrences(noted_at) WHERE push_id IS NULL;
CREATE INDEX schedules_stopped ON schedules(id) WHERE error IS NOT NULL;
CREATE INDEX deliveries_reason
        ON deliveries(push_id, reason_id, outcome, device_id, status, at, duration_ms, attempts) WHERE outcome <> 1;
CREATE INDEX known_devices_user ON known_devices(user_id, seen_at);
CREATE INDEX known_devices_seen ON known_devices(seen_at);
CREATE INDEX pushes_trail ON pushes(trail) WHERE trail <> 0;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('apps',1);
COMMIT;
