import Foundation
import Model
import SQLite
import Testing

@testable import Store

@Suite struct WaitingTests {
  private func waiting(_ device: Int64, due: TimeInterval, attempts: Int = 1) -> WaitingDelivery {
    WaitingDelivery(
      deviceID: device, dueAt: noon + due, attempts: attempts, firstAt: noon,
      last: .rejected(status: 503, reason: "ServiceUnavailable", tokenInvalidSince: nil))
  }

  private func withWaiting(_ body: (Database, Push, [Int64]) throws -> Void) throws {
    try withApp { database, app in
      let devices = try register(database, app, (1...4).map { registration($0) })
      let push = try Push.create(database, newPush(app), now: noon)
      _ = try Delivery.record(
        database, push: push.id, [], waiting: [waiting(devices[2], due: 10), waiting(devices[0], due: 60)], now: noon)
      try body(database, push, devices)
    }
  }

  @Test("what waits is found when it is due, the longest overdue first, and is counted")
  func due() throws {
    try withWaiting { database, push, devices in
      #expect(try Push.get(database, id: push.id).waiting == 2)
      #expect(try WaitingDelivery.nextDue(database, push: push.id) == noon + 10)
      #expect(try WaitingDelivery.nextDue(database, push: push.id, after: noon + 10) == noon + 60)
      #expect(try WaitingDelivery.due(database, push: push.id, provider: .apns, now: noon + 9, limit: 9) == [])
      let due = try WaitingDelivery.due(database, push: push.id, provider: .apns, now: noon + 60, limit: 9)
      #expect(due.map(\.waiting) == [waiting(devices[2], due: 10), waiting(devices[0], due: 60)])
      #expect(due.map { $0.member?.id } == [devices[2], devices[0]])
      let android = try WaitingDelivery.due(database, push: push.id, provider: .fcm, now: noon + 60, limit: 9)
      #expect(android.isEmpty)
      #expect(try WaitingDelivery.nextDue(database, push: push.id, provider: .apns) == noon + 10)
      #expect(try WaitingDelivery.nextDue(database, push: push.id, provider: .fcm) == nil)
      let plan = try database.fetchAll(
        "EXPLAIN QUERY PLAN SELECT min(due_at) FROM push_waiting WHERE push_id = 1 AND due_at > 5"
      ) { $0.text(3) }
      #expect(plan.contains { $0.contains("push_waiting_due") })
    }
  }

  @Test("what waits follows the clock: set forward, to the same time by it; set back, for as long as planned")
  func shift() throws {
    try withWaiting { database, push, _ in
      for (seconds, due, first) in [(1000, 10, 1000), (-1000, -990, 0)] as [(Double, Double, Double)] {
        try WaitingDelivery.shift(database, push: push.id, by: seconds)
        let found = try WaitingDelivery.due(database, push: push.id, provider: .apns, now: noon + 60, limit: 9)
        #expect(found.first?.waiting.dueAt == noon + due)
        #expect(found.first?.waiting.firstAt == noon + first)
      }
    }
  }

  @Test("devices that wait and are parked, retired or removed are counted by reason, of those that are due first")
  func outlook() throws {
    try withWaiting { database, push, devices in
      func outlook(most: Int = 9) throws -> WaitingDelivery.Outlook {
        try WaitingDelivery.outlook(database, push: push.id, most: most)
      }
      #expect(try outlook().inactive.isEmpty && outlook().nextDue == noon + 10)
      #expect(try outlook(most: 1).isPartial && !outlook(most: 2).isPartial)
      try database.run("UPDATE devices SET state = ? WHERE id = ?", DeviceState.quarantined.rawValue, devices[2])
      #expect(try outlook().inactive == ["ServiceUnavailable": 1] && outlook().nextDue == noon + 60)
      #expect(try outlook(most: 1).inactiveCount == 1 && outlook(most: 1).nextDue == nil)
      #expect(try Device.delete(database, id: devices[0], now: noon))
      #expect(try outlook().inactiveCount == 2 && outlook().nextDue == nil)
      try WaitingDelivery.take(database, push: push.id, devices: [devices[2]])
      #expect(try outlook().inactiveCount == 1, "the attempt under way is made")
      let channel = try #require(AudienceMember.subscribers(of: .channel("c")))
      #expect(waiting(channel.id, due: 5).isRetried(nil) && !waiting(devices[0], due: 5).isRetried(nil))
      let plan = try database.fetchAll(
        "EXPLAIN QUERY PLAN SELECT device_id FROM push_waiting WHERE push_id = 1 ORDER BY due_at, device_id LIMIT 5"
      ) { $0.text(3) }
      #expect(plan.contains { $0.contains("push_waiting_due") } && !plan.contains { $0.contains("B-TREE") })
    }
  }

