import Console
import Foundation
import JSON
import Logging
import Reminders
import Store
import TestSupport
import Testing

@testable import signalbox

extension AdministrationInBrowser {
  @Suite("Webhooks")
  struct WebhookTests {
    private static let names = [
      (WebhookTestServer.Service.webhook, "Monitoring", "taken"), (.dingtalk, "钉钉群", "\"errmsg\":\"ok\""),
      (.feishu, "飞书群", "\"msg\":\"success\""),
    ]

    @Test("an event webhook is added, tried, rotated and deleted, on pages that everybody can use")
    func events() async throws {
      try await WebhookTestServer.with(secret: "s") { server in
        try await BrowserScene.run { scene in
          try await scene.open("/settings/webhooks/new")
          try await scene.fill("name", "Billing server")
          try await scene.fill("url", server.address(.webhook))
          try await scene.press("Add webhook")
          try await scene.sees("Copy the secret now: it is not shown again")
          try await scene.audit("a new event webhook with its secret")
          // The server wants a signature of its own: that the event is refused is an answer, too.
          try await scene.press("Send a test event")
          try await scene.sees("401", in: "//section[@aria-labelledby='deliveries']//tr[contains(., 'Given up')]")
          try await scene.audit("an event webhook with a delivery")
          try await scene.press("Rotate secret")
          try await scene.sees("Copy the secret now: it is not shown again")
          try await scene.open("/settings/webhooks")
          try await scene.audit("the list of event webhooks")
          try await scene.follow("Billing server")
          try await scene.follow("Delete webhook")
          try await scene.audit("the question before an event webhook is deleted")
          try await scene.press("Delete webhook")
          try await scene.sees("Webhook deleted.")
        }
      }
    }

    @Test("webhooks are set up, tried, and get a reminder whose signature fits; what was refused comes again")
    func signed() async throws {
      try await WebhookTestServer.with(secret: "gr8 secret") { server in
        try await BrowserScene.run(host: "signalbox.localhost") { scene in
          for (service, name, _) in Self.names {
            try await scene.addReceiver(
              name, channel: service.rawValue, address: server.address(service), secret: "wrong secret")
          }
          try await scene.testReceiver(
            "Monitoring", answer: "The signature or the token in the URL was refused. 401", isGood: false)
          try await scene.testReceiver("钉钉群", answer: "sign not match", isGood: false)
          try await scene.testReceiver("飞书群", answer: "sign match fail", isGood: false)
          try await scene.audit("a webhook that refuses")
          #expect(server.received.allSatisfy { $0.signedAt == nil })

          for (_, name, answer) in Self.names {
            try await scene.open("/settings/receivers")
            try await scene.follow(name)
            try await scene.fill("secret", "gr8 secret")
            try await scene.press("Save changes")
            // The press has not sent the form yet: a page opened at once would take its place.
            try await scene.sees("Receiver saved.")
            try await scene.testReceiver(name, answer: answer)
          }
          #expect(server.received.count == 6 && server.received.suffix(3).allSatisfy { $0.signedAt != nil })
          #expect(server.received[3].json["type"] as? String == "test")

          let id = try await scene.keep(try scene.pushFile(daysLeft: 20))
          server.fail(.init(500))
          let worker = ReminderWorker(
            store: scene.service.store, courier: scene.service.console.courier, source: .serve,
            log: Logger(label: "test", level: .critical, sink: StreamSink.standardError(.text)))
          let now = Date()
          _ = try await worker.look(clock: { now })
          try await scene.open("/settings/reminders")
          try await scene.sees("500 out of order", in: "//section[@aria-labelledby='log']//tr[contains(., 'Waiting')]")
          try await scene.audit("the log with a message that waits")
          _ = try await worker.look(clock: { now.addingTimeInterval(61) })
          let sent = server.received.dropFirst(6)
          #expect(sent.count == 4 && sent.allSatisfy { $0.signedAt != nil })
          let reminder = try #require(sent.last { $0.service == .webhook }?.json)
          let item = try #require((reminder["items"] as? [[String: Any]])?.first)
          #expect(reminder["type"] as? String == "reminder" && item["days_left"] as? Int == 20)
          #expect(item["url"] as? String == "http://signalbox.localhost/certificates/\(id)")
          for service in [WebhookTestServer.Service.dingtalk, .feishu] {
            let body = try #require(sent.last { $0.service == service }?.body)
            #expect(String(decoding: body, as: UTF8.self).contains("http://signalbox.localhost/certificates/\(id)"))
          }
          try await scene.open("/settings/reminders")
          let rows = "//section[@aria-labelledby='log']//tr[contains(., 'com.example.shop: 30 days before')]"
          try await scene.browser.wait(for: "\(rows)[contains(., 'Sent')][3]")
        }
      }
    }
  }
}
