import Calendar
import Foundation
import HTTPServer
import JSON
import Model
import Providers
import Reactor
import SQLite
import Simulator
import Store
import Testing

/// Rows of pushes on the history and the overview.
@Suite("Pages: rows of pushes")
struct PushHistoryTests {
  private static let api = "/api/v1/pushes"

  @Test("the undo window has words of its own, and what is over can be sent again from its row")
  func undoWindow() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      try await scene.store.write { database in
        _ = try Device.update(database, id: 1, name: .set("Ada’s iPhone"), by: "anna", now: ConsoleScene.noon)
      }
      let uid = try await scene.send([
        "app": .string(ConsoleScene.bundleID), "environment": "development",
        "audience": ["device_token": [.string(ConsoleScene.token(0).hexadecimal)]],
        "notification": ["body": "hello"], "options": ["undo_seconds": 7],
      ])
      var anna = try await scene.signIn(.operator)
      for target in ["/pushes/\(uid)", "/pushes", "/"] {
        let text = ScenePage(try await anna.get(target)).text
        #expect(text.contains("Undo possible"), "\(target)")
        #expect(!text.contains("Scheduled") && !text.contains("next run"), "\(target)")
      }
      var row = ScenePage(try await anna.get("/pushes"))
      #expect(row.text.contains("Undo") && !row.links.contains("/pushes/new?from=\(uid)"))
      #expect(row.text.contains("Ada’s iPhone") && !row.text.contains(ConsoleScene.token(0).abbreviated))
      #expect(try await anna.post("/pushes/\(uid)/cancel", []).status == 303)
      row = ScenePage(try await anna.get("/pushes"))
      #expect(row.links.contains("/pushes/new?from=\(uid)"))
      #expect(row.links.contains("/pushes/new?from=\(uid)&review=1"))
      var lena = try await scene.signIn(.viewer)
      #expect(!ScenePage(try await lena.get("/pushes")).links.contains("/pushes/new?from=\(uid)"))
    }
  }

  @Test(
    "the API filters the history as the page does: by where pushes came from, and by days or times",
    arguments: [
      ("source=api", 1), ("source=web", 0), ("from=2026-11-20&to=2026-11-20", 1), ("to=2026-11-19", 0),
      ("from=2026-11-21", 0), ("from=2026-11-20T12:00:00Z", 1), ("to=2026-11-20T12:00:00Z", 0),
      ("source=api&from=2026-11-19&to=2026-11-20T12:00:01Z", 1),
    ])
  func apiFilters(query: String, count: Int) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      let sent = try await scene.call(
        .post, Self.api, as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
          "notification": ["body": "hello"],
        ])
      #expect(sent.status == 202, "\(sent.text)")
      let found = try await scene.call(.get, "\(Self.api)?\(query)", as: .viewer)
      #expect(found.json?["items"]?.array?.count == count, "\(found.text)")
      for wrong in ["from=yesterday", "to=2026-13-01", "source=fax"] {
        let refused = try await scene.call(.get, "\(Self.api)?\(wrong)", as: .viewer)
        #expect(refused.status == 422 && refused.fields == [String(wrong.prefix { $0 != "=" })], "\(wrong)")
      }
    }
  }

  @Test("a Live Activity stands in the history by what it shows, a silent push as one")
  func withoutText() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      let aps: [String: JSONValue] = [
        "timestamp": .integer(Int64(scene.now.timeIntervalSince1970)), "event": "update",
        "content-state": ["step": 2, "eta": "12:40"],
      ]
      for payload: JSONValue in [["aps": .object(aps)], ["aps": ["content-available": 1]]] {
        _ = try await scene.send([
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
          "apns": ["payload": payload],
        ])
      }
      var anna = try await scene.signIn(.viewer)
      let text = ScenePage(try await anna.get("/pushes")).text
      #expect(text.contains("eta: 12:40 · step: 2") && !text.contains("content-state"), "\(text)")
      #expect(text.contains("Silent push") && !text.contains("content-available"), "\(text)")
    }
  }

  @Test("the history can be filtered by kind, and a row names a kind that is not a plain notification")
  func kinds() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      func send(_ notification: JSONValue) async throws -> String {
        return try await scene.send([
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
          "notification": notification,
        ])
      }
      let (plain, silent) = (try await send(["body": "Hello"]), try await send(["content_available": true]))
      var anna = try await scene.signIn(.viewer)
      for (type, uid, other) in [("alert", plain, silent), ("background", silent, plain)] {
        let page = ScenePage(try await anna.get("/pushes?push_type=\(type)"))
        #expect(page.links.contains("/pushes/\(uid)") && !page.links.contains("/pushes/\(other)"), "\(type)")
        #expect(page.links.contains("/pushes.csv?push_type=\(type)"), "\(page.links)")
        let found = try await scene.call(.get, "\(Self.api)?push_type=\(type)", as: .viewer)
        let items = found.json?["items"]?.array ?? []
        #expect(items.compactMap { $0["id"]?.string } == [uid] && items.first?["push_type"]?.string == type)
      }
      let lines = ScenePage(try await anna.get("/pushes")).tags.filter { $0.attributes["class"] == "sub" }.map(\.text)
      #expect(lines.contains("Background") && !lines.contains("Notification"), "\(lines)")
      #expect(ScenePage(try await anna.get("/pushes/\(silent)")).text.contains("Kind Background"))
      #expect(try await scene.call(.get, "\(Self.api)?push_type=loud", as: .viewer).fields == ["push_type"])
    }
  }

  @Test("the page of a scheduled push says that its certificate ends before, and of another one nothing")
  func credentialEnds() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(1, of: app)
      let certificate = try await CertificateSamples.keep(scene, days: 20)
      try await scene.store.write { database in
        _ = try Credential.bind(
          database, app: app.id, provider: .apns, environment: .development, certificate: certificate,
          endpoint: "apple", now: ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.viewer)
      for (days, isLate) in [(19.0, false), (21, true)] {
        let uid = try await scene.send([
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
          "platforms": ["ios"], "notification": ["body": "hello"], "send_at": .time(scene.now + days * 86_400),
        ])
        let page = ScenePage(try await anna.get("/pushes/\(uid)")).text
        #expect(page.contains("which sends this push, expires on 10 Dec 2026, 12:00 UTC") == isLate, "\(days) \(page)")
      }
    }
  }

  @Test("what is scheduled for later stands above the days, the next push first")
  func scheduled() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      func schedule(_ title: String, days: Double) async throws {
        let date = ConsoleScene.noon + days * 86_400
        let answer = try await scene.call(
          .post, Self.api, as: .operator,
          json: [
            "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
            "notification": ["body": .string(title)], "send_at": .string(Timestamp.text(date)),
          ])
        #expect(answer.status == 202)
      }
      try await schedule("in two days", days: 2)
      try await schedule("in four weeks", days: 28)
      var draft = ConsoleScene.draft
      draft.notification.body = "sent without a time"
      scene.provider.answer { _ in .outcome(.accepted) }
      _ = try await scene.send(draft)
      var anna = try await scene.signIn(.viewer)
      let text = try await anna.get("/pushes").text
      #expect(text.components(separatedBy: "<tr class=\"day\">").count == 3, "two groups")
      let places = ["<td colspan=\"7\">Scheduled<", "in two days", "in four weeks", "sent without a time"].map {
        text.firstRange(of: $0)?.lowerBound
      }
      #expect(!places.contains(nil) && places.compactMap { $0 } == places.compactMap { $0 }.sorted())
      let states = text.matches(of: /<td class="num s3">\s*<span>Scheduled</).count
      #expect(states == 2, "without an outcome, the state stands where others count devices")
    }
  }

  @Test("each row says what it counts, under a heading that fits all of them")
  func counts() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      var draft = ConsoleScene.draft
      draft.notification.body = "Hello"
      _ = try await scene.send(draft)
      scene.provider.answer { _ in .outcome(.rejected(status: 400, reason: "BadTopic", tokenInvalidSince: nil)) }
      _ = try await scene.send(draft)
      var anna = try await scene.signIn(.viewer)
      let page = ScenePage(try await anna.get("/pushes"))
      #expect(page.text.contains("1 of 1 accepted") && page.text.contains("Reached nobody"))
      let headings = page.tags.filter { $0.name == "th" }.map(\.text)
      #expect(headings.contains("Devices") && !headings.contains("Accepted"), "\(headings)")
    }
  }

  @Test(
    "a push is red if most of its answers are failures, and amber if few are", arguments: [(1, "amber"), (3, "red")])
  func tone(failed: Int64, tone: String) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      scene.provider.answer { device in
        .outcome(
          device.id <= failed ? .rejected(status: 400, reason: "BadTopic", tokenInvalidSince: nil) : .accepted)
      }
      var draft = ConsoleScene.draft
      draft.notification.body = "Hello"
      let push = try await scene.send(draft)
      #expect(push.counts.failed == Int(failed) && push.counts.accepted == 4 - Int(failed))
      var anna = try await scene.signIn(.viewer)
      #expect(try await anna.get("/pushes/\(push.uid)").text.contains("class=\"dot \(tone)\""))
    }
  }

  @Test("a search by a device's name or token leads to the device, whose page has every push to it")
  func devices() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      try await scene.store.write { database in
        _ = try Device.update(database, id: 1, name: .set("Ada’s iPhone"), by: "anna", now: ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.viewer)
      for text in ["Ada", ConsoleScene.token(0).hexadecimal] {
        let page = ScenePage(try await anna.get("/pushes?q=\(text)"))
        #expect(page.links.contains("/devices/1") && !page.links.contains("/devices/2"), "\(text)")
        #expect(page.text.contains("Open a matching device"))
      }
      #expect(!ScenePage(try await anna.get("/pushes?q=odd")).text.contains("Open a matching device"))
    }
  }

  @Test("the command of a simulated push leads to the simulator while it runs, and never to Apple")
  func simulatedCommand() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      try await scene.addDevices(1, of: scene.addApp())
      var draft = ConsoleScene.draft
      draft.notification.body = "Hello"
      let push = try await scene.send(draft)
      var anna = try await scene.signIn(.viewer)
      let target = "/pushes/\(push.uid)/deliveries/1"
      let stopped = ScenePage(try await anna.get(target)).text
      #expect(stopped.contains("which is not running now") && !stopped.contains("curl --"))
      let simulator = try #require(scene.simulator)
      let port = try await simulator.start().development.port
      let page = ScenePage(try await anna.get(target)).text
      await simulator.stop()
      #expect(page.contains(":\(port)/3/device/\(ConsoleScene.token(0).hexadecimal)"), "\(page)")
      #expect(page.contains("curl --insecure") && page.contains("went to the built-in simulator"))
      #expect(!page.contains("push.apple.com"))
    }
  }

  @Test("a filtered history says how many match and where the page is; lists that counters count do so too")
  func position() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(120, of: scene.addApp())
      var draft = ConsoleScene.draft
      var last: Push?
      for text in ["Winter", "Summer", "Winter again"] {
        draft.notification.body = text
        last = try await scene.send(draft)
      }
      let uid = try #require(last).uid
      var anna = try await scene.signIn(.viewer)
      for (target, texts) in [
        ("/pushes?q=winter", ["2 pushes match", "1–2 of 2"]), ("/pushes?state=queued", ["0 pushes match"]),
        ("/pushes", ["3 pushes in the last 7 days", "1–3 of 3", "State: Finished"]), ("/devices", ["1–50 of 120"]),
        ("/devices?state=active", ["1–50 of 120"]), ("/devices?state=dead", []),
        ("/pushes/\(uid)?outcome=accepted", ["1–50 of 120"]),
      ] {
        let text = ScenePage(try await anna.get(target)).text
        for expected in texts { #expect(text.contains(expected), "\(target): \(expected)") }
        if texts.isEmpty { #expect(!text.contains(" of 120"), "\(target)") }
      }
      let next = try #require(
        ScenePage(try await anna.get("/devices")).tags.first { $0.attributes["rel"] == "next" }?.attributes["href"])
      #expect(ScenePage(try await anna.get(next)).text.contains("51–100 of 120"))
      let search = ScenePage(try await anna.get("/search"))
      #expect(search.tags.contains { $0.attributes["id"] == "shortcuts" } && search.text.contains("Keyboard shortcuts"))
    }
  }

  @Test("templates, the runs of a schedule and the devices of a segment say where the page is, too")
  func positionElsewhere() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(120, of: app)
      let schedule = try await scene.addSchedule(ConsoleScene.draft)
      let segment = try await scene.store.write { database in
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
        try database.run(
          "\(numbers) INSERT INTO schedule_occurrences(schedule_id, at, noted_at) SELECT ?, i * 1000, 0 FROM n",
          schedule.id)
        try database.run(
          """
          \(numbers) INSERT INTO push_templates(name, content, created_by, created_at, changed_at)
          SELECT 'T' || i, '{"notification": {"title": "x"}}', 'anna', 0, 0 FROM n
          """)
        let rule = try SegmentRule(json: ["tag": ["odd"]])
        return try Segment.add(database, app: app.id, name: "Odd", rule, by: "anna", now: ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.viewer)
      for (target, all) in [
        ("/templates", 60), ("/schedules/\(schedule.uid)", 62), ("/audiences/segments/\(segment.id)", 60),
      ] {
        let page = ScenePage(try await anna.get(target))
        #expect(page.text.contains("1–50 of \(all)"), "\(target)")
        let next = try #require(page.tags.first { $0.attributes["rel"] == "next" }?.attributes["href"])
        #expect(ScenePage(try await anna.get(next)).text.contains("51–\(all) of \(all)"), "\(target)")
      }
    }
  }

  @Test("Android's shade stands beside the lock screen where Android is among the platforms, and a device has it")
  func shade() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(1, of: app)
      var ben = try await scene.signIn(.operator)
      let both = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("audience", "all"), ("title", "Hello"),
        ("platforms", "ios"), ("platforms", "android"),
      ]
      let apple = ScenePage(try await ben.post("/pushes/preview", both))
      let shade = try #require(apple.tags.first { $0.attributes["data-platform"] == "android" })
      #expect(shade.attributes["hidden"] != nil, "the only device is an iPhone")
      #expect(!apple.text.contains("Unreachable"), "none is")
      let token = DeviceToken(bytes: Array("phone:APA91bHun4MxP5egoKMwt2KZFBaFUH1RYqxHfGkc8vSsdtQ".utf8))
      _ = try await scene.store.write { database in
        try Device.register(
          database, app: app.id, [Registration(token: token, environment: .development, platform: .android)],
          now: ConsoleScene.noon)
      }
      for platforms in [["ios"], ["ios", "android"], ["android"]] {
        let fields =
          [
            ("app", ConsoleScene.bundleID), ("environment", "development"), ("audience", "all"), ("title", "Hello"),
            ("android", #"{"notification": {"title": "Only here"}}"#),
          ] + platforms.map { ("platforms", $0) }
        let page = ScenePage(try await ben.post("/pushes/preview", fields))
        for platform in ["ios", "android"] {
          let phone = try #require(page.tags.first { $0.attributes["data-platform"] == platform })
          #expect((phone.attributes["hidden"] == nil) == platforms.contains(platform), "\(platforms) \(platform)")
        }
        #expect(page.text.contains("Only here"))
        let live = try await ben.post("/pushes/preview", fields, headers: ["Accept": "application/json"])
        #expect(live.json?["android"]?.bool == platforms.contains("android"))
        #expect(live.json?["android_title"] == "Only here")
      }
    }
  }

  @Test("after a refused form the focus is in the first wrong field, whatever it is")
  func focus() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      try await scene.addApp("com.example.other", name: "Other")
      var ben = try await scene.signIn(.operator)
      let fields = [("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios")]
      for (form, expected) in [
        ([("app", "")], "app"), (Array(fields.prefix(1)), "environment"), (Array(fields.prefix(2)), "platforms"),
        (fields + [("audience", "tag"), ("tag", "odd"), ("body", "x"), ("badge", "many")], "badge"),
        (fields + [("audience", "tag"), ("tag", "odd"), ("body", "x"), ("extras", "{")], "extras"),
      ] {
        let page = ScenePage(try await ben.post("/pushes/preview", form))
        let focused = page.tags.first { $0.attributes["autofocus"] != nil }?.attributes["name"]
        #expect(focused == expected, "\(form)")
      }
      let fresh = ScenePage(try await ben.get("/pushes/new"))
      #expect(!fresh.tags.contains { $0.attributes["autofocus"] != nil })
    }
  }
}
