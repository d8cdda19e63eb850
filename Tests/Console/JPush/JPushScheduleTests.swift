import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@testable import Console

@Suite("JPush API: schedules")
struct JPushScheduleTests {
  /// The scene's clock shows 2026-11-20 20:00:00 in Beijing.
  private static let single: JSONValue = ["single": ["time": "2026-11-20 20:00:30"]]
  private static let daily: JSONValue = [
    "periodical": [
      "start": "2026-11-20 00:00:00", "end": "2026-12-20 00:00:00", "time": "21:00:00", "time_unit": "DAY",
      "frequency": 1,
    ]
  ]

  private static func body(_ change: [String: JSONValue] = [:]) -> JSONValue {
    let usual: [String: JSONValue] = [
      "name": "定时_1", "enabled": true, "trigger": single, "push": JPushScene.push,
    ]
    return .object(usual.merging(change) { $1 })
  }

  private static func create(_ jpush: JPushScene, _ change: [String: JSONValue] = [:]) async throws -> String {
    let answer = try await jpush.call(.post, "/v3/schedules/", body(change))
    return try #require(answer.json?["schedule_id"]?.string, "\(answer.text)")
  }

  private static func schedule(_ jpush: JPushScene, _ id: String) async throws -> Schedule {
    let found = try await jpush.store.read { try JPushSchedule.find($0, app: jpush.app.id, uid: id) }
    return try #require(found).schedule
  }

