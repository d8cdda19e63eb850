import HTTPServer
import JSON
import Store
import Testing

/// Who may do what, and that nothing happens by a forged form.
@Suite("Pages: roles and forged forms")
struct RouteAccessTests {
  /// Method and pattern of every route for people, and who may; nil: everybody, signed in or not.
  private static let table: [(String, User.Role?)] = [
    ("GET /healthz", nil), ("GET /readyz", nil), ("GET /session/new", nil), ("POST /session", nil),
    ("GET /session/left", nil), ("GET /session/setup", nil), ("POST /session/setup", nil), ("POST /session/link", nil),
    ("POST /language", nil),
    ("POST /session/end", .viewer), ("GET /", .viewer),
    ("GET /pushes", .viewer), ("GET /pushes.csv", .viewer), ("GET /pushes.json", .viewer),
    ("GET /pushes/new", .operator), ("POST /pushes/preview", .operator),
    ("POST /pushes/paste", .operator), ("GET /pushes/drafts", .operator), ("POST /pushes/drafts", .operator),
    ("POST /pushes/drafts/:id/remove", .operator), ("POST /pushes/own", .operator),
    ("GET /pushes/drafts.csv", .operator), ("GET /pushes/drafts.json", .operator), ("POST /devices/:id/own", .operator),
    ("POST /pushes", .operator), ("GET /pushes/:uid", .viewer), ("GET /pushes/:uid/events", .viewer),
    ("GET /pushes/:uid/receipts/events", .viewer),
    ("POST /pushes/:uid/cancel", .operator), ("POST /pushes/:uid/pause", .operator),
    ("POST /pushes/:uid/resume", .operator), ("POST /pushes/:uid/retry", .operator),
    ("GET /pushes/:uid/remove", .admin), ("POST /pushes/:uid/remove", .admin),
    ("POST /pushes/:uid/approve", .operator), ("POST /pushes/:uid/reject", .operator),
    ("POST /schedules/:uid/approve", .operator), ("POST /schedules/:uid/reject", .operator),
    ("POST /apps/:id/approval", .admin), ("POST /settings/people/:id/production/allow", .admin),
    ("POST /settings/people/:id/production/forbid", .admin),
    ("GET /pushes/:uid/move", .operator), ("POST /pushes/:uid/move", .operator),
    ("GET /pushes/:uid/deliveries.csv", .viewer),
    ("GET /pushes/:uid/deliveries.json", .viewer), ("GET /pushes/:uid/deliveries/:device", .viewer),
    ("GET /incidents", .viewer), ("GET /incidents/:id", .viewer), ("POST /incidents/:id/assign", .operator),
    ("POST /incidents/:id/snooze", .operator), ("POST /incidents/:id/close", .operator),
    ("POST /incidents/:id/reopen", .operator), ("GET /incidents/:id/move", .operator),
    ("POST /incidents/:id/move", .operator), ("POST /devices/batch", .operator),
    ("GET /schedules", .viewer), ("GET /schedules/:uid", .viewer),
    ("GET /schedules/:uid/cancel", .operator), ("POST /schedules/:uid/pause", .operator),
    ("POST /schedules/:uid/resume", .operator), ("POST /schedules/:uid/cancel", .operator),
    ("GET /templates", .viewer), ("GET /templates/new", .operator), ("POST /templates/new", .operator),
    ("POST /templates", .operator), ("GET /templates/:id", .operator), ("POST /templates/:id", .operator),
    ("GET /templates/:id/use", .operator), ("POST /templates/:id/use", .operator),
    ("POST /templates/:id/remove", .operator),
    ("GET /smoke-tests", .viewer), ("GET /smoke-tests/new", .operator), ("POST /smoke-tests/new", .operator),
    ("POST /smoke-tests", .operator), ("GET /smoke-tests/:id", .viewer), ("GET /smoke-tests/:id/edit", .operator),
    ("GET /smoke-tests/:id/runs/:run/junit.xml", .viewer),
    ("POST /smoke-tests/:id", .operator), ("POST /smoke-tests/:id/runs", .operator),
    ("GET /smoke-tests/:id/remove", .operator), ("POST /smoke-tests/:id/remove", .operator),
    ("GET /devices", .viewer), ("GET /devices.csv", .viewer), ("GET /devices.json", .viewer),
    ("GET /devices/new", .operator), ("POST /devices", .operator),
    ("GET /devices/import", .operator), ("POST /devices/import", .operator), ("GET /devices/:id", .viewer),
    ("POST /devices/:id", .operator), ("POST /devices/:id/release", .operator),
    ("GET /devices/:id/remove", .operator), ("POST /devices/:id/remove", .operator),
    ("GET /apps/:id/phones/:uid", .operator), ("POST /apps/:id/phones", .operator),
    ("GET /styleguide", .operator), ("GET /settings/about", .admin), ("POST /settings/about/bundle", .admin),
    ("POST /settings/about/backup", .admin), ("POST /settings/about/check", .admin),
    ("GET /audiences", .viewer), ("GET /audiences/suggestions", .viewer), ("GET /audiences/explanation", .viewer),
    ("POST /audiences/explanation", .viewer), ("GET /audiences/segments/new", .operator),
    ("POST /audiences/segments", .operator), ("GET /audiences/segments/:id", .viewer),
    ("GET /audiences/segments/:id/devices.csv", .viewer), ("GET /audiences/segments/:id/devices.json", .viewer),
    ("GET /audiences/segments/:id/edit", .operator), ("POST /audiences/segments/:id", .operator),
    ("GET /audiences/segments/:id/remove", .operator), ("POST /audiences/segments/:id/remove", .operator),
    ("GET /apps", .viewer), ("GET /apps/new", .operator), ("POST /apps", .operator), ("GET /apps/:id", .viewer),
    ("GET /apps/:id/edit", .operator), ("POST /apps/:id", .operator), ("GET /apps/:id/remove", .admin),
    ("POST /apps/:id/remove", .admin), ("POST /apps/:id/credentials/:environment", .admin),
    ("POST /apps/:id/credentials/:environment/unbind", .admin),
    ("POST /apps/:id/client-keys", .admin), ("POST /apps/:id/client-keys/remove", .admin),
    ("GET /apps/:id/code", .viewer), ("GET /apps/:id/pages", .viewer), ("POST /apps/:id/pages", .operator),
    ("POST /apps/:id/pages/reset", .operator), ("POST /apps/:id/pages/try", .viewer),
    ("POST /apps/:id/jpush-key", .admin), ("POST /apps/:id/jpush-key/remove", .admin),
    ("GET /apps/:id/topics.csv", .viewer), ("GET /apps/:id/topics.json", .viewer),
    ("GET /apps/:id/channels.csv", .viewer), ("GET /apps/:id/channels.json", .viewer),
    ("GET /apps/:id/topics", .viewer), ("POST /apps/:id/topics/rules", .operator),
    ("POST /apps/:id/topics/subscribe", .operator), ("POST /apps/:id/topics/unsubscribe", .operator),
    ("GET /apps/:id/topics/audience", .operator), ("POST /apps/:id/topics/audience/subscribe", .operator),
    ("POST /apps/:id/topics/audience/unsubscribe", .operator), ("GET /apps/:id/topics/changes/:change", .viewer),
    ("GET /apps/:id/topics/changes/:change/devices.csv", .viewer),
    ("GET /apps/:id/topics/changes/:change/devices.json", .viewer), ("GET /apps/:id/jpush", .viewer),
    ("GET /apps/:id/jpush/remove", .operator),
    ("POST /apps/:id/jpush/remove", .operator), ("GET /devices/:id/jpush", .viewer),
    ("POST /devices/:id/jpush", .operator),
    ("GET /apps/:id/channels", .viewer), ("POST /apps/:id/channels", .operator),
    ("POST /apps/:id/channels/refresh", .operator), ("POST /apps/:id/channels/remove", .operator),
    ("GET /apps/:id/channels/remove", .operator),
    ("GET /apps.csv", .viewer), ("GET /apps.json", .viewer), ("GET /audiences.csv", .viewer),
    ("GET /audiences.json", .viewer), ("GET /incidents.csv", .viewer), ("GET /incidents.json", .viewer),
    ("GET /schedules.csv", .viewer), ("GET /schedules.json", .viewer), ("GET /smoke-tests.csv", .viewer),
    ("GET /schedules/:uid/runs.csv", .viewer), ("GET /schedules/:uid/runs.json", .viewer),
    ("GET /smoke-tests/:id/runs.csv", .viewer), ("GET /smoke-tests/:id/runs.json", .viewer),
    ("GET /smoke-tests.json", .viewer), ("GET /templates.csv", .viewer), ("GET /templates.json", .viewer),
    ("GET /certificates", .viewer), ("GET /certificates.csv", .viewer), ("GET /certificates.json", .viewer),
    ("POST /certificates", .admin), ("GET /certificates/:id", .viewer),
    ("POST /certificates/:id", .admin), ("GET /certificates/:id/remove", .admin),
    ("POST /certificates/:id/remove", .admin),
    ("GET /certificates/key", .admin), ("POST /certificates/key", .admin),
    ("GET /certificates/requests", .viewer), ("POST /certificates/requests", .admin),
    ("GET /certificates/requests.csv", .viewer), ("GET /certificates/requests.json", .viewer),
    ("GET /certificates/requests/:uid/file", .viewer), ("POST /certificates/requests/:uid/remove", .admin),
    ("POST /certificates/:id/requests", .admin), ("POST /certificates/:id/successor", .admin),
    ("GET /certificates/:id/successor/:uid", .admin), ("POST /certificates/:id/successor/:uid", .admin),
    ("GET /certificates/:id/undo", .admin), ("POST /certificates/:id/undo", .admin),
    ("POST /certificates/:id/acknowledge", .operator), ("POST /certificates/:id/unacknowledge", .operator),
    ("GET /settings", .admin), ("GET /settings/mail", .admin), ("POST /settings/mail", .admin),
    ("POST /settings/mail/test", .admin), ("GET /settings/oidc", .admin), ("POST /settings/oidc", .admin),
    ("POST /settings/oidc/test", .admin), ("POST /settings/people/:id/unlink", .admin), ("GET /session/oidc", nil),
    ("GET /session/oidc/callback", nil), ("GET /session/oidc/confirm", .viewer), ("GET /settings/receivers", .admin),
    ("GET /settings/receivers/new", .admin),
    ("POST /settings/receivers", .admin), ("GET /settings/receivers/:id", .admin),
    ("POST /settings/receivers/:id", .admin), ("POST /settings/receivers/:id/test", .admin),
    ("POST /settings/receivers/:id/remove", .admin), ("GET /settings/reminders", .admin),
    ("GET /settings/webhooks", .admin), ("GET /settings/webhooks/new", .admin), ("POST /settings/webhooks", .admin),
    ("GET /settings/webhooks/:id", .admin), ("POST /settings/webhooks/:id", .admin),
    ("POST /settings/webhooks/:id/secret", .admin), ("POST /settings/webhooks/:id/test", .admin),
    ("POST /settings/webhooks/:id/deliveries/:uid/again", .admin), ("GET /settings/webhooks/:id/remove", .admin),
    ("POST /settings/webhooks/:id/remove", .admin),
    ("POST /settings/reminders", .admin), ("POST /settings/reminders/forget-cron", .admin),
    ("POST /hosts", .admin), ("GET /hosts/:id", .viewer), ("POST /hosts/:id", .admin),
    ("POST /hosts/:id/acknowledge", .operator), ("POST /hosts/:id/unacknowledge", .operator),
    ("POST /hosts/:id/probe", .operator), ("GET /hosts/:id/remove", .admin), ("POST /hosts/:id/remove", .admin),
    ("GET /certificates.ics", nil), ("GET /metrics", nil), ("POST /certificates/calendar", .viewer),
    ("POST /certificates/calendar/remove", .viewer),
    ("GET /phones", .viewer), ("GET /phones/events", .viewer), ("GET /phones/new", .operator),
    ("GET /phones/ca.pem", .viewer), ("POST /phones", .operator), ("POST /phones/faults", .operator),
    ("GET /phones/wall", .viewer), ("GET /phones/requests", .viewer), ("GET /phones/:id/remove", .operator),
    ("POST /first-run", .operator),
    ("POST /phones/:id", .operator), ("POST /phones/:id/remove", .operator),
    ("GET /activity", .operator), ("GET /activity.csv", .operator), ("GET /activity.json", .operator),
    ("GET /search", .viewer), ("GET /docs", .viewer), ("GET /docs/:section", .viewer),
    ("GET /docs/words", .viewer), ("GET /docs/callbacks", .viewer), ("GET /codes", .viewer),
    ("GET /codes/:code", .viewer), ("GET /codes.csv", .viewer), ("GET /codes.json", .viewer),
    ("GET /settings/people.csv", .admin), ("GET /settings/people.json", .admin),
    ("GET /settings/tokens.csv", .admin), ("GET /settings/tokens.json", .admin),
    ("GET /settings/webhooks.csv", .admin), ("GET /settings/webhooks.json", .admin),
    ("GET /settings/webhooks/:id/deliveries.csv", .admin), ("GET /settings/webhooks/:id/deliveries.json", .admin),
    ("GET /settings/receivers.csv", .admin), ("GET /settings/receivers.json", .admin),
    ("GET /settings/people", .admin), ("POST /settings/people", .admin), ("GET /settings/people/:id", .admin),
    ("POST /settings/people/:id", .admin), ("POST /settings/people/:id/disable", .admin),
    ("POST /settings/people/:id/enable", .admin), ("POST /settings/people/:id/sessions/end", .admin),
    ("POST /settings/people/:id/second-step/reset", .admin), ("POST /settings/people/:id/link", .admin),
    ("GET /settings/people/:id/remove", .admin), ("POST /settings/people/:id/remove", .admin),
    ("GET /session/confirm", .viewer), ("POST /session/confirm", .viewer), ("POST /session/code", nil),
    ("GET /session/passkey", nil),
    ("POST /account/passkeys", .viewer), ("POST /account/passkeys/:id/remove", .viewer),
    ("GET /session/second-step", .viewer), ("POST /session/second-step", .viewer),
    ("POST /settings/people/second-step", .admin),
    ("GET /account/second-step", .viewer), ("POST /account/second-step", .viewer),
    ("POST /account/second-step/begin", .viewer), ("POST /account/second-step/codes", .viewer),
    ("POST /account/second-step/remove", .viewer),
    ("GET /account", .viewer), ("POST /account/password", .viewer), ("POST /account/sessions/end", .viewer),
    ("GET /settings/retention", .admin), ("POST /settings/retention", .admin),
    ("GET /settings/sending", .admin), ("POST /settings/sending", .admin),
    ("GET /settings/tokens", .admin), ("POST /settings/tokens", .admin),
    ("POST /settings/tokens/:id/revoke", .admin),
  ]

