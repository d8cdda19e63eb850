import Foundation
import HTTPServer
import JSON
import Model
import Providers
import SQLite
import Store
import Testing

@testable import Console

@Suite("Pages and API: incidents")
struct IncidentPageTests {
  private static func draft(_ title: String) -> PushDraft {
    var draft = ConsoleScene.draft
    draft.notification.title = title
    return draft
  }

  /// An app whose `count` devices are all refused with a reason, but for the last three.
  private func refused(
    _ scene: ConsoleScene, _ reason: String, status: Int = 400, count: Int, but accepted: Int = 3
  ) async throws {
    let app = try await scene.addApp()
    let devices = try await scene.addDevices(count, of: app)
    let last = try #require(devices.last).id - Int64(accepted)
    // A refusal counts for tokens that were registered before it.
    _ = try await scene.store.write { try $0.run("UPDATE devices SET registered_at = registered_at - 86400000") }
    scene.provider.answer { member in
      member.id <= last
        ? .outcome(.rejected(status: status, reason: reason, tokenInvalidSince: nil)) : .outcome(.accepted)
    }
    try await scene.send(Self.draft("We have moved"))
    scene.provider.answer { _ in .outcome(.accepted) }
  }

  @Test("842 of 845 failed: the Overview says so, also after many pushes that are accepted")
  func wrongEnvironment() async throws {
    try await ConsoleScene.with { scene in
      try await refused(scene, "BadDeviceToken", count: 845)
      var anna = try await scene.signIn(.operator)
      for number in 0..<12 { try await scene.send(Self.draft("Later \(number)")) }
      let overview = ScenePage(try await anna.get("/"))
      #expect(overview.text.contains("1 thing needs attention") && !overview.text.contains("All clear"))
      #expect(!overview.text.contains("Most urgent"), "the only row says it")
      #expect(overview.text.contains("Shop, development: 842 of 845 devices are parked"))
      #expect(overview.links.contains("/incidents/1"))
      #expect(overview.text.contains("1 open"), "the navigation counts it")
      let list = ScenePage(try await anna.get("/incidents"))
      #expect(list.text.contains("1 incident is open") && list.links.contains("/incidents/1"))
      let page = ScenePage(try await anna.get("/incidents/1"))
      for text in ["842", "of 845", "BadDeviceToken", "App developers", "We have moved", "opened this incident"] {
        #expect(page.text.contains(text), "\(text)")
      }
      let parked = "/devices?app=com.example.shop&environment=development&state=quarantined"
      #expect(page.links.contains(parked) && page.links.contains { $0.hasPrefix("/pushes/") && $0.contains("reason=") })
      #expect(ScenePage(try await anna.get(parked)).text.contains("Parked"))
      _ = try await anna.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      #expect(ScenePage(try await anna.get("/incidents/1")).text.contains("845 台设备中有 842 台已停用"))
    }
  }

  @Test("the page moves the parked devices where their tokens belong; then the incident closes by itself")
  func move() async throws {
    try await ConsoleScene.with { scene in
      try await refused(scene, "BadDeviceToken", count: 8)
      var anna = try await scene.signIn(.operator)
      let page = ScenePage(try await anna.get("/incidents/1"))
      #expect(page.text.contains("Move 5 devices to production") && page.links.contains("/incidents/1/move"))
      let push = try #require(try await scene.store.read { try Push.list($0, PushFilter(), limit: 1).items.first }).uid
      let delivery = "/pushes/\(push)/deliveries/1"
      #expect(ScenePage(try await anna.get(delivery)).links.contains("/pushes/\(push)/move"))
      let asked = ScenePage(try await anna.get("/incidents/1/move"))
      #expect(asked.text.contains("Move 5 devices to production") && asked.text.contains("Type the app’s name"))
      let refusal = try await anna.post("/incidents/1/move", [("confirm", "shop")])
      #expect(refusal.status == 422 && ScenePage(refusal).failedFields == ["confirm"])
      #expect(try await scene.count("devices WHERE environment = 2") == 0)
      #expect(try await anna.post("/incidents/1/move", [("confirm", "Shop")]).location == "/incidents/1")
      #expect(try await scene.count("devices WHERE environment = 2 AND state = 1") == 5)
      #expect(try await scene.audit("incident.move").map(\.subject) == ["incident 1"])
      let after = ScenePage(try await anna.get("/incidents/1")).text
      #expect(after.contains("Closed automatically: no devices are parked any more"))
      #expect(!after.contains("Move 5 devices to production"))
      #expect(after.contains("operator@example.com moved the parked devices"))
      #expect(try await anna.get("/incidents/1/move").text.contains("No devices to move"))
      var lena = try await scene.signIn(.viewer)
      #expect(try await lena.get("/incidents/1/move").status == 403)
      #expect(!ScenePage(try await lena.get(delivery)).links.contains("/pushes/\(push)/move"))
      #expect(!ScenePage(try await lena.get("/incidents/1")).links.contains("/incidents/1/move"))
    }
  }

