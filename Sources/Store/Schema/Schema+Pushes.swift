import SQLite

extension Schema {
  /// `pushes.draft` is the API's JSON of the push and authoritative; the columns beside it are for lists.
  ///
  /// Designed for 100 million deliveries: no foreign keys there (history outlives a device), one index by device, and
  /// two over unaccepted deliveries only, so that 14 failures among 10 million are found at once. The one by reason
  /// contains whole rows, because reading each from the table would cost a disk page.
  static let pushes = """
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
      state TEXT NOT NULL,                 -- PushState
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
      parent_id INTEGER REFERENCES pushes(id),
      waiting INTEGER NOT NULL DEFAULT 0,  -- rows of push_waiting
      handed_out INTEGER NOT NULL DEFAULT 0,                -- at most once: devices up to this id may have been sent to
      hold_until INTEGER,                  -- end of the undo window
      schedule_id INTEGER REFERENCES schedules(id),
      has_details INTEGER NOT NULL DEFAULT 1,               -- 0: retention has removed all its deliveries
      details_removed_at INTEGER,          -- when the first delivery was removed
      details_removed INTEGER NOT NULL DEFAULT 0,           -- how many were
      settling INTEGER NOT NULL DEFAULT 0, -- 1: over, but not every device has its outcome yet
      repeated_unanswered INTEGER NOT NULL DEFAULT 0,       -- devices sent to again: no answer had come
      repeated_interrupted INTEGER NOT NULL DEFAULT 0,      -- devices sent to again: the server had stopped meanwhile
      trail INTEGER NOT NULL DEFAULT 0     -- number of the file that says which devices were sent to; 0: none
    ) STRICT;
    CREATE INDEX pushes_app ON pushes(app_id);
    CREATE INDEX pushes_created ON pushes(created_at);
    CREATE INDEX pushes_parent ON pushes(parent_id) WHERE parent_id IS NOT NULL;
    CREATE INDEX pushes_schedule ON pushes(schedule_id) WHERE schedule_id IS NOT NULL;
    CREATE INDEX pushes_unfinished ON pushes(id) WHERE state IN ('queued', 'sending');
    CREATE INDEX pushes_trail ON pushes(trail) WHERE trail <> 0;
    CREATE INDEX pushes_details ON pushes(has_details, finished_at) WHERE finished_at IS NOT NULL;
    -- Every column that a list filters by, apart from the rest of the row: read newest first.
    CREATE INDEX pushes_list ON pushes(id, app_id, environment, state, source, created_at, search);
    CREATE INDEX pushes_state ON pushes(state, id) WHERE state <> 'finished';
    CREATE INDEX pushes_states ON pushes(state);

    CREATE TABLE push_targets(
      push_id INTEGER NOT NULL REFERENCES pushes(id),
      platform INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY(push_id, platform)
    ) STRICT, WITHOUT ROWID;

    -- Devices that a push is sent to again later: kept until they have their outcome, so that a restart keeps the wait.
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
    CREATE INDEX push_waiting_due ON push_waiting(push_id, due_at, device_id);

    CREATE TABLE reasons(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

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
    CREATE INDEX deliveries_device ON deliveries(device_id);
    CREATE INDEX deliveries_trouble ON deliveries(push_id, outcome, device_id) WHERE outcome <> 1;
    CREATE INDEX deliveries_reason
      ON deliveries(push_id, reason_id, outcome, device_id, status, at, duration_ms, attempts) WHERE outcome <> 1;

    CREATE TABLE push_reasons(
      push_id INTEGER NOT NULL,
      platform INTEGER NOT NULL,
      outcome INTEGER NOT NULL,
      reason_id INTEGER NOT NULL,          -- 0: none
      count INTEGER NOT NULL,
      PRIMARY KEY(push_id, platform, outcome, reason_id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE push_latencies(
      push_id INTEGER NOT NULL,
      bucket INTEGER NOT NULL,             -- LatencyHistogram.bounds
      count INTEGER NOT NULL,
      PRIMARY KEY(push_id, bucket)
    ) STRICT, WITHOUT ROWID;
    """

  /// The number that a counting badge became on each device.
  static let deliveryBadges = Migration(
    id: "2026-11-23 delivery badges",
    sql: """
      -- NULL: the push does not count, or it was not accepted.
      ALTER TABLE deliveries ADD COLUMN badge INTEGER;
      """)

  /// Texts in several languages: which one each device got, and where a restart goes on with requests of many devices.
  static let localizations = Migration(
    id: "2026-11-24 localizations",
    sql: """
      -- 0: the default text; n: the nth language of the push, by its tag. NULL: the push has one text only.
      ALTER TABLE deliveries ADD COLUMN variant INTEGER;
      -- Every device of the service up to this id has its outcome or waits; NULL: as pushes.cursor says.
      ALTER TABLE push_targets ADD COLUMN cursor INTEGER;
      """)

  /// What the service called its message to a device, of the first devices of a push.
  static let messageNames = Migration(
    id: "2026-11-27 message names",
    sql: """
      CREATE TABLE message_names(
        push_id INTEGER NOT NULL,
        device_id INTEGER NOT NULL,
        name TEXT NOT NULL,                  -- projects/…/messages/…
        PRIMARY KEY(push_id, device_id)
      ) STRICT, WITHOUT ROWID;
      """)

