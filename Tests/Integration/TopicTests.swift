import Delivery
import Foundation
import Glibc
import JSON
import Model
import OpenSSL
import Providers
import SQLite
import Simulator
import Store
import Synchronization
import TestSupport
import Testing

/// Over HTTP/2 to the simulated Firebase, with a service account.
@Suite("Topics, from the console to the phones", .timeLimit(.minutes(4)))
struct TopicTests {
  private static let all = ["common", "platform-android", "timezone-Asia%2FShanghai", "version-1.0"]

  /// A scene whose app sends through FCM too, in production.
  static func run(_ body: (DeliveryScene) async throws -> Void) async throws {
    try await DeliveryScene.run { scene in
      let server = try #require(scene.simulator.endpoint(.fcm))
      let account: JSONValue = [
        "type": "service_account", "project_id": "shop-1a2b3", "private_key_id": "0123456789abcdef",
        "client_email": "push@shop-1a2b3.iam.gserviceaccount.com",
        "private_key": .string(try PrivateKey.generateRSA().pkcs8PEM),
        "token_uri": .string("https://127.0.0.1:\(server.port)/token"),
      ]
      let file = try scene.box.file("shop.json", account.text())
      let trust = try scene.box.file("ca.pem", String(decoding: server.trustPEM, as: UTF8.self))
      let added = await scene.box.run(
        "certificates", "add", file, "--app", DeliveryScene.topic, "--use-for", "production", "--endpoint",
        "127.0.0.1:\(server.port)", "--trust", trust, now: Date())
      try #require(added.code == 0, "\(added)")
      try await body(scene)
    }
  }

  /// Android phones whose app registers itself, with its version and time zone.
  static func add(
    _ scene: DeliveryScene, _ count: Int, version: String = "1.0"
  ) async throws -> [SimulatedPhone] {
    let phones = try (1...count).map {
      try scene.simulator.phones.add(
        NewPhone(name: "p\($0)", platform: .android, environment: .production, topic: DeliveryScene.topic))
    }
    try await register(scene, phones, version: version)
    return phones
  }

  private static func register(_ scene: DeliveryScene, _ phones: [SimulatedPhone], version: String) async throws {
    let inputs = phones.map { phone in
      var input = AppRegistration(
        app: scene.app.id, Registration(token: phone.token, environment: .production, platform: .android))
      input.details = DeviceDetails(appVersion: version, timeZone: "Asia/Shanghai")
      return input
    }
    let codes = try await scene.store.write { try AppRegistration.register($0, inputs, now: Date()) }
    try #require(codes.allSatisfy { $0 == .success })
  }

  private static func setRules(_ scene: DeliveryScene, _ rules: Set<TopicRule>) async throws {
    try await scene.store.write { [app = scene.app] in try TopicRules.set($0, app: app.id, rules) }
  }

  /// The topics of a phone, as Firebase has them.
  static func topics(_ scene: DeliveryScene, _ phone: SimulatedPhone) -> [String] {
    (scene.simulator.phones.phone(phone.id)?.topics ?? [:]).keys.sorted()
  }

  private static func known(_ scene: DeliveryScene) async throws -> [Topic] {
    try await scene.store.read { [app = scene.app] in try Topic.all($0, app: app.id) }
  }