  @Test("the pushes that wait for a device are found by it, the next one first, without reading the whole table")
  func ofDevice() throws {
    try withWaiting { database, push, devices in
      let app = try App.get(database, id: push.appID)
      let second = try Push.create(database, newPush(app, uid: "p2"), now: noon)
      _ = try Delivery.record(database, push: second.id, [], waiting: [waiting(devices[0], due: 30)], now: noon)
      func found(_ device: Int64) throws -> [String] {
        try WaitingDelivery.list(database, device: device, limit: 9).map(\.uid)
      }
      #expect(try found(devices[0]) == [second.uid, push.uid])
      #expect(try found(devices[1]) == [] && found(devices[2]) == [push.uid])
      try database.run("UPDATE pushes SET state = 'paused' WHERE id = ?", push.id)
      #expect(try found(devices[2]) == [push.uid])
      try database.run("UPDATE pushes SET state = 'cancelled' WHERE id = ?", push.id)
      #expect(try found(devices[2]) == [])
    }
  }

  @Test("waiting again replaces the wait; an outcome ends it; the count stays correct")
  func counts() throws {
    try withWaiting { database, push, devices in
      _ = try Delivery.record(
        database, push: push.id, [], waiting: [waiting(devices[0], due: 90, attempts: 2)], now: noon)
      #expect(try Push.get(database, id: push.id).waiting == 2)
      #expect(try WaitingDelivery.nextDue(database, push: push.id, after: noon + 10) == noon + 90)
      let results = devices.map { DeliveryResult(deviceID: $0, platform: .ios, outcome: .accepted, at: noon) }
      for _ in 1...2 { _ = try Delivery.record(database, push: push.id, results, now: noon) }
      let push = try Push.get(database, id: push.id)
      #expect(push.waiting == 0 && push.counts.accepted == 4)
      #expect(try WaitingDelivery.all(database, push: push.id, provider: .apns, limit: 9) == [])
    }
  }

  @Test("a device in flight at most once is not due, and is found after a restart")
  func onItsWay() throws {
    try withWaiting { database, push, devices in
      try WaitingDelivery.take(database, push: push.id, devices: [devices[2]])
      let due = try WaitingDelivery.due(database, push: push.id, provider: .apns, now: noon + 1e9, limit: 9)
      #expect(due.map(\.waiting.deviceID) == [devices[0]])
      #expect(
        try WaitingDelivery.interrupted(database, push: push.id, limit: 9).map(\.waiting.deviceID) == [devices[2]])
      try Push.setHandedOut(database, id: push.id, upTo: 3)
      try Push.setHandedOut(database, id: push.id, upTo: 2)
      #expect(try Push.get(database, id: push.id).handedOut == 3)
    }
  }

  @Test("a push that is over while devices wait is found; a paused one is neither unfinished nor due")
  func leftBehind() throws {
    try withWaiting { database, push, _ in
      let isPaused = try Push.move(database, id: push.id, from: [.queued], to: .paused, now: noon)
      #expect(isPaused)
      #expect(try Push.unfinished(database) == [])
      #expect(try Push.due(database, now: noon + 1) == [])
      #expect(try WaitingDelivery.leftBehind(database) == [])
      #expect(try Push.move(database, id: push.id, from: [.paused], to: .cancelled, now: noon))
      #expect(try WaitingDelivery.leftBehind(database) == [push.id])
    }
  }
}
