import Foundation
import HTTPServer
import JSON
import Model
import SQLite
import Store
import TestSupport
import Testing

/// From the form over the review to one push.
@Suite("Pages: sending")
struct SendPageTests {
  static let fields: [(String, String)] = [
    ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios"), ("audience", "tag"),
    ("tag", "odd"), ("title", "Hello"), ("body", "World"),
  ]

  private static func changed(_ changes: [(String, String)]) -> [(String, String)] {
    let names = Set(changes.map(\.0))
    return fields.filter { !names.contains($0.0) } + changes
  }

  /// What the review would send, with what a person types.
  private static func review(_ page: ScenePage, confirm: String? = nil) -> [(String, String)] {
    let names = page.tags.filter { $0.name == "input" && $0.attributes["type"] == "hidden" }
      .compactMap { $0.attributes["name"] }
    var seen: Set<String> = []
    var fields: [(String, String)] = []
    for name in names where !["csrf", "return"].contains(name) && seen.insert(name).inserted {
      fields += page.values(name).map { (name, $0) }
    }
    if let confirm { fields.append(("confirm", confirm)) }
    return fields
  }

  @Test("form, review, push: the review carries every field as it was typed")
  func whole() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      let devices = try await scene.addDevices(5, of: app)
      var ben = try await scene.signIn(.operator)
      let typed = Self.changed([("body", "two\nlines & \"quotes\" <b>"), ("extras", "{\"a\": 1}")])
      let answer = try await ben.post("/pushes/preview", typed)
      #expect(answer.status == 200)
      #expect(try await scene.count("pushes") == 0, "a preview sends nothing")
      let page = ScenePage(answer)
      #expect(page.text.contains("2 devices in Shop (development)"))
      let fields = Self.review(page)
      for (name, value) in typed { #expect(page.values(name) == [value], "\(name)") }
      let sent = try await ben.post("/pushes", fields)
      #expect(sent.status == 303)
      let uid = try #require(sent.location?.split(separator: "/").last.map(String.init))
      let push = try await scene.finished(uid)
      #expect(push.counts.accepted == 2 && push.createdBy == "operator@example.com" && push.source == .web)
      #expect(Set(scene.provider.sent) == [devices[1].id, devices[3].id])
      #expect(push.body == "two\nlines & \"quotes\" <b>")
      #expect(try await scene.audit("push.create").map(\.actor) == ["operator@example.com"])
      let result = ScenePage(try await ben.get(try #require(sent.location)))
      #expect(result.text.contains("2 accepted") || result.text.contains("Accepted 2"))
    }
  }

  private static func heading(_ answer: SceneAnswer) -> String? {
    ScenePage(answer).tags.first { $0.name == "h1" }?.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test("the review's heading asks what its button does, in both languages; a problem is no question")
  func question() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(5, of: app)
      try await scene.addDevices(2, of: app, environment: .production)
      var ben = try await scene.signIn(.operator)
      let production = Self.changed([("environment", "production")])
      #expect(try await Self.heading(ben.post("/pushes/preview", Self.fields)) == "Send to 2 devices?")
      #expect(try await Self.heading(ben.post("/pushes/preview", production)) == "Send to 1 device in production?")
      let nobody = Self.changed([("tag", "nobody")])
      #expect(try await Self.heading(ben.post("/pushes/preview", nobody)) == "Not ready to send")
      _ = try await ben.post("/language", [("lang", "zh-Hans"), ("return", "/")])
      #expect(try await Self.heading(ben.post("/pushes/preview", production)) == "确定发送到生产环境的 1 台设备？")
    }
  }