  @Test("tokens join and leave, with a result for each; a removed app's device is retired")
  func byHand() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 3)
      try scene.simulator.phones.uninstall(phones[2].id)
      let author = KeeperAuthor("test", now: Date())
      let batch = TopicBatch(topic: "news", joins: true, tokens: phones.map(\.token))
      let results = try await scene.engine.topics.change(batch, app: scene.app, .production, by: author)
      #expect(results == [.done, .done, .refused(reason: "UNREGISTERED")])
      #expect(phones.map { Self.topics(scene, $0) } == [["news"], ["news"], []])
      #expect(try await scene.device(phones[2]).state == .dead)
      let topic = try #require(try await Self.known(scene).first)
      #expect(topic.name == "news" && topic.subscribed == 2 && topic.pending == 0)
      let listed = await scene.box.run("topics", "list", DeliveryScene.topic, "production", now: Date())
      #expect(listed.lines.last?.hasPrefix("news") == true, "\(listed)")
      let one = phones[0].tokenText
      let left = await scene.box.run(
        "topics", "unsubscribe", DeliveryScene.topic, "production", "news", "--device", one, now: Date())
      #expect(left.code == 0 && left.output.contains("done"), "\(left)")
      #expect(Self.topics(scene, phones[0]) == [])
      let nobody = try? await scene.engine.topics.change(batch, app: scene.app, .development, by: author)
      #expect(nobody == nil, "there is no service account for development")
      let wrong = await scene.box.run(
        "topics", "subscribe", DeliveryScene.topic, "production", "/topics/news", "--device", one, now: Date())
      #expect(wrong.code == 64)
    }
  }

  @Test("a push to a topic and to a condition is one message, which reaches whoever subscribed")
  func pushes() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 3)
      let author = KeeperAuthor("test", now: Date())
      for (topic, members) in [("news", [0, 1]), ("en", [1, 2])] {
        let batch = TopicBatch(topic: topic, joins: true, tokens: members.map { phones[$0].token })
        _ = try await scene.engine.topics.change(batch, app: scene.app, .production, by: author)
      }
      func received() -> [Int] { phones.map { scene.simulator.phones.phone($0.id)?.received.count ?? 0 } }
      let push = try await scene.deliver(["topic": "news"], environment: .production)
      #expect(push.state == .finished && push.target == 1 && push.counts == OutcomeCounts(accepted: 1), "\(push)")
      #expect(received() == [1, 1, 0])
      _ = try await scene.deliver(["condition": "'news' in topics && 'en' in topics"], environment: .production)
      #expect(received() == [1, 2, 0])
      scene.simulator.faults(.fcm).set(try Faults(parsing: "status=503,next=1", for: .fcm))
      let retried = try await scene.deliver(["topic": "en"], environment: .production)
      #expect(retried.counts == OutcomeCounts(accepted: 1), "it waits for its retry as any other")
      #expect(received() == [1, 3, 1])
      let sent = await scene.box.run(
        "send", "--app", DeliveryScene.topic, "--environment", "production", "--topic", "en", "--body", "x",
        now: Date())
      #expect(sent.code == 0, "\(sent)")
      #expect(received() == [1, 4, 2])
    }
  }

  @Test("the rules keep every device in its four topics, through a new version")
  func rules() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 5)
      let set = await scene.box.run(
        "topics", "rules", DeliveryScene.topic, "--rule", "common", "--rule", "platform", "--rule", "version", "--rule",
        "time_zone")
      #expect(set.output.contains("common, platform, version, time_zone"), "\(set)")
      let keeper = scene.engine.topics
      while try await keeper.work() {}
      for phone in phones { #expect(Self.topics(scene, phone) == Self.all) }
      try await Self.register(scene, Array(phones.prefix(2)), version: "1.1")
      while try await keeper.work() {}
      let updated = Self.all.dropLast() + ["version-1.1"]
      #expect(Self.topics(scene, phones[0]) == Array(updated) && Self.topics(scene, phones[4]) == Self.all)
      #expect(try await Self.known(scene).reduce(0) { $0 + $1.pending } == 0)
    }
  }

  @Test("without a service account the changes wait, with the reason, and are made when there is one")
  func patience() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 2)
      try await Self.setRules(scene, [.common])
      let clock = Mutex(Date())
      let asked = Mutex(0)
      let routes = scene.routes
      let keeper = TopicKeeper(store: scene.store, clock: { clock.withLock { $0 } }) { batches, app, environment in
        let count = asked.withLock { count in
          count += 1
          return count
        }
        if count < 3 { throw NoRoute("There is none.", .noCredential) }
        return try await routes.change(batches, app: app, environment: environment)
      }
      while try await keeper.work() {}
      #expect(asked.withLock { $0 } == 1, "it is not asked again at once")
      let delays = try await scene.store.read { [app = scene.app] in try TopicSubscription.delays($0, app: app.id) }
      #expect(delays.map(\.reason) == [OwnReason.noCredential.rawValue] && delays.map(\.count) == [2])
      var pauses: [TimeInterval] = []
      for _ in 0..<2 {
        let next = try await scene.store.read { [app = scene.app] in
          try TopicSubscription.delays($0, app: app.id).first?.next
        }
        let date = try #require(next)
        pauses.append(date.timeIntervalSince(clock.withLock { $0 }))
        clock.withLock { $0 = date }
        while try await keeper.work() {}
      }
      #expect(pauses[0] >= 60 && pauses[1] >= 120, "each pause is longer: \(pauses)")
      for phone in phones { #expect(Self.topics(scene, phone) == ["common"]) }
    }
  }

  @Test("a database that cannot be read is no fault of the credential: the changes stay due, without a reason")
  func unreadable() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 1)
      try await Self.setRules(scene, [.common])
      let blind = TopicKeeper(store: scene.store, clock: { Date() }) { _, _, _ in throw SQLiteError(.busy, "busy") }
      await #expect(throws: SQLiteError.self) { while try await blind.work() {} }
      let delays = try await scene.store.read { [app = scene.app] in try TopicSubscription.delays($0, app: app.id) }
      #expect(delays.isEmpty, "\(delays)")
      let keeper = scene.engine.topics
      while try await keeper.work() {}
      #expect(Self.topics(scene, phones[0]) == ["common"])
    }
  }

  @Test("a worker that ends between FCM's answer and its record makes the change once more")
  func lost() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 2)
      try await Self.setRules(scene, [.common, .version])
      let routes = scene.routes
      let dying = TopicKeeper(store: scene.store, clock: { Date() }) { batches, app, environment in
        _ = try await routes.change(batches, app: app, environment: environment)
        throw CancellationError()
      }
      await #expect(throws: CancellationError.self) { while try await dying.work() {} }
      for phone in phones { #expect(Self.topics(scene, phone) == ["common", "version-1.0"]) }
      #expect(try await Self.known(scene).reduce(0) { $0 + $1.pending } == 4)
      let keeper = scene.engine.topics
      while try await keeper.work() {}
      let topics = try await Self.known(scene)
      #expect(topics.map(\.subscribed) == [2, 2] && topics.allSatisfy { $0.pending == 0 })
    }
  }

  @Test("a server that is killed again and again loses no change of 3000 devices")
  func killed() async throws {
    try await Self.run { scene in
      let phones = try await Self.add(scene, 3000)
      try await Self.setRules(scene, Set(TopicRule.allCases))
      func counts() async throws -> (done: Int, pending: Int) {
        let topics = try await Self.known(scene)
        return topics.reduce((0, 0)) { ($0.0 + $1.subscribed, $0.1 + $1.pending) }
      }
      for round in 1...3 {
        let child = try await scene.serve()
        try await eventually("some changes", every: .milliseconds(2)) {
          let (done, pending) = try await counts()
          return done + pending >= round * 1000 || done == 12_000
        }
        child.send(SIGKILL)
        #expect(await child.status() == 137)
        // The versions change while the server is gone.
        try await Self.register(scene, Array(phones.prefix(500)), version: "1.\(round)")
      }
      let last = try await scene.serve()
      try await eventually("every change is made", within: .seconds(120), every: .milliseconds(100)) {
        let (done, pending) = try await counts()
        let isChecked = try await scene.store.read { try !TopicSubscription.hasChecks($0) }
        return isChecked && pending == 0 && done == 12_000
      }
      #expect(await scene.stop(last) == 0)
      let newest = Self.all.dropLast() + ["version-1.3"]
      let wrong = phones.enumerated().filter { index, phone in
        Self.topics(scene, phone) != (index < 500 ? Array(newest) : Self.all)
      }
      #expect(wrong.count == 0)
    }
  }
}
