import Foundation
import JSON
import Model
import SQLite
import Testing

@testable import Store

@Suite("The push service of a device")
struct DeviceProviderTests {
  /// Two iPhones and two Android phones, one of each through JPush.
  private func devices() -> [Registration] {
    var all = [
      registration(1, .production, .ios, tags: ["a"]), registration(2, .production, .android, tags: ["a"]),
    ]
    for (id, platform) in [("13165ffa4e0b5fb6ba3", Platform.ios), ("13165ffa4e0b5fb6ba4", .android)] {
      var one = Registration(
        token: DeviceToken(bytes: Array(id.utf8)), environment: .production, platform: platform)
      one.provider = .jpush
      one.registrationID = .set(id)
      one.tags = .set(["a"])
      all.append(one)
    }
    return all
  }

  private func query(_ app: App, _ audience: Audience = .all, _ provider: ProviderKind? = nil) -> AudienceQuery {
    var query = AudienceQuery(
      app: app.id, environment: .production, platforms: Set(Platform.allCases), audience: audience)
    query.provider = provider
    return query
  }

  @Test("is the platform's own unless it names JPush, and counted by")
  func counts() throws {
    try withApp { database, app in
      try register(database, app, devices())
      let found = try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 10).items
      #expect(found.map(\.provider) == [.apns, .fcm, .jpush, .jpush])
      var rule = Audience.Rule()
      rule.tag = ["a"]
      var other = rule
      other.tagNot = ["none"]
      // From the counters of the app and of the tag, and device by device.
      for audience in [Audience.all, .rule(rule), .rule(other)] {
        let count = try query(app, audience).count(database)
        #expect(ProviderKind.allCases.map(count.reachable) == [1, 1, 2])
        #expect(count.reachable(Platform.ios) == 2 && count.reachable(Reach(.ios, .jpush)) == 1)
        for provider in ProviderKind.allCases {
          let page = try query(app, audience, provider).page(database, after: 0, limit: 10)
          #expect(page.map(\.id) == found.filter { $0.provider == provider }.map(\.id))
        }
      }
      let paged = try query(app, .all, .jpush).pageQuery(database, after: 0, upTo: .max, limit: 10, nil)
      let steps = try plan(database, try #require(paged))
      #expect(steps.contains { $0.contains("devices_provider") })
      #expect(try DeviceCounters.faults(database) == 0)
      let overview = try #require(try AppOverview.find(database, id: app.id))
      #expect(overview.count(provider: .jpush) == 2 && overview.count(platform: .ios) == 2)
    }
  }

