-- What an installation of the first release may have in its tables: at least one row in each
-- that a later step changes or fills from.
INSERT INTO apps VALUES(1,'com.example.shop',NULL,'Shop','jpush',1795176000000),
  (2,'com.example.news','com.example.news.android','News',NULL,1795176000000);
INSERT INTO settings VALUES('retention.pushes_days','365');
INSERT INTO users VALUES(1,'anna@example.com','scrypt$x','admin','en',1795176000000,NULL),
  (2,'ben@example.com',NULL,'viewer',NULL,1795176000000,1795262400000);
INSERT INTO sessions VALUES(x'01',1,'csrf',1795176000000,1795176060000,1797768000000,'192.0.2.1','Firefox'),
  (x'02',1,'csrf',1795190000000,1795190000000,1797768000000,NULL,NULL);
INSERT INTO tokens VALUES(1,'ci',x'0a','["operator"]',1,1795176000000,NULL,NULL,NULL);
INSERT INTO calendar_feeds VALUES(1,1,x'0b',1795176000000,NULL);
INSERT INTO audit VALUES(1,1795176000000,'cli root','app.create','app com.example.shop',NULL,NULL),
  (2,1795176001000,'anonymous','session.refused','user eve@example.com','{"step":"password"}','192.0.2.7'),
  (3,1795176002000,'anna@example.com','session.open','user anna@example.com',NULL,'192.0.2.1');
INSERT INTO certificates(id, kind, name, app_id, sha256, environments, topics, not_after, has_private_key, sealed,
    file_name, uploaded_by, created_at)
  VALUES(1,'apns_certificate','Push',1,'aa','["production"]','["com.example.shop"]',1800000000000,1,x'00','a.p12',
    'anna',1795176000000),
  (2,'fcm_service_account','push@shop',NULL,'bb','["development","production"]','[]',NULL,1,x'00','b.json','anna',
    1795176000000);
INSERT INTO credentials(id, app_id, provider, environment, certificate_id, endpoint, created_at, last_accepted_at)
  VALUES(1,1,'apns','production',1,'apple',1795176000000,1795180000000),
  (2,1,'fcm','production',2,'google',1795176000000,NULL);
INSERT INTO watched_hosts(id, protocol, host, port, server_name, note, created_by, created_at)
  VALUES(1,'tls','mail.example.com',443,'mail.example.com','','anna',1795176000000);
INSERT INTO receivers VALUES(1,'email','Lin','l…@example.com',x'00','en',NULL,1,'anna',1795176000000);
INSERT INTO reminders VALUES(1,'certificate:1','aa',30,'Push',1795176000000);
INSERT INTO reminder_messages(id, uid, receiver_id, channel, target, state, created_at, next_try_at, sent_at)
  VALUES(1,'m1',1,'email','l…@example.com','sent',1795176000000,1795176000000,1795176005000);
INSERT INTO reminder_message_items VALUES(1,1);
INSERT INTO devices(id, app_id, environment, platform, state, token, alias, registration_id, name, created_at,
    registered_at, seen_at)
  VALUES(1,1,2,1,1,x'a100000000000000000000000000000000000000000000000000000000000001','usr_1',NULL,'Lin''s phone',
    1795176000000,1795176000000,1795176000000),
  (2,1,2,2,1,x'666d636f6e65','usr_2','1a2b',NULL,1795176000000,1795176000000,1795176000000),
  (3,1,1,1,3,x'a300000000000000000000000000000000000000000000000000000000000003',NULL,NULL,NULL,1795176000000,
    1795176000000,1795176000000);
INSERT INTO device_counters VALUES(1,2,1,1,1),(1,2,2,1,1),(1,1,1,3,1);
INSERT INTO tags VALUES(1,1,'vip');
INSERT INTO device_tags VALUES(1,1),(1,2);
INSERT INTO tag_counters VALUES(1,2,1,1,1),(1,2,2,1,1);
INSERT INTO device_events VALUES(1,1,1795176000000,'registered',NULL);
INSERT INTO phones VALUES(1,'iPhone','ios','com.example.shop','development',x'a3','on',1795176000000);
INSERT INTO phone_notifications VALUES(1,1,1795176000000,'id','{}',x'7b7d');
INSERT INTO reasons VALUES(1,'BadDeviceToken');
INSERT INTO pushes(id, uid, seed, app_id, environment, draft, title, body, search, state, source, created_by,
    created_at, started_at, finished_at, target, accepted, failed, last_device_id)
  VALUES(1,'p1',7,1,'production',
    '{"app":"com.example.shop","environment":"production","audience":{"tag":["vip"]},"notification":{"body":"Hi"}}',
    'Sale','Hi','sale hi','finished','console','anna@example.com',1795176000000,1795176001000,1795176009000,2,1,1,2);
INSERT INTO pushes(id, uid, seed, app_id, environment, draft, title, search, state, source, created_by, created_at)
  VALUES(2,'p2',8,1,'production',
    '{"app":"com.example.shop","environment":"production","audience":"all","notification":{"body":"Later"}}',
    'Later','later','queued','api','token ci',1795176100000);
INSERT INTO push_targets VALUES(1,1,1),(1,2,1);
INSERT INTO push_reasons VALUES(1,2,2,1,1);
INSERT INTO push_latencies VALUES(1,3,1);
INSERT INTO deliveries VALUES(1,1,1,200,NULL,1795176002000,12,1),(1,2,2,400,1,1795176003000,15,1);
INSERT INTO schedules(id, uid, app_id, environment, draft, title, search, state, start_at, next_at, source, created_by,
    created_at)
  VALUES(1,'s1',1,'production',
    '{"app":"com.example.shop","environment":"production","audience":{"alias":["usr_1"]},"notification":{"body":"Hi"}}',
    'Every day','every day','active',1795176000000,1795262400000,'console','anna@example.com',1795176000000);
INSERT INTO schedule_occurrences VALUES(1,1795176000000,1,1795176000000);
