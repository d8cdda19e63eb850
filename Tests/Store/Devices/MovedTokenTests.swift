import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite("Tokens of the other environment")
struct MovedTokenTests {
  private static let bad = Outcome.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)

  /// A push to six devices in production: three refused as of the other environment, two of them known from there.
  private func withPush(_ body: (Database, Push, [Int64]) throws -> Void) throws {
    try withApp { database, app in
      let ids = try register(
        database, app, (0..<6).map { registration($0, $0 < 2 ? .development : .production, tags: ["a"]) })
      // By their own, later registrations.
      try register(database, app, (0..<2).map { registration($0, .production, tags: ["a"]) })
      let push = try Push.create(database, newPush(app), now: noon)
      let results = ids.enumerated().map { number, id in
        DeliveryResult(deviceID: id, platform: .ios, outcome: number < 3 ? Self.bad : .accepted, at: noon + 100)
      }
      _ = try Delivery.record(database, push: push.id, results, now: noon + 100)
      try body(database, push, ids)
    }
  }

  @Test("found with the evidence for it, moved together, and moved back")
  func moving() throws {
    try withPush { database, push, ids in
      #expect(push.environment == .production)
      let found = try MovedTokens.find(database, .push(push))
      #expect(found.parked == Array(ids[..<3]) && found.proven == 2 && found.moved.isEmpty)
      #expect(try MovedTokens.moveBack(database, .push(push), by: "anna", now: noon + 110) == 0)

      #expect(try MovedTokens.move(database, .push(push), by: "anna", now: noon + 110) == 3)
      for id in ids[..<3] {
        let device = try Device.get(database, id: id)
        #expect(device.environment == .development && device.state == .active && device.stateReason == nil)
        let change = try DeviceEvent.all(database, device: id).first { $0.kind == .environmentChanged }
        #expect(change?.detail?["push"]?.string == push.uid && change?.detail?["by"] == "anna")
      }
      let moved = try MovedTokens.find(database, .push(push))
      #expect(moved.parked.isEmpty && moved.moved == Array(ids[..<3]))
      #expect(try DeviceCounters.faults(database) == 0)

      #expect(try MovedTokens.moveBack(database, .push(push), by: "anna", now: noon + 120) == 3)
      for id in ids[..<3] {
        let device = try Device.get(database, id: id)
        #expect(device.environment == .production && device.state == .quarantined)
        #expect(device.stateReason == "BadDeviceToken" && device.stateAt == noon + 120)
      }
      let again = try MovedTokens.find(database, .push(push))
      #expect(again.parked == Array(ids[..<3]) && again.proven == 2, "the move itself proves nothing")
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("a device that registered again, or was moved by hand, is not moved")
  func others() throws {
    try withPush { database, push, ids in
      try Device.release(database, id: ids[0], environment: .development, by: "bob", now: noon + 110)
      _ = try Device.register(
        database, app: push.appID, [registration(1, .production)], now: noon + 110)
      let found = try MovedTokens.find(database, .push(push))
      #expect(found.parked == [ids[2]] && found.proven == 0 && found.moved.isEmpty)
    }
  }

  @Test("a device that was moved from an incident is found for the way back after it took in another one")
  func merged() throws {
    try withPush { database, push, ids in
      let place = IncidentPlace(app: push.appID, environment: .production, provider: .apns)
      let incident = try #require(try Incident.find(database, place, IncidentCause(.parked, MovedTokens.reason)))
      #expect(try MovedTokens.move(database, .incident(incident), by: "anna", now: noon + 110) == 3)
      #expect(try MovedTokens.find(database, .incident(incident)).moved == Array(ids[..<3]))
      try Device.merge(database, ids[1], into: ids[0], by: "anna", now: noon + 120)
      #expect(try MovedTokens.find(database, .incident(incident)).moved == [ids[0], ids[2]])
      #expect(try MovedTokens.moveBack(database, .incident(incident), by: "anna", now: noon + 130) == 2)
    }
  }

  @Test("as many as one move takes, once moved, do not hide the next ones")
  func limit() throws {
    try withApp { database, app in
      let push = try Push.create(database, newPush(app), now: noon)
      var reasons = Reasons()
      let reason = try reasons.id(database, MovedTokens.reason)
      let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= \(MovedTokens.limit))"
      try database.run(
        """
        \(numbers) INSERT INTO devices(id, app_id, environment, platform, state, token, created_at, registered_at, seen_at)
        SELECT i, ?1, iif(i > ?2, 2, 1), 1, iif(i > ?2, 2, 1), CAST(i AS BLOB), 0, 0, 0 FROM n
        """, app.id, MovedTokens.limit)
      try database.run(
        """
        \(numbers) INSERT INTO deliveries(push_id, device_id, outcome, status, reason_id, at, duration_ms, attempts)
        SELECT ?1, i, \(OutcomeKind.failed.rawValue), 400, ?2, 0, 0, 1 FROM n
        """, push.id, reason)
      try database.run(
        """
        INSERT INTO device_events(device_id, number, at, kind, detail)
        SELECT id, 1, 0, 'environment_changed', json_object('from', 'production', 'to', 'development', 'push', ?)
        FROM devices WHERE environment = 1
        """, push.uid)
      let found = try MovedTokens.find(database, .push(push))
      #expect(found.parked == [Int64(MovedTokens.limit) + 1] && found.proven == 0)
      #expect(found.moved == (1...Int64(MovedTokens.limit)).map { $0 })
    }
  }

  @Test("a push without such refusals has none, and asks no index in vain")
  func none() throws {
    try withApp { database, app in
      let push = try Push.create(database, newPush(app), now: noon)
      #expect(try MovedTokens.find(database, .push(push)) == MovedTokens())
    }
  }

  @Test("a parked device that a later push reaches is set free; one that was asked before stays parked")
  func proven() throws {
    try withPush { database, push, ids in
      let (app, uid) = (try App.get(database, id: push.appID), "later")
      let later = try Push.create(database, newPush(app, uid: uid), now: noon + 200)
      let results = [(ids[0], noon + 300), (ids[1], noon + 90), (ids[4], noon + 300)].map { id, at in
        DeliveryResult(deviceID: id, platform: .ios, outcome: .accepted, at: at)
      }
      _ = try Delivery.record(database, push: later.id, results, now: noon + 300)
      #expect(try Device.get(database, id: ids[0]).state == .active)
      #expect(try Device.get(database, id: ids[1]).state == .quarantined)
      #expect(try Device.get(database, id: ids[2]).state == .quarantined)
      let event = try DeviceEvent.all(database, device: ids[0]).first
      #expect(event?.kind == .proven && event?.detail?["push"]?.string == uid)
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("a cancelled push without all its outcomes is settled at the next start")
  func leftBehind() throws {
    try withApp { database, app in
      let push = try Push.create(database, newPush(app), now: noon)
      _ = try Push.move(database, id: push.id, from: [.queued], to: .sending, now: noon)
      try Push.setTarget(database, id: push.id, [Reach(.ios, .apns): 6], lastDeviceID: 6)
      _ = try Push.move(database, id: push.id, from: [.sending], to: .cancelled, now: noon)
      #expect(try WaitingDelivery.leftBehind(database) == [push.id])
      #expect(try Push.get(database, id: push.id).isSettling)
      try Push.settle(database, id: push.id, now: noon)
      #expect(try WaitingDelivery.leftBehind(database) == [])
      let settled = try Push.get(database, id: push.id)
      #expect(!settled.isSettling && settled.target == 0 && settled.pending == 0)
    }
  }
}
