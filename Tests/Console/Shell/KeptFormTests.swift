import Foundation
import HTTPServer
import JSON
import Model
import Store
import Testing

@Suite("Forms that were not carried out")
struct KeptFormTests {
  /// Where the form stands, what is typed, and where it is sent.
  static let forms: [(page: String, action: String, typed: [(String, String)])] = [
    ("/apps/new", "/apps", [("name", "Läden & <b>"), ("bundle_id", "com.example.other"), ("alias_rule", "jpush")]),
    ("/apps/1/edit", "/apps/1", [("name", "Another \"name\""), ("alias_rule", "jpush")]),
    ("/devices/new", "/devices", [("app", ConsoleScene.bundleID), ("token", "abc"), ("alias", "anna")]),
    ("/templates/new", "/templates", [("name", "Sale"), ("title", "Hello"), ("body", "two\nlines")]),
    ("/smoke-tests/new", "/smoke-tests", [("name", "Nightly"), ("push", "{\"a\": 1}")]),
    ("/audiences/segments/new", "/audiences/segments", [("name", "Regulars")]),
    ("/pushes/new", "/pushes/preview", SendPageTests.fields),
    ("/settings/webhooks/new", "/settings/webhooks", [("name", "Hook"), ("url", "https://a.example/x?y=1&z=2")]),
    ("/settings/receivers/new?channel=email", "/settings/receivers", [("name", "Ops"), ("address", "a@b.example")]),
    ("/settings/retention", "/settings/retention", [("deliveries_days", "17"), ("pushes_days", "170")]),
    ("/settings/reminders", "/settings/reminders", [("days", "45, 20, 3"), ("hour", "7")]),
    ("/settings/mail", "/settings/mail", [("host", "mail.example.com"), ("port", "2525"), ("from", "a@b.example")]),
    ("/settings/tokens", "/settings/tokens", [("name", "ci"), ("scopes", "devices"), ("expires", "365d")]),
    ("/certificates", "/hosts", [("host", "mail.example.com"), ("note", "ask Grace")]),
  ]

  private static func browser(_ scene: ConsoleScene) async throws -> SceneBrowser {
    try await scene.addDevices(2, of: scene.addApp())
    return try await scene.signIn(.admin, name: "anna@example.com")
  }