  /// What gives access, or takes it: asked for anew 15 minutes after the last proof of who is there.
  private static let proven: Set = [
    "GET /account/second-step", "POST /account/second-step", "POST /account/second-step/begin",
    "POST /account/second-step/codes", "POST /account/second-step/remove", "POST /account/passkeys",
    "POST /account/passkeys/:id/remove", "POST /account/sessions/end", "POST /apps/:id/approval",
    "POST /apps/:id/client-keys", "POST /apps/:id/client-keys/remove", "POST /apps/:id/credentials/:environment",
    "POST /apps/:id/credentials/:environment/unbind", "POST /apps/:id/jpush-key", "POST /apps/:id/jpush-key/remove",
    "POST /apps/:id/remove", "POST /certificates", "POST /certificates/:id/remove", "POST /certificates/:id/requests",
    "POST /certificates/:id/successor", "POST /certificates/:id/successor/:uid", "POST /certificates/:id/undo",
    "POST /certificates/calendar", "POST /certificates/key", "POST /certificates/requests",
    "POST /certificates/requests/:uid/remove", "POST /settings/about/backup", "POST /settings/about/bundle",
    "POST /settings/mail", "POST /settings/oidc", "POST /settings/people", "POST /settings/people/second-step",
    "POST /settings/people/:id", "POST /settings/people/:id/disable", "POST /settings/people/:id/enable",
    "POST /settings/people/:id/link", "POST /settings/people/:id/production/allow",
    "POST /settings/people/:id/production/forbid", "POST /settings/people/:id/remove",
    "POST /settings/people/:id/second-step/reset", "POST /settings/people/:id/sessions/end",
    "POST /settings/people/:id/unlink", "POST /settings/receivers", "POST /settings/receivers/:id",
    "POST /settings/receivers/:id/remove", "POST /settings/tokens", "POST /settings/tokens/:id/revoke",
    "POST /settings/webhooks", "POST /settings/webhooks/:id", "POST /settings/webhooks/:id/remove",
    "POST /settings/webhooks/:id/secret",
  ]

