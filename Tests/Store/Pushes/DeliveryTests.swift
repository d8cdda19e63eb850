import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite struct DeliveryTests {
  private static let gone = Outcome.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: noon + 5)
  private static let bad = Outcome.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)
  private static let busy = Outcome.rejected(status: 503, reason: "ServiceUnavailable", tokenInvalidSince: nil)

  /// A push to twelve devices, and a result of every kind.
  private func withPush(_ body: (Database, Push, [Int64], [DeliveryResult]) throws -> Void) throws {
    try withApp { database, app in
      let ids = try register(
        database, app, (0..<12).map { registration($0, alias: "usr_\($0)", tags: ["a"], registrationID: "r\($0)") })
      let push = try Push.create(database, newPush(app), now: noon)
      let outcomes: [Outcome] = [
        .accepted, .accepted, Self.gone, Self.bad, Self.busy, Self.busy, .unknown(reason: "ConnectionLost"),
        .skipped(reason: "Cancelled"), .accepted,
      ]
      let results = zip(ids, outcomes).map { id, outcome in
        DeliveryResult(
          deviceID: id, platform: id.isMultiple(of: 2) ? .ios : .android, outcome: outcome, at: noon + 10,
          durationMilliseconds: Int(id) * 10, attempts: 1)
      }
      try body(database, push, ids, results)
    }
  }

  @Test("a batch keeps rows, counters, reasons, latencies, dead tokens, health and cursor together")
  func record() throws {
    try withPush { database, push, ids, results in
      let credential = try Credential.bind(
        database, app: push.appID, provider: .apns, environment: .production, certificate: nil, endpoint: "apple",
        now: noon)
      try Delivery.record(
        database, push: push.id, results, cursor: ids[8],
        verdicts: [(credential.id, .accepted(at: noon + 10))], now: noon + 11)
      let expected = OutcomeCounts(accepted: 3, failed: 3, deadToken: 1, skipped: 1, unknown: 1)
      let kept = try Push.get(database, id: push.id)
      #expect(kept.counts == expected)
      #expect(kept.cursor == ids[8])
      #expect(try Device.get(database, id: ids[2]).state == .dead)
      #expect(try Device.get(database, id: ids[3]).state == .quarantined)
      #expect(try Device.get(database, id: ids[3]).stateReason == "BadDeviceToken")
      #expect(try Device.get(database, id: ids[4]).state == .active)
      #expect(try DeviceEvent.all(database, device: ids[2]).first?.detail?["push"] == "p1")
      #expect(try Credential.find(database, id: credential.id)?.health == .accepted)
      #expect(try LatencyHistogram.find(database, push: push.id).total == 7)
      let reasons = try Delivery.reasonCounts(database, push: push.id)
      #expect(reasons.map(\.count).reduce(0, +) == 9)
      let busy = reasons.filter { $0.reason == "ServiceUnavailable" }
      #expect(Set(busy.map(\.platform)) == [.ios, .android])
      #expect(busy.allSatisfy { $0.count == 1 && $0.outcome == .failed })
      #expect(reasons.filter { $0.outcome == .accepted }.allSatisfy { $0.reason == nil })
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("recording the same devices again changes nothing")
  func twice() throws {
    try withPush { database, push, ids, results in
      _ = try Delivery.record(database, push: push.id, results, cursor: ids[8], now: noon + 11)
      let before = try Push.get(database, id: push.id)
      let reasons = try Delivery.reasonCounts(database, push: push.id)
      let other = results.map { result in
        var result = result
        result.outcome = Self.busy
        return result
      }
      try Delivery.record(database, push: push.id, results + other, cursor: ids[2], now: noon + 12)
      #expect(try Push.get(database, id: push.id) == before)
      #expect(try Delivery.reasonCounts(database, push: push.id) == reasons)
      #expect(try LatencyHistogram.find(database, push: push.id).total == 7)
      let next = DeliveryResult(deviceID: ids[9], platform: .ios, outcome: .accepted, at: noon)
      try Delivery.record(database, push: push.id, results + [next], cursor: ids[9], now: noon + 12)
      let after = try Push.get(database, id: push.id)
      #expect(after.counts.accepted == before.counts.accepted + 1 && after.counts.total == before.counts.total + 1)
      #expect(after.cursor == ids[9])
    }
  }

  @Test("a batch for a push that is not there, or that fails half-way, leaves nothing")
  func failing() throws {
    try withPush { database, push, _, results in
      #expect(throws: StoreError.notFound(noun: "push", id: "99")) {
        try Delivery.record(database, push: 99, results, now: noon)
      }
      try database.script("CREATE TRIGGER full BEFORE UPDATE ON pushes BEGIN SELECT RAISE(ABORT, 'disk full'); END")
      #expect(throws: SQLiteError.self) { try Delivery.record(database, push: push.id, results, now: noon) }
      #expect(try database.int("SELECT count(*) FROM deliveries") == 0)
      #expect(try database.int("SELECT count(*) FROM push_reasons") == 0)
      #expect(try database.int("SELECT count(*) FROM devices WHERE state <> 1") == 0)
    }
  }

  @Test("a device that registered again since the push was sent is left alone")
  func registeredSince() throws {
    try withPush { database, push, ids, results in
      try database.run("UPDATE devices SET registered_at = ?", noon + 60)
      try Delivery.record(database, push: push.id, results, now: noon + 61)
      #expect(try Push.get(database, id: push.id).counts.deadToken == 1)
      #expect(try Device.get(database, id: ids[2]).state == .active)
    }
  }

  @Test("deliveries are paged by device, filtered by outcome, reason and search")
  func list() throws {
    try withPush { database, push, ids, results in
      _ = try Delivery.record(database, push: push.id, results, now: noon + 11)
      func found(_ change: (inout DeliveryFilter) -> Void) throws -> [Int] {
        var filter = DeliveryFilter()
        change(&filter)
        var found: [Int] = []
        var cursor: String?
        repeat {
          let page = try Delivery.list(database, push: push.id, filter, cursor: cursor, limit: 2)
          for item in page.items {
            #expect(item.device?.id == item.delivery.deviceID)
            found.append(ids.firstIndex(of: item.delivery.deviceID) ?? -1)
          }
          cursor = page.next
        } while cursor != nil
        return found
      }
      #expect(try found { _ in } == Array(0...8))
      #expect(try found { $0.outcome = .accepted } == [0, 1, 8])
      #expect(try found { $0.outcome = .failed } == [3, 4, 5])
      #expect(try found { $0.outcome = .deadToken } == [2])
      #expect(try found { $0.reason = "ServiceUnavailable" } == [4, 5])
      #expect(try found { ($0.reason, $0.outcome) = ("ServiceUnavailable", .deadToken) } == [])
      #expect(try found { $0.reason = "never heard" } == [])
      #expect(try found { $0.search = [.alias("usr_4"), .registrationID("r6"), .registrationID("r11")] } == [4, 6])
      #expect(try found { $0.search = [.token(token(3).bytes)] } == [3])
      #expect(try found { $0.search = [.token([0, 0, 0])] } == Array(0...8))
      #expect(try found { ($0.search, $0.outcome) = ([.token([0])], .accepted) } == [0, 1, 8])
      #expect(
        try found { ($0.search, $0.reason) = ([.alias("usr_4"), .alias("usr_3")], "BadDeviceToken") } == [3])
      #expect(try found { $0.search = [.alias("nobody")] } == [])
      #expect(try found { $0.platform = .ios } == Array(0...8))
      #expect(try found { $0.platform = .android } == [])
      try database.run("UPDATE devices SET provider = 3 WHERE id IN (?, ?)", ids[1], ids[4])
      #expect(try found { $0.provider = .jpush } == [1, 4])
      #expect(try found { $0.provider = .apns } == [0, 2, 3, 5, 6, 7, 8])
      #expect(try found { ($0.provider, $0.outcome) = (.jpush, .accepted) } == [1])
      #expect(try found { ($0.provider, $0.outcome) = (.jpush, .failed) } == [4])
      #expect(try found { ($0.provider, $0.reason) = (.apns, "ServiceUnavailable") } == [5])
      #expect(try found { ($0.provider, $0.search) = (.jpush, [.token([0])]) } == [1, 4])
      for (index, column) in [(1, "opened_at"), (4, "opened_at"), (8, "displayed_at")] {
        try database.run("INSERT INTO receipts(push_id, device_id, \(column)) VALUES (?, ?, 1)", push.id, ids[index])
      }
      #expect(try found { $0.receipt = .opened } == [1, 4])
      #expect(try found { $0.receipt = .dismissed } == [])
      #expect(try found { ($0.receipt, $0.outcome) = (.opened, .failed) } == [4])
      #expect(try found { ($0.receipt, $0.reason) = (.opened, "ServiceUnavailable") } == [4])
      #expect(try found { ($0.receipt, $0.provider) = (.displayed, .apns) } == [8])
      #expect(try found { ($0.receipt, $0.search) = (.opened, [.token([0])]) } == [1, 4])
    }
  }

  @Test("no list of deliveries looks at every row of the table")
  func plans() throws {
    try withPush { database, push, _, results in
      _ = try Delivery.record(database, push: push.id, results, now: noon + 11)
      var filters = [DeliveryFilter()]
      for outcome in OutcomeKind.allCases {
        filters.append(DeliveryFilter())
        filters[filters.count - 1].outcome = outcome
      }
      filters.append(DeliveryFilter())
      filters[filters.count - 1].reason = "ServiceUnavailable"
      for (platform, receipt) in [(Platform.ios, nil), (nil, .opened), (.ios, .opened)] as [(Platform?, ReceiptKind?)] {
        for base in filters.prefix(7) {
          var filter = base
          (filter.platform, filter.receipt) = (platform, receipt)
          filters.append(filter)
        }
      }
      for filter in filters {
        let sql = try #require(try Delivery.query(database, push.id, filter, after: 0, limit: 10))
        let plan = try plan(database, sql)
        #expect(slowSteps(plan) == [], "\(filter): \(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(filter): \(plan)")
        if filter.receipt != nil {
          #expect(plan.first?.contains("SEARCH q USING PRIMARY KEY") == true, "\(plan)")
          continue
        }
        if filter.outcome != nil, filter.outcome != .accepted {
          #expect(plan.contains { $0.contains("deliveries_trouble") }, "\(plan)")
        }
        if filter.reason != nil {
          // No page of the table for a row.
          #expect(plan.contains { $0.contains("COVERING INDEX deliveries_reason") }, "\(plan)")
        }
      }
    }
  }

  @Test("one delivery is found with its device, also when the device is gone")
  func one() throws {
    try withPush { database, push, ids, results in
      _ = try Delivery.record(database, push: push.id, results, now: noon + 11)
      let found = try #require(try Delivery.find(database, push: push.id, device: ids[2]))
      #expect(found.delivery.outcome == .deadToken)
      #expect(found.delivery.status == 410)
      #expect(found.delivery.reason == "Unregistered")
      #expect(found.delivery.at == noon + 10)
      #expect(found.delivery.durationMilliseconds == 30)
      #expect(found.delivery.attempts == 1)
      #expect(found.device?.tags == ["a"])
      #expect(try Delivery.find(database, push: push.id, device: ids[11]) == nil)
      try Device.delete(database, id: ids[2], now: noon)
      let left = try #require(try Delivery.find(database, push: push.id, device: ids[2]))
      #expect(left.device == nil)
      #expect(left.delivery == found.delivery)
      #expect(try Delivery.list(database, push: push.id, limit: 3).items[2].device == nil)
    }
  }

  @Test("a device knows its pushes, newest first")
  func ofDevice() throws {
    try withPush { database, push, ids, results in
      let app = try App.get(database, id: push.appID)
      for number in 2...6 {
        let id = try Push.create(database, newPush(app, uid: "p\(number)"), now: noon).id
        _ = try Delivery.record(database, push: id, [results[0]], now: noon)
      }
      let first = try Delivery.list(database, device: ids[0], limit: 3)
      #expect(first.items.map(\.uid) == ["p6", "p5", "p4"])
      #expect(first.items[0].seed == push.seed)
      let second = try Delivery.list(database, device: ids[0], cursor: first.next, limit: 3)
      #expect(second.items.map(\.uid) == ["p3", "p2"])
      #expect(second.next == nil)
      #expect(try Delivery.list(database, device: 99, limit: 3).items.isEmpty)

      let both = try Push.create(database, newPush(app, uid: "p7"), now: noon).id
      _ = try Delivery.record(database, push: both, [results[0], results[1]], now: noon)
      let others = try Push.create(database, newPush(app, uid: "p8"), now: noon).id
      _ = try Delivery.record(database, push: others, [results[1]], now: noon)
      try Device.merge(database, ids[1], into: ids[0], by: "ada", now: noon)
      let whole = try Delivery.list(database, device: ids[0], limit: 3).items
      #expect(whole.map(\.uid) == ["p8", "p7", "p6"], "the merged device's too, and what both had once")
      #expect(whole.map(\.delivery.deviceID) == [ids[1], ids[0], ids[0]])
    }
  }

  @Test(
    "a duration falls into the bucket whose bound it does not exceed",
    arguments: [(0, 0), (5, 0), (6, 1), (100, 6), (101, 7), (30_000, 14), (30_001, 15)])
  func buckets(milliseconds: Int, bucket: Int) {
    #expect(LatencyHistogram.bucket(milliseconds) == bucket)
  }

  @Test("quantiles are bounds of buckets")
  func quantiles() {
    var histogram = LatencyHistogram()
    #expect(histogram.quantile(0.5) == nil)
    histogram.counts[1] = 98
    histogram.counts[8] = 1
    histogram.counts[15] = 1
    #expect(histogram.quantile(0.5) == 10)
    #expect(histogram.quantile(0.99) == 250)
    #expect(histogram.quantile(1) == nil)
    #expect(histogram.quantile(0) == 10)
  }
}
