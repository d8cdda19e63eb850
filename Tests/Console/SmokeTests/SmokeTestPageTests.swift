import Foundation
import HTTPServer
import JSON
import Model
import Providers
import SQLite
import Store
import Testing

@testable import Console

@Suite("Pages and API: smoke tests")
struct SmokeTestPageTests {
  private static let push: JSONValue = [
    "app": .string(ConsoleScene.bundleID), "environment": "development", "platforms": ["ios"],
    "audience": ["tag": ["odd"]], "notification": ["title": "Order shipped", "body": "On Tuesday"],
  ]

  /// Ends what has begun, as the server's worker does.
  private func settle(_ scene: ConsoleScene) async throws {
    for push in try await scene.store.read({ try Push.unfinished($0) }) { _ = try await scene.finished(push.uid) }
    try await scene.store.write { database in
      for id in try SmokeRun.running(database) { _ = try SmokeRun.endIfDone(database, id: id, now: ConsoleScene.noon) }
    }
  }

  @Test("saved from the send form, run green and red, explained, changed and deleted; viewers only read")
  func life() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(4, of: app)
      var lin = try await scene.signIn(.operator)
      #expect(ScenePage(try await lin.get("/smoke-tests")).text.contains("No smoke tests yet"))
      let draft = [
        ("app", ConsoleScene.bundleID), ("environment", "development"), ("platforms", "ios"), ("audience", "tag"),
        ("tag", "odd"), ("title", "Order shipped"), ("body", "On Tuesday"),
      ]
      let form = ScenePage(try await lin.post("/smoke-tests/new", draft))
      #expect(form.values("name") == ["Order shipped"] && form.values("others") == ["accepted"])
      let push = try #require(form.values("push").first)
      #expect(push.contains("\"odd\""))
      let later = try await lin.post(
        "/smoke-tests/new", draft + [("when", "at"), ("send_at", "2026-12-01T09:00"), ("time_zone", "UTC")])
      #expect(later.status == 422 && ScenePage(later).values("title") == ["Order shipped"], "\(later.status)")

      let wrong = try await lin.post(
        "/smoke-tests",
        [("name", ""), ("others", "acepted"), ("devices", "abc"), ("push", "{"), ("displayed_within", "0")])
      #expect(wrong.status == 422)
      #expect(ScenePage(wrong).failedFields == ["name", "others", "devices", "push", "displayed_within"])
      #expect(ScenePage(wrong).error("others").contains("accepted"))
      let made = try await lin.post(
        "/smoke-tests", [("name", "Shipped"), ("others", "accepted"), ("devices", ""), ("push", push)])
      #expect(made.status == 303 && made.location == "/smoke-tests/1")
      let twice = try await lin.post("/smoke-tests", [("name", "shipped"), ("others", "accepted"), ("push", push)])
      #expect(twice.status == 422 && ScenePage(twice).error("name").contains("Another smoke test"))

