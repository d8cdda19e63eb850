import Foundation
import JSON
import Model
import SQLite
import TestSupport
import Testing

@testable import Store

@Suite struct DeviceTests {
  @Test("a token that is new is added, a known one brought up to date")
  func upsert() throws {
    try withApp { database, app in
      let first = try Device.register(
        database, app: app.id, [registration(1, alias: "usr_1", tags: ["beta", "vip", "beta"], registrationID: "r1")],
        now: noon)
      guard case .added(let id) = first[0] else { throw StoreError.notFound(noun: "device", id: "added") }
      let device = try Device.get(database, id: id)
      #expect(device.token == token(1))
      #expect(device.environment == .production)
      #expect(device.platform == .ios)
      #expect(device.state == .active)
      #expect(device.alias == "usr_1")
      #expect(device.tags == ["beta", "vip"])
      #expect(device.registrationID == "r1")
      #expect(device.registeredAt == noon)
      // What is not said stays.
      let again = try Device.register(database, app: app.id, [registration(1)], now: noon + 60)
      #expect(again == [.updated(id)])
      let later = try Device.get(database, id: id)
      #expect(later.alias == "usr_1")
      #expect(later.tags == ["beta", "vip"])
      #expect(later.createdAt == noon)
      #expect(later.registeredAt == noon + 60)
      #expect(later.seenAt == noon + 60)
      #expect(try database.int("SELECT count(*) FROM devices") == 1)
    }
  }

  @Test("the same token in two apps is two devices")
  func twoApps() throws {
    try withApp { database, app in
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      try register(database, app, [registration(1)])
      try register(database, other, [registration(1)])
      #expect(try Device.find(database, app: app.id, token: token(1))?.appID == app.id)
      #expect(try Device.find(database, app: other.id, token: token(1))?.appID == other.id)
      #expect(try Device.find(database, app: other.id, token: token(2)) == nil)
    }
  }

