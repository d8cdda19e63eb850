import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite("Registration by apps")
struct AppRegistrationTests {
  /// Registers as the app with this token.
  @discardableResult
  private func take(
    _ database: Database, _ app: App, _ registration: Registration, at date: Date = noon,
    _ change: (inout AppRegistration) -> Void = { _ in }
  ) throws -> RegistrationCode {
    var input = AppRegistration(app: app.id, registration)
    change(&input)
    return try AppRegistration.register(database, [input], now: date)[0]
  }

  private func events(_ database: Database, _ device: Device) throws -> [DeviceEvent.Kind] {
    try DeviceEvent.all(database, device: device.id).reversed().map(\.kind)
  }

  @Test("login, logout, and a start without a user: the alias changes only when it is named")
  func users() throws {
    try withApp { database, app in
      #expect(try take(database, app, registration(1, alias: "anna", tags: ["beta"])) == .success)
      #expect(try take(database, app, registration(1), at: noon + 1) == .success)
      let device = try #require(try Device.find(database, app: app.id, token: token(1)))
      #expect(device.alias == "anna" && device.tags == ["beta"] && device.registeredAt == noon + 1)
      var logout = registration(1)
      logout.alias = .set(nil)
      #expect(try take(database, app, logout, at: noon + 2) == .success)
      #expect(try take(database, app, registration(1, alias: "ben"), at: noon + 3) == .success)
      let after = try Device.get(database, id: device.id)
      #expect(after.alias == "ben" && after.tags == ["beta"])
      #expect(try events(database, after) == [.registered, .aliasChanged, .aliasChanged])
      let change = try #require(try DeviceEvent.all(database, device: device.id).first)
      #expect(change.detail?["from"] == .null && change.detail?["to"] == "ben")
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("tags are set, added and removed in one call, and details stay until they are replaced")
  func tags() throws {
    try withApp { database, app in
      try take(database, app, registration(1, tags: ["a", "b"])) { $0.details = DeviceDetails(appVersion: "1.0") }
      try take(database, app, registration(1)) {
        ($0.addedTags, $0.removedTags) = (["c"], ["a"])
        $0.details = DeviceDetails(timeZone: "Asia/Shanghai", language: "zh-Hans")
      }
      let device = try #require(try Device.find(database, app: app.id, token: token(1)))
      #expect(device.tags == ["b", "c"])
      #expect(
        try DeviceDetails.find(database, device: device.id)
          == DeviceDetails(appVersion: "1.0", timeZone: "Asia/Shanghai", language: "zh-Hans"))
      var limits = DeviceLimits()
      limits.tagsPerDevice = 2
      #expect(
        try take(database, app, registration(1)) { ($0.addedTags, $0.limits) = (["d"], limits) } == .deviceTags)
      #expect(try Device.get(database, id: device.id).tags == ["b", "c"])
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("a refreshed token moves the device with its user, tags, ID and history")
  func refresh() throws {
    try withApp { database, app in
      try take(database, app, registration(1, alias: "anna", tags: ["beta"], registrationID: "r1"))
      let before = try #require(try Device.find(database, app: app.id, token: token(1)))
      try take(database, app, registration(2), at: noon + 5) { $0.previousToken = token(1) }
      let after = try #require(try Device.find(database, app: app.id, token: token(2)))
      #expect(after.id == before.id && after.alias == "anna" && after.tags == ["beta"] && after.registrationID == "r1")
      #expect(try Device.find(database, app: app.id, token: token(1)) == nil)
      let event = try #require(try DeviceEvent.all(database, device: after.id).first)
      #expect(event.kind == .tokenChanged && event.detail?["from"] == .string(token(1).abbreviated))
      #expect(event.detail?["to"] == .string(token(2).abbreviated))
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("if both tokens are known, one device is left, with what it did not have itself")
  func merge() throws {
    try withApp { database, app in
      try take(database, app, registration(1, alias: "anna", tags: ["old"], registrationID: "r1"))
      try take(database, app, registration(2, tags: ["new"]))
      try take(database, app, registration(2)) { $0.previousToken = token(1) }
      #expect(try database.int("SELECT count(*) FROM devices") == 1)
      let device = try #require(try Device.find(database, app: app.id, token: token(2)))
      #expect(device.alias == "anna" && device.tags == ["new", "old"] && device.registrationID == "r1")
      #expect(try events(database, device).contains(.tokenChanged))
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("a previous token of another app, or of nobody, moves nothing")
  func foreign() throws {
    try withApp { database, app in
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      try take(database, other, registration(1, alias: "anna"))
      try take(database, app, registration(2)) { $0.previousToken = token(1) }
      try take(database, app, registration(3)) { $0.previousToken = token(99) }
      #expect(try Device.find(database, app: other.id, token: token(1))?.alias == "anna")
      #expect(try Device.find(database, app: app.id, token: token(2))?.alias == nil)
      #expect(try database.int("SELECT count(*) FROM devices") == 3)
    }
  }

  @Test("a registration ID is not taken from a device that is alive, but from a dead one")
  func registrationID() throws {
    try withApp { database, app in
      try take(database, app, registration(1, alias: "anna", registrationID: "r1"))
      #expect(try take(database, app, registration(2, registrationID: "r1")) == .success, "the same answer")
      #expect(try Device.find(database, app: app.id, registrationID: "r1")?.token == token(1))
      try database.run("UPDATE devices SET state = 3 WHERE registration_id = 'r1'")
      try database.run("UPDATE device_counters SET state = 3, count = 1 WHERE count = 2")
      try database.run("INSERT INTO device_counters VALUES (?, 2, 1, 1, 1, 1)", app.id)
      try take(database, app, registration(2, registrationID: "r1"))
      #expect(try Device.find(database, app: app.id, registrationID: "r1")?.token == token(2))
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("an alias takes as many devices as its rule allows; its own device counts once")
  func aliasLimit() throws {
    try withApp { database, app in
      let limits = DeviceLimits(devicesPerAlias: 2)
      for number in 1...2 { try take(database, app, registration(number, alias: "anna")) { $0.limits = limits } }
      #expect(try take(database, app, registration(3, alias: "anna")) { $0.limits = limits } == .aliasFull)
      #expect(try Device.find(database, app: app.id, token: token(3)) == nil)
      #expect(try take(database, app, registration(2, alias: "anna")) { $0.limits = limits } == .success)
      let moved = try take(database, app, registration(4, alias: "anna")) {
        ($0.limits, $0.previousToken) = (limits, token(2))
      }
      #expect(moved == .success)
    }
  }

  @Test("several registrations of one transaction see each other, and a device is removed by its token")
  func together() throws {
    try withApp { database, app in
      let inputs = [
        AppRegistration(app: app.id, registration(1, alias: "anna", tags: ["a"])),
        AppRegistration(app: app.id, registration(1, alias: "ben")), AppRegistration(app: app.id, registration(2)),
      ]
      #expect(try AppRegistration.register(database, inputs, now: noon) == [.success, .success, .success])
      #expect(try Device.find(database, app: app.id, token: token(1))?.alias == "ben")
      try AppRegistration.remove(database, app: app.id, token: token(1), now: noon)
      try AppRegistration.remove(database, app: app.id, token: token(9), now: noon)
      #expect(try database.fetchAll("SELECT token FROM devices") { DeviceToken(bytes: $0.blob(0)) } == [token(2)])
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }
}

@Suite("Client keys")
struct ClientKeyTests {
  @Test("an app has up to ten keys; each stays valid until it is removed, and goes with the app")
  func keys() throws {
    try withApp { database, app in
      let first = try ClientKey.add(database, app: app, by: "anna", now: noon)
      let second = try ClientKey.add(database, app: app, by: "anna", now: noon + 1)
      #expect(first.key.wholeMatch(of: #/sbc_[A-Za-z0-9_-]{24}/#) != nil && first.key.utf8.count == ClientKey.length)
      #expect(first.key != second.key)
      #expect(try ClientKey.all(database, app: app.id) == [second, first])
      try ClientKey.touch(database, key: first.key, now: noon + 100)
      try ClientKey.touch(database, key: first.key, now: noon + 130)
      #expect(try ClientKey.find(database, key: first.key)?.lastUsedAt == noon + 100, "to the minute")
      #expect(try ClientKey.remove(database, app: app, key: first.key, by: "ben", now: noon))
      #expect(try !ClientKey.remove(database, app: app, key: first.key, by: "ben", now: noon))
      for _ in 0..<9 { _ = try ClientKey.add(database, app: app, by: "anna", now: noon) }
      #expect(throws: StoreError.self) { try ClientKey.add(database, app: app, by: "anna", now: noon) }
      let actions = try AuditEntry.list(database, limit: 3).items.map(\.entry.action)
      #expect(actions.allSatisfy { $0 == "client_key.create" })
      try App.delete(database, id: app.id)
      #expect(try database.int("SELECT count(*) FROM client_keys") == 0)
    }
  }
}
