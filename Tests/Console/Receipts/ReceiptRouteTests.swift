import Foundation
import HTTPServer
import JSON
import Model
import Providers
import Reactor
import SQLite
import Store
import Testing

@testable import Console

@Suite("Receipts: /receipts")
struct ReceiptRouteTests {
  /// A finished push to three devices.
  private func push(_ scene: ConsoleScene) async throws -> Push {
    let app = try await scene.addApp()
    try await scene.addDevices(3, of: app)
    return try await scene.finished(scene.send(ConsoleScene.draftJSON))
  }

  private func report(
    _ scene: ConsoleScene, _ body: JSONValue, address: String? = nil
  ) async throws -> SceneAnswer {
    let request = try Request(
      .post, "/receipts", headers: ["Content-Type": "application/json"], body: Array(body.data()),
      remoteAddress: address.flatMap { SocketAddress($0) })
    return SceneAnswer(response: await scene.router.respond(to: request))
  }

  private func item(_ push: Push, _ event: String) -> JSONValue {
    ["sbid": .string(push.uid), "sbsig": .string(push.signature ?? ""), "event": .string(event)]
  }

  private func body(_ number: Int, _ items: [JSONValue]) -> JSONValue {
    ["token": .string(ConsoleScene.token(number).hexadecimal), "receipts": .array(items)]
  }

