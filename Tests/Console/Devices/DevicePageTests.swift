import Foundation
import HTTPServer
import JSON
import Providers
import Model
import SQLite
import Store
import Testing

@Suite("Pages: devices")
struct DevicePageTests {
  private static let token = ConsoleScene.token(77).hexadecimal

  @Test("a device is registered, found by everything that names it, changed and removed")
  func life() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let added = try await ben.post(
        "/devices",
        [
          ("app", ConsoleScene.bundleID), ("environment", "development"), ("platform", "ios"),
          ("token", "<\(Self.token.uppercased())>"), ("alias", "usr_1"), ("tags", "vip, beta one"),
          ("registration_id", "1a2b3c"), ("name", "Lin’s phone"),
        ])
      #expect(added.status == 303 && added.location == "/devices/1")
      let page = ScenePage(try await ben.get("/devices/1"))
      #expect(page.text.contains("Device registered.") && page.text(id: "token") == Self.token)
      #expect(page.values("tags") == ["beta one, vip"] && page.values("alias") == ["usr_1"])
      for text in [
        "usr_1", "vip", "beta one", "1a2b3c", Self.token, Self.token.uppercased(), String(Self.token.prefix(8)),
        "<\(Self.token.prefix(8)) \(Self.token.dropFirst(8).prefix(8))",
        "\(Self.token.prefix(8))…\(Self.token.suffix(8))", "\(Self.token.prefix(8))...\(Self.token.suffix(8))",
        "lin", "n’s PH", "phone",
      ] {
        let found = try await ben.get("/devices?q=\(SceneBrowser.escaped(text))")
        #expect(ScenePage(found).links.contains("/devices/1"), "“\(text)”")
      }
      for query in [
        "q=other", "q=n_s", "q=%25%25", "state=dead", "environment=production", "platform=android",
        "app=com.example.none2&q=x",
      ] {
        #expect(!ScenePage(try await ben.get("/devices?\(query)")).links.contains("/devices/1"), "\(query)")
      }
      let changed = try await ben.post(
        "/devices/1", [("name", ""), ("alias", "usr_2"), ("tags", "\"a, b\", c"), ("language", "de")])
      #expect(changed.status == 303)
      let device = try await scene.store.read { try Device.get($0, id: 1) }
      #expect(device.name == nil && device.alias == "usr_2" && Set(device.tags) == ["a, b", "c"])
      #expect(device.details.language == "de")
      let wrong = try await ben.post("/devices/1", [("alias", "usr_2"), ("language", "Klingon")])
      #expect(wrong.status == 422 && ScenePage(wrong).failedFields == ["language"])
      // Saved again as the page shows it, nothing changes.
      let form = ScenePage(try await ben.get("/devices/1"))
      let fields = ["name", "alias", "tags", "language"].map { ($0, form.values($0).first ?? "") }
      _ = try await ben.post("/devices/1", fields)
      let again = try await scene.store.read { try Device.get($0, id: 1) }
      #expect(again.tags == device.tags && again.details == device.details)
      #expect(try await ben.get("/devices/1/remove").text.contains("its alias usr_2"))
      #expect(try await ben.post("/devices/1/remove").location == "/devices")
      #expect(try await ben.post("/devices/1/remove").status == 404, "twice")
      #expect(try await scene.count("devices") == 0)
      let actions = try await scene.audit().map(\.action).filter { $0.hasPrefix("device.") }
      #expect(actions == ["device.delete", "device.update", "device.update", "device.register"])
      let change = try #require(try await scene.audit("device.update").last?.detail)
      #expect(change["before"]?["alias"] == "usr_1" && change["after"]?["alias"] == "usr_2")
    }
  }

  @Test(
    "what is wrong with a device is told at its field, and nothing is kept",
    arguments: [
      ([("token", "")], ["token"]), ([("token", "zz")], ["token"]), ([("token", "77366f0d")], ["token"]),
      ([("app", "")], ["app"]), ([("app", "com.example.none")], ["app"]), ([("environment", "")], ["environment"]),
      ([("platform", "windows")], ["platform"]), ([("alias", "a-b")], ["alias"]), ([("tags", "ok, a-b")], ["tags"]),
      ([("registration_id", "a-b")], ["registration_id"]), ([("name", String(repeating: "x", count: 300))], ["name"]),
      ([("token", ""), ("environment", "x")], ["token", "environment"]),
    ] as [([(String, String)], Set<String>)])
  func mistakes(changes: [(String, String)], fields: Set<String>) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp(aliasRule: "jpush")
      try await scene.addApp("com.example.other", name: "Other")
      var ben = try await scene.signIn(.operator)
      let typed = [
        ("app", ConsoleScene.bundleID), ("environment", "production"), ("platform", "ios"), ("token", Self.token),
        ("alias", "usr_1"), ("tags", "vip"), ("registration_id", "1a"), ("name", "Phone"),
      ].map { field in changes.first { $0.0 == field.0 } ?? field }
      let answer = try await ben.post("/devices", typed)
      #expect(answer.status == 422)
      let page = ScenePage(answer)
      #expect(page.failedFields == fields)
      for name in ["token", "alias", "tags", "registration_id", "name"] {
        #expect(page.values(name) == typed.filter { $0.0 == name }.map(\.1), "\(name)")
      }
      #expect(try await scene.count("devices") == 0)
    }
  }

  @Test("a form names its choices by their labels, in both languages; the API by its own words")
  func choices() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let device = [("app", ConsoleScene.bundleID), ("platform", "ios"), ("token", Self.token)]
      let push = [("app", ConsoleScene.bundleID), ("environment", "development"), ("audience", "all"), ("body", "Hi")]
      #expect(try await ben.post("/devices", device).text.contains("Choose one of Development, Production."))
      let english = try await ben.post("/pushes/preview", push).text
      #expect(english.contains("Choose at least one platform: iOS, Android."))
      _ = try await ben.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      #expect(try await ben.post("/devices", device).text.contains("请从以下选项中选择一个：开发环境、生产环境。"))
      #expect(try await ben.post("/pushes/preview", push).text.contains("请至少选择一个平台：iOS、Android。"))
      let refused = try await scene.call(
        .put, "/api/v1/devices", as: .operator,
        json: ["app": .string(ConsoleScene.bundleID), "platform": "ios", "token": .string(Self.token)])
      #expect(refused.text.contains("Choose one of development, production."))
      let registered = try await scene.call(
        .put, "/api/v1/devices", as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "platform": "ios", "provider": "jpush",
          "registration_id": "1a0018970a8",
        ])
      #expect(registered.status == 201, "\(registered.text)")
      let list = try await ben.get("/devices").text
      #expect(list.contains("iOS、JPush"))
    }
  }

  @Test("a change against the app's rule is refused at its field; the device stays as it was")
  func refusedChange() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp(aliasRule: "jpush")
      try await scene.addDevices(1, of: app)
      var ben = try await scene.signIn(.operator)
      let before = try await scene.changes()
      for (field, value) in [
        ("alias", "a-b"), ("alias", String(repeating: "x", count: 41)), ("tags", "x-y"), ("name", "a\u{1}b"),
      ] {
        let answer = try await ben.post("/devices/1", [(field, value)])
        #expect(answer.status == 422, "\(field)")
        #expect(ScenePage(answer).failedFields == [field])
        #expect(ScenePage(answer).values(field) == [value], "\(field)")
      }
      #expect(try await scene.changes() == before)
    }
  }

  @Test("a parked device is set free, or moved to the other environment")
  func release() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      // What a provider says of a token before it was registered does not count.
      let before = ConsoleScene.noon.addingTimeInterval(-60)
      _ = try await scene.store.write { database in
        let registrations = (1...2).map {
          Registration(token: ConsoleScene.token($0), environment: .development, platform: .ios)
        }
        return try Device.register(database, app: app.id, registrations, now: before)
      }
      scene.provider.answer { _ in
        .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil))
      }
      let draft = PushDraft(
        app: app.bundleID, environment: .development, platforms: [.ios], audience: .all, notification: .init())
      try await scene.send(draft)
      var ben = try await scene.signIn(.operator)
      #expect(try await scene.store.read { try Device.get($0, id: 1) }.state == .quarantined)
      let parked = ScenePage(try await ben.get("/devices/1"))
      #expect(parked.text.contains("Parked since 20 Nov 2026, 12:00 UTC"))
      #expect(parked.text.contains("The token belongs to the other environment, or it is invalid."))
      #expect(parked.links.contains("/codes/BadDeviceToken"), "which button is right depends on the cause")
      #expect(try await ben.post("/devices/1/release").location == "/devices/1")
      #expect(try await ben.post("/devices/2/release", [("environment", "production")]).status == 303)
      let devices = try await scene.store.read { database in try (1...2).map { try Device.get(database, id: $0) } }
      #expect(devices.map(\.state) == [.active, .active])
      #expect(devices.map(\.environment) == [.development, .production])
      #expect(try await ben.post("/devices/9/release").status == 404)
      #expect(try await ben.post("/devices/1/release", [("environment", "nonsense")]).status == 422)
      let released = try await scene.audit("device.release")
      #expect(released.map { $0.detail?["before"]?["state"] } == ["quarantined"])
      #expect(released.first?.detail?["after"]?["state"] == "active")
      let moved = try await scene.audit("device.move")
      #expect(moved.map { $0.detail?["before"]?["environment"] } == ["development"])
      #expect(moved.first?.detail?["after"]?["environment"] == "production")
    }
  }

  /// The rejected lines of an import, as the link of its report holds them.
  private static func file(_ page: ScenePage) throws -> String {
    // With the byte order mark that spreadsheets look for; Foundation leaves it out when it decodes.
    let link = try #require(page.links.first { $0.hasPrefix("data:text/csv;charset=utf-8,%EF%BB%BF") })
    return try #require(link.drop { $0 != "," }.dropFirst().removingPercentEncoding)
  }

  @Test("an import's report lists 200 rejected lines, its file 10 000, and the page says so")
  func manyRejected() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let text = "environment,platform,token\n" + String(repeating: "development,ios,zz\n", count: 10_001)
      let answer = try await ben.upload(
        "/devices/import", [.field("app", ConsoleScene.bundleID), .field("text", text)])
      let page = ScenePage(answer)
      #expect(page.text.contains("First 200 of 10,001 lines"))
      #expect(page.text.contains("The CSV has the first 10,000 rejected lines."))
      let lines = try Self.file(page).split(separator: "\r\n")
      #expect(lines.count == 10_001 && lines.last?.hasPrefix("10001,token,") == true)
    }
  }

  @Test("an import keeps the good lines and tells line, field and reason of the others")
  func importing() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let csv = """
        environment,platform,token,alias,tags
        development,ios,\(ConsoleScene.token(1).hexadecimal),usr_1,vip beta
        development,ios,zz,usr_2,
        production,windows,\(ConsoleScene.token(2).hexadecimal),<b>,
        development,ios,\(ConsoleScene.token(3).hexadecimal),,

        """
      let app = Multipart.Part.field("app", ConsoleScene.bundleID)
      let answer = try await ben.upload("/devices/import", [app, .file("file", name: "d.csv", Array(csv.utf8))])
      #expect(answer.status == 200)
      let page = ScenePage(answer)
      #expect(page.text.contains("4 lines read: 2 added, 2 rejected"))
      #expect(page.text.contains("token") && page.text.contains("platform"))
      let rejected = try Self.file(page)
      #expect(rejected.hasPrefix("line,field,message\r\n3,token,") && rejected.contains("\r\n4,platform,"))
      #expect(!page.text.contains("signalbox devices import"), "the file has all")
      #expect(try await scene.count("devices") == 2)
      let ndjson =
        "{\"environment\":\"development\",\"platform\":\"ios\",\"token\":\"\(ConsoleScene.token(1).hexadecimal)\"}"
      let pasted = try await ben.upload("/devices/import", [app, .field("text", ndjson), .field("format", "auto")])
      #expect(ScenePage(pasted).text.contains("1 line read: 1 updated"))
      for parts in [
        [app], [app, .field("text", " \r\n ")], [app, .file("file", name: "d.csv", [])],
        [app, .file("file", name: "d.csv", Array("nonsense;header\nx;y".utf8))],
      ] {
        let refused = try await ben.upload("/devices/import", parts)
        #expect(refused.status == 422)
        #expect(ScenePage(refused).text.contains("Nothing was imported."))
        #expect(!ScenePage(refused).failedFields.isEmpty)
        // The first field with an error has the focus.
        #expect(ScenePage(refused).tags.contains { $0.attributes["autofocus"] != nil })
      }
      #expect(try await scene.count("devices") == 2)
      let audit = try await scene.audit("device.import").map {
        ($0.detail?["added"]?.integer, $0.detail?["updated"]?.integer)
      }
      #expect(audit.contains { $0 == (2, 0) } && audit.contains { $0 == (0, 1) })
    }
  }

  @Test("the report has the rejected lines in the order of the file, and says what to do with them")
  func rejectedLines() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let csv = """
        app,environment,platform,token
        com.example.none,development,ios,\(ConsoleScene.token(1).hexadecimal)
        \(ConsoleScene.bundleID),development,ios,zz
        """
      let answer = try await ben.upload("/devices/import", [.file("file", name: "d.csv", Array(csv.utf8))])
      let text = ScenePage(answer).text
      let places = ["line 2", "line 3"].compactMap { text.firstRange(of: $0)?.lowerBound }
      #expect(places.count == 2 && places == places.sorted(), "\(text)")
      #expect(text.contains("Correct these lines and import the file again."))
    }
  }

  @Test("the example lines can be imported as they are: an iPhone and an Android phone", arguments: ["csv", "ndjson"])
  func examples(_ id: String) async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let page = ScenePage(try await ben.get("/devices/import"))
      let example = try #require(page.text(id: id))
      let answer = try await ben.upload("/devices/import", [.field("text", example)])
      #expect(ScenePage(answer).text.contains("2 lines read: 2 added"))
      let android = ScenePage(try await ben.get("/devices?platform=android"))
      #expect(android.links.contains("/devices/2") && !android.links.contains("/devices/1"))
    }
  }
}
