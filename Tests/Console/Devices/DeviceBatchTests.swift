import Foundation
import JSON
import Model
import SQLite
import Store
import Testing

/// What is done with several devices of the list at once.
@Suite("Pages: several devices")
struct DeviceBatchTests {
  private static func form(_ action: String, _ ids: [Int64], _ more: [(String, String)] = []) -> [(String, String)] {
    [("action", action), ("list", "state=quarantined")] + ids.map { ("device", "\($0)") } + more
  }

  private static let confirmed = [("confirmed", "1")]

  private static func park(_ scene: ConsoleScene, _ ids: [Int64], _ state: DeviceState = .quarantined) async throws {
    try await scene.store.write { database in
      _ = try TokenVerdict.carryOut(
        database,
        ids.map {
          TokenVerdict(
            deviceID: $0, state: state, reason: state == .dead ? "Unregistered" : "BadDeviceToken",
            since: ConsoleScene.noon + 1, push: nil)
        }, now: ConsoleScene.noon + 1)
    }
  }

  static func devices(_ scene: ConsoleScene) async throws -> [Device] {
    try await scene.store.read { try Device.list($0, DeviceFilter(), order: .oldestFirst, limit: 50).items }
  }

  @Test("without an action, the devices stay ticked on the page of the list where they were")
  func unchosen() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      func ticked(_ page: ScenePage) -> Set<String> {
        Set(
          page.tags.filter { $0.attributes["name"] == "device" && $0.attributes["checked"] != nil }
            .compactMap { $0.attributes["value"] })
      }
      let query = "app=com.example.shop"
      #expect(ticked(ScenePage(try await ben.get("/devices?\(query)"))) == [])
      let answer = try await ben.post(
        "/devices/batch", [("action", ""), ("list", query), ("device", "2"), ("device", "3")])
      #expect(answer.location == "/devices?\(query)&chosen=2.3")
      let page = ScenePage(try await ben.get(try #require(answer.location)))
      #expect(page.text.contains("Choose an action first.") && ticked(page) == ["2", "3"])
      #expect(page.values("list") == [query], "what is ticked does not come back after the action")
      #expect(page.links.contains("/devices.csv?\(query)"), "and is no filter")
    }
  }

