import Foundation
import JSON
import Store
import Console
import Simulator
import Model
import Testing

@testable import signalbox

extension PagesInBrowser {
  @Suite("Every page")
  struct AccessibilityTests {
    private func audit(_ scene: BrowserScene, paths: [String]) async throws {
      for path in paths {
        try await scene.open(path)
        try await scene.audit(path)
      }
    }

    private static let lists = [
      "/", "/pushes/new", "/pushes", "/incidents", "/schedules", "/devices", "/devices/new", "/devices/import",
      "/audiences", "/audiences?kind=tags", "/audiences/segments/new", "/apps",
      "/apps/new",
      "/certificates", "/certificates/requests", "/certificates/key", "/phones", "/phones/new", "/account",
      "/settings", "/settings/mail", "/settings/receivers", "/settings/receivers/new?channel=feishu",
      "/settings/reminders", "/settings/retention", "/nothing/here",
    ]

    @Test("an empty installation")
    func empty() async throws {
      try await BrowserScene.run(signedIn: false, demo: false) { scene in
        try await audit(scene, paths: ["/session/new", "/session/setup?token=wrong"])
        let path = try #require(try await scene.service.console.firstStartPath())
        try await audit(scene, paths: [path])
        try await scene.setUp()
        try await audit(scene, paths: Self.lists)
      }
    }

    @Test("an installation at work, with a push that partly failed")
    func full() async throws {
      try await BrowserScene.run { scene in
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
        try await scene.sees("Delivery")
        try await scene.audit("one delivery")

        try await scene.open("/devices/import")
        try await scene.fill("text", "token,environment,platform,app\nabc,development,ios,com.example.shop")
        try await scene.press("Import devices")
        try await scene.heading("Import report")
        try await scene.audit("the import report")

        let segment = try await scene.service.store.write { database in
          let app = try #require(try App.all(database).first)
          let rule = try SegmentRule(json: ["tag": ["beta"], "last_seen": ["within_days": 30]])
          return try Segment.add(database, app: app.id, name: "Curious", rule, by: "ada", now: .now).id
        }
        let (device, app, certificate) = try await scene.service.store.read { database in
          let app = try #require(try App.all(database).first)
          let device = try #require(try Device.find(database, app: app.id, token: phone.token))
          return (device.id, app.id, try #require(try TrackedCertificate.all(database).first).id)
        }
        try await audit(
          scene,
          paths: Self.lists + [
            "/devices/\(device)", "/devices/\(device)/remove", "/apps/\(app)", "/apps/\(app)/edit",
            "/apps/\(app)/topics", "/audiences/segments/\(segment)", "/audiences/segments/\(segment)/edit",
            "/audiences/segments/\(segment)/remove",
            "/audiences/explanation?app=com.example.shop&environment=development&audience=all&device=usr_ada",
            "/apps/\(app)/remove", "/certificates/\(certificate)", "/certificates/\(certificate)/remove",
            "/devices?q=nobody", "/pushes?q=nothing",
            String(result.dropFirst(scene.service.url.count)) + "?outcome=skipped",
          ])
      }
    }
  }
}