  @Test("devices that an incident's page moved are moved back from there, on the page and by API")
  func moveBack() async throws {
    try await ConsoleScene.with { scene in
      try await refused(scene, "BadDeviceToken", count: 8)
      var anna = try await scene.signIn(.operator)
      let asked = ScenePage(try await anna.get("/incidents/1/move"))
      #expect(asked.text.contains("the incident’s page lets you move them back to development"))
      _ = try await anna.post("/incidents/1/move", [("confirm", "Shop")])
      let after = ScenePage(try await anna.get("/incidents/1"))
      #expect(after.text.contains("Move 5 devices back to development"))
      #expect(after.text.contains("moved the parked devices to production"))
      #expect(after.links.contains("/incidents/1/move?back=1"))
      let back = ScenePage(try await anna.get("/incidents/1/move?back=1"))
      #expect(back.text.contains("parked in development again") && !back.text.contains("Type the app’s name"))
      // A device that somebody moved by hand since then stays where it is.
      try await scene.store.write { database in
        try Device.release(database, id: 1, environment: .development, by: "x", now: ConsoleScene.noon)
        try Device.release(database, id: 1, environment: .production, by: "x", now: ConsoleScene.noon)
      }
      #expect(try await anna.post("/incidents/1/move", [("back", "1")]).location == "/incidents/1")
      #expect(try await scene.count("devices WHERE environment = 2") == 1)
      #expect(try await scene.count("devices WHERE environment = 1 AND state = 2") == 4)
      #expect(try await scene.audit("incident.move_back").map(\.subject) == ["incident 1"])
      let parked = ScenePage(try await anna.get("/incidents/1")).text
      #expect(parked.contains("moved the devices back to development"))
      #expect(parked.contains("Move 4 devices to production"))
      // Four are too few to open an incident by their number, but this one closed only because they were moved.
      #expect(parked.contains("Closes automatically when") && !parked.contains("Closed automatically"))
      let story = ["moved the devices back", "The cause came back"].map { parked.range(of: $0)?.lowerBound }
      #expect(try #require(story[0]) > #require(story[1]), "newest first: it opened because of the move")
      let document = try OpenAPIDocument()
      for (word, environment) in [("move", "production"), ("move-back", "development")] {
        let answer = try await scene.call(.post, "/api/v1/incidents/1/\(word)", as: .operator)
        #expect(answer.json == ["devices": 4, "environment": .string(environment)], "\(answer.text)")
        let path = "/api/v1/incidents/{id}/\(word)"
        #expect(try document.errors(answer, to: .init(method: "POST", path: path)) == [])
      }
      #expect(try await scene.call(.post, "/api/v1/incidents/1/move-back", as: .operator).status == 409)
      #expect(try await scene.call(.post, "/api/v1/incidents/1/move", as: .viewer).status == 403)
      #expect(try await scene.audit("incident.move").count == 2)
    }
  }

