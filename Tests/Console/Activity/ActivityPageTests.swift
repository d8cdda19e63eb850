import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import Testing

@testable import Console

@Suite("Pages: activity")
struct ActivityPageTests {
  private static func note(
    _ scene: ConsoleScene, _ actor: String, _ action: String, _ subject: String, _ detail: JSONValue? = nil,
    address: String? = nil, after seconds: TimeInterval = 0
  ) async throws {
    let entry = NewAuditEntry(actor: actor, action: action, subject: subject, detail: detail, address: address)
    try await scene.store.write { database in
      _ = try AuditEntry.add(database, entry, now: ConsoleScene.noon.addingTimeInterval(seconds))
    }
  }

  private static func fill(_ scene: ConsoleScene) async throws {
    try await note(
      scene, "ada@example.com", "push.create", "push 7f3a", ["app": "com.example.shop"], address: "10.0.4.17")
    try await note(
      scene, "token ci", "device.update", "device 7", ["before": ["name": "old"], "after": ["name": "new"]])
    try await note(scene, "cli", "certificate.delete", "certificate 3")
    try await note(scene, "signalbox", "certificate.sweep", "certificate 4")
    try await note(scene, "grace@example.com", "later.version", "thing 1", after: 86_400)
  }

  @Test("a search that takes too long is stopped, and says so; the list without one is not")
  func slowSearch() async throws {
    try await ConsoleScene.with(queryPatience: .zero) { scene in
      var olga = try await scene.signIn(.operator)
      // Enough rows for SQLite to ask whether the time is over.
      try await scene.store.write { database in
        _ = try database.run(
          """
          INSERT INTO audit(at, actor, action, subject)
          WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
          SELECT ?, 'x', 'app.update', 'app x' FROM numbers
          """, ConsoleScene.noon)
      }
      let page = try await olga.get("/activity?q=nothing")
      #expect(page.status == 503 && ScenePage(page).text.contains("took too long and was stopped"))
      #expect(ScenePage(page).links.contains("/pushes"), "with the navigation")
      let call = try await scene.call(.get, "/api/v1/activity?q=nothing", as: .operator)
      #expect(call.status == 503 && call.text.contains("took too long and was stopped"))
      #expect(try await olga.get("/activity").status == 200)
      #expect(try await scene.call(.get, "/api/v1/activity", as: .operator).status == 200)
    }
  }

