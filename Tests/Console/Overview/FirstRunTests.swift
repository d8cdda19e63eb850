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
      #expect(greeted.contains("Ada’s iPhone said hello. Now break it.") && greeted.contains("Accepted in"))
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
      #expect(try await ben.get("/").text.contains("Hide these steps"))
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
}
