import SQLite

extension Schema {
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
}
