extension Schema {
  /// Receivers of reminders, sent messages, and acknowledgements.
  ///
  /// The unique steps of `reminders` prevent two processes from sending the same mail: whoever inserts the row, sends.
  /// The same transaction adds the message to `reminder_messages`, where it stays until a server has accepted it.
  static let reminders = """
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
    CREATE INDEX receivers_app ON receivers(app_id);

    CREATE TABLE mail_passwords(
      id INTEGER PRIMARY KEY CHECK (id = 1),
      sealed BLOB NOT NULL                 -- sealed with "mail_passwords/1"
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
    CREATE INDEX reminder_messages_pending ON reminder_messages(id) WHERE state = 'pending';
    CREATE INDEX reminder_messages_receiver ON reminder_messages(receiver_id);

    CREATE TABLE reminder_message_items(
      message_id INTEGER NOT NULL REFERENCES reminder_messages(id) ON DELETE CASCADE,
      reminder_id INTEGER NOT NULL REFERENCES reminders(id),
      PRIMARY KEY(message_id, reminder_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX reminder_message_items_reminder ON reminder_message_items(reminder_id);

    CREATE TABLE acknowledgements(
      item_key TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      by TEXT NOT NULL,
      until INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      PRIMARY KEY(item_key, fingerprint)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE checks(
      source TEXT PRIMARY KEY,             -- cron | serve
      at INTEGER NOT NULL,
      exit_code INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """
}
