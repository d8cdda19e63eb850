import Console
import Foundation
import HTTPServer
import JSON
import Model
import Providers
import Store
import TestSupport
import Testing

@Suite("Pages: blocked credentials")
struct BlockedTests {
  private static let reason = "the host name cannot be resolved"

  /// A push that waits for its answers.
  private func held(_ scene: ConsoleScene, _ app: App) async throws -> Push {
    try await scene.addDevices(1, of: app)
    scene.provider.answer { _ in nil }
    let uid = try await scene.send([
      "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
      "notification": ["body": "hello"],
    ])
    try await waitUntil("the device is held back") { scene.provider.waiting >= 1 }
    return try #require(try await scene.store.read { try Push.find($0, uid: uid) })
  }

  @Test("a credential that is blocked for over a minute needs attention while a push waits for it, and only then")
  func blocked() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      var anna = try await scene.signIn(.viewer)
      #expect(ScenePage(try await anna.get("/apps/\(app.id)")).text.contains("Shop is ready to send"))
      scene.provider.stand(
        ProviderHealth(circuit: .open(reason: Self.reason, since: scene.now, until: scene.now + 3600)))
      #expect(!ScenePage(try await anna.get("/apps/\(app.id)")).text.contains("ready to send"))
      scene.clock.advance(61)
      #expect(ScenePage(try await anna.get("/")).text.contains("All clear"), "no push waits")

      let push = try await held(scene, app)
      let sentence = "1 push of Shop (development) is waiting because nothing can be sent to APNs"
      for path in ["/", "/incidents"] {
        let page = ScenePage(try await anna.get(path))
        #expect(page.text.contains(sentence) && page.text.contains(Self.reason), "\(path)")
        #expect(page.links.contains("/apps/\(app.id)#credentials") && !page.text.contains("All clear"), "\(path)")
      }
      #expect(try await !anna.get("/incidents?state=closed").text.contains(sentence))
      for path in ["/", "/pushes"] {
        let row = ScenePage(try await anna.get(path)).text
        #expect(row.contains("Waiting: sending is blocked") && row.contains("Waiting: 0 of 1 accepted"), "\(path)")
      }

      scene.provider.stand(ProviderHealth(circuit: .open(reason: Self.reason, since: scene.now + 30, until: scene.now)))
      #expect(ScenePage(try await anna.get("/")).text.contains("All clear"), "blocked for 31 seconds")
      scene.provider.stand(nil)
      scene.provider.answer { _ in .outcome(.accepted) }
      _ = try await scene.finished(push.uid)
      #expect(!ScenePage(try await anna.get("/pushes")).text.contains("sending is blocked"))
    }
  }
}
