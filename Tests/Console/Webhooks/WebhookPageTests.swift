import Foundation
import HTTPServer
import JSON
import Store
import TestSupport
import Testing

@testable import Console

@Suite("Settings: event webhooks")
struct WebhookPageTests {
  /// The text of the element that shows a new secret.
  private func secret(_ answer: SceneAnswer) -> String? {
    ScenePage(answer.text).text(id: "secretcode") ?? ScenePage(answer.text).text(id: "secret")
  }

  @Test("a webhook is added, shown its secret once, changed, tried, and deleted after a question")
  func pages() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      var router = Router()
      router.on(.post, "/events") { request in
        let body = try await request.body.collect(upTo: 1 << 20)
        #expect(request.header("webhook-signature")?.hasPrefix("v1,") == true)
        #expect(String(decoding: body, as: UTF8.self).contains(#""type":"webhook.test""#))
        return Response(.ok, body: .bytes(Array("taken".utf8)))
      }
      try await WebTestServer.with(router) { address in
        var anna = try await scene.signIn(.admin)
        #expect(try await anna.get("/settings/webhooks").text.contains("No webhooks"))
        let url = "http://\(address)/events?key=letmein"
        let wrong = try await anna.post(
          "/settings/webhooks", [("name", "Billing"), ("url", "http://example.com"), ("active", "yes")])
        #expect(wrong.status == 422)
        #expect(wrong.text.contains("must start") || wrong.text.contains("starts with https://"))
        #expect(wrong.text.contains("Choose at least one event."))
        let added = try await anna.post(
          "/settings/webhooks",
          [
            ("name", "Billing"), ("url", url), ("events", "push.finished"), ("events", "device.dead"),
            ("active", "yes"),
          ])
        let shown = try #require(secret(added))
        #expect(added.status == 200 && shown.hasPrefix("whsec_"))
        let page = try await anna.get("/settings/webhooks/1")
        #expect(page.status == 200 && !page.text.contains("whsec_") && !page.text.contains("letmein"))
        #expect(page.text.contains("127.0.0.1"))

        let tested = try await anna.post("/settings/webhooks/1/test", [])
        #expect(tested.text.contains("The test message to Billing was accepted.") && tested.text.contains("200 taken"))
        let delivery = try #require(
          try await scene.store.read { try WebhookDelivery.list($0, webhook: 1, limit: 9).items.first })
        #expect(delivery.state == .delivered && delivery.status == 200 && tested.text.contains(delivery.uid))
        let again = try await anna.post("/settings/webhooks/1/deliveries/\(delivery.uid)/again", [])
        #expect(again.status == 303)
        #expect(try await scene.store.read { try Webhook.get($0, id: 1).pending } == 1)
        let waiting = try await anna.get("/settings/webhooks/1").text
        #expect(waiting.contains("1 waiting") && !waiting.contains("0 dropped"))

        let rotated = try await anna.post("/settings/webhooks/1/secret", [])
        #expect(try #require(secret(rotated)).hasPrefix("whsec_") && secret(rotated) != shown)
        // Without the URL, which is not shown: it stays.
        let saved = try await anna.post("/settings/webhooks/1", [("name", "Bills"), ("events", "device.moved")])
        #expect(saved.status == 303)
        let (webhook, secrets) = try await scene.store.read { [sealer = scene.store.sealer] database in
          (try Webhook.get(database, id: 1), try Webhook.secrets(database, id: 1, sealer: sealer))
        }
        #expect(webhook.details.name == "Bills" && webhook.details.events == [.deviceMoved])
        #expect(!webhook.details.isActive && secrets.address == url)
        #expect(try await anna.get("/settings/webhooks").text.contains("Bills"))
        #expect(try await anna.get("/settings/webhooks/1/remove").text.contains("Delete the webhook Bills?"))
        #expect(try await anna.post("/settings/webhooks/1/remove", []).status == 303)
        #expect(try await scene.store.read { try Webhook.all($0).isEmpty })

        let lines = try await scene.audit().filter { $0.action.hasPrefix("webhook.") }
        #expect(
          lines.map(\.action).reversed()
            == ["create", "test", "redeliver", "rotate", "update", "delete"].map { "webhook." + $0 })
        for line in lines { #expect(line.detail?.text().contains("letmein") == false) }
      }
    }
  }

  @Test("the API shows a secret only when it is made, and keeps what a change leaves out")
  func calls() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      let made = try await scene.call(
        .post, "/api/v1/webhooks", as: .admin,
        json: [
          "name": "Billing", "url": "https://example.com/letmein", "app": .string(ConsoleScene.bundleID),
          "events": ["push.finished"],
        ])
      #expect(made.status == 201 && made.response.headers["Location"] == "/api/v1/webhooks/1")
      let secret = try #require(made.json?["secret"]?.string)
      let list = try await scene.call(.get, "/api/v1/webhooks", as: .admin)
      #expect(list.json?["items"]?.array?.first?["target"] == "example.com")
      #expect(!list.text.contains("whsec_") && !list.text.contains("letmein"))
      let changed = try await scene.call(.patch, "/api/v1/webhooks/1", as: .admin, json: ["app": .null])
      #expect(changed.json?["app"] == .null && changed.json?["events"] == ["push.finished"])
      #expect(changed.json?["name"] == "Billing" && changed.json?["active"] == true)
      let rotated = try await scene.call(.post, "/api/v1/webhooks/1/secret", as: .admin)
      #expect(rotated.json?["secret"]?.string != secret && rotated.json?["rotated_at"] != .null)
    }
  }

  @Test("a failing webhook needs attention, of administrators alone")
  func attention() async throws {
    try await ConsoleScene.with { scene in
      try await scene.addApp()
      try await scene.store.write { [sealer = scene.store.sealer] database in
        let webhook = try Webhook.add(
          database, Webhook.Details(name: "Billing", target: "example.com"), address: "https://example.com",
          sealer: sealer, by: "anna", now: scene.now
        ).webhook.id
        let answer = WebhookDelivery.Answer(status: 500, milliseconds: 3, words: "")
        let test = WebhookDelivery.test(webhook, now: scene.now)
        let event = try WebhookDelivery.add(database, test: test, webhook: webhook, answer, now: scene.now)
        for _ in 0..<3 { _ = try event.record(database, answer, pause: 60, now: scene.now) }
      }
      for role in User.Role.allCases {
        var browser = try await scene.signIn(role)
        let page = try await browser.get("/").text
        let sentence = "The receiver of the webhook Billing does not accept events"
        #expect(page.contains(sentence) == (role == .admin), "\(role)")
      }
      var anna = try await scene.signIn(.admin, name: "anna@example.com")
      let page = try await anna.get("/settings/webhooks/1").text
      #expect(page.contains("Failing since") && page.contains("Attempts: 4"))
    }
  }

  @Test("there is an end to webhooks")
  func limit() async throws {
    try await ConsoleScene.with { scene in
      for number in 0...Webhook.limit {
        let answer = try await scene.call(
          .post, "/api/v1/webhooks", as: .admin,
          json: ["name": "x", "url": "https://example.com", "events": ["device.dead"]])
        #expect(answer.status == (number < Webhook.limit ? 201 : 422))
      }
    }
  }
}
