import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

@testable import Console

@Suite("Pages: search")
struct SearchPageTests {
  private static func find(_ browser: inout SceneBrowser, _ text: String) async throws -> SceneAnswer {
    try await browser.get("/search?q=\(SceneBrowser.escaped(text))")
  }

  @Test("finds a push, a device, an app, a code and a page; an ID leads straight to its page")
  func everything() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: try await scene.addApp())
      let uid = try await scene.send([
        "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
        "notification": ["title": "Order is on its way"],
      ])
      _ = try await scene.finished(uid)
      let (push, device) = try await scene.store.read { database in
        (try #require(try Push.find(database, uid: uid)), try Device.get(database, id: 2))
      }
      var vera = try await scene.signIn(.viewer)
      #expect(try await Self.find(&vera, uid).location == "/pushes/\(uid)")
      let apnsID = APNsID(seed: push.seed, device: 2).description
      #expect(try await Self.find(&vera, apnsID).location == "/pushes/\(uid)/deliveries/2")
      #expect(try await Self.find(&vera, apnsID.uppercased()).location == "/pushes/\(uid)/deliveries/2")
      let hexadecimal = device.token.hexadecimal
      for text in [
        hexadecimal, "<\(hexadecimal)>", "deviceToken: 0x\(hexadecimal.uppercased())", "\(device.token.bytes)",
        Data(device.token.bytes).base64EncodedString(),
      ] {
        #expect(try await Self.find(&vera, text).location == "/devices/2", "\(text)")
      }
      let texts = [
        ("on its way", "/pushes/\(uid)"), (String(device.token.hexadecimal.prefix(12)), "/devices/2"),
        (ConsoleScene.bundleID.uppercased(), "/apps/1"), ("certif", "/certificates"), ("Phones", "/phones"),
      ]
      for (text, href) in texts {
        #expect(ScenePage(try await Self.find(&vera, text)).links.contains(href), "\(text)")
      }
      let code = ScenePage(try await Self.find(&vera, "baddevicetok"))
      #expect(code.text.contains(Reason.of("BadDeviceToken").cause))
      let none = try await Self.find(&vera, "nothing like it")
      #expect(none.status == 200 && ScenePage(none).text.contains("No results"))
      #expect(try await vera.get("/search").status == 200)
    }
  }

  @Test("finds a schedule by its text or JPush's name for it, and a template and a smoke test by any part of the name")
  func named() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: try await scene.addApp())
      let schedule = try await scene.addSchedule(try PushDraft(json: ConsoleScene.draftJSON))
      let push: JSONValue = [
        "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
        "notification": ["title": "Hello"],
      ]
      let made =
        [
          ("/api/v1/smoke-tests", ["name": "Nightly 100 %", "push": push]),
          ("/api/v1/templates", ["name": "Parcel shipped", "content": ["notification": ["body": "It is underway"]]]),
        ] as [(String, JSONValue)]
      for (path, json) in made {
        let answer = try await scene.call(.post, path, as: .operator, json: json)
        #expect(answer.status == 201, "\(answer.text)")
      }
      try await scene.store.write { database in
        _ = try database.run(
          "INSERT INTO jpush_schedules(schedule_id, uid, name, trigger, push) VALUES (?, 'u', 'Monday greeting', '', '')",
          schedule.id)
      }
      var (vera, lin) = (try await scene.signIn(.viewer), try await scene.signIn(.operator))
      let wanted = [
        ("greeting", "/schedules/\(schedule.uid)"), ("world", "/schedules/\(schedule.uid)"),
        ("100 %", "/smoke-tests/1"), ("SHIPPED", "/templates"),
      ]
      for (text, href) in wanted {
        #expect(ScenePage(try await Self.find(&vera, text)).links.contains(href), "\(text)")
      }
      #expect(ScenePage(try await Self.find(&lin, "shipped")).links.contains("/templates/1"))
      #expect(try await Self.find(&lin, schedule.uid).location == "/schedules/\(schedule.uid)")
      // A sign of LIKE is a character like any other.
      #expect(!ScenePage(try await Self.find(&lin, "100_%")).links.contains("/smoke-tests/1"))
    }
  }

  @Test("settings and other pages are found by name in both languages, as far as the person may open them")
  func pages() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      for (text, href) in [
        ("webhooks", "/settings/webhooks"), ("smoke tests", "/smoke-tests"), ("证书", "/certificates"),
        ("冒烟", "/smoke-tests"), ("Slack", "/settings/receivers"), ("backup", "/settings/about"),
        ("words", "/docs/words"), ("术语", "/docs/words"), ("error codes", "/codes"), ("import", "/devices/import"),
        ("callbacks", "/docs/callbacks"), ("应用回调", "/docs/callbacks"),
      ] {
        #expect(ScenePage(try await Self.find(&anna, text)).links.contains(href), "\(text)")
      }
      var vera = try await scene.signIn(.viewer)
      let hidden = ScenePage(try await Self.find(&vera, "webhooks")).links
      #expect(!hidden.contains { $0.hasPrefix("/settings") })
      let found = try await scene.store.read { try User.find($0, name: "viewer@example.com") }
      let person = "/settings/people/\(try #require(found).id)"
      #expect(ScenePage(try await Self.find(&anna, "viewer@")).links.contains(person))
      #expect(try await Self.find(&anna, "viewer@example.com").location == person)
      #expect(!ScenePage(try await Self.find(&vera, "viewer@")).links.contains(person), "only admins open it")
      // Every page links to the account, so the sentence about it is looked for.
      let account = ScenePage(try await Self.find(&vera, "语言"))
      #expect(account.text.contains("Language, password"))
      // Everything that the search can lead to is there.
      for page in NamedPage.all { #expect(try await anna.get(page.href).status == 200, "\(page.href)") }
    }
  }

  @Test("tags and segments are found with their counts, codes by their letters and by their status")
  func tags() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(9, of: app)
      let segment = try await scene.store.write { database in
        let rule = try SegmentRule(json: ["tag": ["odd"]])
        return try Segment.add(database, app: app.id, name: "odd ones", rule, by: "ada", now: ConsoleScene.noon).id
      }
      var vera = try await scene.signIn(.viewer)
      let found = ScenePage(try await Self.find(&vera, "odd"))
      #expect(found.links.contains("/devices?app=\(ConsoleScene.bundleID)&q=odd"))
      #expect(found.links.contains("/audiences/segments/\(segment)"))
      #expect(found.text.contains("Shop · 4 devices") && found.text.contains("odd · 4 devices"), "\(found.text)")
      let status = ScenePage(try await Self.find(&vera, "410"))
      #expect(status.links.contains("/codes/Unregistered") && status.links.contains("/codes?q=410"))
      #expect(ScenePage(try await Self.find(&vera, "Unregistered")).links.contains("/codes/Unregistered"))
      #expect(try await Self.find(&vera, "baddevicetoken").location == "/codes/BadDeviceToken", "a code leads there")
      #expect(ScenePage(try await Self.find(&vera, "baddevice")).links.contains("/codes/BadDeviceToken"))
      // The navigation has the page, too: its last link is the hit.
      let links = ScenePage(try await Self.find(&vera, "certificate")).links
      let page = try #require(links.lastIndex(of: "/certificates"))
      let code = try #require(links.firstIndex(of: "/codes/BadCertificate"))
      #expect(page < code, "a page comes before the codes that contain its name")
    }
  }

  @Test("while somebody types, an exact hit is offered first; what was sent leads there")
  func typing() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: try await scene.addApp())
      _ = try await scene.call(
        .post, "/api/v1/pushes", as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
          "notification": ["title": "The tag Forbidden is gone"],
        ])
      var vera = try await scene.signIn(.viewer)
      func exact(_ text: String) async throws -> [String?] {
        let typed = try await vera.get("/search?q=\(text)", headers: ["X-Requested-With": "fetch"])
        #expect(typed.status == 200 && typed.location == nil, "\(text)")
        return ScenePage(typed).tags.filter { $0.name == "a" && $0.attributes["class"] == "title" }
          .map { $0.attributes["data-exact"] == nil ? nil : $0.attributes["href"] }
      }
      #expect(try await exact("baddevicetoken") == ["/codes/BadDeviceToken"])
      let found = try await exact("Forbidden")
      #expect(found.first == "/codes/Forbidden" && found.count > 1, "\(found)")
      #expect(try await Self.find(&vera, "baddevicetoken").location == "/codes/BadDeviceToken")
    }
  }

  @Test("a device is found by the beginning of its name before a token that happens to begin alike")
  func names() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: try await scene.addApp())
      try await scene.store.write { database in
        try database.run("UPDATE devices SET name = 'Ada’s iPhone', alias = 'usr_ada' WHERE id = 1")
        try database.run("UPDATE devices SET token = x'adadadad01' WHERE id = 2")
      }
      var vera = try await scene.signIn(.viewer)
      for text in ["Ada", "ada", "ADA’S"] {
        let links = ScenePage(try await vera.get("/devices?q=\(SceneBrowser.escaped(text))")).links
        #expect(links.contains("/devices/1") && !links.contains("/devices/2"), "\(text)")
      }
      let hit = try await Self.find(&vera, "Ada")
      #expect(ScenePage(hit).links.contains("/devices/1") && hit.text.contains("usr_ada"))
      // A word of hexadecimal letters is no token before it has eight of them.
      for (text, isFound) in [("adad", false), ("adadada", false), ("adadadad", true), ("<adadadad>", true)] {
        let links = ScenePage(try await vera.get("/devices?q=\(SceneBrowser.escaped(text))")).links
        #expect(links.contains("/devices/2") == isFound, "\(text)")
      }
    }
  }

  @Test(
    "an apns-id is read back; other UUIDs are not ours",
    arguments: [
      "12345678-9abc-4ef0-8000-000001020304", "12345678-9abc-8ef0-4000-000001020304",
      "123456789abc8ef08000000001020304",
      "", "12345678-9abc-8ef0-8000-00000102030g",
    ])
  func apnsID(text: String) {
    #expect(APNsID(parsing: text) == nil)
    let id = APNsID(seed: 0xfeed_beef_0123_4567, device: 42)
    #expect(APNsID(parsing: id.description) == id && id.device == 42)
  }
}