      let begun = try await lin.post("/smoke-tests/1/runs")
      #expect(begun.location == "/smoke-tests/1?run=1")
      try await settle(scene)
      let green = ScenePage(try await lin.get("/smoke-tests/1"))
      #expect(green.text.contains("Shipped passed") && green.text.contains("2 devices as expected"), "\(green.text)")
      scene.provider.answer { member in
        member.id == 2
          ? .outcome(.rejected(status: 400, reason: "BadDeviceToken", tokenInvalidSince: nil)) : .outcome(.accepted)
      }
      _ = try await scene.store.write { try $0.run("UPDATE devices SET registered_at = registered_at - 86400000") }
      _ = try await lin.post("/smoke-tests/1/runs")
      try await settle(scene)
      let red = ScenePage(try await lin.get("/smoke-tests/1"))
      for text in ["Shipped failed", "1 of 2 differs", "Accepted", "BadDeviceToken", "Who acts"] {
        #expect(red.text.contains(text), "\(text)")
      }
      #expect(red.links.contains("/devices/2") && red.links.contains { $0.hasPrefix("/pushes/") })
      let file = try await lin.get(try #require(red.links.first { $0.hasSuffix("/junit.xml") }))
      #expect(file.type == "application/xml" && file.text.contains("<failure message=\"1 of 2 devices"))
      let run = "/api/v1/smoke-tests/1/runs/1"
      let passed = try await scene.call(.get, run + "?format=junit", as: .viewer)
      #expect(passed.text.contains("<testsuites tests=\"1\" failures=\"0\""))
      #expect(passed.text.contains("name=\"Shipped\""))
      #expect(try await scene.call(.get, run + "?format=xml", as: .viewer).status == 422)
      #expect(try await lin.get("/smoke-tests/2/runs/1/junit.xml").status == 404)
      let label = red.tags.first { $0.attributes["class"] == "runs" }?.attributes["aria-label"]
      #expect(label == "Last runs: 1 passed, 1 failed. Newest: Failed")
      #expect(ScenePage(try await lin.get("/smoke-tests?")).text.contains("Smoke test fails: Shipped"))
      let overview = ScenePage(try await lin.get("/"))
      #expect(overview.text.contains("Shipped failed") && overview.links.contains("/smoke-tests/1"))
      #expect(ScenePage(try await lin.get("/smoke-tests/1?run=1")).text.contains("2 devices as expected"))

      // From the finished push: what it answered is what the new test expects.
      let result = try #require(red.links.first { $0.hasPrefix("/pushes/") && $0 != "/pushes/new" })
      let copy = ScenePage(try await lin.get("/smoke-tests/new?from=\(result.dropFirst("/pushes/".count))"))
      #expect(copy.values("devices") == ["\(ConsoleScene.token(1).hexadecimal) BadDeviceToken"])
      let changed = try await lin.post(
        "/smoke-tests/1",
        [
          ("name", "Shipped"), ("others", "accepted"), ("push", push),
          ("devices", "\(ConsoleScene.token(1).hexadecimal) BadDeviceToken"),
        ])
      #expect(changed.location == "/smoke-tests/1")
      // The token is parked since, and reached no more: its refusal still stands.
      _ = try await lin.post("/smoke-tests/1/runs")
      try await settle(scene)
      #expect(ScenePage(try await lin.get("/smoke-tests/1")).text.contains("2 devices as expected"))

      var eve = try await scene.signIn(.viewer)
      let read = ScenePage(try await eve.get("/smoke-tests/1"))
      #expect(read.forms.allSatisfy { $0.attributes["action"]?.hasPrefix("/smoke-tests") != true })
      #expect(ScenePage(try await lin.get("/smoke-tests/1/remove")).text.contains("run history is deleted"))
      #expect(try await lin.post("/smoke-tests/1/remove").location == "/smoke-tests")
      #expect(try await lin.get("/smoke-tests/1").status == 404)
      let activity = ScenePage(try await lin.get("/activity")).text
      for text in ["created smoke test", "ran smoke test", "changed smoke test", "deleted smoke test"] {
        #expect(activity.contains(text), "\(text)")
      }
      let change = try #require(try await scene.audit("smoke_test.update").first?.detail)
      #expect(change["before"]?["devices"] == 0 && change["after"]?["devices"] == 1)
      #expect(change["after"]?["environment"] == "development")
      #expect(!change.text().contains(ConsoleScene.token(1).hexadecimal), "no tokens of devices")
    }
  }

  @Test("in production, and for everyone, the app's name is typed before a run")
  func confirmed() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addDevices(1, of: scene.addApp(), environment: .production)
      let push = Self.push.with("environment", "production").with("audience", "all")
      let made = try await scene.call(
        .post, "/api/v1/smoke-tests", as: .operator, json: ["name": "All", "push": push])
      #expect(made.status == 201, "\(made.text)")
      var lin = try await scene.signIn(.operator)
      let refused = try await lin.post("/smoke-tests/1/runs", [("confirm", "shop")])
      #expect(refused.status == 422 && ScenePage(refused).failedFields == ["confirm"])
      #expect(try await scene.count("smoke_runs") == 0)
      #expect(try await lin.post("/smoke-tests/1/runs", [("confirm", "Shop")]).status == 303)
    }
  }

  @Test("the API creates, runs and waits; a push that is refused is a red run; repeats run once")
  func api() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(4, of: app)
      let path = "/api/v1/smoke-tests"
      let made = try await scene.call(.post, path, as: .operator, json: ["name": "Shipped", "push": Self.push])
      #expect(made.status == 201 && made.json?["last_run"] == .null)
      let wrong = try await scene.call(
        .post, path, as: .operator,
        json: [
          "name": "x", "push": Self.push.with("send_at", "2026-12-01T09:00:00Z"), "expected": ["others": "okay"],
        ])
      #expect(wrong.status == 422 && wrong.codes == ["smoke.answer"])
      let key = ["Idempotency-Key": "once"]
      let run = try await scene.call(.post, "\(path)/1/runs?wait=5min", as: .operator, headers: key)
      #expect(run.status == 200 && run.json?["state"] == "passed" && run.json?["devices"] == 2, "\(run.text)")
      let again = try await scene.call(.post, "\(path)/1/runs?wait=5min", as: .operator, headers: key)
      #expect(again.json?["id"] == run.json?["id"])
      #expect(try await scene.count("smoke_runs") == 1)
      let push = try #require(run.json?["push"]?.string)
      #expect(try await scene.call(.get, "/api/v1/pushes/\(push)", as: .viewer).json?["source"] == "smoke")
      let empty = try await scene.call(
        .patch, "\(path)/1", as: .operator, json: ["push": Self.push.with("audience", ["tag": ["nobody"]])])
      #expect(empty.status == 200)
      let refused = try await scene.call(.post, "\(path)/1/runs", as: .operator)
      #expect(refused.status == 200 && refused.json?["error"] == "not_sent" && refused.json?["push"] == .null)
      #expect(refused.json?["detail"]?.string?.contains("No active device") == true)
      let runs = try await scene.call(.get, "\(path)/1/runs?limit=1", as: .viewer)
      #expect(runs.json?["items"]?.array?.count == 1 && runs.json?["next"]?.string != nil)
      #expect(try await scene.call(.get, "\(path)/2/runs/1", as: .viewer).status == 404)
      #expect(try await scene.call(.delete, "\(path)/1", as: .operator).status == 204)
      #expect(try await scene.call(.get, "\(path)/1", as: .viewer).status == 404)
    }
  }
}
