import Foundation
import Glibc
import HTTPServer
import JSON
import Model
import Simulator
import Store
import Synchronization
import TestSupport
import Testing

/// The whole program tells a receiver of this process what became of a push.
@Suite("Event webhooks: the whole program", .timeLimit(.minutes(5)))
struct EventWebhookTests {
  /// What came in, by `webhook-id`, in order.
  private final class Inbox: Sendable {
    let events = Mutex<[(id: String, json: JSONValue)]>([])
    /// The first request is not answered, as long as it is set.
    let hangs = Mutex(true)

    var ids: [String] { events.withLock { $0.map(\.id) } }

    func router() -> Router {
      var router = Router()
      router.on(.post, "/events") { request in
        let body = try await request.body.collect(upTo: 1 << 20)
        let event = (id: request.header("webhook-id") ?? "", json: try JSONValue(parsing: body))
        self.events.withLock { $0.append(event) }
        while self.hangs.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(20)) }
        return Response(.noContent)
      }
      return router
    }
  }

  @Test("killed while the receiver does not answer: each event comes again under its ID, and tells the right counts")
  func killed() async throws {
    let inbox = Inbox()
    try await WebTestServer.with(inbox.router()) { address in
      try await DeliveryScene.run { scene in
        let phones = try await scene.add(40)
        for phone in phones.prefix(7) { _ = try scene.simulator.phones.uninstall(phone.id) }
        let added = try await scene.store.write { [sealer = scene.store.sealer] database in
          try Webhook.add(
            database, Webhook.Details(name: "Billing", target: "127.0.0.1"), address: "http://\(address)/events",
            sealer: sealer, by: "anna", now: Date())
        }
        let push = try await scene.push()
        let child = try await scene.serve()
        try await scene.finished(push, by: child)
        try await eventually("the receiver is asked") { !inbox.ids.isEmpty }
        child.send(SIGKILL)
        _ = await child.status()
        #expect(inbox.ids.count == 1)
        inbox.hangs.withLock { $0 = false }
        let last = try await scene.serve()
        try await eventually("everything is told") {
          try await scene.store.read { try Webhook.get($0, id: added.webhook.id).pending } == 0
        }
        #expect(await scene.stop(last) == 0, "\(last.errorText)")
        let events = inbox.events.withLock { $0 }
        #expect(events.count == Set(events.map(\.id)).count + 1, "only the first came twice")
        #expect(events[0].id == events[1].id && events[0].json == events[1].json)
        let finished = events.filter { $0.json["type"] == "push.finished" }
        #expect(finished.count == 1)
        let counts = try #require(finished.first?.json["data"]?["counts"])
        #expect(counts["target"] == 40 && counts["accepted"] == 33 && counts["dead_token"] == 7)
        let url = try #require(finished.first?.json["data"]?["url"]?.string)
        #expect(url.hasPrefix("http://") && url.hasSuffix("/pushes/\(push.uid)"))
        let dead = events.dropFirst().filter { $0.json["type"] == "device.dead" }
          .flatMap { $0.json["data"]?["devices"]?.array ?? [] }
        #expect(Set(dead.compactMap { $0["token"]?.string }).count == 7 && dead.count == 7)
      }
    }
  }
}