  @Test("what devices report is in the push, its deliveries, the exports, the pages, and the Overview's chart")
  func shown() async throws {
    try await ConsoleScene.with { scene in
      let push = try await push(scene)
      #expect(push.signature?.utf8.count == 24)
      let first = try await report(
        scene, body(0, [item(push, "displayed"), item(push, "opened"), item(push, "displayed"), ["sbid": "x"]]))
      #expect(first.status == 200)
      #expect(first.json == ["results": ["recorded", "recorded", "known", "invalid"]])
      let second = try await report(scene, body(1, [item(push, "displayed"), item(push, "shown")]))
      #expect(second.json == ["results": ["recorded", "invalid"]])
      let document = try OpenAPIDocument()
      let answer = try await scene.call(.get, "/api/v1/pushes/\(push.uid)", as: .viewer)
      #expect(answer.json?["receipts"] == ["devices": 2, "displayed": 2, "opened": 1, "dismissed": 0])
      #expect(try document.errors(answer, to: .init(method: "GET", path: "/api/v1/pushes/{id}")) == [])
      let deliveries = try await scene.call(.get, "/api/v1/pushes/\(push.uid)/deliveries", as: .viewer)
      #expect(
        try document.errors(deliveries, to: .init(method: "GET", path: "/api/v1/pushes/{id}/deliveries")) == [])
      let opened = deliveries.json?["items"]?.array?.compactMap { $0["opened_at"]?.string } ?? []
      #expect(opened == ["2026-11-20T12:00:00Z"])
      var viewer = try await scene.signIn(.viewer)
      let page = ScenePage(try await viewer.get("/pushes/\(push.uid)"))
      #expect(page.text.contains("Reported by 2 of 3 devices") && page.text.contains("67%"))
      let bars = page.tags.filter { $0.name == "rect" && $0.attributes["data-receipt"] != nil }
      #expect(bars.map { $0.attributes["width"] } == ["100.0%", "100.0%", "66.66%", "33.33%", "0.0%"])
      for (receipt, number) in [("displayed", 2), ("opened", 1), ("dismissed", 0)] {
        let list = "/pushes/\(push.uid)?receipt=\(receipt)"
        #expect(page.links.contains { $0.hasPrefix(list) }, "\(page.links)")
        let rows = ScenePage(try await viewer.get(list)).links.filter { $0.contains("/deliveries/") }
        #expect(Set(rows).count == number, "\(receipt) \(rows)")
        let found = try await scene.call(.get, "/api/v1/pushes/\(push.uid)/deliveries?receipt=\(receipt)", as: .viewer)
        #expect(found.json?["items"]?.array?.count == number, "\(found.text)")
      }
      let device = try #require(deliveries.json?["items"]?.array?.first?["device"]?.integer)
      let delivery = ScenePage(try await viewer.get("/pushes/\(push.uid)/deliveries/\(device)"))
      #expect(delivery.text.contains("Opened") && delivery.text.contains(push.signature ?? "-"))
      #expect(ScenePage(try await viewer.get("/")).text.contains("3 accepted, 1 opened"))
    }
  }

  @Test("a forged report, and one for another device, are unknown, whichever part is wrong")
  func forged() async throws {
    try await ConsoleScene.with { scene in
      let push = try await push(scene)
      let right = item(push, "opened")
      for (number, item) in [
        (0, right.with("sbsig", "AAAAAAAAAAAAAAAAAAAAAAAA")), (0, right.with("sbid", "AAAAAAAAAAAAAAAA")), (99, right),
      ] {
        let answer = try await report(scene, body(number, [item]))
        #expect(answer.status == 200 && answer.json == ["results": ["unknown"]], "\(answer.text)")
      }
      scene.clock.advance(31 * 86_400)
      #expect(try await report(scene, body(0, [right])).json == ["results": ["expired"]])
      let counts = try await scene.store.read { try ReceiptCounts.find($0, push: push.id) }
      #expect(counts == ReceiptCounts())
    }
  }

  @Test("a body that is no report is refused by its field, and one address is slowed down")
  func refused() async throws {
    let document = try OpenAPIDocument("app.json")
    let operation = OpenAPIDocument.Operation(method: "POST", path: "/receipts")
    try await ConsoleScene.with { scene in
      let push = try await push(scene)
      let many = (0...ReceiptRule.batch).map { _ in item(push, "opened") }
      for (body, field) in [
        (["receipts": [item(push, "opened")]], "token"), (body(0, []), "receipts"), (body(0, many), "receipts"),
        (body(0, [item(push, "opened")]).with("token", "x"), "token"),
        (body(0, [item(push, "opened")]).with("colour", "blue"), "colour"),
      ] as [(JSONValue, String)] {
        let answer = try await report(scene, body)
        #expect(answer.status == 422 && answer.fields == [field], "\(answer.text)")
        #expect(try document.errors(answer, to: operation) == [])
      }
      let good = body(0, [item(push, "opened")])
      #expect(try document.requestErrors(good, of: operation) == [])
      #expect(try document.errors(try await report(scene, good), to: operation) == [])
      for _ in 0..<ClientLimits.Rate.receipts { _ = try await report(scene, good, address: "192.0.2.1:1") }
      let slowed = try await report(scene, good, address: "192.0.2.1:2")
      #expect(slowed.status == 429 && slowed.response.headers["Retry-After"] == "60")
      #expect(try document.errors(slowed, to: operation) == [])
      #expect(try await report(scene, good, address: "192.0.2.2:1").status == 200)
    }
  }

  @Test("reports of many devices at the same time are all counted")
  func together() async throws {
    try await ConsoleScene.with { scene in
      let app = try await scene.addApp()
      try await scene.addDevices(100, of: app)
      let push = try await scene.finished(scene.send(ConsoleScene.draftJSON))
      let results = try await withThrowingTaskGroup(of: JSONValue?.self) { group in
        for number in 0..<100 {
          group.addTask { try await report(scene, body(number, [item(push, "displayed")])).json }
        }
        return try await group.reduce(into: [JSONValue?]()) { $0.append($1) }
      }
      #expect(results.allSatisfy { $0 == ["results": ["recorded"]] })
      #expect(try await scene.store.read { try ReceiptCounts.find($0, push: push.id).displayed } == 100)
    }
  }

  @Test("new receipts reach those who watch the push, and no others")
  func news() async throws {
    let news = ReceiptNews()
    var first = news.watch(1).makeAsyncIterator()
    let second = news.watch(2)
    news.tell([1])
    news.tell([1])
    #expect(await first.next() != nil)
    let task = Task {
      for await _ in second { return true }; return false
    }
    news.tell([2])
    #expect(await task.value)
  }

  @Test("JPush's reports count what the app reported")
  func jpush() async throws {
    try await JPushScene.with { jpush in
      _ = try await jpush.addDevices([], [])
      let push = try #require(try await jpush.finished(try await jpush.call(.post, "/v3/push", JPushScene.push)))
      let tokens = try await jpush.store.read { database in
        try database.fetchAll("SELECT token FROM devices ORDER BY id") { DeviceToken(bytes: $0.blob(0)).hexadecimal }
      }
      let body: JSONValue = [
        "token": .string(tokens[0]), "receipts": .array([item(push, "displayed"), item(push, "opened")]),
      ]
      #expect(try await report(jpush.scene, body).json == ["results": ["recorded", "recorded"]])
      let received = try await jpush.call(.get, "/v3/received?msg_ids=\(push.id)").json?.array?.first
      #expect(received?["ios_apns_received"] == 1 && received?["android_received"] == .null)
      let messages = try await jpush.call(.get, "/v3/messages?msg_ids=\(push.id)").json?.array?.first
      #expect(messages?["ios"]?["apns_received"] == 1 && messages?["ios"]?["click"] == 1)
    }
  }
}