  private struct Entry {
    let method: HTTPServer.Method
    let pattern: String
    let role: User.Role?
  }

  private static let entries = table.map { line, role in
    let parts = line.split(separator: " ").map(String.init)
    return Entry(method: HTTPServer.Method(rawValue: parts[0]), pattern: parts[1], role: role)
  }

  private static func target(_ pattern: String) -> String {
    pattern.replacing(":uid", with: "none").replacing(":device", with: "1").replacing(":change", with: "1").replacing(
      ":id", with: "999"
    )
    .replacing(":environment", with: "development").replacing(":section", with: "pushes")
    .replacing(":code", with: "Unregistered").replacing(":run", with: "1")
  }

  @Test("the table has every route, and no other")
  func complete() async throws {
    try await ConsoleScene.with { scene in
      let folders = [
        "/assets/:version/*path", "/css/*path", "/js/*path", "/icons/*path", "/api/:document", "/favicon.ico",
      ]
      let routes = scene.router.routes.filter { $0.name == nil && !folders.contains($0.pattern) }
      #expect(Set(routes.map { "\($0.method) \($0.pattern)" }) == Set(Self.table.map(\.0)))
    }
  }

  @Test("the role below is refused with a page that says who may, and the role itself gets further")
  func roles() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      for role in User.Role.allCases {
        var browser = try await scene.signIn(role)
        for entry in Self.entries where entry.pattern != "/session/end" {
          let target = Self.target(entry.pattern)
          let before = try await scene.changes()
          let answer =
            entry.method == .get ? try await browser.get(target) : try await browser.post(target)
          #expect(answer.status < 500, "\(entry.pattern) as \(role)")
          if let needed = entry.role, role < needed {
            #expect(answer.status == 403, "\(entry.method) \(entry.pattern) as \(role)")
            #expect(ScenePage(answer).text.contains("You don’t have permission"), "\(entry.pattern)")
            #expect(answer.text.contains("\(role.rawValue)@example.com"), "the page has no frame of \(role)")
            #expect(try await scene.changes() == before, "\(entry.pattern) as \(role)")
          } else {
            #expect(answer.status != 403, "\(entry.method) \(entry.pattern) as \(role)")
            #expect(answer.location?.hasPrefix("/session/new") != true, "\(entry.pattern) as \(role)")
          }
        }
      }
    }
  }

  /// The entry of the route that an address leads to: of several patterns the one with the most fixed parts.
  private static func entry(_ method: HTTPServer.Method, _ address: String) -> Entry? {
    let parts = address.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
    func fixed(_ entry: Entry) -> Int? {
      let wanted = entry.pattern.split(separator: "/", omittingEmptySubsequences: false)
      guard entry.method == method, wanted.count == parts.count else { return nil }
      guard zip(wanted, parts).allSatisfy({ $0.hasPrefix(":") || $0 == $1 }) else { return nil }
      return wanted.count { !$0.hasPrefix(":") }
    }
    return entries.compactMap { entry in fixed(entry).map { (entry, $0) } }.max { $0.1 < $1.1 }?.0
  }

  @Test("no page of the setup offers a link or a form that would answer “You don’t have permission”")
  func offers() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(2, of: app)
      let certificate = try await CertificateSamples.keep(scene, days: 20)
      let pages = [
        "/devices", "/devices?q=none", "/devices/1", "/apps", "/apps/\(app.id)", "/apps/\(app.id)/pages",
        "/apps/\(app.id)/topics", "/apps/\(app.id)/channels", "/audiences", "/audiences?kind=tags", "/phones",
        "/phones/wall", "/phones/requests", "/certificates", "/certificates/\(certificate)", "/certificates/requests",
        "/account", "/codes", "/docs", "/search?q=x",
      ]
      for role in [User.Role.viewer, .operator] {
        var browser = try await scene.signIn(role)
        for target in pages {
          let answer = try await browser.get(target)
          #expect(answer.status == 200, "\(target)")
          for tag in ScenePage(answer).tags {
            let attributes = tag.attributes
            let isPost = tag.name == "form" && attributes["method"] == "post" || attributes["formaction"] != nil
            guard let address = attributes["formaction"] ?? attributes["action"] ?? attributes["href"],
              address.hasPrefix("/"), ["a", "form", "button"].contains(tag.name),
              let needed = Self.entry(isPost ? .post : .get, address)?.role
            else { continue }
            #expect(role >= needed, "\(target) offers \(address) to a \(role)")
          }
        }
      }
    }
  }

  @Test("15 minutes after the last proof, what gives access asks who is there and changes nothing; nothing else asks")
  func proofs() async throws {
    #expect(Self.proven.isSubset(of: Set(Self.table.map(\.0))))
    try await ConsoleScene.with(simulator: true) { scene in
      var browser = try await scene.signIn(.admin)
      scene.clock.advance(901)
      for entry in Self.entries where entry.role != nil {
        if ["/session/end", "/session/confirm", "/session/oidc/confirm"].contains(entry.pattern) { continue }
        let (target, line) = (Self.target(entry.pattern), "\(entry.method) \(entry.pattern)")
        let before = try await scene.changes()
        let answer = entry.method == .get ? try await browser.get(target) : try await browser.post(target)
        let asks = ScenePage(answer).tags.contains { $0.name == "input" && $0.attributes["name"] == "proof" }
        #expect(asks == Self.proven.contains(line), "\(line): \(answer.status)")
        guard asks else { continue }
        #expect(answer.status == (entry.method == .get ? 200 : 403), "\(line)")
        #expect(try await scene.changes() == before, "\(line)")
      }
    }
  }

  @Test("who lacks a required second step can sign out, and set one up; nothing else")
  func gated() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let settingUp: Set = [
        "GET /account/second-step", "POST /account/second-step", "POST /account/second-step/begin",
        "POST /account/passkeys", "GET /session/confirm", "POST /session/confirm", "GET /session/oidc/confirm",
      ]
      for role in User.Role.allCases {
        var browser = try await scene.signIn(role)
        try await scene.requireSecondStep(.everybody)
        for entry in Self.entries where entry.role != nil && !entry.pattern.hasPrefix("/session/second-step") {
          guard entry.pattern != "/session/end" else { continue }
          let (target, line) = (Self.target(entry.pattern), "\(entry.method) \(entry.pattern)")
          let before = try await scene.changes()
          let answer = entry.method == .get ? try await browser.get(target) : try await browser.post(target)
          if settingUp.contains(line) {
            #expect(answer.location?.hasPrefix("/session/second-step") != true, "\(line) as \(role)")
          } else {
            #expect(answer.status == 303, "\(line) as \(role)")
            #expect(answer.location?.hasPrefix("/session/second-step?return=") == true, "\(line) as \(role)")
            #expect(try await scene.changes() == before, "\(line) as \(role)")
          }
        }
        try await scene.requireSecondStep(.nobody)
        #expect(try await browser.get("/").status == 200, "the setting counts at the next request")
      }
    }
  }

  @Test("who is not signed in is sent to the sign-in page, and back where he wanted to go")
  func stranger() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      var browser = SceneBrowser(router: scene.router)
      for entry in Self.entries where entry.role != nil {
        let target = Self.target(entry.pattern) + "?a=1&b=x%20y"
        let before = try await scene.changes()
        let answer = entry.method == .get ? try await browser.get(target) : try await browser.post(target)
        #expect(answer.status == 303, "\(entry.pattern)")
        let back = entry.method == .get ? target.replacing("%", with: "%25") : "/"
        let expected =
          "/session/new?return="
          + back.replacing("?", with: "%3F").replacing("=", with: "%3D")
          .replacing("&", with: "%26")
        #expect(answer.location == expected + (entry.method == .get ? "" : "&why=lost"), "\(entry.pattern)")
        #expect(try await scene.changes() == before, "\(entry.pattern)")
      }
      let posted = try await browser.post(
        "/pushes/p/approve", headers: ["Referer": "http://console.example/pushes/p?a=1"])
      #expect(posted.location == "/session/new?return=/pushes/p%3Fa%3D1&why=lost", "the page of the form")
      let page = ScenePage(try await browser.get("/session/new?return=/pushes%3Fq%3Dx%2520y"))
      #expect(page.values("return").first == "/pushes?q=x%20y")
    }
  }

  @Test("an API token opens no page and sends no form, whatever its role or scope")
  func tokens() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      for word in User.Role.allCases.map(\.rawValue) + TokenScope.allCases.map(\.rawValue) {
        let headers = try await TokenAccessTests.token(scene, [word])
        let before = try await scene.changes()
        for entry in Self.entries where entry.role != nil {
          let answer = try await scene.call(entry.method, Self.target(entry.pattern), as: nil, headers: headers)
          let isSent = answer.status == 303 && answer.location?.hasPrefix("/session/new?return=") == true
          #expect(isSent, "\(entry.method) \(entry.pattern) with \(word): \(answer.status)")
        }
        #expect(try await scene.changes() == before, "\(word)")
      }
    }
  }

  @Test("a form without the session's own token, or from another site, changes nothing")
  func forged() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      var anna = try await scene.signIn(.admin, name: "anna@example.com")
      let eve = try await scene.signIn(.admin, name: "eve@example.com")
      let cookie = try #require(anna.cookies["signalbox_form"])
      let patterns = scene.router.routes.filter { $0.method == .post && $0.name == nil }.map(\.pattern)
      #expect(patterns.count > 25)
      for pattern in patterns {
        let target = Self.target(pattern)
        let before = try await scene.changes()
        for token in ["", "x", eve.csrf, cookie, anna.csrf + "x", String(anna.csrf.dropLast())] {
          let answer = try await anna.post(target, [("csrf", token)])
          #expect(answer.status == 403, "\(pattern) with the token “\(token)”")
          #expect(ScenePage(answer).text.contains("This form has expired"), "\(pattern)")
        }
        for site in ["cross-site", "same-site", "nonsense"] {
          let answer = try await anna.post(target, headers: ["Sec-Fetch-Site": site])
          #expect(answer.status == 403, "\(pattern) from \(site)")
        }
        for origin in ["https://evil.example", "http://localhost:1"] {
          let answer = try await anna.post(target, headers: ["Origin": origin])
          #expect(answer.status == 403, "\(pattern) from \(origin)")
        }
        let bare = try await anna.send(.post, target)
        #expect(bare.status == 403, "\(pattern) without a body")
        #expect(try await scene.changes() == before, "\(pattern)")
      }
      for origin in ["http://localhost", "null"] {
        let own = try await anna.post("/language", [("lang", "en")], headers: ["Origin": origin])
        #expect(own.status == 303, "from \(origin)")
      }
      let again = try await anna.get("/")
      #expect(again.status == 200, "the session is still good")
    }
  }

  @Test("a browser that is not signed in needs the token of its own cookie")
  func strangersForms() async throws {
    try await ConsoleScene.with { scene in
      let targets = Self.entries.filter { $0.role == nil && $0.method == .post }.map(\.pattern)
      #expect(targets.count >= 5)
      for target in targets {
        var browser = SceneBrowser(router: scene.router)
        #expect(try await browser.post(target, [("csrf", "")]).status == 403, "\(target) without a cookie")
        _ = try await browser.get("/session/new")
        let token = try #require(browser.cookies["signalbox_form"])
        #expect(token.utf8.count >= 20)
        #expect(try await browser.post(target, [("csrf", String(token.reversed()))]).status == 403)
        // A cookie that another host of the same domain could have set short.
        browser.cookies["signalbox_form"] = "short"
        #expect(try await browser.post(target, [("csrf", "short")]).status == 403, "\(target)")
        browser.cookies["signalbox_form"] = token
        #expect(try await browser.post(target, [("csrf", token)]).status != 403, "\(target)")
      }
    }
  }
}
