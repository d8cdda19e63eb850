import Foundation
import Model
import SQLite
import Store
import Testing

@Suite struct AppTests {
  @Test("an app is added, found, changed, and there is one of each bundle id")
  func crud() throws {
    try withApp { database, app in
      #expect(app.bundleID == "com.example.shop")
      #expect(app.createdAt == noon)
      #expect(try App.find(database, bundleID: "com.example.shop") == app)
      #expect(try App.find(database, bundleID: "com.example.none") == nil)
      #expect(throws: StoreError.taken(noun: "app", field: "bundle ID")) {
        try App.add(database, bundleID: "com.example.shop", name: "Other", now: noon)
      }
      let changed = try App.update(
        database, id: app.id, name: "Store", packageName: "com.example.shop.android", aliasRule: "jpush")
      #expect(changed.name == "Store")
      #expect(changed.packageName == "com.example.shop.android")
      #expect(changed.aliasRule == "jpush")
      try App.add(database, bundleID: "com.example.alpha", name: "alpha", now: noon)
      #expect(try App.all(database).map(\.name) == ["alpha", "Store"])
      #expect(throws: StoreError.notFound(noun: "app", id: "99")) { try App.get(database, id: 99) }
    }
  }

  @Test("the usual app is that of the newest push, else the one with the most devices, else the first")
  func usual() throws {
    try withApp { database, app in
      let alpha = try App.add(database, bundleID: "com.example.alpha", name: "alpha", now: noon)
      let apps = try App.all(database)
      #expect(try App.usual(database, of: []) == nil)
      #expect(try App.usual(database, of: apps) == alpha)
      try register(database, app, [registration(1)])
      #expect(try App.usual(database, of: apps) == app)
      _ = try Push.create(database, newPush(alpha), now: noon)
      #expect(try App.usual(database, of: apps) == alpha)
    }
  }

  @Test("the overview has device counts and credentials")
  func overview() throws {
    try withApp { database, app in
      try register(
        database, app,
        [registration(1), registration(2, .development), registration(3, .production, .android), registration(4)])
      try Credential.bind(
        database, app: app.id, provider: .apns, environment: .production, certificate: nil, endpoint: "simulator",
        now: noon)
      let overview = try #require(try AppOverview.find(database, id: app.id))
      #expect(overview.count() == 4)
      #expect(overview.count(environment: .production) == 3)
      #expect(overview.count(environment: .production, platform: .ios, state: .active) == 2)
      #expect(overview.count(state: .dead) == 0)
      #expect(overview.credentials.map(\.endpoint) == ["simulator"])
      #expect(try AppOverview.all(database) == [overview])
      #expect(try AppOverview.find(database, id: 99) == nil)
    }
  }

  @Test("removing an app takes along what belongs to it, and nothing else")
  func delete() throws {
    try withApp { database, app in
      let other = try App.add(database, bundleID: "com.example.other", name: "Other", now: noon)
      for app in [app, other] {
        let ids = try register(database, app, [registration(1, tags: ["beta"]), registration(2, tags: ["beta"])])
        try Device.update(database, id: ids[0], name: .set("phone"), by: "anna", now: noon)
        let push = try Push.create(database, newPush(app, uid: app.name), now: noon)
        _ = try Delivery.record(
          database, push: push.id,
          [DeliveryResult(deviceID: ids[0], platform: .ios, outcome: .accepted, at: noon, durationMilliseconds: 3)],
          now: noon)
        try Push.setTarget(database, id: push.id, [Reach(.ios, .apns): 2], lastDeviceID: ids[1])
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: .production, certificate: nil, endpoint: "apple",
          now: noon)
      }
      let belongings = try App.belongings(database, id: app.id)
      #expect(belongings.devices == 2)
      #expect(belongings.pushes == 1)
      #expect(belongings.credentials == 1)
      #expect(try App.delete(database, id: app.id))
      #expect(try !App.delete(database, id: app.id))
      for (table, left) in [
        ("apps", 1), ("devices", 2), ("tags", 1), ("device_tags", 2), ("tag_counters", 1), ("device_counters", 1),
        ("device_events", 1), ("pushes", 1), ("deliveries", 1), ("push_reasons", 1), ("push_latencies", 1),
        ("push_targets", 1), ("credentials", 1),
      ] {
        #expect(try database.int("SELECT count(*) FROM \(table)") == left, "\(table)")
      }
      #expect(try database.integrityCheck() == [])
      #expect(try DeviceCounters.faults(database) == 0)
    }
  }
}
