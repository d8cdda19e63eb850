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

  @Test("a phone in production that reports development stays there, and its timeline says so once")
  func staysInProduction() throws {
    try withApp { database, app in
      var android = registration(2, .production, .android)
      #expect(try take(database, app, registration(1)) == .success && take(database, app, android) == .success)
      for second in 1...3 {
        let answer = try take(database, app, registration(1, .development, alias: "anna"), at: noon + Double(second))
        #expect(answer == .success, "nobody learns what is known")
      }
      let device = try #require(try Device.find(database, app: app.id, token: token(1)))
      #expect(device.environment == .production && device.alias == "anna")
      #expect(try events(database, device).count { $0 == .environmentKept } == 1)
      // Another token of the same phone: APNs tells the environments apart, FCM does not.
      (android.token, android.environment) = (token(4), .development)
      #expect(try take(database, app, android) { $0.previousToken = token(2) } == .success)
      #expect(try Device.find(database, app: app.id, token: token(4))?.environment == .production)
      #expect(
        try take(database, app, registration(3, .development)) { $0.previousToken = token(1) } == .success)
      #expect(try Device.find(database, app: app.id, token: token(3))?.environment == .development)
      #expect(try take(database, app, registration(3, .production)) == .success)
      #expect(try Device.find(database, app: app.id, token: token(3))?.environment == .production, "into it")
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

  @Test(
    "only devices that can be reached count for an alias: those that are retired or parked keep nobody out",
    arguments: [DeviceState.quarantined, .dead])
  func aliasOfTheGone(state: DeviceState) throws {
    try withApp { database, app in
      let limits = DeviceLimits(devicesPerAlias: 2)
      func register(_ number: Int, _ change: (inout AppRegistration) -> Void = { _ in }) throws -> RegistrationCode {
        try take(database, app, registration(number, alias: "anna")) {
          $0.limits = limits
          change(&$0)
        }
      }
      func lose(_ number: Int) throws {
        try DeviceWriter.run(database, now: noon) { writer in
          let device = try #require(try Device.find(database, app: app.id, token: token(number)))
          let before = try #require(try writer.find(device.id))
          var kind = before.kind
          kind.state = state.rawValue
          try writer.change(before, to: DeviceWriter.Target(kind: kind))
        }
      }
      for number in 1...2 { #expect(try register(number) == .success) }
      for number in 1...2 { try lose(number) }
      for number in 3...4 { #expect(try register(number) == .success, "two phones can be reached") }
      #expect(try register(5) == .aliasFull)
      // One that comes back counts again.
      #expect(try register(1) == .aliasFull && register(5) { $0.previousToken = token(1) } == .aliasFull)
      #expect(try register(3) == .success, "it has the alias already")
      try lose(3)
      #expect(try register(1) == .success && register(3) == .aliasFull)
      let imported = try Device.register(
        database, app: app.id, [registration(6, alias: "anna")], limits: limits, now: noon)
      #expect(imported[0].deviceID == nil)
      let parked = try #require(try Device.find(database, app: app.id, token: token(2)))
      try Device.update(database, id: parked.id, alias: .set("anna"), limits: limits, by: "x", now: noon)
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("who sends to a token that was replaced means the device that has another one now")
  func replaced() throws {
    try withApp { database, app in
      func successor(_ number: Int) throws -> DeviceToken? {
        try ReplacedToken.successor(database, of: token(number), app: app.id)
      }
      try take(database, app, registration(1, alias: "anna"))
      try take(database, app, registration(2)) { $0.previousToken = token(1) }
      try take(database, app, registration(3)) { $0.previousToken = token(2) }
      #expect(try (1...3).map(successor) == [token(3), token(3), nil])
      var rule = Audience.Rule()
      rule.deviceToken = [token(1), token(9)]
      let draft = PushDraft(
        app: app.bundleID, environment: .production, platforms: [.ios], audience: .rule(rule),
        notification: Notification())
      #expect(try Device.unknown(database, of: draft, app: app.id).map(\.token) == [token(9)])
      let query = AudienceQuery(
        app: app.id, environment: .production, platforms: [.ios], audience: .rule(rule), now: noon)
      #expect(try query.page(database, after: 0, limit: 9).map(\.token) == [token(3)])
      #expect(try query.count(database).reachable == 1)
      // Another phone that goes up in it brings its tokens along.
      try take(database, app, registration(4))
      try take(database, app, registration(5)) { $0.previousToken = token(4) }
      try take(database, app, registration(3)) { $0.previousToken = token(5) }
      #expect(try [4, 5].map(successor) == [token(3), token(3)])
      let other = try register(database, app, [registration(6)])[0]
      let device = try #require(try Device.find(database, app: app.id, token: token(3)))
      try Device.merge(database, other, into: device.id, by: "anna", now: noon)
      #expect(try successor(6) == token(3))
      // A token that an app registers again is its own.
      try take(database, app, registration(1, alias: "ben"))
      #expect(try successor(1) == nil)
      for number in 10...40 {
        try take(database, app, registration(number + 1), at: noon + Double(number)) {
          $0.previousToken = number == 10 ? token(3) : token(number)
        }
      }
      #expect(try database.int("SELECT count(*) FROM replaced_tokens") == ReplacedToken.perDevice)
      #expect(try successor(40) == token(41) && successor(2) == nil, "the oldest are forgotten")
      try Device.delete(database, id: device.id, now: noon)
      #expect(try database.int("SELECT count(*) FROM replaced_tokens") == 0)
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