  @Test("the page says what speaks for the cause, and draws when devices were missed")
  func evidence() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(6, of: app)
      _ = try await scene.store.write { database in
        try database.run("UPDATE devices SET registered_at = registered_at - 86400000")
        try AuditEntry.add(
          database,
          NewAuditEntry(
            actor: "grace", action: "device.import", subject: "devices", detail: ["added": 6, "updated": 0]),
          now: ConsoleScene.noon.addingTimeInterval(-86_400 + 30))
      }
      for hour in 0..<4 {
        // Each push finds the devices that the one before did not.
        scene.provider.answer { member in
          member.id % 4 == Int64(hour)
            ? .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)) : .outcome(.accepted)
        }
        try await scene.send(Self.draft("Number \(hour)"))
        scene.clock.advance(3600)
      }
      // The engine's clock stands still.
      _ = try await scene.store.write { try $0.run("UPDATE incident_pushes SET last_at = last_at + push_id * 3600000") }
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/incidents/1"))
      for text in [
        "The token belongs to the other environment, or it is invalid", "Evidence",
        "All 6 devices registered within minutes of each other", "grace imported devices: 6 added, 0 updated · ",
        "were accepted in development before", "No parked device was ever in production", "Missed devices over time",
      ] {
        #expect(page.text.contains(text), "\(text) in \(page.text)")
      }
      let cause = page.tags.filter { $0.name == "h3" }.map(\.text)
      #expect(cause == ["The token belongs to the other environment, or it is invalid"])
      #expect(page.tags.contains { $0.name == "rect" && $0.attributes["class"] == "f-fail" })
    }
  }

  @Test("961 of 964 devices parked without a push that says so: the Overview does")
  func parked() async throws {
    try await ConsoleScene.with { scene in
      let devices = try await scene.addDevices(964, of: scene.addApp(), environment: .production)
      _ = try await scene.store.write { database in
        try TokenVerdict.carryOut(
          database,
          devices.prefix(961).map {
            TokenVerdict(
              deviceID: $0.id, state: .quarantined, reason: "BadDeviceToken",
              since: ConsoleScene.noon.addingTimeInterval(1), push: nil)
          }, now: ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.viewer)
      let overview = ScenePage(try await anna.get("/"))
      #expect(overview.text.contains("Shop, production: 961 of 964 devices are parked"))
      #expect(!overview.text.contains("All clear"))
    }
  }

  @Test("an operator assigns, snoozes, closes with a remark and reopens; a viewer reads")
  func acts() async throws {
    try await ConsoleScene.with { scene in
      try await refused(scene, "PayloadTooLarge", status: 413, count: 5, but: 1)
      var eve = try await scene.signIn(.viewer)
      let read = ScenePage(try await eve.get("/incidents/1"))
      #expect(
        read.text.contains("4 missed deliveries in 1 push")
          && read.forms.allSatisfy {
            $0.attributes["action"]?.hasPrefix("/incidents") != true
          })
      var lin = try await scene.signIn(.operator)
      #expect(try await lin.post("/incidents/1/assign", [("person", "operator@example.com")]).status == 303)
      let answer = try await lin.get("/incidents/1")
      let assigned = ScenePage(answer)
      // In the page's head, before what the incident is about.
      let head = ScenePage(answer.text.components(separatedBy: "<dl class=\"stats\">").first ?? "")
      #expect(
        head.forms.compactMap { $0.attributes["action"] }.filter { $0.hasPrefix("/incidents") }
          == ["assign", "snooze", "close"].map { "/incidents/1/\($0)" })
      let current = head.tags.filter { $0.name == "button" && $0.attributes["aria-current"] != nil }
      #expect(current.map { $0.attributes["value"] } == ["operator@example.com"])
      #expect(head.tags.contains { $0.attributes["aria-label"] == "Assigned to: operator@example.com" })
      #expect(assigned.text.contains("operator@example.com assigned it to operator@example.com"))
      #expect(try await lin.post("/incidents/1/assign", [("person", "")]).status == 303)
      #expect(ScenePage(try await lin.get("/incidents/1")).text.contains("operator@example.com unassigned it"))
      let wrong = try await lin.post("/incidents/1/assign", [("person", "nobody@example.com")])
      #expect(wrong.status == 422 && ScenePage(wrong).text.contains("There is no person"))
      let mute = try await lin.post("/incidents/1/close", [("remark", " ")])
      #expect(mute.status == 422 && ScenePage(mute).error("remark").contains("Enter why"))
      let opened = ScenePage(mute).tags.filter { $0.name == "details" && $0.attributes["open"] != nil }
      #expect(opened.count == 1, "the menu with the error")
      #expect(try await lin.post("/incidents/1/snooze", [("hours", "7")]).status == 422)
      #expect(try await lin.post("/incidents/1/snooze", [("hours", "8")]).location == "/incidents/1")
      let calm = ScenePage(try await lin.get("/"))
      #expect(calm.text.contains("Nothing new needs attention") && calm.text.contains("1 incident is snoozed"))
      #expect(ScenePage(try await lin.get("/incidents?state=snoozed")).links.contains("/incidents/1"))
      scene.clock.advance(8 * 3600)
      #expect(ScenePage(try await lin.get("/")).links.contains("/incidents/1"), "the snooze is over")
      #expect(try await lin.post("/incidents/1/close", [("remark", "Shortened the text")]).status == 303)
      #expect(ScenePage(try await lin.get("/")).text.contains("All clear"))
      let closed = ScenePage(try await lin.get("/incidents/1"))
      #expect(closed.text.contains("Closed by operator@example.com: Shortened the text"))
      #expect(try await lin.post("/incidents/1/reopen").status == 303)
      #expect(ScenePage(try await lin.get("/")).links.contains("/incidents/1"))
      let activity = ScenePage(try await lin.get("/activity"))
      for text in ["opened incident", "assigned incident", "snoozed incident", "closed incident", "reopened incident"] {
        #expect(activity.text.contains(text), "\(text)")
      }
      #expect(activity.links.contains("/incidents/1"))
      #expect(try await lin.get("/incidents/99").status == 404)
      #expect(try await lin.post("/incidents/99/reopen").status == 404)
    }
  }

  @Test("the API lists with filters, shows one with its pushes, and changes; metrics count")
  func api() async throws {
    try await ConsoleScene.with { scene in
      try await refused(scene, "PayloadTooLarge", status: 413, count: 5, but: 1)
      func list(_ query: String) async throws -> [Int64] {
        let answer = try await scene.call(.get, "/api/v1/incidents\(query)", as: .viewer)
        return answer.json?["items"]?.array?.compactMap { $0["id"]?.integer } ?? []
      }
      #expect(try await list("") == [1])
      #expect(try await list("?state=open&app=com.example.shop") == [1])
      #expect(try await list("?state=closed") == [])
      let one = try await scene.call(.get, "/api/v1/incidents/1", as: .viewer).json
      #expect(one?["reason"] == "PayloadTooLarge" && one?["devices"] == 4 && one?["kind"] == "request")
      #expect(one?["recent_pushes"]?.array?.count == 1)
      #expect(try await scene.call(.get, "/metrics", as: .viewer).text.contains("signalbox_incidents_open 1\n"))
      let patch = "/api/v1/incidents/1"
      #expect(try await scene.call(.patch, patch, as: .viewer, json: ["state": "open"]).status == 403)
      let mute = try await scene.call(.patch, patch, as: .operator, json: ["state": "closed"])
      #expect(mute.status == 422 && mute.codes == ["incident.remark"])
      let closed = try await scene.call(.patch, patch, as: .operator, json: ["state": "closed", "remark": "Done"])
      #expect(closed.json?["state"] == "closed" && closed.json?["closed_by"] == "token operator")
      #expect(try await scene.call(.get, "/metrics", as: .viewer).text.contains("signalbox_incidents_open 0\n"))
      #expect(try await scene.call(.patch, patch, as: .operator, json: ["state": "snoozed"]).status == 422)
      let open = try await scene.call(.patch, patch, as: .operator, json: ["state": "open", "assignee": .null])
      #expect(open.json?["state"] == "open" && open.json?["remark"] == .null)
    }
  }

  @Test("history, page and chart count failed and unregistered apart")
  func oneCount() async throws {
    try await ConsoleScene.with { scene in
      try await refused(scene, "Unregistered", status: 410, count: 1, but: 0)
      var anna = try await scene.signIn(.viewer)
      let history = ScenePage(try await anna.get("/pushes"))
      #expect(history.text.contains("1 of 1 unregistered") && !history.text.contains("failed"))
      let push = try #require(history.links.first { $0.hasPrefix("/pushes/") && $0 != "/pushes/new" })
      let page = ScenePage(try await anna.get(push))
      #expect(page.text.contains("The app is no longer on the device") && !page.text.contains("failed on its device"))
      let overview = ScenePage(try await anna.get("/"))
      #expect(overview.text.contains("0 failed, 1 unregistered"))
      #expect(overview.text.contains("All clear"), "one removed app is no incident")
      _ = try await anna.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      let chinese = ScenePage(try await anna.get(push))
      #expect(chinese.text.contains("设备上已没有此应用") && !chinese.text.contains("共 1 台"))
    }
  }
}
