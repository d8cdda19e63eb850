import Delivery
import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import TestSupport
import Testing

@testable import Console

@Suite("Segments: pages, API, sending, explaining")
struct SegmentTests {
  private static let path = "/api/v1/apps/com.example.shop/segments"

  private static func add(
    _ scene: ConsoleScene, _ app: App, _ name: String, _ rule: JSONValue
  ) async throws -> Segment {
    let read = try SegmentRule(json: rule)
    return try await scene.store.write {
      try Segment.add($0, app: app.id, name: name, read, by: "ada", now: ConsoleScene.noon)
    }
  }

  private static func push(_ audience: JSONValue, _ also: [String: JSONValue] = [:]) -> JSONValue {
    var members: [String: JSONValue] = [
      "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": audience,
      "notification": ["title": "Hello"],
    ]
    members.merge(also) { $1 }
    return .object(members)
  }

  @Test("the list opens on the app that is used, not on the first by name")
  func usualApp() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addApp("com.example.another", name: "Another")
      try await scene.addDevices(2, of: app)
      var ben = try await scene.signIn(.operator)
      #expect(ScenePage(try await ben.get("/audiences")).values("app") == [ConsoleScene.bundleID])
      #expect(
        ScenePage(try await ben.get("/audiences?app=com.example.another")).values("app") == ["com.example.another"])
    }
  }

  @Test("a form makes, changes and deletes a segment; errors stand at their fields, and what was typed stays")
  func form() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(4, of: app)
      var ben = try await scene.signIn(.operator)
      #expect(try await ben.get("/audiences").text.contains("No segments yet"))
      let fields = [("app", ConsoleScene.bundleID), ("name", "Odd, and new"), ("environment", ""), ("tag", "odd")]
      let wrong = try await ben.post(
        "/audiences/segments",
        fields + [("version_from", "new"), ("language", "vietnamese"), ("last_seen", "over_days"), ("days", "x")])
      #expect(wrong.status == 422)
      for field in ["version_from", "language", "days"] {
        #expect(wrong.text.contains("id=\"\(field)-error\""), "\(field)")
      }
      #expect(ScenePage(wrong).values("tag") == ["odd"] && ScenePage(wrong).values("days") == ["x"])
      #expect(try await ben.post("/audiences/segments", Array(fields.prefix(3))).text.contains("The rule is empty"))

      let made = try await ben.post("/audiences/segments", fields)
      #expect(made.location == "/audiences/segments/1", "\(made.text)")
      #expect(try await ben.post("/audiences/segments", fields).text.contains("already has this name"))
      let page = ScenePage(try await ben.get("/audiences/segments/1"))
      let links = page.links
      #expect(links.contains("/devices/2") && links.contains("/devices/4") && !links.contains("/devices/1"))
      let list = try await ben.get("/audiences?app=com.example.shop")
      let tabs = list.text.components(separatedBy: "<nav class=\"tabs\"").dropFirst().first ?? ""
      #expect(ScenePage(tabs.components(separatedBy: "</nav>")[0]).text == "Segments 1 Tags 1 Aliases 1")
      #expect(list.text.contains("tagged odd") && list.text.contains("50.0% of Shop"))
      let sent = ["tag": ["odd"], "segment": ["Odd, and new"]] as JSONValue
      let audience = try #require(Audience(draft: ["audience": sent]))
      try await scene.store.write {
        try AudienceUse.note($0, app: app.id, audience, now: ConsoleScene.noon - 3 * 86_400)
      }
      for kind in ["segments", "tags"] {
        let sent = ScenePage(try await ben.get("/audiences?kind=\(kind)")).text
        #expect(sent.contains("Last sent") && sent.contains("3 days ago") && sent.contains("1–1 of 1"), "\(kind)")
      }
      #expect(try await !ben.get("/audiences?kind=aliases").text.contains("3 days ago"))
      let edit = ScenePage(try await ben.get("/audiences/segments/1/edit"))
      #expect(edit.values("name") == ["Odd, and new"] && edit.values("tag") == ["odd"])
      let changed = fields.dropFirst() + [("platforms", "android")]
      #expect(try await ben.post("/audiences/segments/1", Array(changed)).status == 303)
      let rule = try await scene.store.read { try Segment.get($0, id: 1).rule }
      #expect(rule.platforms == [.android] && rule.tag == ["odd"])
      #expect(try await ben.get("/audiences/segments/1").text.contains("No device belongs to this segment now."))
      #expect(try await ben.post("/audiences/segments/1/remove", []).status == 303)
      #expect(try await ben.get("/audiences/segments/1").status == 404)
      let actions = try await scene.audit().map(\.action).filter { $0.hasPrefix("segment.") }
      #expect(actions == ["segment.delete", "segment.update", "segment.create"])
      var vera = try await scene.signIn(.viewer)
      #expect(try await !vera.get("/audiences").text.contains("/audiences/segments/new"))
    }
  }

  @Test("a schedule looks its segment up when it is due; until then the name stays, and a deletion says what it breaks")
  func schedule() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(4, of: app)
      let segment = try await Self.add(scene, app, "Odd", ["tag": ["odd"]])
      let daily: [String: JSONValue] = ["repeat": ["every": "day", "at": "13:00", "time_zone": "UTC"]]
      let answer = try await scene.call(
        .post, "/api/v1/pushes", as: .operator, json: Self.push(["segment": ["Odd"]], daily))
      #expect(answer.status == 202, "\(answer.text)")
      let uid = try #require(answer.json?["id"]?.string)
      var ben = try await scene.signIn(.operator)
      let renamed = try await ben.post("/audiences/segments/1", [("name", "Even"), ("tag", "odd")])
      #expect(renamed.status == 422 && renamed.text.contains("Schedules and waiting pushes (1)"))
      #expect(ScenePage(try await ben.get("/audiences/segments/1/remove")).links.contains("/schedules/\(uid)"))

      // The rule of the day counts, not that of the schedule's creation.
      let wider = try SegmentRule(json: ["alias": "anna"])
      try await scene.store.write { _ = try segment.change($0, name: "Odd", wider, now: ConsoleScene.noon) }
      let schedule = try await scene.store.read { try #require(try Schedule.find($0, uid: uid)) }
      let due = ConsoleScene.noon + 3600
      let made = try #require(try await scene.console.intake.carryOn(schedule: schedule.id, now: due))
      let draft = try #require(made.draft)
      #expect(draft.audience.json == ["segment": ["Odd"]])
      let count = try await scene.console.intake.check(draft, now: due, within: nil).count
      #expect(count?.reachable == 1)

      #expect(try await ben.post("/audiences/segments/1/remove", []).status == 303)
      let failed = try #require(
        try await scene.console.intake.carryOn(schedule: schedule.id, now: due + 86_400))
      #expect(failed.state == .failed && failed.error?.contains("no segment “Odd”") == true, "\(failed.error ?? "")")
    }
  }

  @Test("the send form, the history and the search know segments")
  func send() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(4, of: app)
      _ = try await Self.add(scene, app, "Odd, or so", ["tag": ["odd"]])
      var ben = try await scene.signIn(.operator)
      let fresh = ScenePage(try await ben.get("/pushes/new?app=com.example.shop&segment=Odd%2C%20or%20so"))
      #expect(fresh.values("audience") == ["segment"] && fresh.values("segment") == ["\"Odd, or so\""])
      let form = [
        ("app", "com.example.shop"), ("environment", "development"), ("platforms", "ios"), ("audience", "segment"),
        ("segment", "\"Odd, or so\""), ("body", "For some"), ("idempotency_key", "k"),
      ]
      let review = try await ben.post("/pushes/preview", form)
      #expect(review.text.contains("Send to 2 devices") && review.text.contains("segment Odd, or so"), "\(review.text)")
      let missing = form.map { $0.0 == "segment" ? ("segment", "\"Odd, or sa\"") : $0 }
      let warned = try await ben.post("/pushes/preview", missing)
      #expect(warned.text.contains("Did you mean “Odd, or so”?") && !warned.text.contains("Send to"))
      let sent = try await ben.post("/pushes", form)
      let uid = try #require(sent.location?.split(separator: "/").last.map(String.init))
      #expect(try await scene.finished(uid).counts.accepted == 2)
      #expect(ScenePage(try await ben.get("/pushes?q=odd%2C%20or")).links.contains("/pushes/\(uid)"))
      #expect(ScenePage(try await ben.get("/search?q=odd")).links.contains("/audiences/segments/1"))
      let copy = ScenePage(try await ben.get("/pushes/new?from=\(uid)"))
      #expect(copy.values("segment") == ["\"Odd, or so\""])
    }
  }

  @Test("suggestions name what begins with the text, with counts")
  func suggestions() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(4, of: app)
      try await scene.store.write { _ = try $0.run("UPDATE devices SET name = 'Ada’s iPhone' WHERE id = 3") }
      _ = try await Self.add(scene, app, "Odd", ["tag": ["odd"]])
      var vera = try await scene.signIn(.viewer)
      func ask(_ browser: inout SceneBrowser, _ kind: String, _ text: String, app: String = "com.example.shop")
        async throws -> [JSONValue]
      {
        let answer = try await browser.get("/audiences/suggestions?kind=\(kind)&app=\(app)&q=\(text)")
        return try #require(answer.json?["items"]?.array)
      }
      let two: JSONValue = "2 devices"
      for (kind, text, value, detail) in [
        ("tags", "o", "odd", two), ("segments", "O", "Odd", two), ("aliases", "an", "anna", "1 device"),
      ] as [(String, String, JSONValue, JSONValue)] {
        let items = try await ask(&vera, kind, text)
        #expect(items.map { $0["value"] } == [value] && items.map { $0["detail"] } == [detail], "\(kind): \(items)")
        #expect(try await ask(&vera, kind, "zz").isEmpty)
        #expect(try await ask(&vera, kind, text, app: "com.example.none").isEmpty)
      }
      let device = try #require(try await ask(&vera, "devices", "ada").first)
      #expect(device["value"] == .string(ConsoleScene.token(2).hexadecimal) && device["label"] == "Ada’s iPhone")
    }
  }

  @Test("without script, each field of tags offers tags of its app")
  func tagsOffered() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(2, of: app)
      var ben = try await scene.signIn(.operator)
      var pages: [(String, SceneAnswer)] = []
      for path in [
        "/pushes/new", "/devices/new", "/devices/1", "/phones/new", "/apps/\(app.id)/topics/audience",
        "/audiences/segments/new?app=\(app.bundleID)",
      ] { pages.append((path, try await ben.get(path))) }
      for action in ["add_tags", "remove_tags"] {
        pages.append((action, try await ben.post("/devices/batch", [("action", action), ("device", "1")])))
      }
      for (path, answer) in pages {
        let tags = ScenePage(answer).tags
        let fields = tags.filter { $0.attributes["data-pick"] == "tags" }
        #expect(!fields.isEmpty && fields.allSatisfy { $0.attributes["list"] == "tag-names" }, "\(path)")
        let lists = tags.indices.filter { tags[$0].attributes["id"] == "tag-names" }
        let names = lists.flatMap { tags[$0...].dropFirst().prefix { $0.name != "/datalist" } }
        #expect(lists.count == 1 && names.compactMap { $0.attributes["value"] } == ["odd"], "\(path)")
      }
    }
  }

  @Test("an audience is explained on a page, and a device by its name, alias or token; several are offered")
  func explanation() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(4, of: app)
      try await scene.store.write { database in
        try database.run("UPDATE devices SET name = 'Ada’s iPhone' WHERE id = 1")
        try database.run("UPDATE devices SET name = 'Ada’s iPad' WHERE id = 2")
      }
      _ = try await Self.add(scene, app, "Odd", ["tag": ["odd"]])
      var vera = try await scene.signIn(.viewer)
      let address = "/audiences/explanation?app=com.example.shop&environment=development&audience=segment&segment=Odd"
      let page = try await vera.get(address + "&device=anna")
      #expect(page.status == 200 && page.text.contains("2 devices get this push"), "\(page.text)")
      #expect(page.text.contains("Ada’s iPhone is left out") && page.text.contains("Odd: tagged odd"))
      for asking in [page, try await vera.get("/audiences/segments/1")] {
        let tags = ScenePage(asking).tags
        let offered = try #require(tags.firstIndex { $0.attributes["id"] == "device-names" })
        let names = tags[offered...].dropFirst().prefix { $0.name == "option" || $0.name == "/option" }
        #expect(Set(names.compactMap { $0.attributes["value"] }) == ["Ada’s iPad", "Ada’s iPhone"])
        #expect(tags.contains { $0.attributes["data-pick"] == "devices" && $0.attributes["list"] == "device-names" })
      }
      let form = [
        ("app", "com.example.shop"), ("environment", "development"), ("audience", "segment"), ("segment", "Odd"),
      ]
      let several = try await vera.post("/audiences/explanation", form + [("device", "Ada")])
      #expect(several.text.contains("Several devices match"))
      // It has an address of its own, which another language leads to.
      #expect(try ScenePage(several).values("return") == [#require(vera.lastShown)])
      let shown = try #require(vera.lastShown)
      _ = try await vera.post("/language", [("lang", "zh-Hans"), ("return", shown)])
      let chinese = try await vera.get(shown)
      #expect(chinese.text.contains("有多台设备符合") && ScenePage(chinese).values("device") == ["Ada"])
      _ = try await vera.post("/language", [("lang", "en"), ("return", "/")])
      let chosen = try await vera.post("/audiences/explanation", form + [("device", "Ada"), ("device_id", "2")])
      #expect(chosen.text.contains("Ada’s iPad gets this push"))
      #expect(try await vera.get(address + "&device=nobody").text.contains("No devices match."))
      #expect(try await vera.get("/audiences/explanation").location == "/pushes/new")
      #expect(!several.text.contains("Back to edit"))
      // From the send form: nothing that was typed is lost.
      var olga = try await scene.signIn(.operator)
      let written = form + [("title", "Half a"), ("body", "sentence")]
      #expect(try await olga.post("/audiences/explanation", written).text.contains("Back to edit"))
      let back = try await olga.post("/pushes/preview", written + [("device", "Ada"), ("edit", "1")])
      #expect(back.text.contains("value=\"Half a\"") && back.text.contains("sentence"), "\(back.text)")
      let empty = try await vera.post("/audiences/explanation", [("app", ConsoleScene.bundleID)])
      #expect(empty.status == 422 && empty.text.contains("Choose an audience"))
    }
  }

  @Test("the explanation of the API agrees with what a push is sent to, for random audiences")
  func agreement() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      var dice = SeededNumbers(seed: 5)
      try await scene.addDevices(24, of: app)
      try await scene.addDevices(24, of: app, environment: .production, tag: "prod")
      // Android has no credential here, so its devices are skipped.
      try await scene.store.write { database in
        try database.run("UPDATE devices SET alias = 'usr_' || (id % 7)")
        let tokens = (0..<6).map { number in
          var new = Registration(
            token: DeviceToken(bytes: Array("phone-\(number):APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfG".utf8)),
            environment: .development, platform: .android)
          new.tags = .set(number.isMultiple(of: 2) ? ["odd"] : [])
          return new
        }
        _ = try Device.register(database, app: app.id, tokens, now: ConsoleScene.noon)
        let parked = [2, 5, 9].map {
          TokenVerdict(
            deviceID: $0, state: $0 == 5 ? .dead : .quarantined, reason: "x", since: ConsoleScene.noon + 1, push: nil)
        }
        try TokenVerdict.carryOut(database, parked, now: ConsoleScene.noon + 1)
      }
      _ = try await Self.add(scene, app, "Odd", ["tag": ["odd"], "platforms": ["ios"]])
      _ = try await Self.add(scene, app, "Some", ["alias": "usr_*3", "last_seen": ["within_days": 30]])
      let parts: [(String, [JSONValue])] = [
        ("tag", ["odd", "prod"]), ("tag_not", ["odd"]), ("segment", ["Odd", "Some"]),
        ("alias", ["usr_1", "usr_3", "x"]),
      ]
      for _ in 0..<25 {
        var audience: [String: JSONValue] = [:]
        for (name, values) in parts where Bool.random(using: &dice) {
          audience[name] = .array(values.filter { _ in Bool.random(using: &dice) })
        }
        audience = audience.filter { $0.value != [] }
        let asked: JSONValue = audience.isEmpty ? "all" : .object(audience)
        let question: JSONValue = [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": asked,
        ]
        let explained = try await scene.call(.post, "/api/v1/audience/explain", as: .viewer, json: question)
        let reached = try #require(explained.json?["reached"]?.integer, "\(explained.text)")
        let before = scene.provider.sent.count
        let options: [String: JSONValue] = ["options": ["allow_empty_audience": true]]
        let push = try await scene.finished(scene.send(Self.push(asked, options)))
        let sent = Set(scene.provider.sent[before...])
        let android = try await scene.store.read { database in
          Set(
            try Device.list(database, DeviceFilter(app: app.id), limit: 100).items
              .filter { $0.platform == .android }.map(\.id))
        }
        #expect(Int(reached) == sent.subtracting(android).count, "\(asked): \(explained.text) \(push.counts)")
        let checked = try await scene.call(.post, "/api/v1/audience/count", as: .viewer, json: question)
        let steps = try #require(explained.json?["steps"]?.array)
        #expect(steps.first { $0["step"] == "registered" }?["remain"] == checked.json?["reachable"], "\(asked)")
      }
    }
  }

  @Test("the API says when nothing is known of the device that is asked for")
  func unknownDevice() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      let question: JSONValue = [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
      ]
      let path = "/api/v1/audience/explain"
      let known = try await scene.call(.post, path, as: .viewer, json: question.with("device", "anna"))
      #expect(known.status == 200 && known.json?["verdict"]?["reached"] == true, "\(known.text)")
      let unknown = try await scene.call(.post, path, as: .viewer, json: question.with("device", "nobody"))
      #expect(unknown.status == 422 && unknown.fields == ["device"] && unknown.text.contains("nobody"))
    }
  }

  @Test("the API compatible with JPush takes one segment by its name")
  func jpush() async throws {
    try await JPushScene.with { jpush in
      try await jpush.addDevices(["a"], ["b"], ["a"])
      _ = try await Self.add(jpush.scene, jpush.app, "All a", ["tag": ["a"]])
      var body = JPushScene.push.object ?? [:]
      body["audience"] = ["segment": ["All a"]]
      let sent = try await jpush.call(.post, "/v3/push", .object(body))
      #expect(sent.status == 200, "\(sent.text)")
      let id = try #require(sent.json?["msg_id"]?.string.flatMap { Int64($0) })
      let uid = try await jpush.store.read { try Push.get($0, id: id).uid }
      #expect(try await jpush.scene.finished(uid).counts.accepted == 2)
      body["audience"] = ["segment": ["None"]]
      let none = try await jpush.call(.post, "/v3/push", .object(body))
      #expect(none.status == 400 && none.jpushCode == 1003 && none.text.contains("None"), "\(none.text)")
    }
  }
}
