import Console
import Foundation
import Model
import Providers
import SQLite
import Simulator
import Store
import Testing

@Suite("Pages: first steps")
struct FirstRunTests {
  private func addPhone(_ scene: ConsoleScene) async throws -> SimulatedPhone {
    let app = try await scene.addApp()
    let simulator = try #require(scene.simulator)
    let phone = try simulator.phones.add(
      NewPhone(name: "Ada’s iPhone", environment: .development, topic: ConsoleScene.bundleID))
    _ = try await scene.store.write {
      try Device.register(
        $0, app: app.id, [Registration(token: phone.token, environment: .development, platform: .ios)],
        now: ConsoleScene.noon)
    }
    return phone
  }

  @Test("one click sends a push that arrives, the next one that does not, with its cause; no typing")
  func steps() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let phone = try await addPhone(scene)
      let phones = try #require(scene.simulator).phones
      var ben = try await scene.signIn(.operator)
      let first = try await ben.get("/").text
      #expect(first.contains("Send the first push") && first.contains("Ada’s iPhone"))
      // So the first event of the stream, which tells the same number, does not fetch the page once more.
      func changes(_ html: String) -> String? {
        ScenePage(html).tags.lazy.compactMap { $0.attributes["data-changes"] }.first
      }
      #expect(changes(first) == "\(phones.changeCount)")

      scene.provider.answer { _ in .outcome(.accepted) }
      #expect(try await ben.post("/first-run", [("step", "hello")]).location == "/")
      let greeted = try await ben.get("/").text
      #expect(greeted.contains("Ada’s iPhone got the push. Now make one fail.") && greeted.contains("Accepted in"))
      let hello = try #require(try await scene.store.read { try Push.list($0, PushFilter(), limit: 2).items.first })
      #expect(hello.counts.accepted == 1 && greeted.contains("/pushes/\(hello.uid)/deliveries/1"))

      scene.provider.answer { _ in
        .outcome(.rejected(status: 410, reason: "Unregistered", tokenInvalidSince: ConsoleScene.noon))
      }
      #expect(try await ben.post("/first-run", [("step", "uninstall")]).location == "/")
      #expect(try #require(phones.phone(phone.id)).state != .installed)
      let broken = try await ben.get("/").text
      #expect(changes(broken) == "\(phones.changeCount)" && changes(broken) != changes(first))
      #expect(broken.contains("410 Unregistered") && broken.contains(Reason.of("Unregistered").remedy))