  @Test("a single schedule runs once, at its second, and names its push")
  func single() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      let id = try await Self.create(jpush)
      #expect(UUID(uuidString: id) != nil)
      let schedule = try await Self.schedule(jpush, id)
      #expect(schedule.nextAt == ConsoleScene.noon + 30 && schedule.source == .jpush)
      #expect(schedule.environment == .production)
      let made = try await jpush.scene.console.intake.carryOn(schedule: schedule.id, now: ConsoleScene.noon + 31)
      let push = try #require(made)
      let ids = try await jpush.call(.get, "/v3/schedules/\(id)/msg_ids").json
      #expect(ids == ["count": 1, "msgids": [["msg_id": .string("\(push.id)")]]])
      var vera = try await jpush.scene.signIn(.viewer)
      let found = try await vera.get("/search?q=\(push.id)")
      let page = ScenePage(try await vera.get("/pushes/\(push.uid)"))
      let links = ScenePage(found).links
      #expect(found.location == "/pushes/\(push.uid)" || links.contains("/pushes/\(push.uid)"))
      #expect(page.text.contains("msg_id"), "as that of a push that was sent at once")
      #expect(try await Self.schedule(jpush, id).state == .ended)
      #expect(try await jpush.call(.get, "/v3/schedules/\(id)").json?["enabled"] == false)
      let late = try await jpush.call(.put, "/v3/schedules/\(id)", ["name": "x"])
      #expect(late.jpushCode == 8100, "what has ended cannot be changed")
      #expect(try await jpush.call(.get, "/v3/schedules").json?["total_count"] == 0)
    }
  }

  @Test("the console says that a single schedule runs once and when, and calls it by its name in JPush")
  func shown() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices([])
      let id = try await Self.schedule(jpush, try await Self.create(jpush)).uid
      var anna = try await jpush.scene.signIn(.admin)
      for path in ["/schedules", "/schedules/\(id)"] {
        // The schedule's own page begins with the rule, and so with a capital.
        let text = ScenePage(try await anna.get(path)).text.lowercased()
        #expect(text.contains("once on 20 nov 2026, 20:00") && text.contains("asia/shanghai"), "\(path) \(text)")
        #expect(!text.contains("every day") && text.contains("定时_1"), "\(path)")
      }
      #expect(ScenePage(try await anna.get("/activity")).text.contains("定时_1"))
    }
  }

  @Test("the schedule_id and the name lead to the schedule, whose page shows both")
  func found() async throws {
    try await JPushScene.with { jpush in
      let id = try await Self.create(jpush)
      let href = "/schedules/\(try await Self.schedule(jpush, id).uid)"
      var vera = try await jpush.scene.signIn(.viewer)
      for text in [id, id.uppercased(), String(href.dropFirst("/schedules/".count))] {
        #expect(try await vera.get("/search?q=\(text)").location == href, "\(text)")
      }
      let named = ScenePage(try await vera.get("/search?q=\(SceneBrowser.escaped("定时_1"))"))
      let page = ScenePage(try await vera.get(href))
      #expect(named.links.contains(href) && page.text.contains("schedule_id") && page.text.contains(id))
    }
  }

  @Test("a schedule is read back as it was sent, paused, changed, and deleted")
  func life() async throws {
    try await JPushScene.with { jpush in
      // Nobody is there yet: the audience is asked at each run.
      let id = try await Self.create(jpush, ["trigger": Self.daily])
      let path = "/v3/schedules/\(id)"
      #expect(
        try await jpush.call(.get, path).json == [
          "schedule_id": .string(id), "name": "定时_1", "enabled": true, "trigger": Self.daily,
          "push": JPushScene.push,
        ])
      #expect(try await jpush.call(.put, path, ["enabled": false]).json?["enabled"] == false)
      #expect(try await Self.schedule(jpush, id).state == .paused)
      var later = Self.daily.object?["periodical"]?.object ?? [:]
      later["time"] = "22:30:15"
      let changed: JSONValue = ["periodical": .object(later)]
      let push: JSONValue = [
        "platform": "ios", "audience": ["tag": ["a"]], "notification": ["alert": "Changed"],
        "options": ["apns_production": "false"],
      ]
      let answer = try await jpush.call(
        .put, path, ["trigger": changed, "push": push, "name": "b", "enabled": true])
      #expect(answer.status == 200 && answer.json?["trigger"] == changed && answer.json?["push"] == push)
      #expect(answer.json?["name"] == "b" && answer.json?["enabled"] == true)
      let schedule = try await Self.schedule(jpush, id)
      #expect(schedule.nextAt == ConsoleScene.noon + 9015 && schedule.body == "Changed")
      #expect(schedule.environment == .development && schedule.draft?.platforms == [.ios])
      #expect(
        try await jpush.scene.audit().map(\.action)
          == ["schedule.resume", "schedule.update", "schedule.pause", "schedule.create", "jpush_key.create"])
      #expect(try await jpush.call(.delete, path + "/").status == 200)
      #expect(try await jpush.call(.get, path).jpushCode == 8104)
      #expect(try await jpush.call(.delete, path).status == 404)
      let ended = try await jpush.store.read { try Schedule.get($0, id: schedule.id) }
      #expect(ended.state == .ended, "the console still shows it")
      var anna = try await jpush.scene.signIn(.admin)
      let page = ScenePage(try await anna.get("/schedules/\(schedule.uid)"))
      #expect(page.text.contains("Name in JPush") && page.text.contains(id), "by the names that a server's log has")
    }
  }

  @Test("enabled decides whether a schedule that needs approval runs once it is approved")
  func approval() async throws {
    try await JPushScene.with { jpush in
      let id = try await Self.create(jpush, ["trigger": Self.daily])
      _ = try await jpush.call(.put, "/v3/schedules/\(id)", ["enabled": false])
      let app = jpush.app.id
      try await jpush.store.write { database in
        let audit = NewAuditEntry(actor: "anna", action: "", subject: "")
        _ = try App.setApproval(database, id: app, true, by: audit, now: ConsoleScene.noon)
      }
      for enabled in [true, false] {
        let change: JSONValue = ["push": JPushScene.push, "enabled": .bool(enabled)]
        let answer = try await jpush.call(.put, "/v3/schedules/\(id)", change)
        #expect(answer.status == 200, "\(answer.text)")
        let waiting = try await Self.schedule(jpush, id)
        #expect(waiting.state == .needsApproval)
        try await jpush.store.write { database in
          let root = ApprovalRule.Actor("cli root", person: nil, isCommandLine: true)
          try Approval.decide(
            database, .schedule(waiting.id), isApproved: true, by: root, now: ConsoleScene.noon)
        }
        let approved = try await Self.schedule(jpush, id)
        let expected = enabled ? ScheduleState.active : ScheduleState.paused
        #expect(approved.state == expected)
      }
    }
  }

  @Test("keys of the push without effect are named in a header, whether the schedule is made or changed")
  func unused() async throws {
    try await JPushScene.with { jpush in
      let push = JSONValue.object((JPushScene.push.object ?? [:]).merging(["options": ["classification": 1]]) { $1 })
      let made = try await jpush.call(.post, "/v3/schedules", Self.body(["push": push]))
      #expect(made.response.headers["X-Signalbox-Unused"] == "push.options.classification", "\(made.text)")
      let path = "/v3/schedules/\(try #require(made.json?["schedule_id"]?.string))"
      let changed = try await jpush.call(.put, path, ["push": push])
      #expect(changed.response.headers["X-Signalbox-Unused"] == "push.options.classification", "\(changed.text)")
      let named = try await jpush.call(.put, path, ["name": "b"])
      #expect(named.status == 200 && named.response.headers["X-Signalbox-Unused"] == nil, "\(named.text)")
    }
  }

  @Test("a wrong schedule is 8100 with what is wrong")
  func refused() async throws {
    try await JPushScene.with { jpush in
      for (change, text) in [
        (["enabled": false], "enabled"), (["enabled": .null], "enabled"), (["name": "a b"], "name"),
        (["name": .null], "name"), (["trigger": .null], "trigger"), (["push": .null], "push"),
        (["push": ["platform": "all"]], "audience"), (["trigger": ["single": ["time": "2026-11-20 19:00:00"]]], "past"),
        (["trigger": ["single": ["time": "2027-11-22 20:00:01"]]], "within a year"),
        (["push": "x"], "push must"), (["colour": 1], "colour"), (["cid": "not a cid"], "cid"),
        (["push": ["platform": "all", "audience": ["segment": ["x"]], "notification": ["alert": "x"]]], "segment"),
      ] as [([String: JSONValue], String)] {
        let answer = try await jpush.call(.post, "/v3/schedules", Self.body(change))
        #expect(answer.status == 400 && answer.jpushCode == 8100, "\(change): \(answer.text)")
        #expect(answer.json?["error"]?["message"]?.string?.contains(text) == true, "\(answer.text)")
      }
      let id = try await Self.create(jpush)
      for change in [
        ["trigger": Self.daily], ["push": ["platform": "android"]], [:], ["enabled": "yes"], ["name": 1],
        ["schedule_id": "x"], ["trigger": ["end": "2026-12-01 00:00:00"]],
      ] as [JSONValue] {
        #expect(try await jpush.call(.put, "/v3/schedules/\(id)", change).jpushCode == 8100, "\(change.text())")
      }
      for (trigger, text) in [
        (Self.daily, "cannot become"), ([:], "either single or periodical"), ([], "trigger must"),
        (["end": "2026-12-01 00:00:00"], "trigger.end"),
      ] as [(JSONValue, String)] {
        let answer = try await jpush.call(.put, "/v3/schedules/\(id)", ["trigger": trigger])
        #expect(answer.jpushCode == 8100 && answer.text.contains(text), "\(answer.text)")
      }
      let nulled: JSONValue = ["single": Self.single["single"] ?? .null, "periodical": .null]
      for _ in 0..<4 {
        let answer = try await jpush.call(.put, "/v3/schedules/\(id)", ["trigger": nulled])
        #expect(answer.status == 200, "\(answer.text)")
      }
      #expect(try await jpush.call(.put, "/v3/schedules/none", ["name": "x"]).jpushCode == 8104)
      #expect(try await jpush.call(.get, "/v3/schedules?page=x").jpushCode == 8100)
    }
  }

  @Test("a cid creates one schedule; the list has pages of 50; the hundred-and-first is refused")
  func many() async throws {
    try await JPushScene.with { jpush in
      let first = try await Self.create(jpush, ["cid": "c1"])
      #expect(try await Self.create(jpush, ["cid": "c1", "name": "other"]) == first)
      let push = JSONValue.object((JPushScene.push.object ?? [:]).merging(["cid": "c2"]) { $1 })
      for _ in 0..<49 { _ = try await Self.create(jpush, ["push": push]) }
      #expect(try await jpush.scene.count("schedules") == 50)
      let page = try await jpush.call(.get, "/v3/schedules/?page=1").json
      #expect(page?["total_count"] == 50 && page?["total_pages"] == 1 && page?["page"] == 1)
      #expect(page?["schedules"]?.array?.count == 50)
      let beyond = try await jpush.call(.get, "/v3/schedules?page=2").json
      #expect(beyond?["page"] == 2 && beyond?["schedules"] == [])
      try await jpush.store.write { database in
        let live = try JPushSchedule.live(database, app: jpush.app.id)
        let draft = try #require(live[0].schedule.draft)
        for number in 0..<50 {
          let new = NewSchedule(draft, app: jpush.app, source: .jpush, by: "x")
          let schedule = try Schedule.create(database, new, now: ConsoleScene.noon)
          try JPushSchedule(uid: "u\(number)", name: "x", trigger: Self.single, push: [:], schedule: schedule)
            .save(database)
        }
      }
      let answer = try await jpush.call(.post, "/v3/schedules", Self.body())
      #expect(answer.jpushCode == 8100 && answer.text.contains("100"))
      #expect(try await jpush.scene.count("schedules") == 100)
    }
  }
}
