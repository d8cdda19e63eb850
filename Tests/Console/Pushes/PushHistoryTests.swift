import Foundation
import HTTPServer
import JSON
import Model
import Reactor
import SQLite
import Simulator
import Store
import Testing

/// Rows of pushes on the history and the overview.
@Suite("Pages: rows of pushes")
struct PushHistoryTests {
  private static let api = "/api/v1/pushes"

  @Test("the undo window has words of its own, and what is over can be sent again from its row")
  func undoWindow() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp())
      try await scene.store.write { database in
        _ = try Device.update(database, id: 1, name: .set("Ada’s iPhone"), by: "anna", now: ConsoleScene.noon)
      }
      let answer = try await scene.call(
        .post, Self.api, as: .operator,
        json: [
          "app": .string(ConsoleScene.bundleID), "environment": "development",
          "audience": ["device_token": [.string(ConsoleScene.token(0).hexadecimal)]],
          "notification": ["body": "hello"], "options": ["undo_seconds": 7],
        ])
      let uid = try #require(answer.json?["id"]?.string)
      var anna = try await scene.signIn(.operator)
      for target in ["/pushes/\(uid)", "/pushes", "/"] {
        let text = ScenePage(try await anna.get(target)).text
        #expect(text.contains("Undo possible"), "\(target)")
        #expect(!text.contains("Scheduled") && !text.contains("next run"), "\(target)")
      }
      var row = ScenePage(try await anna.get("/pushes"))
      #expect(row.text.contains("Undo") && !row.links.contains("/pushes/new?from=\(uid)"))
      #expect(row.text.contains("Ada’s iPhone") && !row.text.contains(ConsoleScene.token(0).abbreviated))
      #expect(try await anna.post("/pushes/\(uid)/cancel", []).status == 303)
      row = ScenePage(try await anna.get("/pushes"))
      #expect(row.links.contains("/pushes/new?from=\(uid)"))
      var lena = try await scene.signIn(.viewer)
      #expect(!ScenePage(try await lena.get("/pushes")).links.contains("/pushes/new?from=\(uid)"))
    }
  }

  @Test("the command of a simulated push leads to the simulator while it runs, and never to Apple")
  func simulatedCommand() async throws {
    try await ConsoleScene.with(simulator: true) { scene in
      try await scene.addDevices(1, of: scene.addApp())
      var draft = PushDraft(
        app: ConsoleScene.bundleID, environment: .development, platforms: [.ios], audience: .all, notification: .init())
      draft.notification.body = "Hello"
      let push = try await scene.send(draft)
      var anna = try await scene.signIn(.viewer)
      let target = "/pushes/\(push.uid)/deliveries/1"
      let stopped = ScenePage(try await anna.get(target)).text
      #expect(stopped.contains("which is not running now") && !stopped.contains("curl --"))
      let simulator = try #require(scene.simulator)
      let port = try await simulator.start().development.port
      let page = ScenePage(try await anna.get(target)).text
      await simulator.stop()
      #expect(page.contains(":\(port)/3/device/\(ConsoleScene.token(0).hexadecimal)"), "\(page)")
      #expect(page.contains("curl --insecure") && page.contains("went to the built-in simulator"))
      #expect(!page.contains("push.apple.com"))
    }
  }
}