  /// What the service answered to the request for a device, of the first devices and failures of a push.
  static let deliveryAnswers = Migration(
    id: "2026-11-29 delivery answers",
    sql: """
      CREATE TABLE delivery_answers(
        push_id INTEGER NOT NULL,
        device_id INTEGER NOT NULL,
        status INTEGER NOT NULL,             -- HTTP
        fields TEXT NOT NULL,                -- `name: value`, a line each
        body TEXT NOT NULL,
        PRIMARY KEY(push_id, device_id)
      ) STRICT, WITHOUT ROWID;
      """)

  /// How far a push that is sent at most once has come with each service.
  static let pushAnnouncements = Migration(
    id: "2026-11-23 push announcements",
    sql: """
      -- Devices of the service up to this id may have been sent to; NULL: as pushes.handed_out says.
      ALTER TABLE push_targets ADD COLUMN handed_out INTEGER;
      """)

  /// What people keep for the send form: unsent drafts, and the devices that are their own.
  static let drafts = Migration(
    id: "2026-11-23 drafts",
    sql: """
      CREATE TABLE drafts(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        title TEXT NOT NULL,
        fields TEXT NOT NULL,                -- JSON: the form's fields as [[name, value], …]
        push_id INTEGER,                     -- the last one to a device of the user's own
        changed_at INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX drafts_user ON drafts(user_id, changed_at);
      CREATE INDEX drafts_push ON drafts(push_id) WHERE push_id IS NOT NULL;

      CREATE TABLE own_devices(
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        device_id INTEGER NOT NULL REFERENCES devices(id) ON DELETE CASCADE,
        PRIMARY KEY(user_id, device_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX own_devices_device ON own_devices(device_id);
      """)

  /// Saved messages with places.
  static let templates = Migration(
    id: "2026-11-23 templates",
    sql: """
      CREATE TABLE push_templates(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL COLLATE NOCASE UNIQUE,
        content TEXT NOT NULL,               -- JSON of MessageTemplate
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL
      ) STRICT;
      """)

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

  /// What was paused before it waited again stays so once it is approved.
  static let pausedApprovals = Migration(
    id: "2026-11-28 paused approvals",
    sql: "ALTER TABLE approvals ADD COLUMN is_paused INTEGER NOT NULL DEFAULT 0;")

  /// People who may approve get a mail.
  static let approvalMessages = Migration(
    id: "2026-11-28 approval messages",
    sql: """
      ALTER TABLE reminder_messages ADD COLUMN approval_id INTEGER REFERENCES approvals(id) ON DELETE CASCADE;
      CREATE INDEX reminder_messages_approval ON reminder_messages(approval_id) WHERE approval_id IS NOT NULL;
      """)

  /// An approval holds the rules that it is for: a segment of the same name may get another one.
  static let approvedRules = Migration(
    id: "2026-11-29 approved rules",
    sql: "ALTER TABLE approvals ADD COLUMN rules TEXT;   -- JSON: the segments' rules by name; NULL: it names none")

  /// What kind of push it is, for the history's filter.
  static let pushTypes = Migration(
    id: "2026-11-28 push types",
    sql: """
      ALTER TABLE pushes ADD COLUMN push_type TEXT NOT NULL DEFAULT 'alert';   -- PushType
      DROP INDEX pushes_list;
      UPDATE pushes SET push_type = found.type FROM (
        SELECT id, coalesce(
          json_extract(json, '$.apns.headers."apns-push-type"'),
          json_extract(json, '$.options.push_type'),
          CASE
            WHEN json_type(json, '$.audience.channel') IS NOT NULL THEN 'liveactivity'
            WHEN json_type(json, '$.apns.payload') IS NOT NULL THEN CASE
              WHEN json_type(json, '$.apns.payload.mdm') IS NOT NULL THEN 'mdm'
              WHEN json_type(json, '$.apns.payload.aps."content-state"') IS NOT NULL THEN 'liveactivity'
              WHEN json_extract(json, '$.apns.payload.aps."content-available"') = 1
                AND coalesce(json_extract(json, '$.apns.payload.aps.alert'), '') IN ('', '{}')
                AND json_type(json, '$.apns.payload.aps.badge') IS NULL
                AND coalesce(json_extract(json, '$.apns.payload.aps.sound'), '') = ''
                THEN 'background'
              END
            WHEN json_type(json, '$.notification.extras.mdm') IS NOT NULL THEN 'mdm'
            -- Nothing to show: it wakes the app, or it goes to Android alone.
            WHEN json_extract(json, '$.notification.title') IS NULL
              AND coalesce(json_extract(json, '$.notification.body'), '') = ''
              AND (
                json_extract(json, '$.notification.content_available') = 1
                AND json_extract(json, '$.notification.subtitle') IS NULL
                AND json_type(json, '$.notification.badge') IS NULL
                AND coalesce(json_extract(json, '$.notification.sound'), '') = ''
                OR json_extract(json, '$.platforms') = '["android"]'
                AND json_type(json, '$.android.notification') IS NULL)
              THEN 'background'
            END) AS type
        FROM (SELECT id, iif(json_valid(draft), draft, '{}') AS json FROM pushes)
      ) found
      WHERE found.id = pushes.id AND found.type IN (
        'background', 'voip', 'complication', 'fileprovider', 'mdm', 'location', 'liveactivity', 'pushtotalk',
        'controls', 'widgets');
      CREATE INDEX pushes_list ON pushes(id, app_id, environment, state, source, created_at, push_type, search);
      """)
}