  @Test("the form shows a push in five dialects, and a pasted one fills the form; what it leaves open stays open")
  func dialects() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let live = try await ben.post("/pushes/preview", Self.fields, headers: ["Accept": "application/json"])
      let review = ScenePage(try await ben.post("/pushes/preview", Self.fields))
      let form = try await ben.get("/pushes/new").text
      for dialect in Dialect.written {
        #expect(form.contains("data-show=\"dialect_\(dialect.rawValue)\""), "the script has a place for it")
        let text = try #require(live.json?["dialect_\(dialect.rawValue)"]?.string)
        #expect(text.contains("World"), "\(dialect)")
        #expect(review.text.contains("World"))
        let answer = try await ben.post("/pushes/paste", [("pasted", text)])
        let page = ScenePage(answer)
        #expect(answer.status == 200 && page.values("title") == ["Hello"] && page.values("body") == ["World"])
        #expect(page.text.contains("Filled in from \(dialect.name)"))
        #expect(page.values("audience").isEmpty == (dialect != .signalbox && dialect != .jpush), "\(dialect)")
      }
      #expect(live.json?["losses_apns"]?.string?.contains("one device per request") == true)
      let wrong = try await ben.post("/pushes/paste", [("pasted", "hello & <b>")])
      #expect(wrong.status == 422 && ScenePage(wrong).error("pasted").contains("This is not a push"))
      #expect(ScenePage(wrong).values("pasted") == ["hello & <b>"])
      #expect(try await scene.count("pushes") == 0)
    }
  }

  @Test("a paste keeps what was typed where it says nothing, names what it could not take over, and mixes no audiences")
  func pasteOver() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let typed = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios"), ("audience", "tag"),
        ("tag", "vip"), ("tag_not", "beta"), ("title", "Typed"), ("sound", "ping"), ("when", "at"),
        ("send_at", "2026-12-01T09:00"), ("time_zone", "Europe/Berlin"),
      ]
      let text = #"{"platform":"android","audience":{"tag":["new"]},"notification":{"alert":"Pasted","voip":{}}}"#
      let answer = try await ben.post("/pushes/paste", typed + [("pasted", text)])
      let page = ScenePage(answer)
      #expect(answer.status == 200 && page.text.contains("Filled in from JPush v3"))
      #expect(page.text.contains("notification.voip") && page.text.contains("Not copied exactly"))
      for (name, value) in [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "android"), ("tag", "new"),
        ("tag_not", ""), ("body", "Pasted"), ("title", "Typed"), ("sound", "ping"), ("send_at", "2026-12-01T09:00"),
      ] {
        #expect(page.values(name).filter { !$0.isEmpty } == [value].filter { !$0.isEmpty }, "\(name)")
      }
      let wrong = ScenePage(try await ben.post("/pushes/paste", typed + [("pasted", "hello")]))
      #expect(wrong.values("title") == ["Typed"] && wrong.values("tag_not") == ["beta"])
      let saved = try await ben.post("/pushes/drafts", typed + [("pasted", "hello")])
      #expect(saved.status == 303)
      let drafts = try await scene.store.read { try SavedDraft.all($0, user: 1) }
      #expect(drafts.count == 1 && drafts[0].fields.allSatisfy { $0.name != "pasted" })
      let api = try await scene.call(
        .post, "/api/v1/pushes/dialects/read", as: .viewer, json: ["text": .string(text)])
      #expect(api.status == 200 && api.json?["losses"]?.array?.first?["field"] == "notification.voip", "\(api.text)")
    }
  }

  @Test("the same review sent twice is one push; changed after its use it is refused")
  func once() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let fields = Self.review(ScenePage(try await ben.post("/pushes/preview", Self.fields)))
      #expect(fields.contains { $0.0 == "idempotency_key" && $0.1.utf8.count >= 20 })
      let first = try await ben.post("/pushes", fields)
      let second = try await ben.post("/pushes", fields)
      #expect(first.status == 303 && second.status == 303 && first.location == second.location)
      #expect(try await scene.count("pushes") == 1)
      let changed = try await ben.post("/pushes", fields.map { ($0.0, $0.0 == "title" ? "Other" : $0.1) })
      #expect(changed.status == 409)
      #expect(ScenePage(changed).text.contains("This push was already sent"))
      #expect(try await scene.count("pushes") == 1)
      // Another person's key of the same letters is another key.
      var anna = try await scene.signIn(.admin)
      #expect(try await anna.post("/pushes", fields).location != first.location)
      #expect(try await scene.count("pushes") == 2)
      let again = Self.review(ScenePage(try await ben.post("/pushes/preview", Self.fields)))
      #expect(try await ben.post("/pushes", again).location != first.location, "a new review is a new push")
    }
  }

  @Test(
    "everybody, and production, ask for the app's name",
    arguments: [
      ("development", "all", true), ("production", "tag", true), ("production", "all", true),
      ("development", "tag", false),
    ])
  func confirm(environment: String, audience: String, isAsked: Bool) async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp(name: "Shöp & Co")
      try await scene.addDevices(3, of: app, environment: environment == "production" ? .production : .development)
      var ben = try await scene.signIn(.operator)
      let page = ScenePage(
        try await ben.post(
          "/pushes/preview", Self.changed([("environment", environment), ("audience", audience)])))
      #expect((page.text.contains("Type the app’s name, Shöp & Co, to confirm")) == isAsked)
      if isAsked {
        for word in ["", "shöp & co", "Shop", "yes", ConsoleScene.bundleID] {
          let refused = try await ben.post("/pushes", Self.review(page, confirm: word))
          #expect(refused.status == 422, "“\(word)”")
          #expect(ScenePage(refused).error("confirm").contains("Shöp & Co"))
          #expect(ScenePage(refused).values("idempotency_key") == page.values("idempotency_key"))
        }
        #expect(try await scene.count("pushes") == 0)
      }
      #expect(try await ben.post("/pushes", Self.review(page, confirm: " Shöp & Co ")).status == 303)
      #expect(try await scene.count("pushes") == 1)
    }
  }

  @Test("after a mistake the form is there again as it was typed, with a message at each field")
  func filledIn() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      try await scene.addApp("com.example.other", name: "Other")
      var ben = try await scene.signIn(.operator)
      let typed: [(String, String)] = [
        ("app", "com.example.other"), ("environment", "production"), ("platforms", "ios"), ("platforms", "android"),
        ("audience", "tag"), ("tag", "a, \"b,c\""), ("tag_and", "x"), ("tag_not", "y"), ("alias", "one\ntwo"),
        ("registration_id", "1a"), ("device_token", "zz"), ("title", String(repeating: "t", count: 257)),
        ("subtitle", "sub"), ("body", "b\n\"<&>"), ("badge", "-x"), ("sound", "default"), ("category", "c"),
        ("thread_id", "th"), ("interruption_level", "passive"), ("image", "nonsense"), ("link", "l"),
        ("content_available", "1"), ("mutable_content", "1"), ("extras", "{"), ("payload", "[]"),
        ("time_to_live", "soon"), ("priority", "low"), ("push_type", "alert"),
        ("collapse_id", String(repeating: "c", count: 65)), ("apns_headers", "nonsense"),
      ]
      let before = try await scene.changes()
      for target in ["/pushes/preview", "/pushes"] {
        let answer = try await ben.post(target, typed)
        #expect(answer.status == 422)
        let page = ScenePage(answer)
        for name in Set(typed.map(\.0)) {
          #expect(page.values(name) == typed.filter { $0.0 == name }.map(\.1), "\(name)")
        }
        #expect(
          page.failedFields == [
            "title", "badge", "image", "extras", "payload", "time_to_live", "collapse_id", "apns_headers",
          ])
        let open = page.tags.filter { $0.name == "details" && $0.attributes["open"] != nil }
        #expect(
          open.compactMap { $0.attributes["id"] } == ["more-content", "more-raw", "more-how"],
          "what holds a mistake is open")
      }
      #expect(try await scene.changes() == before)
    }
  }

  @Test("an app that is not there, and a kind of audience that is not, are told and not a crash")
  func unknown() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var ben = try await scene.signIn(.operator)
      let gone = try await ben.post("/pushes/preview", Self.changed([("app", "com.example.gone")]))
      #expect(gone.status == 422)
      #expect(ScenePage(gone).error("app").contains("com.example.gone"))
      let odd = try await ben.post("/pushes/preview", Self.changed([("audience", "everyone<b>")]))
      #expect(odd.status == 422)
      #expect(ScenePage(odd).text.contains("Unknown field"))
    }
  }

  @Test("what the checks call an error keeps the push from being sent, and says so in the review")
  func lint() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(3, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let typed = Self.changed([("body", String(repeating: "x", count: 4500))])
      for target in ["/pushes/preview", "/pushes"] {
        let page = ScenePage(try await ben.post(target, typed))
        #expect(page.text.contains("Fix these problems before sending"), "\(target)")
        #expect(!page.tags.contains { $0.name == "button" && $0.text.hasPrefix("Send to") })
        // Back to the form: everything is still there.
        let form = ScenePage(try await ben.post("/pushes/preview", Self.review(page) + [("edit", "1")]))
        for (name, value) in typed { #expect(form.values(name) == [value], "\(name)") }
      }
      #expect(try await scene.count("pushes") == 0)
    }
  }

  @Test("the form begins with a device, an app, or another push's draft")
  func starts() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addApp("com.example.other", name: "Other")
      let device = try #require(try await scene.addDevices(1, of: app, environment: .production).first)
      var ben = try await scene.signIn(.operator)
      let fresh = ScenePage(try await ben.get("/pushes/new"))
      #expect(fresh.values("environment") == [] && fresh.values("audience") == [], "nothing is preselected")
      #expect(fresh.values("app") == [""])
      let toDevice = ScenePage(try await ben.get("/pushes/new?device=\(device.id)"))
      #expect(toDevice.values("app") == [app.bundleID] && toDevice.values("environment") == ["production"])
      #expect(toDevice.values("device_token") == [device.token.hexadecimal])
      #expect(ScenePage(try await ben.get("/pushes/new?app=com.example.other")).values("app") == ["com.example.other"])
      var draft = PushDraft(
        app: app.bundleID, environment: .development, platforms: [.ios], audience: .all, notification: .init())
      draft.notification.body = "Again"
      draft.options.collapseID = "news"
      let push = try await scene.send(draft)
      let again = ScenePage(try await ben.get("/pushes/new?from=\(push.uid)"))
      #expect(again.values("body") == ["Again"] && again.values("collapse_id") == ["news"])
      #expect(again.values("audience") == ["all"])
      // Without editing, the review is next, and the sending itself needs its button as ever.
      let review = ScenePage(try await ben.get("/pushes/new?from=\(push.uid)&review=1"))
      #expect(review.values("body").first == "Again" && review.values("collapse_id").first == "news")
      #expect(review.forms.contains { $0.attributes["action"] == "/pushes" && $0.attributes["id"] == "review" })
      #expect(try await scene.count("pushes") == 1)
      for target in ["/pushes/new?from=none", "/pushes/new?device=999"] {
        #expect(try await ben.get(target).status == 404, "\(target)")
      }
    }
  }

  @Test("a form that comes back shows its texts on the phone, and does not say that no issues were found")
  func returned() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(2, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let none = "No issues found"
      func isHidden(_ page: ScenePage, _ name: String) -> Bool? {
        page.tags.first { $0.attributes[name] != nil }.map { $0.attributes["hidden"] != nil }
      }
      for page in [
        ScenePage(try await ben.post("/pushes/preview", Self.changed([("badge", "x")]))),
        ScenePage(try await ben.get("/pushes/new")),
      ] {
        #expect(page.text.contains(none) && isHidden(page, "data-lint-none") == true)
        #expect(isHidden(page, "data-lint-open") == false)
        let shown = page.tags.filter { $0.attributes["data-show"] == "initial" }.map(\.text)
        #expect(!shown.isEmpty && shown.allSatisfy { $0 == "S" }, "\(shown)")
      }
      let page = ScenePage(try await ben.post("/pushes/preview", Self.changed([("badge", "x")])))
      #expect(page.tags.filter { $0.attributes["data-show"] == "title" }.allSatisfy { $0.text == "Hello" })
      let review = ScenePage(try await ben.post("/pushes/preview", Self.fields))
      #expect(isHidden(review, "data-lint-none") == false)
    }
  }

  @Test("while somebody types, the preview is JSON: words beside the fields, or the picture")
  func live() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let headers = ["Accept": "application/json"]
      let good = try await ben.post("/pushes/preview", Self.fields, headers: headers)
      #expect(good.status == 200 && good.type == "application/json")
      #expect(good.json?["title"]?.string == "Hello" && good.json?["reachable"]?.string == "2")
      #expect(good.json?["errors"]?.object?.isEmpty == true)
      let html = good.json?["callbacks_html"]?.string ?? ""
      #expect(html.contains("<t") && !html.contains("{{"))
      let bad = try await ben.post("/pushes/preview", Self.changed([("badge", "x")]), headers: headers)
      #expect(bad.status == 200 && bad.json?["errors"]?["badge"]?.string?.isEmpty == false)
      let open = try await ben.post("/pushes/preview", Self.changed([("when", "repeat")]), headers: headers)
      #expect(open.json?["errors"]?["at"]?.string?.isEmpty == false, "the time is not chosen yet")
      #expect(
        open.json?["title"]?.string == "Hello" && open.json?["sentence"]?.string == "", "the phone shows the text")
      let forged = try await ben.post("/pushes/preview", [("csrf", "x")], headers: headers)
      #expect(forged.status == 403)
    }
  }

  @Test("the preview names no app before one is chosen", arguments: ["", ConsoleScene.bundleID])
  func openApp(_ chosen: String) async throws {
    try await ConsoleScene.with { scene in
      _ = try await scene.addApp()
      _ = try await scene.addApp("com.example.mail", name: "Mail")
      var ben = try await scene.signIn(.operator)
      let live = try await ben.post(
        "/pushes/preview", Self.changed([("app", chosen), ("when", "repeat")]), headers: ["Accept": "application/json"])
      #expect(live.json?["title"]?.string == "Hello")
      #expect(live.json?["app"]?.string == (chosen.isEmpty ? "App name" : "Shop"))
      #expect(live.json?["initial"]?.string == (chosen.isEmpty ? "" : "S"))
      let topic = "apns-topic: \(chosen.isEmpty ? "$BUNDLE_ID" : chosen)"
      #expect(live.json?["headers"]?.string?.contains(topic) == true, "\(live.text)")
      let form = ScenePage(try await ben.get("/pushes/new?app=\(chosen)"))
      let names = form.tags.filter { $0.attributes["data-show"] == "app" }.map(\.text)
      #expect(!names.isEmpty && Set(names) == [chosen.isEmpty ? "App name" : "Shop"], "\(names)")
    }
  }

  @Test("cancelling stops what is under way, and says so; what is over stays as it is")
  func cancel() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      scene.provider.answer { _ in nil }
      var ben = try await scene.signIn(.operator)
      let fields = Self.review(ScenePage(try await ben.post("/pushes/preview", Self.fields)))
      let target = try #require(try await ben.post("/pushes", fields).location)
      try await waitUntil("a device is held back") { scene.provider.waiting > 0 }
      #expect(ScenePage(try await ben.get(target)).forms.contains { $0.attributes["action"] == "\(target)/cancel" })
      #expect(try await ben.post("\(target)/cancel").location == target)
      let push = try await scene.finished(String(target.dropFirst("/pushes/".count)))
      #expect(push.state == .cancelled && push.counts.skipped == 2)
      #expect(try await scene.audit("push.cancel").count == 1)
      let page = ScenePage(try await ben.get(target))
      #expect(page.text.contains("The remaining devices get nothing"), "said once")
      #expect(!ScenePage(try await ben.get(target)).text.contains("The remaining devices get nothing"), "and not again")
      _ = try await ben.post("\(target)/cancel")
      #expect(ScenePage(try await ben.get(target)).text.contains("already finished"))
      #expect(try await scene.audit("push.cancel").count == 1)
    }
  }

  @Test("who cancels before anything was sent is not told of remaining devices")
  func cancelEarly() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(4, of: scene.addApp())
      var ben = try await scene.signIn(.operator)
      let sent = try await scene.call(
        .post, "/api/v1/pushes", as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development", "audience": "all",
          "notification": ["title": "x"], "options": ["undo_seconds": 60],
        ])
      let target = "/pushes/\(try #require(sent.json?["id"]?.string))"
      #expect(try await ben.post("\(target)/cancel").location == target)
      let page = ScenePage(try await ben.get(target)).text
      #expect(page.contains("Push canceled.") && !page.contains("remaining devices"))
    }
  }
}