      // Again: the app is installed anew, with a token of its own.
      scene.provider.answer { _ in .outcome(.accepted) }
      #expect(try await ben.post("/first-run", [("step", "hello")]).location == "/")
      let anew = try #require(phones.phone(phone.id))
      #expect(anew.state == .installed && anew.token != phone.token)
      #expect(try await scene.count("devices") == 2)
      #expect(try await ben.get("/").text.contains("Hide these steps"))
    }
  }

  @Test("a credential that expires is not hidden by the steps")
  func attention() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      _ = try await addPhone(scene)
      var ben = try await scene.signIn(.operator)
      let steps = try await ben.get("/").text
      #expect(steps.contains("Hide these steps") && steps.contains("Only an admin can do this."))
      _ = try await CertificateSamples.keep(scene, days: 4)
      let page = try await ben.get("/").text
      #expect(!page.contains("Hide these steps") && page.contains("attention"))
    }
  }

  @Test("the steps go for good by their button, and once somebody sent another push")
  func over() async throws {
    for hides in [true, false] {
      try await ConsoleScene.with(simulator: true) { scene in
        let phone = try await addPhone(scene)
        var ben = try await scene.signIn(.operator)
        #expect(try await ben.post("/first-run", [("step", "dance")]).status == 422)
        #expect(try await ben.get("/").text.contains("Hide these steps"))
        var rita = try await scene.signIn(.viewer)
        #expect(!(try await rita.get("/").text.contains("Hide these steps")), "a viewer cannot send")
        #expect(try await rita.post("/first-run", [("step", "hello")]).status == 403)
        if hides {
          #expect(try await ben.post("/first-run", [("step", "hidden")]).location == "/")
        } else {
          var rule = Audience.Rule()
          rule.deviceToken = [phone.token]
          try await scene.send(
            PushDraft(
              app: ConsoleScene.bundleID, environment: .development, platforms: [.ios], audience: .rule(rule),
              notification: PushNotification()))
        }
        #expect(!(try await ben.get("/").text.contains("Hide these steps")))
      }
    }
  }

  @Test("without the demo, the Overview leads from an app and its credential to a device and the first push")
  func setUp() async throws {
    try await ConsoleScene.with { scene in
      var anna = try await scene.signIn(.admin)
      let fresh = ScenePage(try await anna.get("/"))
      #expect(fresh.text.contains("Set up your first push") && !fresh.text.contains("All clear"))
      #expect(fresh.links.filter { $0 == "/apps/new" } == ["/apps/new"], "one way to add an app")
      let upload = "/certificates?app=com.example.shop#upload"
      #expect(!fresh.links.contains(upload), "a step that cannot be taken yet has no button")

      _ = try await anna.post(
        "/apps",
        [("name", "Shop"), ("bundle_id", ConsoleScene.bundleID), ("package_name", ""), ("alias_rule", "none")])
      let app = try await scene.store.read { try App.get($0, id: 1) }
      let page = ScenePage(try await anna.get("/apps/1"))
      #expect(page.links.contains(upload) && !page.text.contains("cannot be reached"))
      #expect(!page.links.contains { $0.hasPrefix("/phones/new") }, "there is no simulator")
      #expect(page.values("endpoint") == [], "no file, nothing to assign")
      #expect(ScenePage(try await anna.get("/")).links.contains(upload))

      try await scene.store.write { database in
        _ = try Credential.bind(
          database, app: app.id, provider: .apns, environment: .development, certificate: nil, endpoint: "simulator",
          now: ConsoleScene.noon)
      }
      let third = ScenePage(try await anna.get("/"))
      #expect(third.text.contains("signalbox serve --demo") && !third.links.contains { $0.hasPrefix("/phones/new") })
      let register = try #require(third.links.first { $0.hasPrefix("/devices/new") })
      #expect(ScenePage(try await anna.get(register)).values("app") == [ConsoleScene.bundleID])
      #expect(ScenePage(try await anna.get("/phones/new")).text.contains("The simulator is not running"))

      try await scene.addDevices(1, of: app)
      let last = ScenePage(try await anna.get("/"))
      #expect(last.text.contains("Ready to send the first push"))
      #expect(last.links.contains("/pushes/new?app=com.example.shop"))
      var rita = try await scene.signIn(.viewer)
      #expect(try await rita.get("/").text.contains("All clear"), "a viewer cannot take the steps")
      #expect(try await anna.post("/first-run", [("step", "hidden")]).location == "/")
      #expect(try await anna.get("/").text.contains("No pushes yet"))
    }
  }

  @Test("where the simulator runs, its button assigns it, and a phone can be the first device")
  func simulated() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      let app = try await scene.store.write {
        try App.add($0, bundleID: ConsoleScene.bundleID, name: "Shop", now: ConsoleScene.noon)
      }
      var anna = try await scene.signIn(.admin)
      let path = "/apps/\(app.id)/credentials/development"
      #expect(ScenePage(try await anna.get("/")).forms.contains { $0.attributes["action"] == path })
      #expect(try await anna.post(path, [("provider", "apns"), ("endpoint", "simulator")]).status == 303)
      let page = ScenePage(try await anna.get("/"))
      #expect(page.links.contains("/phones/new?app=com.example.shop") && !page.text.contains("serve --demo"))
    }
  }
}
