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

  /// Saved rules, and the indexes that find devices by what their app told: each value yields device IDs in order.
  static let segments = Migration(
    id: "2026-11-23 segments",
    sql: """
      CREATE TABLE segments(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        rule TEXT NOT NULL,                  -- the API's JSON
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL,
        UNIQUE(app_id, name)
      ) STRICT;

      -- The rules of a push's segments when it began, so that a change meanwhile, or a restart, does not change it.
      CREATE TABLE push_segments(
        push_id INTEGER NOT NULL REFERENCES pushes(id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        rule TEXT NOT NULL,
        at INTEGER NOT NULL,                 -- what “last seen” counts from
        PRIMARY KEY(push_id, name)
      ) STRICT, WITHOUT ROWID;

      CREATE INDEX device_details_app_version ON device_details(app_version, device_id) WHERE app_version IS NOT NULL;
      CREATE INDEX device_details_time_zone ON device_details(time_zone, device_id) WHERE time_zone IS NOT NULL;
      CREATE INDEX device_details_language ON device_details(language, device_id) WHERE language IS NOT NULL;
      """)

  /// Topics of FCM, who is subscribed to them, and the queue of changes that FCM does not know yet.
  ///
  /// Triggers note the devices to compare with the rules, because devices change in many places, and none of them may
  /// forget it.
  static let topics = Migration(
    id: "2026-11-23 topics",
    sql: """
      CREATE TABLE topics(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        environment INTEGER NOT NULL,        -- 1 development, 2 production
        name TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        UNIQUE(app_id, environment, name)
      ) STRICT;

      CREATE TABLE topic_subscriptions(
        topic_id INTEGER NOT NULL REFERENCES topics(id) ON DELETE CASCADE,
        device_id INTEGER NOT NULL,
        token BLOB NOT NULL,                 -- the one that joins or leaves; the device may be deleted
        by_rule INTEGER NOT NULL,            -- 0: by a person or a program
        joins INTEGER NOT NULL,              -- 0: leaves the topic, and then the row goes
        state INTEGER NOT NULL,              -- 1 pending, 2 done, 3 refused
        attempts INTEGER NOT NULL,
        due_at INTEGER NOT NULL,             -- of the next attempt; when it was done or refused
        reason TEXT,                         -- of the last attempt
        PRIMARY KEY(topic_id, device_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX topic_subscriptions_device ON topic_subscriptions(device_id);
      CREATE INDEX topic_subscriptions_due ON topic_subscriptions(due_at) WHERE state = 1;

      -- Apps that have had a rule or a subscription.
      CREATE TABLE topic_rules(
        app_id INTEGER PRIMARY KEY REFERENCES apps(id) ON DELETE CASCADE,
        rules TEXT NOT NULL,                 -- TopicRule, separated by spaces; may be empty
        checked_to INTEGER NOT NULL,         -- since the rules changed, devices up to this ID were compared with them
        check_to INTEGER NOT NULL            -- the last one to compare, of those known when the worker last looked
      ) STRICT;
      CREATE TABLE topic_checks(device_id INTEGER PRIMARY KEY) STRICT;

      -- New devices are found by their ID: a trigger that may write makes each INSERT open a savepoint, and an import of
      -- 200 000 devices took thirteen times as long.
      CREATE TRIGGER topic_checks_changed AFTER UPDATE OF environment, platform, provider, state, token ON devices
      WHEN (NEW.environment <> OLD.environment OR NEW.platform <> OLD.platform OR NEW.provider IS NOT OLD.provider
          OR NEW.state <> OLD.state OR NEW.token <> OLD.token)
        AND EXISTS (SELECT 1 FROM topic_rules WHERE app_id = NEW.app_id)
      BEGIN
        INSERT INTO topic_checks(device_id) SELECT NEW.id
        WHERE NOT EXISTS (SELECT 1 FROM topic_checks WHERE device_id = NEW.id);
      END;
      CREATE TRIGGER topic_checks_removed AFTER DELETE ON devices
      WHEN EXISTS (SELECT 1 FROM topic_rules WHERE app_id = OLD.app_id)
      BEGIN
        INSERT INTO topic_checks(device_id) SELECT OLD.id
        WHERE NOT EXISTS (SELECT 1 FROM topic_checks WHERE device_id = OLD.id);
      END;
      CREATE TRIGGER topic_checks_described AFTER INSERT ON device_details
      WHEN EXISTS (SELECT 1 FROM topic_rules)
      BEGIN
        INSERT INTO topic_checks(device_id) SELECT NEW.device_id
        WHERE NOT EXISTS (SELECT 1 FROM topic_checks WHERE device_id = NEW.device_id);
      END;
      CREATE TRIGGER topic_checks_redescribed AFTER UPDATE OF app_version, time_zone ON device_details
      WHEN (NEW.app_version IS NOT OLD.app_version OR NEW.time_zone IS NOT OLD.time_zone)
        AND EXISTS (SELECT 1 FROM topic_rules)
      BEGIN
        INSERT INTO topic_checks(device_id) SELECT NEW.device_id
        WHERE NOT EXISTS (SELECT 1 FROM topic_checks WHERE device_id = NEW.device_id);
      END;
      """)

  /// Audiences that somebody subscribes to a topic of FCM, or unsubscribes, with a result for each device. What is to be
  /// done at FCM stands in `topic_subscriptions`.
  static let topicChanges = Migration(
    id: "2026-11-23 topic changes",
    sql: """
      CREATE TABLE topic_changes(
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        app_id INTEGER NOT NULL REFERENCES apps(id) ON DELETE CASCADE,
        environment INTEGER NOT NULL,        -- 1 development, 2 production
        topic TEXT NOT NULL,
        joins INTEGER NOT NULL,              -- 0: leaves the topic
        audience TEXT NOT NULL,              -- JSON, as in a push
        created_by TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        queued_to INTEGER NOT NULL,          -- devices of the audience up to this ID are queued
        queue_to INTEGER NOT NULL,           -- the last device when it was created
        devices INTEGER NOT NULL,            -- queued so far
        done INTEGER NOT NULL,
        refused INTEGER NOT NULL,
        replaced INTEGER NOT NULL,
        settle_at INTEGER NOT NULL,          -- when to look next for devices that another change took over
        ended_at INTEGER                     -- every device has a result
      ) STRICT;
      CREATE INDEX topic_changes_app ON topic_changes(app_id, id);
      CREATE INDEX topic_changes_open ON topic_changes(settle_at) WHERE ended_at IS NULL;

      CREATE TABLE topic_change_devices(
        change_id INTEGER NOT NULL REFERENCES topic_changes(id) ON DELETE CASCADE,
        device_id INTEGER NOT NULL,
        state INTEGER NOT NULL,              -- 1 pending, 2 done, 3 refused, 4 replaced
        reason TEXT,                         -- of a refusal
        PRIMARY KEY(change_id, device_id)
      ) STRICT, WITHOUT ROWID;
      """)
}
