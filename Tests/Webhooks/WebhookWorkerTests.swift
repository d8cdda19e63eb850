import Foundation
import HTTPServer
import JSON
import Logging
import Model
import OpenSSL
import Reactor
import SQLite
import Store
import Synchronization
import TestSupport
import Testing
import Webhooks

@Suite("Webhooks: signed, in order, again after failures")
struct WebhookWorkerTests {
  static let noon = Date(timeIntervalSince1970: 1_795_176_000)

  /// A receiver of events that answers as it is told.
  final class Receiver: Sendable {
    struct Request: Sendable {
      let id: String
      let timestamp: String
      let signatures: [String]
      let body: [UInt8]

      var json: JSONValue? { try? JSONValue(parsing: body) }

      /// As Standard Webhooks describes it.
      func isSigned(with secret: String) -> Bool {
        let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count))) ?? Data()
        let code = HMAC.sha256(key: key, Data("\(id).\(timestamp).".utf8) + Data(body))
        return signatures.contains("v1," + Data(code).base64EncodedString())
      }
    }

    private let state = Mutex((requests: [Request](), answers: [(status: Int, headers: Headers)]()))

    var requests: [Request] { state.withLock { $0.requests } }

    /// Answers the next requests so; those behind get 204.
    func answer(_ statuses: Int..., headers: Headers = [:]) {
      state.withLock { state in state.answers += statuses.map { (status: $0, headers: headers) } }
    }

    func router() -> Router {
      var router = Router()
      router.on(.post, "/events") { request in
        let received = Request(
          id: request.header("webhook-id") ?? "", timestamp: request.header("webhook-timestamp") ?? "",
          signatures: (request.header("webhook-signature") ?? "").split(separator: " ").map(String.init),
          body: try await request.body.collect(upTo: 1 << 20))
        let answer = self.state.withLock { state in
          state.requests.append(received)
          return state.answers.isEmpty ? (status: 204, headers: [:]) : state.answers.removeFirst()
        }
        return Response(Status(answer.status), headers: answer.headers, body: .bytes([]))
      }
      return router
    }
  }

  /// A store with a webhook whose receiver is a server of this process.
  final class Scene: Sendable {
    let path: String
    let sealer = SealingKey()
    let log = MemorySink()
    let webhook: Int64
    let secret: String
    private let clock = Mutex(noon)
    private let pool = BlockingPool(name: "webhook", threads: 2)
    private let opened: Mutex<Store>

    var store: Store { opened.withLock { $0 } }
    var now: Date { clock.withLock { $0 } }

    func advance(_ seconds: TimeInterval) { clock.withLock { $0 += seconds } }

    private init(folder: String, address: SocketAddress) async throws {
      path = folder + "/test.sqlite"
      let (store, sealer) = (try Store.openNew(path: path, sealer: sealer, now: noon), sealer)
      opened = Mutex(store)
      let added = try await store.write { database in
        _ = try App.add(database, bundleID: "com.example.shop", name: "Shop", now: noon)
        return try Webhook.add(
          database, Webhook.Details(name: "Billing", target: "127.0.0.1"),
          address: "http://\(address)/events?key=letmein", sealer: sealer, by: "anna", now: noon)
      }
      (webhook, secret) = (added.webhook.id, added.secret)
    }

    static func with(_ body: (Scene, Receiver) async throws -> Void) async throws {
      let folder = try temporaryFolder().path
      defer { try? FileManager.default.removeItem(atPath: folder) }  // a left-over folder fails no test
      let receiver = Receiver()
      try await WebTestServer.with(receiver.router()) { address in
        let scene = try await Scene(folder: folder, address: address)
        defer {
          scene.pool.stop()
          scene.store.close()
        }
        try await body(scene, receiver)
      }
    }

    /// A push without devices that is over.
    func finish(_ uid: String, in store: Store? = nil) async throws {
      let now = now
      try await (store ?? self.store).write { database in
        let app = try #require(try App.all(database).first)
        let push = try Push.create(
          database,
          NewPush(
            uid: uid, seed: 1, appID: app.id, environment: .production, draftJSON: "{}", source: .web,
            createdBy: "anna"), now: now)
        _ = try Push.move(database, id: push.id, from: [.queued], to: .cancelled, now: now)
      }
    }

    /// Of a new process.
    var worker: WebhookWorker {
      let sender = WebhookSender(pool: pool, proxies: .none) { "https://push.example.com" }
      return WebhookWorker(store: store, sender: sender, clock: { self.now }, log: Logger(label: "test", sink: log))
    }

    /// A worker of a new process looks once.
    func look() async throws { try await worker.look() }

    /// How many queries the store has carried out.
    var reads: Int { store.times.all[.database(isWrite: false)]?.counts.reduce(0, +) ?? 0 }

    func events() async throws -> [WebhookDelivery] {
      let webhook = webhook
      return try await store.read { try WebhookDelivery.list($0, webhook: webhook, limit: 100).items.reversed() }
    }

    func found() async throws -> Webhook {
      let webhook = webhook
      return try await store.read { try Webhook.get($0, id: webhook) }
    }

    func reopen() throws {
      store.close()
      let store = try Store.open(path: path, sealer: sealer, now: noon)
      opened.withLock { $0 = store }
    }
  }

  @Test("the signature is that of the specification's own example")
  func vector() {
    let code = WebhookSignature.code(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8),
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    #expect(code == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  private static let python = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_WEBHOOKS"]

  @Test(
    "the specification's library for Python takes an event, and refuses a changed one",
    .enabled(if: python != nil, "SIGNALBOX_TEST_WEBHOOKS is not set: script/test sets it"))
  func library() async throws {
    let python = try #require(Self.python)
    try await Scene.with { scene, receiver in
      // The library asks the wall clock.
      scene.advance(Date().timeIntervalSince(scene.now))
      let (id, sealer, now) = (scene.webhook, scene.sealer, scene.now)
      _ = try await scene.store.write { try Webhook.rotate($0, id: id, sealer: sealer, now: now) }
      try await scene.finish("p1")
      try await scene.look()
      let request = try #require(receiver.requests.first)
      let script = """
        import sys
        from standardwebhooks.webhooks import Webhook, WebhookVerificationError
        secret, id, time, signature, body = sys.argv[1:]
        headers = {"webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature}
        print(Webhook(secret).verify(body, headers)["type"])
        try:
            Webhook(secret).verify(body.replace("cancelled", "finished"), headers)
        except WebhookVerificationError:
            print("refused")
        """
      let result = try await OtherProgram.run(
        python,
        [
          "-c", script, scene.secret, request.id, request.timestamp, request.signatures.joined(separator: " "),
          String(decoding: request.body, as: UTF8.self),
        ])
      #expect(result.status == 0 && result.output == "push.finished\nrefused\n", "\(result.output)")
    }
  }

  @Test("an event arrives as JSON with its page, and is over")
  func delivered() async throws {
    try await Scene.with { scene, receiver in
      try await scene.finish("p1")
      try await scene.look()
      try await scene.look()
      #expect(receiver.requests.count == 1)
      let request = try #require(receiver.requests.first)
      #expect(request.isSigned(with: scene.secret) && request.signatures.count == 1)
      #expect(request.timestamp == "1795176000" && request.id == "evt_p1_\(scene.webhook)")
      #expect(request.json?["type"] == "push.finished" && request.json?["timestamp"] == "2026-11-20T12:00:00Z")
      #expect(request.json?["data"]?["url"] == "https://push.example.com/pushes/p1")
      #expect(request.json?["data"]?["state"] == "cancelled")
      let event = try #require(try await scene.events().first)
      #expect(event.state == .delivered && event.status == 204 && event.attempts == 1)
      #expect(scene.log.entries.isEmpty)
    }
  }

  @Test("after failures an event comes again under its ID, newly signed, and before those behind it, across restarts")
  func again() async throws {
    try await Scene.with { scene, receiver in
      receiver.answer(500, 302)
      try await scene.finish("p1")
      try await scene.finish("p2")
      // Seconds to go on, and requests after that: a minute, then two.
      for (seconds, count) in [(0.0, 1), (59, 1), (1, 2), (119, 2), (1, 4), (9999, 4)] {
        scene.advance(seconds)
        try scene.reopen()
        try await scene.look()
        #expect(receiver.requests.count == count)
      }
      #expect(receiver.requests.map(\.id) == ["p1", "p1", "p1", "p2"].map { "evt_\($0)_\(scene.webhook)" })
      #expect(Set(receiver.requests.prefix(3).map(\.body)).count == 1)
      #expect(receiver.requests.map(\.timestamp) == ["1795176000", "1795176060", "1795176180", "1795176180"])
      #expect(receiver.requests.allSatisfy { $0.isSigned(with: scene.secret) })
      #expect(try await scene.events().map(\.attempts) == [3, 1])
      let found = try await scene.found()
      #expect(found.failures == 0 && found.failingSince == nil && found.pending == 0)
      let lines = scene.log.entries.map { "\($0.message) \($0.metadata)" }
      #expect(lines.count == 3 && lines[0].hasPrefix("webhook not delivered"), "\(lines)")
      #expect(lines[2].hasPrefix("webhook answers again"))
      #expect(lines.allSatisfy { !$0.contains(scene.secret) && !$0.contains("letmein") })
    }
  }

  @Test("Retry-After is kept, as seconds and longer than our own pause")
  func retryAfter() async throws {
    try await Scene.with { scene, receiver in
      receiver.answer(503, headers: ["Retry-After": "600"])
      try await scene.finish("p1")
      for (seconds, count) in [(0.0, 1), (599, 1), (1, 2)] {
        scene.advance(seconds)
        try await scene.look()
        #expect(receiver.requests.count == count)
      }
    }
  }

  @Test("410 switches the webhook off, with a line in the log")
  func gone() async throws {
    try await Scene.with { scene, receiver in
      receiver.answer(410)
      try await scene.finish("p1")
      try await scene.finish("p2")
      try await scene.look()
      scene.advance(90_000)
      try await scene.look()
      #expect(receiver.requests.count == 1)
      let found = try await scene.found()
      #expect(!found.details.isActive && found.goneAt == Self.noon)
      #expect(scene.log.entries.map { "\($0.message)" } == ["webhook turned off: its receiver is gone"])
    }
  }

  @Test("after a day of failures an event is given up, and the next one has its turn")
  func patience() async throws {
    try await Scene.with { scene, receiver in
      try await scene.finish("p1")
      try await scene.finish("p2")
      var minutes = 0
      while receiver.requests.last?.id != "evt_p2_\(scene.webhook)", minutes < 60 * 60 {
        receiver.answer(500)
        try await scene.look()
        scene.advance(600)
        minutes += 10
      }
      let attempts = receiver.requests.count - 1
      #expect((8...14).contains(attempts), "\(attempts)")
      #expect((24 * 60...38 * 60).contains(minutes), "\(minutes)")
      #expect(try await scene.events().map(\.state) == [.failed, .pending])
    }
  }

  @Test("after a rotation both secrets sign for a day")
  func rotation() async throws {
    try await Scene.with { scene, receiver in
      let (id, sealer, now) = (scene.webhook, scene.sealer, scene.now)
      let new = try await scene.store.write { try Webhook.rotate($0, id: id, sealer: sealer, now: now) }
      try await scene.finish("p1")
      try await scene.look()
      scene.advance(Webhook.rotationTime)
      try await scene.finish("p2")
      try await scene.look()
      #expect(receiver.requests.map { $0.isSigned(with: new) } == [true, true])
      #expect(receiver.requests.map { $0.isSigned(with: scene.secret) } == [true, false])
    }
  }

  @Test("neither the secret nor the URL's path is in the database file")
  func sealed() async throws {
    try await Scene.with { scene, _ in
      try await scene.finish("p1")
      try await scene.look()
      let folder = (scene.path as NSString).deletingLastPathComponent
      let all = try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: Data()) { data, name in
        data += try Data(contentsOf: URL(filePath: folder + "/" + name))
      }
      #expect(all.range(of: Data("evt_p1_".utf8)) != nil, "the events are read")
      let key = try #require(Data(base64Encoded: String(scene.secret.dropFirst(6))))
      for text in [Data(scene.secret.utf8), Data(scene.secret.dropFirst(6).utf8), key, Data("letmein".utf8)] {
        #expect(all.range(of: text) == nil)
      }
    }
  }
}