  @Test("says who did what, from where, with the page of what it was done to")
  func rows() async throws {
    try await ConsoleScene.with { scene in
      try await Self.fill(scene)
      var lin = try await scene.signIn(.operator)
      let page = ScenePage(try await lin.get("/activity"))
      #expect(Set(page.links).isSuperset(of: ["/pushes/7f3a", "/devices/7", "/certificates/3", "/activity.csv"]))
      for text in [
        "ada@example.com created push 7f3a", "app: com.example.shop", "Console · 10.0.4.17", "ci changed device 7",
        "name: old → new", "API", "Command line deleted certificate 3", "Signalbox deleted the private key",
        "grace@example.com later.version 1",
      ] { #expect(page.text.contains(text), "\(text)") }
      // "From" is where the filter's days begin.
      func columns(_ page: ScenePage) -> [String] { page.tags.filter { $0.name == "th" }.map(\.text) }
      #expect(columns(page) == ["What", "Source", "When"] && page.text.components(separatedBy: " From ").count == 2)
      _ = try await lin.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      let chinese = ScenePage(try await lin.get("/activity"))
      #expect(columns(chinese) == ["操作", "来源", "时间"])
      for text in ["应用：com.example.shop", "名称：old → new"] { #expect(chinese.text.contains(text), "\(text)") }
    }
  }

  @Test("what the log numbers is named as it is called today; settings need no name, and Chinese no blank")
  func titles() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let webhook = try await scene.store.write { [sealer = scene.store.sealer] database in
        try Webhook.add(
          database, Webhook.Details(name: "Billing", target: "example.com"), address: "https://example.com",
          sealer: sealer, by: "anna", now: ConsoleScene.noon
        ).webhook.id
      }
      let rule = try SegmentRule(json: ["tag": ["vip"]])
      let segment = try await scene.store.write { database in
        try Segment.add(database, app: app.id, name: "Curious", rule, by: "anna", now: ConsoleScene.noon).id
      }
      try await Self.note(scene, "ada@example.com", "webhook.test", "webhook \(webhook)")
      try await Self.note(scene, "ada@example.com", "segment.update", "segment \(segment)")
      try await Self.note(scene, "ada@example.com", "segment.delete", "segment 99")
      try await Self.note(scene, "ada@example.com", "settings.mail", "settings mail")
      try await Self.note(scene, "ada@example.com", "simulator.faults", "simulator fcm")
      try await Self.note(scene, "ada@example.com", "client_key.create", "app com.example.shop")
      try await Self.note(scene, "ada@example.com", "session.refused", "user ada@example.com")
      try await Self.note(scene, "ada@example.com", "user.production", "user ada@example.com")
      var lin = try await scene.signIn(.operator)
      let page = ScenePage(try await lin.get("/activity"))
      for text in [
        "tested webhook Billing", "changed segment Curious", "deleted segment 99", "changed the mail settings",
        "set simulated errors: FCM", "ada@example.com could not confirm their identity",
        "changed who may send to production: ada@example.com",
      ] { #expect(page.text.contains(text), "\(text)") }
      #expect(!page.text.contains("settings mail"))
      #expect(!page.links.contains("/settings/webhooks/\(webhook)"), "of administrators alone")
      _ = try await lin.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      #expect(ScenePage(try await lin.get("/activity")).text.contains("创建了客户端密钥：com.example.shop"))
    }
  }

  @Test("codes, times and environments of the log are said in words, names and values stay")
  func words() async throws {
    try await ConsoleScene.with { scene in
      func text(_ json: JSONValue, _ code: String = "en", action: String = "") -> String {
        ActivityDetail(json: json, action: action, texts: scene.console.locales[code]).text
      }
      #expect(text(["to": "ops@example.com"], "zh-Hans", action: "settings.mail_test") == "收件人：ops@example.com")
      #expect(text(["from": "a", "to": "b"], "zh-Hans", action: "device.update") == "原：a，新：b")
      #expect(text(["channel": "email"], "zh-Hans", action: "receiver.create") == "渠道：email")
      #expect(text(["faults": 0], action: "database.check") == "faults in the database: 0")
      #expect(text(["addresses": [], "scopes": ["read"]]) == "allowed addresses: –, permissions: read")
      #expect(text(["apps": "all"], "zh-Hans") == "应用：所有应用")
      #expect(text(["with": "password"], "zh-Hans") == "方式：密码")
      #expect(text(["reason": "wrong key pair"], "zh-Hans") == "原因：密钥对错误")
      #expect(text(["reason": "wrong key pair"]) == "reason: wrong key pair")
      let scope = "This token lacks the scope send-development or send-production, which this request requires."
      #expect(text(["reason": .string(scope)], "zh-Hans").hasSuffix("权限范围 send-development 或 send-production。"))
      #expect(
        text(["reason": "This token lacks the scope read, which this request requires."], "zh-Hans")
          == "原因：该令牌缺少此请求所需的权限范围 read。")
      let own = ApprovalMessage.own.english
      #expect(text(["reason": .string(own)], "zh-Hans") != "原因：\(own)" && text(["reason": "x"]) == "reason: x")
      #expect(text(["reason": "production"]) == "reason: may not send to production")
      #expect(text(["reason": "own_approval"], "zh-Hans") == "原因：由本人申请")
      #expect(text(["step": "first_start", "provider": "apns"]) == "push service: APNs, step: first start")
      #expect(text(["until": "2026-11-20T09:30:00Z"]) == "until: 20 Nov 2026, 09:30 UTC")
      #expect(text(["before": ["role": "viewer"], "after": ["role": "admin"]]) == "role: Viewer → Admin")
      #expect(
        text(["environment": "production", "tags": ["vip", "production"]])
          == "environment: production, tags: vip, production")
      #expect(text(["name": "viewer", "merged": ["alias": "usr_1"]]) == "name: viewer")
      #expect(text(["before": ["alias": "usr_1"], "after": ["alias": ""]]) == "alias: usr_1 → –")
      #expect(text(["before": .null, "after": ["alias": "usr_1"]]) == "alias: – → usr_1")
    }
  }

  @Test("a token that nobody made is named as one, and no token or person is taken for it")
  func unknownToken() async throws {
    try await ConsoleScene.with { scene in
      for (actor, code, name) in [
        ("unknown token", "en", "Unknown API token"), ("unknown token", "zh-Hans", "未知 API 令牌"),
        ("token unknown", "en", "unknown"),
      ] {
        let found = ActivityActor(actor)
        #expect(found.source == .api && found.name(scene.console.locales[code]) == name, "\(actor)")
      }
    }
  }

  @Test("who calls with an app key comes through the JPush API, also if refused")
  func appKeys() async throws {
    try await ConsoleScene.with { scene in
      for (actor, code, name) in [
        ("app key unknown", "en", "Unknown app key"), ("app key unknown", "zh-Hans", "未知 AppKey"),
        ("app key 24db75", "en", "24db75"), ("jpush 24db75", "en", "24db75"),
      ] {
        let found = ActivityActor(actor)
        #expect(found.source == .jpush && found.name(scene.console.locales[code]) == name, "\(actor)")
      }
      let legacy = ActivityActor("fcm 24db75")
      let name = legacy.name(scene.console.locales["en"])
      #expect(legacy.source == .legacy && name == "24db75", "no person of the console")
    }
  }

  @Test(
    "is filtered by person, kind, day and text",
    arguments: [
      ("", 6), ("who=token%20ci", 1), ("kind=certificates", 2), ("kind=pushes", 1), ("kind=people", 1),
      ("q=GRACE", 1), ("q=10.0.4", 1), ("q=certificate", 2), ("from=2026-11-21", 1), ("to=2026-11-20", 5),
      ("who=cli&kind=pushes", 0),
    ])
  func filters(query: String, count: Int) async throws {
    try await ConsoleScene.with { scene in
      try await Self.fill(scene)
      var lin = try await scene.signIn(.operator)
      let page = ScenePage(try await lin.get("/activity?\(query)"))
      #expect(page.tags.count { $0.attributes["class"] == "avatar" } == count)
      #expect(page.text.contains("No entries match.") == (count == 0))
    }
  }

  @Test("is exported as the page filters it, and read over the API; viewers get neither")
  func exports() async throws {
    try await ConsoleScene.with { scene in
      try await Self.fill(scene)
      try await scene.served(to: try await scene.signIn(.operator)) { served in
        let json = try await served.get("/activity.json?kind=devices")
        #expect(json.contains(#""action":"device.update""#) && json.contains(#""after":{"name":"new"}"#))
        #expect(!json.contains("push.create"))
        let csv = try await served.get("/activity.csv?who=ada%40example.com")
        #expect(csv.contains("id,at,actor,action,subject,detail,address,hash\r\n") && !csv.contains("token ci"))
        #expect(
          csv.contains(#"ada@example.com,push.create,push 7f3a,"{""app"":""com.example.shop""}",10.0.4.17"#))
      }
      let page = try await scene.call(.get, "/api/v1/activity?kind=certificates&limit=1", as: .operator)
      #expect(page.json?["items"]?.array?.map { $0["action"]?.string } == ["certificate.sweep"])
      #expect(page.json?["next"]?.string != nil)
      #expect(try await scene.call(.get, "/api/v1/activity?from=yesterday", as: .operator).status == 422)
      var vera = try await scene.signIn(.viewer)
      #expect(try await vera.get("/activity").status == 403)
      #expect(!ScenePage(try await vera.get("/devices")).links.contains("/activity"))
    }
  }

  @Test("every action that the sources write has its words and its kind, and no words are left over")
  func words() throws {
    let nouns = Set(ActivityKind.allCases.flatMap(\.nouns))
    #expect(nouns.count == ActivityKind.allCases.reduce(0) { $0 + $1.nouns.count })
    let folder = ConsoleScene.root.appendingPathComponent("Sources")
    var written: Set<String> = []
    for case let name as String in try #require(FileManager.default.enumerator(atPath: folder.path))
    where name.hasSuffix(".swift") {
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      guard ["AuditEntry", "audit(", "record(", "ListExportRoutes<"].contains(where: text.contains) else { continue }
      for match in text.matches(of: /"([a-z_]+)\.([a-z_]+)"/) { written.insert("\(match.1).\(match.2)") }
    }
    for change in ScheduleChange.allCases { written.insert("schedule.\(change.rawValue)") }
    written.formUnion(["push.create", "schedule.create"])
    for verb in ["create", "rotate", "delete"] { written.insert("jpush_key.\(verb)") }
    written.formUnion(["client_key.create", "client_key.delete"])
    for verb in ["return", "heal", "snooze", "close", "reopen"] { written.insert("incident.\(verb)") }
    for verb in ["ask_approval", "approve", "reject", "approval_expired"] {
      written.formUnion(["push.\(verb)", "schedule.\(verb)"])
    }
    for noun in ["certificate", "host"] { written.formUnion(["\(noun).acknowledge", "\(noun).unacknowledge"]) }
    let data = try Data(contentsOf: ConsoleScene.root.appendingPathComponent("Templates/locales/en.json"))
    let texts = Texts(code: "en", table: try JSONValue(parsing: data))
    let prefix = "activity.did."
    let worded = Set(texts.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
    #expect(worded.subtracting(written) == [], "words without an action")
    #expect(worded.filter { !nouns.contains(String($0.prefix { $0 != "." })) } == [], "actions without a kind")
    // The literals of these files hold keys of texts and fields too: an action is what some call passes first.
    for action in try Self.actions() { #expect(worded.contains(action), "\(action) has no words") }
  }

  /// What is passed as the action of an entry.
  private static func actions() throws -> Set<String> {
    let folder = ConsoleScene.root.appendingPathComponent("Sources")
    var actions: Set<String> = []
    for case let name as String in try #require(FileManager.default.enumerator(atPath: folder.path))
    where name.hasSuffix(".swift") {
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      let places = /(?:\.audit\(|action:|(?:audit|record|note)\(\s*database,)\s*"([a-z_]+\.[a-z_]+)"/
      for match in text.matches(of: places) { actions.insert(String(match.1)) }
    }
    #expect(actions.count > 30)
    return actions
  }
}
