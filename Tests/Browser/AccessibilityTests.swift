import Foundation
import JSON
import Store
import Console
import Foundation
import Simulator
import Model
import Testing

@testable import signalbox

extension PagesInBrowser {
  @Suite("Every page")
  struct AccessibilityTests {
    /// Looks at every page in each language.
    private func audit(_ scene: BrowserScene, paths: [String], languages: [String] = ["en"]) async throws {
      for language in languages {
        if language != "en" {
          try await scene.open("/")
          try await scene.browser.click(xpath: "//button[@name='lang'][@value='\(language)']")
          try await scene.browser.wait(for: "/html[@lang='\(language)']")
        }
        for path in paths {
          try await scene.open(path)
          try await scene.audit(path)
        }
      }
    }

    /// Pages that look otherwise as long as there is nothing to show.
    private static let lists = [
      "/", "/pushes/new", "/pushes", "/pushes/drafts", "/incidents", "/schedules", "/smoke-tests", "/templates",
      "/devices", "/audiences", "/audiences?kind=tags", "/apps", "/certificates", "/certificates/requests",
      "/phones", "/phones/wall", "/account", "/settings/people", "/settings/oidc", "/settings/mail",
      "/settings/receivers", "/settings/reminders", "/settings/webhooks", "/settings/tokens",
    ]

    private static let forms = [
      "/smoke-tests/new", "/templates/new", "/devices/new", "/devices/import", "/audiences/segments/new", "/apps/new",
      "/certificates/key", "/phones/new", "/account/second-step", "/session/confirm?return=/account", "/settings",
      "/settings/people/1", "/settings/receivers/new?channel=feishu", "/settings/sending", "/settings/webhooks/new",
      "/settings/retention", "/nothing/here",
    ]

    @Test("an empty installation")
    func empty() async throws {
      try await BrowserScene.run(signedIn: false, demo: false, audited: true) { scene in
        try await audit(scene, paths: ["/session/new", "/session/setup", "/session/setup?token=wrong"])
        let path = try #require(try await scene.service.console.firstStartLink())
        try await audit(scene, paths: [path])
        try await scene.setUp()
        try await audit(scene, paths: Self.lists, languages: ["en", "zh-Hans"])
        let store = scene.service.store
        let audit = NewAuditEntry(actor: "test", action: "", subject: "")
        try await store.write {
          try SecondStepRule(reach: .everybody, trustsProvider: false).save($0, audit: audit, now: .now)
        }
        try await self.audit(scene, paths: ["/session/second-step", "/account/second-step"])
        print(scene.table.text)
      }
    }