  @Test("the timeline lists every change with old and new values")
  func timeline() throws {
    try withApp { database, app in
      let id = try register(database, app, [registration(1, alias: "usr_1", tags: ["a", "b"], registrationID: "r1")])[0]
      try register(
        database, app, [registration(1, .development, .android, alias: "usr_2", registrationID: "r2")], now: noon + 1)
      try Device.update(
        database, id: id, alias: .set(nil), tags: .set(["b", "c"]), name: .set("Anna's"), by: "anna",
        now: noon + 2)
      let events = try DeviceEvent.all(database, device: id)
      #expect(
        events.map(\.kind) == [
          .tagsChanged, .nameChanged, .aliasChanged, .registrationIDChanged, .aliasChanged, .platformChanged,
          .environmentChanged, .registered,
        ])
      #expect(events[0].detail == ["added": ["c"], "removed": ["a"], "by": "anna"])
      #expect(events[1].detail == ["from": .null, "to": "Anna's", "by": "anna"])
      #expect(events[2].detail == ["from": "usr_2", "to": .null, "by": "anna"])
      #expect(events[4].detail == ["from": "usr_1", "to": "usr_2"])
      #expect(events[6].detail == ["from": "production", "to": "development"])
      #expect(events.map(\.at) == [noon + 2, noon + 2, noon + 2, noon + 1, noon + 1, noon + 1, noon + 1, noon])
      #expect(try DeviceEvent.all(database, device: id, limit: 2).count == 2)
      #expect(try Device.get(database, id: id).tags == ["b", "c"])
    }
  }

  @Test("of a timeline the last changes are kept, also when two become one")
  func longTimeline() throws {
    try withApp { database, app in
      let ids = try register(database, app, [registration(1), registration(2)])
      for number in 1...DeviceEvent.limit + 5 {
        for id in ids {
          try Device.update(
            database, id: id, name: .set("n\(number)"), by: "anna", now: noon + TimeInterval(number))
        }
      }
      func count(_ id: Int64) throws -> Int {
        try database.int("SELECT count(*) FROM device_events WHERE device_id = ?", id)
      }
      #expect(try count(ids[0]) == DeviceEvent.limit && count(ids[1]) == DeviceEvent.limit)
      let events = try DeviceEvent.all(database, device: ids[0])
      #expect(events.first?.detail?["to"] == .string("n\(DeviceEvent.limit + 5)"))
      #expect(events.last?.detail?["to"] == "n6", "the oldest are gone")
      try Device.merge(database, ids[1], into: ids[0], by: "anna", now: noon + 1000)
      #expect(try count(ids[0]) == DeviceEvent.limit && count(ids[1]) == 0)
      #expect(try DeviceEvent.all(database, device: ids[0]).first?.kind == .merged)
    }
  }

  @Test("nothing changed is no line")
  func quietTimeline() throws {
    try withApp { database, app in
      let same = registration(1, alias: "usr_1", tags: ["a"], registrationID: "r1")
      let id = try register(database, app, [same])[0]
      try register(database, app, [same, same], now: noon + 1)
      #expect(try DeviceEvent.all(database, device: id).map(\.kind) == [.registered])
    }
  }

  @Test("a registration id moves with the installation")
  func registrationIDMoves() throws {
    try withApp { database, app in
      let ids = try register(
        database, app, [registration(1, registrationID: "r1"), registration(2, registrationID: "r1")])
      #expect(try Device.get(database, id: ids[0]).registrationID == nil)
      #expect(try Device.find(database, app: app.id, registrationID: "r1")?.id == ids[1])
      #expect(
        try DeviceEvent.all(database, device: ids[0]).first?.detail == ["from": "r1", "to": .null])
      try register(database, app, [registration(1, registrationID: "r1")], now: noon + 1)
      #expect(try Device.find(database, app: app.id, registrationID: "r1")?.id == ids[0])
    }
  }

  @Test("limits reject one row and leave the others")
  func limits() throws {
    try withApp { database, app in
      let rows = (1...4).map { registration($0, alias: $0 == 3 ? "usr_other" : "usr_1") }
      let limits = DeviceLimits(devicesPerAlias: 2, tagsPerDevice: 2)
      let results = try Device.register(database, app: app.id, rows, limits: limits, now: noon)
      #expect(results.map { $0.deviceID != nil } == [true, true, true, false])
      guard case .rejected(let problem) = results[3] else { return }
      #expect(problem.code == "device.alias_full")
      #expect(problem.text.contains("2 devices"))
      // A device that has the alias already is not one more.
      let again = try Device.register(database, app: app.id, [rows[0]], limits: limits, now: noon)
      #expect(again[0].deviceID != nil)
      #expect(throws: Problem.self) {
        try Device.update(
          database, id: 1, tags: .set(["a", "b", "c"]), limits: limits, by: "anna", now: noon)
      }
      #expect(try Device.get(database, id: 1).tags == [])
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("removing a device takes its tags and timeline, and its number is not used again")
  func delete() throws {
    try withApp { database, app in
      let id = try register(database, app, [registration(1, tags: ["a"])])[0]
      try Device.update(database, id: id, name: .set("x"), by: "anna", now: noon)
      #expect(try Device.delete(database, id: id, now: noon))
      #expect(try !Device.delete(database, id: id, now: noon))
      #expect(try Device.find(database, id: id) == nil)
      #expect(try DeviceEvent.all(database, device: id) == [])
      #expect(try register(database, app, [registration(2)]) == [id + 1])
      #expect(try Tag.list(database, app: app.id, limit: 10).items.map(\.members) == [0])
      #expect(throws: StoreError.notFound(noun: "device", id: "\(id)")) {
        try Device.update(database, id: id, name: .set("x"), by: "anna", now: noon)
      }
    }
  }

  private func verdict(_ id: Int64, _ state: DeviceState, since: Date, reason: String = "Unregistered") -> TokenVerdict
  {
    TokenVerdict(deviceID: id, state: state, reason: reason, since: since, push: "p1")
  }

  @Test("a 410 counts only if the provider's time is later than the registration")
  func declaredDead() throws {
    try withApp { database, app in
      let ids = try register(database, app, (1...4).map { registration($0, tags: ["a"]) }, now: noon)
      let changed = try TokenVerdict.carryOut(
        database,
        [
          verdict(ids[0], .dead, since: noon - 1), verdict(ids[1], .dead, since: noon),
          verdict(ids[2], .dead, since: noon + 1), verdict(ids[3], .quarantined, since: noon + 1),
          verdict(999, .dead, since: noon + 1),
        ], now: noon + 2)
      #expect(changed == [ids[2], ids[3]])
      let dead = try Device.get(database, id: ids[2])
      #expect(dead.state == .dead)
      #expect(dead.stateReason == "Unregistered")
      #expect(dead.stateAt == noon + 2)
      let event = try #require(try DeviceEvent.all(database, device: ids[2]).first)
      #expect(event.kind == .declaredDead)
      #expect(
        event.detail
          == ["push": "p1", "reason": "Unregistered", "since": .integer((noon + 1).milliseconds)])
      // Never better than it was: a quarantine does not wake the dead.
      #expect(
        try TokenVerdict.carryOut(database, [verdict(ids[2], .quarantined, since: noon + 3)], now: noon + 3) == [])
      #expect(
        try TokenVerdict.carryOut(database, [verdict(ids[3], .dead, since: noon + 3)], now: noon + 3) == [ids[3]])
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("a new registration brings a dead token to life, and a person frees a quarantined one")
  func revived() throws {
    try withApp { database, app in
      let ids = try register(database, app, [registration(1), registration(2)])
      try TokenVerdict.carryOut(
        database,
        [
          verdict(ids[0], .dead, since: noon + 1),
          verdict(ids[1], .quarantined, since: noon + 1, reason: "BadDeviceToken"),
        ], now: noon + 1)
      try register(database, app, [registration(1)], now: noon + 2)
      let revived = try Device.get(database, id: ids[0])
      #expect(revived.state == .active)
      #expect(revived.stateReason == nil)
      #expect(revived.stateAt == nil)
      let event = try #require(try DeviceEvent.all(database, device: ids[0]).first)
      #expect(event.kind == .revived)
      #expect(event.detail == ["from": "dead", "reason": "Unregistered"])
      let moved = try Device.release(database, id: ids[1], environment: .development, by: "anna", now: noon + 3)
      #expect(moved.state == .active)
      #expect(moved.environment == .development)
      #expect(moved.registeredAt == noon)
      #expect(
        try DeviceEvent.all(database, device: ids[1]).map(\.kind)
          == [.released, .environmentChanged, .quarantined, .registered])
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("counters agree with the rows after any history", arguments: [1, 2, 3] as [UInt64])
  func counters(seed: UInt64) throws {
    try withApp { database, app in
      var dice = SeededNumbers(seed: seed)
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      let tags = ["a", "b", "c", "d"]
      for step in 0..<400 {
        let now = noon + Double(step)
        let number = Int.random(in: 1...40, using: &dice)
        let id = Int64(Int.random(in: 1...60, using: &dice))
        let some = tags.filter { _ in Bool.random(using: &dice) }
        switch Int.random(in: 0..<8, using: &dice) {
        case 0...3:
          var row = registration(
            number, Bool.random(using: &dice) ? .production : .development,
            Bool.random(using: &dice) ? .ios : .android)
          row.tags = Bool.random(using: &dice) ? .keep : .set(some)
          try register(database, Bool.random(using: &dice) ? app : other, [row], now: now)
        case 4:
          if try Device.find(database, id: id) != nil {
            try Device.update(database, id: id, tags: .set(some), by: "x", now: now)
          }
        case 5: try Device.delete(database, id: id, now: now)
        case 6: try TokenVerdict.carryOut(database, [verdict(id, .quarantined, since: now)], now: now)
        default: try TokenVerdict.carryOut(database, [verdict(id, .dead, since: now)], now: now)
        }
      }
      #expect(try database.int("SELECT count(*) FROM devices") > 10)
      #expect(try DeviceCounters.faults(database) == 0)
      try database.run("UPDATE device_counters SET count = count + 3")
      #expect(try DeviceCounters.faults(database) > 0)
    }
  }

  @Test("an error in the middle of a batch leaves neither rows nor counts")
  func failedBatch() throws {
    try withApp { database, app in
      #expect(throws: SQLiteError.self) {
        try Device.register(database, app: 99, [registration(1), registration(2)], now: noon)
      }
      #expect(try database.int("SELECT count(*) FROM devices") == 0)
      #expect(try DeviceCounters.faults(database) == 0)
      try register(database, app, [registration(1)])
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("tags are listed by name with their members")
  func tags() throws {
    try withApp { database, app in
      try register(
        database, app,
        [registration(1, tags: ["beta", "vip"]), registration(2, tags: ["beta"]), registration(3, tags: ["北京"])])
      try TokenVerdict.carryOut(database, [verdict(1, .dead, since: noon + 1)], now: noon + 1)
      let all = try Tag.list(database, app: app.id, limit: 2)
      #expect(all.items.map(\.name) == ["beta", "vip"])
      #expect(all.items.map(\.members) == [2, 1])
      #expect(all.items.map(\.active) == [1, 0])
      let rest = try Tag.list(database, app: app.id, cursor: all.next, limit: 2)
      #expect(rest.items.map(\.name) == ["北京"])
      #expect(rest.next == nil)
      #expect(try Tag.list(database, app: app.id, prefix: "v", limit: 2).items.map(\.name) == ["vip"])
    }
  }
}