  @Test("the question can be read in another language, which answers nothing")
  func language() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let page = ScenePage(try await ben.post("/devices/batch", Self.form("delete", [2, 3])))
      let button = try #require(page.tags.first { $0.attributes["name"] == "lang" })
      #expect(button.attributes["form"] == "batch" && button.attributes["formaction"] == "/devices/batch")
      #expect(page.forms.contains { $0.attributes["id"] == "batch" })
      let chinese = try await ben.post(
        "/devices/batch", Self.form("delete", [2, 3], Self.confirmed + [("lang", "zh-Hans")]))
      #expect(chinese.status == 200 && chinese.text.contains("<html lang=\"zh-Hans\""))
      #expect(try await scene.count("devices") == 3)
    }
  }

  @Test(
    "each action asks first, names the devices, and does what it says to those that were chosen, with audit entries")
  func actions() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      try await Self.park(scene, [3])
      var ben = try await scene.signIn(.operator)
      let list = ScenePage(try await ben.get("/devices?app=com.example.shop"))
      let boxes = list.tags.filter { $0.attributes["name"] == "device" && $0.attributes["type"] == "checkbox" }
      #expect(Set(boxes.compactMap { $0.attributes["value"] }) == ["1", "2", "3", "4"])
      #expect(boxes.allSatisfy { $0.attributes["aria-label"]?.hasPrefix("Choose ") == true })
      for (action, value, entries, said) in [
        ("add_tags", "vip, beta", 2, "Tags added to 2 devices."), ("remove_tags", "vip", 2, "removed from 2 devices."),
        ("set_alias", "usr_9", 2, "Alias changed on 2"), ("reactivate", "", 1, "1 device reactivated."),
        ("delete", "", 2, "2 devices deleted."),
      ] {
        let before = try await scene.audit().count
        let asked = try await ben.post("/devices/batch", Self.form(action, [2, 3]))
        let page = ScenePage(asked)
        // The app's tags are suggested.
        let suggests = page.tags.contains { $0.attributes["data-pick"] == "tags" }
        #expect(suggests == action.hasSuffix("_tags") && asked.text.contains("picker.js") == suggests, "\(action)")
        #expect(page.forms.contains { $0.attributes["data-app"] == ConsoleScene.bundleID }, "\(action)")
        // Only the third is parked.
        let isForAll = action != "reactivate"
        #expect(asked.status == 200 && page.text.contains(isForAll ? "2 devices" : "1 device"), "\(action)")
        #expect(
          page.links.contains("/devices/2") == isForAll && page.links.contains("/devices/3"), "\(action) names them")
        #expect(page.text.contains("1 other chosen device stays as it is.") != isForAll, "\(action)")
        #expect(try await scene.audit().count == before, "\(action) asks first")
        let done = try await ben.post(
          "/devices/batch", Self.form(action, [2, 3], Self.confirmed + [("value", value)]))
        #expect(done.location == "/devices?state=quarantined", "\(action)")
        #expect(ScenePage(try await ben.get("/devices")).text.contains(said), "\(action)")
        let new = try await scene.audit().prefix(try await scene.audit().count - before)
        #expect(new.count == entries && new.allSatisfy { $0.actor == "operator@example.com" }, "\(action)")
        #expect(new.allSatisfy { $0.detail?["before"] != nil }, "\(action)")
        let devices = try await Self.devices(scene)
        let others = devices.filter { [1, 4].contains($0.id) }
        #expect(others.map(\.alias) == ["anna", nil] && others.map(\.tags) == [[], ["odd"]], "\(action)")
        let chosen = devices.filter { [2, 3].contains($0.id) }
        switch action {
        case "add_tags": #expect(chosen.map(\.tags) == [["beta", "odd", "vip"], ["beta", "vip"]])
        case "remove_tags": #expect(chosen.map(\.tags) == [["beta", "odd"], ["beta"]])
        case "set_alias": #expect(chosen.map(\.alias) == ["usr_9", "usr_9"])
        case "reactivate": #expect(chosen.map(\.state) == [.active, .active])
        default: #expect(chosen.isEmpty && devices.count == 2)
        }
      }
      var lena = try await scene.signIn(.viewer)
      #expect(try await lena.post("/devices/batch", Self.form("delete", [1], Self.confirmed)).status == 403)
      let viewed = ScenePage(try await lena.get("/devices"))
      #expect(!viewed.tags.contains { $0.attributes["name"] == "device" }, "viewers choose nothing")
    }
  }

  @Test("what does not fit is refused with the reason, and nothing changes")
  func refused() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp(aliasRule: "jpush"))
      let other = try await scene.addApp("com.example.other", name: "Other")
      try await scene.addDevices(1, of: other)
      try await Self.park(scene, [3], .dead)
      var ben = try await scene.signIn(.operator)
      let before = try await Self.devices(scene)
      for (action, ids, value, text) in [
        ("reactivate", [1], "", "None of these devices is parked"), ("merge", [1, 2, 3], "", "exactly two devices"),
        ("merge", [1, 4], "", "Only two devices of one app"), ("to_production", [1, 4], "", "devices of one app"),
        ("to_production", [1, 3], "", "Retired devices cannot be moved"),
        ("to_development", [1], "", "are there already"), ("add_tags", [1], "", "Must not be empty"),
        ("add_tags", [1], "a-b", "A tag must not contain"), ("set_alias", [1], "a-b", "An alias must not contain"),
        ("to_production", [1], "", "Shop"), ("merge", [1, 2], "", "Choose the device that stays"),
      ] as [(String, [Int64], String, String)] {
        let answer = try await ben.post(
          "/devices/batch", Self.form(action, ids, Self.confirmed + [("value", value), ("confirm", "shop")]))
        #expect(answer.status == 422, "\(action) \(ids)")
        #expect(ScenePage(answer).text.contains(text), "\(action) \(ids): \(ScenePage(answer).text)")
      }
      for (form, ticked) in [
        (Self.form("nonsense", [1]), "&chosen=1"), (Self.form("delete", []), ""), (Self.form("delete", [99]), ""),
      ] {
        let answer = try await ben.post("/devices/batch", form + Self.confirmed)
        #expect(answer.location == "/devices?state=quarantined\(ticked)")
      }
      #expect(try await Self.devices(scene) == before)
      #expect(try await scene.audit().allSatisfy { !$0.action.hasPrefix("device.") })

      // A merge keeps one token: that of the other environment would be lost.
      #expect(try await ben.post("/devices/2/release", [("environment", "production")]).status == 303)
      let merge = try await ben.post("/devices/batch", Self.form("merge", [1, 2], Self.confirmed + [("keep", "1")]))
      #expect(merge.status == 422 && ScenePage(merge).text.contains("Only two devices of one app, environment"))
      #expect(try await Self.devices(scene).count == before.count)
    }
  }

  @Test("devices move to production only with the app's name, and are active there")
  func production() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      try await Self.park(scene, [1])
      var ben = try await scene.signIn(.operator)
      let asked = try await ben.post("/devices/batch", Self.form("to_production", [1, 2]))
      #expect(asked.text.contains("env-production") && asked.text.contains("name=\"confirm\""))
      let done = try await ben.post(
        "/devices/batch", Self.form("to_production", [1, 2], Self.confirmed + [("confirm", "Shop")]))
      #expect(done.status == 303)
      let devices = try await Self.devices(scene)
      #expect(devices.allSatisfy { $0.environment == .production && $0.state == .active })
      #expect(try await scene.audit("device.move").count == 2)
    }
  }

  @Test("two devices of one installation become one: its token stays, what it lacks and the timeline come along")
  func merge() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp())
      try await scene.store.write { database in
        _ = try Device.update(
          database, id: 1, tags: .set(["vip"]), name: .set("Ada’s iPhone"), by: "ada", now: ConsoleScene.noon - 3)
        _ = try Device.update(database, id: 2, tags: .set(["odd", "new"]), by: "ben", now: ConsoleScene.noon - 5)
        try database.run("UPDATE devices SET registration_id = 'r1' WHERE id = 1")
        for (id, details) in [
          (1, DeviceDetails(appVersion: "1.0", language: "de")), (2, DeviceDetails(appVersion: "2.0")),
        ] {
          _ = try Device.update(
            database, id: Int64(id), details: DeviceDetails.Changes(details), by: "ada", now: ConsoleScene.noon - 5)
        }
      }
      var ben = try await scene.signIn(.operator)
      let done = try await ben.post(
        "/devices/batch", Self.form("merge", [1, 2], Self.confirmed + [("keep", "2")]))
      #expect(done.location == "/devices/2")
      let devices = try await Self.devices(scene)
      #expect(devices.map(\.id) == [2, 3])
      let kept = devices[0]
      #expect(kept.token == ConsoleScene.token(1) && kept.alias == "anna" && kept.name == "Ada’s iPhone")
      #expect(kept.tags == ["new", "odd", "vip"] && kept.registrationID == "r1")
      #expect(kept.details == DeviceDetails(appVersion: "2.0", language: "de"))
      let events = try await scene.store.read { try DeviceEvent.all($0, device: 2) }
      let times = events.filter { $0.kind != .registered }.map(\.at)
      #expect(times == times.sorted(by: >), "by time")
      #expect(events.contains { $0.kind == .nameChanged && $0.at == ConsoleScene.noon - 3 }, "the other's too")
      #expect(events.contains { $0.kind == .merged && $0.detail?["device"] == 1 })
      let entry = try #require(try await scene.audit("device.merge").first)
      #expect(entry.subject == "device 2" && entry.detail?["merged"]?["name"] == "Ada’s iPhone")
      let counted = try await scene.store.read { try DeviceCount.all($0).map(\.count) }
      #expect(counted == [2])
      #expect(try await scene.count("device_events WHERE device_id = 1") == 0)
    }
  }
}