  /// The person signs in anew, where the browser was sent.
  private static func signIn(_ browser: inout SceneBrowser, at location: String) async throws -> SceneAnswer {
    browser.cookies["signalbox_session"] = nil
    let page = ScenePage(try await browser.get(location))
    browser.csrf = try #require(browser.formToken)
    return try await browser.post(
      "/session",
      [
        ("email", "anna@example.com"), ("password", ConsoleScene.password),
        ("return", try #require(page.values("return").first)),
      ])
  }

  private static func headers(_ page: String) -> [String: String] {
    ["Referer": "http://localhost\(page)", "Sec-Fetch-Site": "same-origin"]
  }

  @Test(
    "what was typed is in the form again after the session had ended, also where nobody knows the session any more",
    arguments: forms.indices, [true, false])
  func ended(_ index: Int, isKnown: Bool) async throws {
    let form = Self.forms[index]
    try await ConsoleScene.with { scene in
      var anna = try await Self.browser(scene)
      #expect(try await anna.get(form.page).status == 200, "\(form.page)")
      if isKnown { scene.clock.advance(12 * 3600 + 60) } else { anna.cookies["signalbox_session"] = nil }
      let before = try await scene.count("audit")
      let answer = try await anna.post(form.action, form.typed, headers: Self.headers(form.page))
      #expect(try await scene.count("audit") == before, "nothing is carried out")
      let location = try #require(answer.location)
      #expect(location.hasPrefix("/session/new?return=") && location.hasSuffix("&why=kept"), "\(location)")
      #expect(try await anna.get(location).text.contains("What you typed is kept"))
      let back = try #require(try await Self.signIn(&anna, at: location).location)
      let again = try await anna.get(back)
      #expect(again.status == 200 && again.text.contains("Not saved yet."), "\(form.page): \(again.status)")
      let page = ScenePage(again)
      for (name, value) in form.typed {
        #expect(page.values(name).contains(value), "\(form.page): \(name) is \(page.values(name))")
      }
    }
  }

  @Test("nobody else sees it; a form of another site, a long one and a password are never kept")
  func private_() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await Self.browser(scene)
      var eve = try await scene.signIn(.admin, name: "eve@example.com")
      scene.clock.advance(12 * 3600 + 60)
      let typed = [("name", "Annas"), ("bundle_id", "com.example.x")]
      let kept = try await anna.post("/apps", typed, headers: Self.headers("/apps/new"))
      let address = try #require(
        kept.location?.dropFirst("/session/new?return=".count).split(separator: "&").first?.removingPercentEncoding)
      let signedIn = try await Self.enter(&eve, as: "eve@example.com")
      #expect(signedIn)
      let others = try await eve.get(address)
      #expect(!others.text.contains("Annas") && others.text.contains("no longer kept"))
      for headers in [
        ["Sec-Fetch-Site": "cross-site"], ["Origin": "https://evil.example"], [:], ["Sec-Fetch-Site": "none"],
      ] {
        let lost = try await anna.post("/apps", typed, headers: headers)
        #expect(lost.location?.hasSuffix("&why=lost") == true, "\(headers)")
      }
      let long = try await anna.post(
        "/apps", [("name", String(repeating: "x", count: 70_000))], headers: Self.headers("/apps/new"))
      #expect(long.location?.hasSuffix("&why=lost") == true)
      let secret = try await anna.post(
        "/settings/mail", [("host", "mail.example.com"), ("password", "geheim")],
        headers: Self.headers("/settings/mail"))
      let signInPage = try #require(secret.location)
      let back = try #require(try await Self.signIn(&anna, at: signInPage).location)
      let page = try await anna.get(back)
      #expect(page.text.contains("mail.example.com") && !page.text.contains("geheim"))
    }
  }

  private static func enter(_ browser: inout SceneBrowser, as name: String) async throws -> Bool {
    browser.cookies["signalbox_session"] = nil
    _ = try await browser.get("/session/new")
    browser.csrf = try #require(browser.formToken)
    return try await browser.post("/session", [("email", name), ("password", ConsoleScene.password)]).status == 303
  }

  @Test("a page that leaves because its session has ended gives the server what was typed")
  func leaving() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await Self.browser(scene)
      scene.clock.advance(12 * 3600 + 60)
      let answer = try await anna.post(
        "/session/kept?page=/apps/new&action=/apps", [("name", "Half a na")], headers: ["Sec-Fetch-Site": "same-origin"]
      )
      let address = try #require(answer.json?["page"]?.string)
      #expect(address.hasPrefix("/apps/new?kept="))
      let entered = try await Self.enter(&anna, as: "anna@example.com")
      #expect(entered)
      #expect(ScenePage(try await anna.get(address)).values("name") == ["Half a na"])
      let other = try await anna.post("/session/kept?page=/apps/new&action=/apps", [("name", "x")])
      #expect(other.json?["page"] == .null)
    }
  }

  @Test(
    "a form that was refused can be read in another language, with all that was typed",
    arguments: [
      ("/apps/new", "/apps", [("name", ""), ("bundle_id", "not an id")]),
      ("/devices/new", "/devices", [("app", ConsoleScene.bundleID), ("token", "zz"), ("alias", "bert")]),
      ("/settings/webhooks/new", "/settings/webhooks", [("name", "Hook"), ("url", "ftp://a.example")]),
      ("/settings/retention", "/settings/retention", [("deliveries_days", "never")]),
    ] as [(String, String, [(String, String)])])
  func language(page: String, action: String, typed: [(String, String)]) async throws {
    try await ConsoleScene.with { scene in
      var anna = try await Self.browser(scene)
      let refused = try await anna.post(action, typed, headers: Self.headers(page))
      #expect(refused.status == 422)
      let back = try #require(ScenePage(refused).values("return").first)
      #expect(back.hasPrefix(page + "?kept="))
      #expect(ScenePage(refused).tags.contains { $0.attributes["name"] == "lang" })
      #expect(try await anna.post("/language", [("lang", "zh-Hans"), ("return", back)]).location == back)
      let again = try await anna.get(back)
      #expect(again.text.contains("<html lang=\"zh-Hans\"") && again.text.contains("尚未保存"))
      for (name, value) in typed { #expect(ScenePage(again).values(name).contains(value), "\(name)") }
    }
  }
}
