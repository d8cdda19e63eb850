import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite struct RetentionTests {
  static let day = 86_400.0

  /// A push that ended at a time, with so many results, every fifth a failure.
  @discardableResult
  private func push(
    _ database: Database, _ app: App, _ uid: String, ended: Date?, devices: Int, parent: Int64? = nil
  ) throws -> Int64 {
    var new = newPush(app, uid: uid)
    new.parentID = parent
    let start = ended ?? noon
    let id = try Push.create(database, new, now: start).id
    try Push.setTarget(database, id: id, [Reach(.ios, .apns): devices], lastDeviceID: Int64(devices))
    let results = (0..<devices).map { number in
      DeviceResult(number, at: start)
    }.map(\.result)
    if !results.isEmpty { _ = try Delivery.record(database, push: id, results, now: start) }
    if let ended {
      _ = try Push.move(database, id: id, from: [.queued], to: .sending, now: ended)
      _ = try Push.move(database, id: id, from: [.sending], to: .finished, now: ended)
    }
    return id
  }

  private struct DeviceResult {
    let result: DeliveryResult

    init(_ number: Int, at: Date) {
      result = DeliveryResult(
        deviceID: Int64(number + 1), platform: .ios,
        outcome: number % 5 == 0
          ? .rejected(status: 500, reason: "InternalServerError", tokenInvalidSince: nil) : .accepted,
        at: at, durationMilliseconds: 20)
    }
  }

  private func rows(_ database: Database, _ push: Int64) throws -> Int {
    try database.fetchOne("SELECT count(*) FROM deliveries WHERE push_id = ?", push) { $0.int(0) } ?? 0
  }

  private func trim(
    _ database: Database, _ kind: Trim.Kind, _ policy: RetentionPolicy = RetentionPolicy(), limit: Int = 7, now: Date
  ) throws -> [Int] {
    var removed: [Int] = []
    while removed.count < 1000 {
      let step = try Trim.step(database, kind, policy, limit: limit, now: now)
      removed.append(step.removed)
      if step.isDone { break }
    }
    return removed
  }

  @Test("old details are removed in small steps, counts stay, and nothing younger is removed")
  func deliveries() throws {
    try withApp { database, app in
      let old = try push(database, app, "old", ended: noon - 90 * Self.day - 1, devices: 20)
      let young = try push(database, app, "young", ended: noon - 90 * Self.day, devices: 20)
      let open = try push(database, app, "open", ended: nil, devices: 20)
      let before = try (Push.get(database, id: old), Delivery.reasonCounts(database, push: old))
      #expect(try Trim.due(database, RetentionPolicy(), now: noon).rows == [.deliveries: 20])
      #expect(try Trim.due(database, RetentionPolicy(), now: noon).pushesWithDetails == 1)

      #expect(try Trim.step(database, .deliveries, RetentionPolicy(), limit: 7, now: noon).removed == 7)
      #expect(try Push.get(database, id: old).detailsRemovedAt == noon)
      #expect(try Trim.due(database, RetentionPolicy(), now: noon).rows == [.deliveries: 13])
      #expect(try trim(database, .deliveries, now: noon) == [7, 6])

      #expect(try rows(database, old) == 0)
      #expect(try rows(database, young) == 20)
      #expect(try rows(database, open) == 20)
      let after = try Push.get(database, id: old)
      #expect(after.counts == before.0.counts)
      #expect(after.counts.total == 20)
      #expect(after.detailsRemovedAt == noon)
      #expect(try Delivery.reasonCounts(database, push: old) == before.1)
      #expect(try LatencyHistogram.find(database, push: old).total == 20)
      #expect(try Trim.due(database, RetentionPolicy(), now: noon).rows.isEmpty)
      #expect(try Trim.step(database, .deliveries, RetentionPolicy(), limit: 7, now: noon).removed == 0)
      #expect(try Push.get(database, id: young).detailsRemovedAt == nil)
    }
  }

  @Test("many small pushes share a step; one without deliveries does not claim removed details")
  func small() throws {
    try withApp { database, app in
      for number in 0..<12 { try push(database, app, "p\(number)", ended: noon, devices: number % 3) }
      let later = noon + 91 * Self.day
      #expect(try trim(database, .deliveries, limit: 5, now: later).reduce(0, +) == 12)
      let found = try Push.list(database, PushFilter(), limit: 50).items
      #expect(found.map { $0.detailsRemovedAt == nil } == found.map { $0.counts.total == 0 })
    }
  }

  @Test("a push whose repeat is under way keeps its details; of one without details there is no repeat")
  func repeats() throws {
    try withApp { database, app in
      let parent = try push(database, app, "parent", ended: noon, devices: 10)
      let child = try push(database, app, "child", ended: nil, devices: 0, parent: parent)
      let later = noon + 200 * Self.day
      #expect(try trim(database, .deliveries, now: later) == [0])
      _ = try Push.move(database, id: child, from: [.queued], to: .cancelled, now: noon)
      #expect(try trim(database, .deliveries, now: later) == [7, 3])
      #expect(throws: StoreError.detailsRemoved(push: "parent", at: later)) {
        try push(database, app, "second", ended: nil, devices: 0, parent: parent)
      }
      #expect(try Push.find(database, uid: "second") == nil)
      #expect("\(StoreError.detailsRemoved(push: "parent", at: noon))".contains("2026-11-20"))
    }
  }

  @Test("a push with waiting devices is not over")
  func waiting() throws {
    try withApp { database, app in
      let id = try push(database, app, "p", ended: noon, devices: 3)
      try database.run("UPDATE pushes SET waiting = 1 WHERE id = ?", id)
      #expect(try trim(database, .deliveries, now: noon + 500 * Self.day) == [0])
    }
  }

  @Test("pushes go after their details, with their counters; their repeats stand for themselves; the audit stays")
  func pushes() throws {
    try withApp { database, app in
      let parent = try push(database, app, "parent", ended: noon, devices: 10)
      let child = try push(database, app, "child", ended: noon + 1, devices: 2, parent: parent)
      try AuditEntry.add(
        database, NewAuditEntry(actor: "anna", action: "push.create", subject: "push parent"), now: noon)
      let later = noon + 730 * Self.day + 1
      #expect(try Trim.due(database, RetentionPolicy(), now: later).rows == [.deliveries: 12, .pushes: 1])
      // Not while it has details.
      #expect(try trim(database, .pushes, now: later) == [0])
      _ = try trim(database, .deliveries, now: later)
      #expect(try trim(database, .pushes, now: later).reduce(0, +) == 1)
      #expect(try Push.find(database, id: parent) == nil)
      #expect(try Push.get(database, id: child).parentID == nil)
      for table in ["push_targets", "push_reasons", "push_latencies"] {
        #expect(try database.int("SELECT count(*) FROM \(table) WHERE push_id = \(parent)") == 0, "\(table)")
      }
      let kept = try AuditEntry.list(database, limit: 10).items.map(\.entry.action)
      #expect(kept.filter { !$0.hasPrefix("incident.") }.count == 1)
    }
  }

  @Test("for ever means for ever", arguments: [Trim.Kind.deliveries, .pushes, .phoneNotifications, .signInFailures])
  func forever(kind: Trim.Kind) throws {
    try withApp { database, app in
      try push(database, app, "p", ended: noon, devices: 3)
      _ = try SignInFailures.add(database, .account("anna"), window: 60, now: noon)
      var policy = RetentionPolicy()
      for field in RetentionPolicy.fields { policy[keyPath: field.value] = 0 }
      #expect(try trim(database, kind, policy, now: noon + 36_500 * Self.day) == [0])
      #expect(try Trim.due(database, policy, now: noon + 36_500 * Self.day).rows.isEmpty)
    }
  }

  @Test("phones, sign-ins, sessions and keys go when their time is over, and not before")
  func others() throws {
    try withApp { database, app in
      try Phone(
        id: 1, name: "P", platform: .ios, bundleID: "x", environment: .development, token: token(1), state: [:]
      ).save(database, now: noon)
      for number in 0..<10 {
        try PhoneNotification(
          id: Int64(number), phoneID: 1, at: noon + Double(number), apnsID: nil, headers: [:], payload: []
        ).save(database)
        _ = try SignInFailures.add(database, .account("a\(number)"), window: 60, now: noon + Double(number))
      }
      let user = try User.add(database, name: "lin", role: .admin, now: noon)
      try Session.open(database, idHash: [1], user: user.id, csrf: "c", lifetime: 60, now: noon)
      try Session.open(database, idHash: [2], user: user.id, csrf: "c", lifetime: 90, now: noon)
      _ = try Idempotency(actor: "a", key: "k", route: "r", content: [], now: noon + 60 - 86_400)
        .once(database) { (Idempotency.Answer(status: 200, body: []), ()) }
      let later = noon + 30 * Self.day + 5
      #expect(
        try Trim.due(database, RetentionPolicy(), now: later).rows
          == [.phoneNotifications: 5, .signInFailures: 5, .sessions: 2, .idempotency: 1])
      #expect(try trim(database, .phoneNotifications, limit: 3, now: later) == [3, 2])
      #expect(try trim(database, .signInFailures, limit: 3, now: later) == [3, 2])
      #expect(try trim(database, .sessions, now: noon + 61) == [1])
      #expect(try trim(database, .idempotency, now: noon + 60) == [0])
      #expect(try trim(database, .idempotency, now: noon + 61) == [1])
      #expect(try PhoneNotification.all(database)[1]?.count == 5)
    }
  }

  @Test("a policy is kept, and what cannot be is refused at its field")
  func policy() throws {
    try withDatabase { database in
      #expect(try RetentionPolicy.find(database) == RetentionPolicy())
      var policy = RetentionPolicy()
      (policy.deliveries, policy.pushes, policy.signInFailures) = (30, 0, 1)
      try policy.save(database)
      #expect(try RetentionPolicy.find(database) == policy)
      #expect(policy.problems.isEmpty)
      try Setting.set(database, "retention.pushes_days", "soon")
      #expect(throws: StoreError.self) { try RetentionPolicy.find(database) }
    }
  }

  @Test(
    "details never outlive their push",
    arguments: [(90, 730, true), (0, 0, true), (30, 30, true), (31, 30, false), (0, 30, false), (40_000, 0, false)])
  func order(deliveries: Int, pushes: Int, isFine: Bool) {
    var policy = RetentionPolicy()
    (policy.deliveries, policy.pushes) = (deliveries, pushes)
    #expect(policy.problems.isEmpty == isFine)
  }

  @Test("no step looks at every row of a large table")
  func plans() throws {
    try withApp { database, app in
      try push(database, app, "p1", ended: noon - 1000 * Self.day, devices: 20)
      // Of phones' notifications the oldest are looked at, and links for signing in are never more than a few.
      let run = try statements(database) {
        for kind in [Trim.Kind.deliveries, .pushes, .signInFailures, .idempotency] {
          _ = try trim(database, kind, now: noon)
        }
      }
      #expect(run.filter { $0.hasPrefix("DELETE FROM") }.count >= 6, "\(run)")
      for sql in run {
        let plan = try plan(database, of: sql)
        #expect(slowSteps(plan) == [] && !plan.contains { $0.contains("TEMP B-TREE") }, "\(sql): \(plan)")
      }
    }
  }

  @Test("a push is removed before its time in steps, with everything of it, once it and its retries have ended")
  func removeOne() throws {
    try withApp { database, app in
      let id = try push(database, app, "p", ended: noon, devices: 20)
      let other = try push(database, app, "other", ended: noon, devices: 3)
      let child = try push(database, app, "child", ended: nil, devices: 0, parent: id)
      #expect(try Trim.remove(database, push: id, limit: 7, now: noon) == nil, "a retry reads the deliveries")
      #expect(try rows(database, id) == 20)
      #expect(try Push.move(database, id: child, from: [.queued], to: .cancelled, now: noon))
      var steps: [Int] = []
      while let step = try Trim.remove(database, push: id, limit: 7, now: noon) { steps.append(step.removed) }
      #expect(steps == [7, 7, 6, 1])
      #expect(try Push.find(database, id: id) == nil)
      #expect(try rows(database, id) == 0)
      #expect(try rows(database, other) == 3)
      #expect(try Push.get(database, id: child).parentID == nil)
      for table in ["push_targets", "push_reasons", "push_latencies"] {
        #expect(try database.int("SELECT count(*) FROM \(table) WHERE push_id = ?", id) == 0, "\(table)")
      }
    }
  }

  @Test("a search in a very long history continues page by page, and finds distant matches")
  func longHistory() throws {
    try withApp { database, app in
      let lot = Patience.lot * Patience.least
      let count = lot * 2 + 10
      try database.run(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO pushes(uid, seed, app_id, environment, draft, search, state, source, created_by, created_at)
        SELECT 'p' || i, i, ?2, 'production', '{}', iif(i IN (5, 7), 'needle', 'hay'), 'finished', 'api', 'x', i FROM n
        """, count, app.id)
      var filter = PushFilter()
      filter.search = "needle"
      var (found, pages, cursor): ([String], Int, String?) = ([], 0, nil)
      repeat {
        // No time at all: each page looks through the least that there is.
        let page = try Push.list(database, filter, cursor: cursor, limit: 10, patience: Patience(.zero))
        found += page.items.map(\.uid)
        cursor = page.next
        pages += 1
      } while cursor != nil && pages < 10
      #expect(found == ["p7", "p5"])
      #expect(pages == 3)
      // With time enough, one page does.
      let whole = try Push.list(database, filter, limit: 10, patience: Patience(.seconds(60)))
      #expect(whole.items.map(\.uid) == ["p7", "p5"] && whole.next == nil)
      let one = try Push.list(database, filter, limit: 1, patience: Patience(.seconds(60)))
      #expect(one.items.map(\.uid) == ["p7"] && one.next == "7")
    }
  }

  @Test("a page looks back for as long as it has patience, by the clock and not by rows")
  func patience() throws {
    try withApp { database, app in
      let count = 100_000
      try database.run(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO pushes(uid, seed, app_id, environment, draft, search, state, source, created_by, created_at)
        SELECT 'p' || i, i, ?2, 'production', '{}', 'hay', 'finished', 'api', 'x', i FROM n
        """, count, app.id)
      var filter = PushFilter()
      filter.search = "needle"
      /// How far the first page gets if each look at the clock takes so long.
      func reached(_ step: Duration) throws -> Int? {
        var time = ContinuousClock.now
        let patience = Patience(.milliseconds(10)) {
          time += step
          return time
        }
        let page = try Push.list(database, filter, limit: 50, patience: patience)
        #expect(page.items.isEmpty)
        return page.next.flatMap(Int.init)
      }
      // The clock is first asked at the 16th lot; a lot has 251.
      let newest = count / Patience.lot * Patience.lot
      #expect(try reached(.milliseconds(10)) == newest - 15 * Patience.lot)
      #expect(try reached(.milliseconds(1)) == newest - 24 * Patience.lot)
      #expect(try reached(.zero) == nil)
    }
  }

  @Test("a search reads the history's index alone, newest first, without sorting")
  func searchPlan() throws {
    try withApp { database, app in
      var filters = [PushFilter](repeating: PushFilter(), count: 4)
      filters[0].search = "needle"
      (filters[1].app, filters[1].search) = (app.id, "needle")
      (filters[2].environment, filters[2].source, filters[2].pushType) = (.development, .web, .voip)
      (filters[3].from, filters[3].before) = (noon, noon + 60)
      for filter in filters {
        let query = Push.query(filter, before: .max, limit: 51)
        #expect(query.looksThrough)
        let steps = try database.fetchAll("EXPLAIN QUERY PLAN " + query.sql, arguments: query.arguments) { $0.text(3) }
        #expect(steps == ["SEARCH p USING COVERING INDEX pushes_list (id<?)"], "\(steps)")
      }
    }
  }

  @Test("few accepted ones among very many failures are found, page after page")
  func fewAccepted() throws {
    try withApp { database, app in
      let id = try push(database, app, "p", ended: noon, devices: 0)
      let count = Patience.lot * (Patience.least + 1) + 10
      let none = Patience(.zero)
      try database.run(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO deliveries SELECT ?2, i, iif(i IN (3, ?1 - 1), 1, 2), 200, NULL, 1, 1, 1, NULL, NULL FROM n
        """, count, id)
      var filter = DeliveryFilter()
      filter.outcome = .accepted
      #expect(
        try Delivery.list(database, push: id, filter, limit: 10).items.isEmpty, "the counts say that there is none")
      try database.run("UPDATE pushes SET accepted = 2 WHERE id = ?", id)
      let first = try Delivery.list(database, push: id, filter, limit: 10, patience: none)
      #expect(first.items.map(\.delivery.deviceID) == [3])
      #expect(first.next == String(Patience.lot * Patience.least))
      let second = try Delivery.list(database, push: id, filter, cursor: first.next, limit: 10, patience: none)
      #expect(second.items.map(\.delivery.deviceID) == [Int64(count - 1)])
      #expect(second.next == nil)
      let one = try Delivery.list(database, push: id, filter, limit: 1)
      #expect(one.items.count == 1 && one.next != nil)
    }
  }
}