    @Test("an installation at work, with a push that partly failed")
    func full() async throws {
      try await BrowserScene.run(audited: true) { scene in
        let simulator = try #require(scene.service.simulator)
        let phone = try #require(simulator.phones.phones().first)
        try simulator.phones.uninstall(phone.id)
        try await scene.open("/pushes/new?app=com.example.shop")
        try await scene.press("Review")
        try await scene.sees("There is no default", beside: "environment")
        try await scene.sees("Choose an audience", beside: "audience")
        try await scene.sees("Enter a message", beside: "body")
        try await scene.audit("the form with errors")
        try await scene.choose("environment", "development")
        try await scene.choose("audience", "all")
        try await scene.fill(
          "title", "A title that is so long that no lock screen and no table can show it in one line")
        try await scene.fill("body", "https://example.com/" + String(repeating: "unbreakable", count: 12))
        try await scene.fill("badge", "3")
        try await scene.audit("the filled form")
        try await scene.press("Review")
        try await scene.press("Send to 6 devices")
        try await scene.sees("Doesn’t match the app’s name", beside: "confirm")
        try await scene.audit("the review")
        try await scene.fill("confirm", "Shop")
        try await scene.press("Send to 6 devices")
        try await scene.seesFinished()
        let result = try await scene.browser.address()
        try await scene.audit("the result")
        try await scene.browser.click(xpath: "//tbody//td[@class='row']/a")
        try await scene.heading("Delivery")
        try await scene.audit("one delivery")

        try await scene.open("/smoke-tests/new?from=\(result.split(separator: "/").last ?? "")")
        try await scene.audit("a new smoke test")
        try await scene.press("Save")
        try await scene.sees("Smoke test saved.")
        try await scene.press("Run now")
        try await scene.sees("Doesn’t match the app’s name", beside: "confirm")
        try await scene.fill("confirm", "Shop")
        try await scene.press("Run now")
        try await scene.sees("devices as expected")
        try await scene.audit("a smoke test that passed")
        try await scene.open("/smoke-tests/1/edit")
        try await scene.fill("others", "BadTopic")
        try await scene.press("Save")
        try await scene.fill("confirm", "Shop")
        try await scene.press("Run now")
        try await scene.sees("differ")
        try await scene.audit("a smoke test that failed")
        try await scene.open("/pushes/new")
        try await scene.fill("title", "{{order}} of a title that no table can show in one line, whatever its width is")
        try await scene.browser.click(xpath: "//summary[normalize-space()='Save']")
        try await scene.audit("the form with its menu")
        try await scene.press("Save as template")
        try await scene.press("Save")
        try await scene.sees("Template saved.")

        try await scene.open("/devices/import")
        try await scene.fill("text", "token,environment,platform,app\nabc,development,ios,com.example.shop")
        try await scene.press("Import devices")
        try await scene.heading("Import report")
        try await scene.audit("the import report")

        try await scene.open("/devices")
        try await scene.browser.click(xpath: "(//input[@class='choose'])[1]")
        try await scene.browser.click(xpath: "(//input[@class='choose'])[2]")
        try await scene.select("action", "add_tags")
        try await scene.press("Continue")
        try await scene.sees("2 devices")
        try await scene.press("Add tags")
        try await scene.sees("Must not be empty", beside: "value")
        try await scene.audit("several devices")
        try await scene.browser.find("a[data-jump]").type("?")
        try await scene.browser.wait(for: "//dialog[@open]//h2[.='Keyboard shortcuts']")

        let segment = try await scene.service.store.write { database in
          let app = try #require(try App.all(database).first)
          let rule = try SegmentRule(json: ["tag": ["beta"], "last_seen": ["within_days": 30]])
          return try Segment.add(database, app: app.id, name: "Curious", rule, by: "ada", now: .now).id
        }
        let registered = try #require(simulator.phones.phones().first { $0.provider == .jpush })
        let sealer = scene.service.store.sealer
        let (device, jpush, app, certificate, host, webhook, key) = try await scene.service.store.write { database in
          let app = try #require(try App.all(database).first)
          let device = try #require(try Device.find(database, app: app.id, token: phone.token))
          let jpush = try #require(try Device.find(database, app: app.id, token: registered.token))
          _ = try TopicChange.create(
            database, app: app.id, environment: .development, topic: "news", joins: true, audience: .all, by: "test",
            now: Date())
          let host = try WatchedHost.add(
            database, HostAddress(host: "push.example.com", port: 443), by: "ada", now: .now)
          let webhook = try Webhook.add(
            database, Webhook.Details(name: "Billing", target: "example.com"), address: "https://example.com/events",
            sealer: sealer, by: "ada", now: .now
          ).webhook
          let certificate = try #require(try TrackedCertificate.all(database).first)
          let key = try ClientKey.add(database, app: app, by: "ada", for: ClientKey.enrollmentTime, now: .now).key
          return (device.id, jpush.id, app.id, certificate.id, host.id, webhook.id, key)
        }
        try await audit(
          scene,
          paths: Self.lists + Self.forms + [
            "/phones?n=1&show=headers", "/phones?show=callbacks", "/phones?q=nobody", "/phones/\(phone.id)/remove",
            "/devices/\(device)", "/devices/\(device)/remove", "/apps/\(app)", "/apps/\(app)/edit",
            "/apps/\(app)/topics", "/apps/\(app)/topics/audience", "/apps/\(app)/topics/changes/1",
            "/apps/\(app)/jpush", "/apps/\(app)/jpush?environment=development&alias=usr_x",
            "/apps/\(app)/channels/remove?environment=development&channel=dHN0",
            "/apps/\(app)/jpush/remove?environment=development&kind=schedule&name=s-1", "/devices/\(jpush)/jpush",
            "/smoke-tests/1/remove", "/templates/1", "/templates/1/use",
            "/audiences/segments/\(segment)", "/audiences/segments/\(segment)/edit",
            "/audiences/segments/\(segment)/remove",
            "/audiences/explanation?app=com.example.shop&environment=development&audience=all&device=usr_ada",
            "/apps/\(app)/remove", "/certificates/\(certificate)", "/certificates/\(certificate)/remove",
            "/devices?q=nobody", "/pushes?q=nothing",
            String(result.dropFirst(scene.service.url.count)) + "?outcome=skipped",
            String(result.dropFirst(scene.service.url.count)), "/activity", "/search?q=shop", "/styleguide",
            "/settings/about", "/docs", "/docs/tokens", "/docs/words", "/docs/callbacks", "/codes",
            "/codes/BadDeviceToken", "/apps/\(app)/channels",
            "/apps/\(app)/pages", "/hosts/\(host)", "/hosts/\(host)/remove", "/settings/webhooks/\(webhook)",
            "/settings/webhooks/\(webhook)/remove", "/apps/\(app)/phones/\(key)",
          ], languages: ["en", "zh-Hans"])
        print(scene.table.text)
      }
    }
  }
}
