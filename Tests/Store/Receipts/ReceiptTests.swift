import Foundation
import Model
import SQLite
import Testing

@testable import Store

@Suite("Receipts")
struct ReceiptTests {
  private static let signature = "s3cr3ts3cr3ts3cr"

  @discardableResult
  private func push(
    _ database: Database, _ app: App, uid: String = "push-1", signature: String? = signature, at date: Date = noon
  ) throws -> Push {
    var new = NewPush(
      uid: uid, seed: 1, appID: app.id, environment: .production, draftJSON: "{}", source: .api, createdBy: "test")
    new.signature = signature
    return try Push.create(database, new, now: date)
  }

  private func record(
    _ database: Database, _ number: Int, _ kinds: [ReceiptKind], push: String = "push-1",
    signature: String = signature, at: Date? = nil, now: Date = noon + 10
  ) throws -> [ReceiptResult] {
    let items = kinds.map { ReceiptBatch.Item(push: push, signature: signature, kind: $0, at: at) }
    let batch = ReceiptBatch(.token(token(number)), items)
    return try ReceiptBatch.record(database, [batch], now: now)[0].results
  }

  @Test("each kind counts once for a device, in one row, with the time of the first report")
  func once() throws {
    try withApp { database, app in
      let push = try push(database, app)
      let ids = try Device.register(database, app: app.id, [registration(1), registration(2)], now: noon)
        .compactMap(\.deviceID)
      #expect(try record(database, 1, [.displayed, .displayed, .opened]) == [.recorded, .known, .recorded])
      #expect(try record(database, 1, [.opened, .displayed], now: noon + 60) == [.known, .known])
      #expect(try record(database, 2, [.dismissed]) == [.recorded])
      let receipt = try #require(try Receipt.find(database, push: push.id, device: ids[0]))
      #expect(receipt.displayedAt == noon + 10 && receipt.openedAt == noon + 10 && receipt.dismissedAt == nil)
      var expected = ReceiptCounts()
      (expected.devices, expected.displayed, expected.opened, expected.dismissed) = (2, 1, 1, 1)
      #expect(try ReceiptCounts.find(database, push: push.id) == expected)
      #expect(try ReceiptCounts.byPlatform(database, push: push.id) == [.ios: expected])
      #expect(
        try ReceiptCounts.days(database, from: noon - 2 * 86_400, before: noon + 86_400) == [2: expected])
      let counted = try database.fetchAll(
        "SELECT count(*), count(displayed_at), count(opened_at), count(dismissed_at) FROM receipts"
      ) { [$0.int(0), $0.int(1), $0.int(2), $0.int(3)] }
      #expect(counted == [[2, 1, 1, 1]])
    }
  }

  @Test("a report says that its device was there at its arrival, never earlier than known, and nothing of others")
  func seen() throws {
    try withApp { database, app in
      try push(database, app)
      let ids = try Device.register(database, app: app.id, [registration(1), registration(2)], now: noon)
        .compactMap(\.deviceID)
      func seen() throws -> [Date] { try ids.map { try Device.get(database, id: $0).seenAt } }
      #expect(try record(database, 1, [.displayed], at: noon + 3, now: noon + 60) == [.recorded])
      #expect(try seen() == [noon + 60, noon])
      #expect(try record(database, 1, [.opened], now: noon + 30) == [.recorded])
      #expect(try seen() == [noon + 60, noon], "a clock that was set back")
      #expect(try record(database, 2, [.opened], signature: "x", now: noon + 90) == [.unknown])
      #expect(try seen() == [noon + 60, noon])
    }
  }

  @Test("a forged signature, an unknown push, a device of another app and a push of an earlier version get one word")
  func forged() throws {
    try withApp { database, app in
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      try push(database, app)
      try push(database, app, uid: "old", signature: nil)
      _ = try Device.register(database, app: app.id, [registration(1)], now: noon)
      _ = try Device.register(database, app: other.id, [registration(2)], now: noon)
      for (number, push, signature) in [
        (1, "push-1", "x"), (1, "push-1", ""), (1, "none", Self.signature), (2, "push-1", Self.signature),
        (9, "push-1", Self.signature), (1, "old", ""), (1, "old", Self.signature),
      ] {
        let results = try record(database, number, [.opened], push: push, signature: signature)
        #expect(results == [.unknown], "\(number) \(push) \(signature)")
      }
      #expect(try database.int("SELECT count(*) FROM receipts") == 0)
      #expect(try database.int("SELECT count(*) FROM receipt_counters") == 0)
      try database.run("UPDATE pushes SET last_device_id = ?", Device.lastID(database))
      _ = try Device.register(database, app: app.id, [registration(3)], now: noon)
      #expect(try record(database, 3, [.opened]) == [.unknown], "registered after the push began")
      #expect(try record(database, 1, [.opened]) == [.recorded])
    }
  }

  @Test("a report is taken for 30 days, and one of a wrong clock gets a time that can be")
  func times() throws {
    try withApp { database, app in
      let push = try push(database, app)
      let ids = try Device.register(database, app: app.id, [registration(1), registration(2)], now: noon)
        .compactMap(\.deviceID)
      let day: TimeInterval = 86_400
      #expect(try record(database, 1, [.displayed], at: noon - day, now: noon + 30 * day) == [.recorded])
      #expect(try record(database, 1, [.opened], now: noon + 30 * day + 1) == [.expired])
      #expect(try record(database, 2, [.displayed], at: noon + 99 * day, now: noon + 5) == [.recorded])
      #expect(try record(database, 2, [.opened], at: noon + 3, now: noon + 5) == [.recorded])
      #expect(try Receipt.find(database, push: push.id, device: ids[0])?.displayedAt == noon)
      let second = try Receipt.find(database, push: push.id, device: ids[1])
      #expect(second?.displayedAt == noon + 5 && second?.openedAt == noon + 3)
    }
  }

  @Test("a device may name itself by its registration ID, and several batches are one transaction")
  func batches() throws {
    try withApp { database, app in
      try push(database, app)
      try push(database, app, uid: "push-2")
      _ = try Device.register(
        database, app: app.id, [registration(1, registrationID: "r1"), registration(2, .production, .android)],
        now: noon)
      func item(_ push: String, _ kind: ReceiptKind) -> ReceiptBatch.Item {
        ReceiptBatch.Item(push: push, signature: Self.signature, kind: kind)
      }
      let outcomes = try ReceiptBatch.record(
        database,
        [
          ReceiptBatch(.registrationID("r1"), [item("push-1", .opened), item("push-2", .opened)]),
          ReceiptBatch(.token(token(2)), [item("push-1", .opened)]), ReceiptBatch(.registrationID("none"), []),
        ], now: noon)
      #expect(outcomes.map(\.results) == [[.recorded, .recorded], [.recorded], []])
      #expect(outcomes.map(\.changed) == [[1, 2], [1], []])
      #expect(try ReceiptCounts.byPlatform(database, push: 1).mapValues(\.opened) == [.ios: 1, .android: 1])
    }
  }

  @Test("each push service of a platform has counts of its own")
  func services() throws {
    try withApp { database, app in
      let push = try push(database, app)
      var jpush = registration(2, .production, .android)
      jpush.provider = .jpush
      _ = try Device.register(database, app: app.id, [registration(1, .production, .android), jpush], now: noon)
      _ = try record(database, 1, [.displayed])
      _ = try record(database, 2, [.displayed, .opened])
      let lines = try ReceiptCounts.lines(database, push: push.id)
      #expect(lines.map(\.provider) == [.fcm, .jpush] && lines.map(\.counts.opened) == [0, 1])
      #expect(try ReceiptCounts.byPlatform(database, push: push.id).mapValues(\.displayed) == [.android: 2])
      #expect(try ReceiptCounts.find(database, push: push.id).devices == 2)
    }
  }

  @Test("a file in use keeps its counts, by service where the push had one on the platform")
  func migration() throws {
    let database = try Database(path: ":memory:")
    defer { database.close() }
    let steps = Schema.migrator.migrations
    let index = try #require(steps.firstIndex { $0.id == Schema.receiptServices.id })
    try Migrator(applicationID: Schema.applicationID, Array(steps[..<index])).migrate(database, at: 0)
    try database.script(
      """
      INSERT INTO apps(id, bundle_id, name, created_at) VALUES (1, 'com.example.shop', 'Shop', 0);
      INSERT INTO pushes(id, uid, seed, app_id, environment, draft, search, state, source, created_by, created_at)
        VALUES (7, 'p', 1, 1, 'production', '{}', '', 'finished', 'api', 'x', 1);
      INSERT INTO push_targets(push_id, platform, provider, count) VALUES (7, 1, 3, 9), (7, 2, 2, 9), (7, 2, 3, 9);
      INSERT INTO receipt_counters VALUES (7, 1, 4, 3, 2, 1), (7, 2, 8, 7, 6, 5);
      """)
    try Schema.migrator.migrate(database, at: 1)
    let lines = try ReceiptCounts.lines(database, push: 7)
    #expect(lines.map(\.platform) == [.ios, .android] && lines.map(\.provider) == [.jpush, nil])
    #expect(lines.map(\.counts.devices) == [4, 8] && lines.map(\.counts.dismissed) == [1, 5])
  }

  @Test("receipts go with the details of their push, counts with the push, and all with the app")
  func retention() throws {
    try withApp { database, app in
      let push = try push(database, app)
      _ = try Device.register(database, app: app.id, [registration(1)], now: noon)
      _ = try record(database, 1, [.displayed])
      try database.run("UPDATE pushes SET state = 'finished', finished_at = ?", noon)
      var policy = RetentionPolicy()
      (policy.deliveries, policy.pushes) = (1, 2)
      let later = noon + 10 * 86_400
      _ = try Trim.step(database, .deliveries, policy, limit: 100, now: later)
      #expect(try database.int("SELECT count(*) FROM receipts") == 0)
      #expect(try ReceiptCounts.find(database, push: push.id).displayed == 1)
      _ = try Trim.step(database, .pushes, policy, limit: 100, now: later)
      #expect(try database.int("SELECT count(*) FROM receipt_counters") == 0)
      try self.push(database, app, uid: "push-2")
      _ = try record(database, 1, [.displayed], push: "push-2")
      #expect(try database.int("SELECT count(*) FROM receipts") == 1)
      try App.delete(database, id: app.id)
      #expect(try database.int("SELECT count(*) FROM receipts") == 0)
      #expect(try database.int("SELECT count(*) FROM receipt_counters") == 0)
    }
  }
}