  @Test("an iPhone can be FCM's; each service's own devices are found along an index, FCM's on both platforms")
  func iPhonesOfFCM() throws {
    try withApp { database, app in
      var phone = Registration(
        token: DeviceToken(bytes: Array("fWx9:APA91bHun4MxP5egoKMwt2KZ".utf8)), environment: .production, platform: .ios
      )
      phone.provider = .fcm
      phone.tags = .set(["a"])
      let ids = try register(database, app, devices() + [phone])
      let device = try Device.get(database, id: ids[4])
      #expect(device.provider == .fcm && device.platform == .ios && device.tokenText.hasPrefix("fWx9:"))
      var rule = Audience.Rule()
      rule.tag = ["a"]
      for audience in [Audience.all, .rule(rule)] {
        let count = try query(app, audience).count(database)
        #expect(ProviderKind.allCases.map(count.reachable) == [1, 2, 2] && count.reachable(Reach(.ios, .fcm)) == 1)
        #expect(try query(app, audience, .fcm).page(database, after: 0, limit: 9).map(\.id) == [ids[1], ids[4]])
        #expect(try query(app, audience, .apns).page(database, after: 0, limit: 9).map(\.id) == [ids[0]])
      }
      var filter = DeviceFilter()
      filter.provider = .fcm
      #expect(try Device.list(database, filter, limit: 9).items.map(\.id) == [ids[4], ids[1]])
      let paged = try query(app, .all, .fcm).pageQuery(database, after: 0, upTo: .max, limit: 10, nil)
      let steps = try plan(database, try #require(paged))
      #expect(steps.contains { $0.contains("devices_provider") } && steps.contains { $0.contains("devices_kind") })
      phone.provider = nil
      phone.token = token(9)
      try register(database, app, [phone])
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("changes with a new registration, and the counters follow")
  func changes() throws {
    try withApp { database, app in
      let id = try register(database, app, devices())[2]
      var again = devices()[2]
      again.provider = nil
      try register(database, app, [again])
      #expect(try Device.get(database, id: id).provider == .apns)
      #expect(try DeviceCounters.faults(database) == 0)
      try Device.release(database, id: id, environment: .development, by: "anna", now: noon)
      #expect(try DeviceCounters.faults(database) == 0)
      try Device.delete(database, id: id, now: noon)
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }

  @Test("a file in use keeps its devices, counters and results")
  func migration() throws {
    let database = try Database(path: ":memory:")
    defer { database.close() }
    let steps = Schema.migrator.migrations
    let index = try #require(steps.firstIndex { $0.id == Schema.deviceProviders.id })
    try Migrator(applicationID: Schema.applicationID, Array(steps[..<index])).migrate(database, at: 0)
    try database.script(
      """
      INSERT INTO apps(id, bundle_id, name, created_at) VALUES (1, 'com.example.shop', 'Shop', 0);
      INSERT INTO devices(app_id, environment, platform, state, token, created_at, registered_at, seen_at)
        VALUES (1, 2, 1, 1, x'01', 0, 0, 0), (1, 2, 2, 1, x'02', 0, 0, 0);
      INSERT INTO device_counters VALUES (1, 2, 1, 1, 1), (1, 2, 2, 1, 1);
      """)
    try Schema.migrator.migrate(database, at: 1)
    let found = try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 10).items
    #expect(found.map(\.provider) == [.apns, .fcm])
    #expect(try DeviceCounters.faults(database) == 0)
  }

  @Test("is read from JSON: with JPush the registration ID is the token, in either field")
  func input() throws {
    let id = "13165ffa4e0b5fb6ba3"
    func read(_ members: [String: JSONValue]) throws(Problems) -> Registration {
      let all: [String: JSONValue] = ["app": "com.example.shop", "environment": "production", "platform": "ios"]
      return try DeviceInput(json: .object(all.merging(members) { $1 })).registration
    }
    for members in [
      ["token": .string(id)], ["registration_id": .string(id)],
      ["token": .string(id), "registration_id": .string(id)],
    ] as [[String: JSONValue]] {
      let found = try read(members.merging(["provider": "jpush"]) { $1 })
      #expect(found.token.text == id && found.provider == .jpush)
      guard case .set(id) = found.registrationID else {
        Issue.record("no registration ID")
        continue
      }
    }
    func problems(_ members: [String: JSONValue]) -> [String] {
      do {
        _ = try read(members)
        return []
      } catch {
        return error.all.map { "\($0.field) \($0.code)" }
      }
    }
    #expect(problems(["provider": "jpush"]) == ["token field.required"])
    let apns = JSONValue.string(String(repeating: "ab", count: 32))
    #expect(problems(["provider": "fcm", "token": apns]) == ["token token.looks_like_apns"])
    #expect(
      problems(["provider": "jpush", "token": .string(id), "registration_id": "other"])
        == ["registration_id device.other_registration_id"])
    #expect(problems(["provider": "jpush", "token": apns]) == ["token token.not_jpush"])
    #expect(problems(["provider": "jpush", "token": "a-b"]) == ["token registration_id.form"])
  }

  @Test("an export with JPush's devices can be imported again", arguments: DeviceImport.Format.allCases)
  func roundTrip(format: DeviceImport.Format) throws {
    try withApp { database, app in
      let phones = devices().filter { $0.provider == .jpush }
      try register(database, app, phones)
      let before = try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 10).items
      var parser = DeviceLineParser(format: format)
      let text =
        (DeviceExport.header(format) ?? "")
        + before.map { DeviceExport.line($0, app: app.bundleID, format) }.joined()
      let lines = try (parser.push(text.utf8) + parser.finish()).map { try $0.get() }
      for device in before { try Device.delete(database, id: device.id, now: noon) }
      try register(database, app, lines.map(\.device.registration))
      let after = try Device.list(database, DeviceFilter(), order: .oldestFirst, limit: 10).items
      #expect(after.map(\.provider) == [.jpush, .jpush] && after.map(\.token) == before.map(\.token))
      #expect(after.map(\.registrationID) == before.map(\.registrationID))
    }
  }

  @Test("JPush's messages are kept with their push, asked for at their times, and removed with it")
  func messages() throws {
    try withApp { database, app in
      let push = try Push.create(database, newPush(app), now: noon)
      let message = SentJPushMessage(
        push: push.id, id: "1828256757", firstDevice: 3, lastDevice: 9, devices: 4, sentAt: noon)
      for _ in 1...2 { try SentJPushMessage.add(database, message) }
      #expect(try SentJPushMessage.all(database, push: push.id) == [message])
      #expect(try SentJPushMessage.find(database, push: push.id, device: 9) == message)
      #expect(try SentJPushMessage.find(database, push: push.id, device: 10) == nil)
      var moments: [TimeInterval] = []
      for minute in 0...(25 * 60) {
        let now = noon + TimeInterval(minute * 60)
        let due = try SentJPushMessage.due(database, now: now)
        guard !due.isEmpty else { continue }
        moments.append(now.timeIntervalSince(noon))
        let isFirst = moments.count == 1
        try SentJPushMessage.asked(
          database, due, isFirst ? ["1828256757": ["ios_apns_sent": 4]] : [:], now: now)
      }
      #expect(moments == [120, 600, 3600, 21_600, 86_400])
      let kept = try #require(try SentJPushMessage.all(database, push: push.id).first)
      #expect(kept.result == ["ios_apns_sent": 4] && kept.resultAt == noon + 120)
      try Delivery.keep(database, names: [4: "projects/p/messages/1", 5: "projects/p/messages/2"], push: push.id)
      #expect(try Delivery.name(database, push: push.id, device: 5) == "projects/p/messages/2")
      #expect(try Delivery.name(database, push: push.id, device: 6) == nil)
      let answer = KeptAnswer(
        status: 400, fields: [.init(name: "retry-after", value: "a: b"), .init(name: "empty", value: "")],
        body: String(repeating: "é", count: 2000))
      try KeptAnswer.keep(database, [4: answer], push: push.id)
      let found = try #require(try KeptAnswer.find(database, push: push.id, device: 4))
      #expect(found == answer && found["retry-after"] == "a: b" && found.body.utf8.count == KeptAnswer.limit)
      try App.delete(database, id: app.id)
      #expect(try database.int("SELECT count(*) FROM message_names") == 0)
      #expect(try database.int("SELECT count(*) FROM delivery_answers") == 0)
      #expect(try database.int("SELECT count(*) FROM jpush_messages") == 0)
    }
  }
}
