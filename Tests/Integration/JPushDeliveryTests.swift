import Delivery
import Foundation
import HTTP2
import JSON
import Logging
import Model
import Providers
import Reactor
import SQLite
import Simulator
import Store
import TestSupport
import Testing

@testable import Console

@Suite("One push through APNs, FCM and JPush", .timeLimit(.minutes(3)))
struct JPushDeliveryTests {
  /// The scene's devices with FCM and JPush at the simulator, and an engine of its own.
  private struct World {
    let scene: DeliveryScene
    let engine: DeliveryEngine
    let routes: CredentialRoutes

    var store: Store { scene.store }
    var book: PhoneBook { scene.simulator.phones }

    /// Phones with the app, registered through JPush, every second one with Android.
    @discardableResult
    func addJPush(_ count: Int, environment: Model.Environment = .development) async throws -> [SimulatedPhone] {
      try await add(
        (0..<count).map {
          NewPhone(
            name: "j\($0)", platform: $0.isMultiple(of: 2) ? .ios : .android, provider: .jpush,
            environment: environment, topic: DeliveryScene.topic, alias: "usr_j\($0)")
        })
    }

    @discardableResult
    func add(_ new: [NewPhone]) async throws -> [SimulatedPhone] {
      let phones = try new.map { try book.add($0) }
      let registrations = phones.map { phone in
        var registration = Registration(of: phone)
        registration.alias = .set(phone.alias)
        return registration
      }
      let id = scene.app.id
      _ = try await store.write { try Device.register($0, app: id, registrations, now: Date() - 3600) }
      return phones
    }

    func deliver(_ audience: JSONValue = "all", options: JSONValue = ["time_to_live": 600]) async throws -> Push {
      let push = try await scene.push(audience, options: options)
      try await bounded("the push ends") { [engine] in await engine.runOnly(push.id) }
      return try await store.read { try Push.get($0, id: push.id) }
    }

    func counts(_ push: Push) async throws -> [ProviderKind: OutcomeCounts] {
      let lines = try await store.read { database in
        try Delivery.providerCounts(database, push: push.id, try Delivery.reasonCounts(database, push: push.id))
      }
      return Dictionary(uniqueKeysWithValues: lines.map { ($0.provider, $0.counts) })
    }

    func messages(_ push: Push) async throws -> [SentJPushMessage] {
      try await store.read { try SentJPushMessage.all($0, push: push.id) }
    }

    /// How often each phone got a push, repetitions counted.
    func arrivals(_ phones: [SimulatedPhone]) -> [Int] {
      phones.map { phone in book.phone(phone.id)?.received.reduce(0) { $0 + 1 + $1.duplicates } ?? 0 }
    }
  }

  private func run(faults: String = "", _ body: (World) async throws -> Void) async throws {
    try await DeliveryScene.run { scene in
      let (store, app, simulator) = (scene.store, scene.app, scene.simulator)
      simulator.faults(.jpush).set(try Faults(parsing: faults, for: .jpush))
      try await store.write { database in
        for provider in [ProviderKind.fcm, .jpush] {
          try Credential.bind(
            database, app: app.id, provider: provider, environment: .development, certificate: nil,
            endpoint: "simulator", now: Date())
        }
      }
      let loop = try EventLoop(name: "delivery")
      let pool = BlockingPool(name: "resolver", threads: 1)
      var connections = DeliveryScene.quick
      connections.connection.requestTimeout = .seconds(1)
      let log = Logger(label: "test", level: .debug, sink: scene.log)
      let routes = CredentialRoutes(
        store: store, loop: loop, resolver: pool,
        simulator: { provider, environment in
          SimulatedServer(provider, environment).flatMap { simulator.endpoint($0) }
            .map { .custom(host: $0.host, port: $0.port, trust: $0.trustPEM) }
        }, connections: connections, log: log)
      let engine = DeliveryEngine(store: store, routes: routes, policy: DeliveryScene.impatient, log: log)
      let result: Result<Void, any Error>
      do { result = .success(try await body(World(scene: scene, engine: engine, routes: routes))) } catch {
        result = .failure(error)
      }
      routes.stop()
      loop.stop()
      pool.stop()
      try result.get()
    }
  }

  @Test("each device goes by its own service, 1000 of JPush's with one request, and the counts are one")
  func all() async throws {
    try await run { world in
      let iphones = try await world.scene.add(3)
      let androids = try await world.add(
        (0..<2).map {
          NewPhone(name: "a\($0)", platform: .android, environment: .development, topic: DeliveryScene.topic)
        })
      let jpush = try await world.addJPush(2200)
      let push = try await world.deliver()
      #expect(push.state == .finished && push.counts == OutcomeCounts(accepted: 2205))
      let counts = try await world.counts(push)
      #expect(counts.mapValues(\.accepted) == [.apns: 3, .fcm: 2, .jpush: 2200])
      #expect(world.scene.simulator.counters(.jpush).requests == 3)
      #expect(world.arrivals(iphones + androids + jpush).allSatisfy { $0 == 1 })
      let messages = try await world.messages(push)
      #expect(messages.map(\.devices).sorted() == [200, 1000, 1000] && Set(messages.map(\.id)).count == 3)
      let received = try #require(world.book.phone(jpush[0].id)?.received.first)
      #expect(received.json["aps"]?["alert"]?["title"] == "Hello" && received.uniqueID == push.uid)
      #expect(messages.contains { .integer(Int64($0.id) ?? 0) == received.json["_j_msgid"] })
      let device = try await world.scene.device(jpush[1])
      #expect(device.provider == .jpush && device.registrationID == jpush[1].tokenText)
    }
  }

  @Test("one alias on three services is one push with one result")
  func alias() async throws {
    try await run { world in
      let environment = Model.Environment.development
      let phones = try await world.add([
        NewPhone(name: "1", environment: environment, topic: DeliveryScene.topic, alias: "usr_anna"),
        NewPhone(
          name: "2", platform: .android, environment: environment, topic: DeliveryScene.topic, alias: "usr_anna"),
        NewPhone(
          name: "3", platform: .android, provider: .jpush, environment: environment, topic: DeliveryScene.topic,
          alias: "usr_anna"),
      ])
      try await world.addJPush(1)
      let push = try await world.deliver(["alias": ["usr_anna"]])
      #expect(push.counts == OutcomeCounts(accepted: 3))
      #expect(try await world.counts(push).mapValues(\.accepted) == [.apns: 1, .fcm: 1, .jpush: 1])
      #expect(world.arrivals(phones) == [1, 1, 1])
    }
  }

  @Test(
    "Android devices of both environments, each through its own credential, or all through the only one there is",
    arguments: [[Model.Environment.development], [.production], [.development, .production]])
  func anyAndroid(environments: [Model.Environment]) async throws {
    try await run { world in
      let app = world.scene.app.id
      try await world.store.write { database in
        for provider in [ProviderKind.fcm, .jpush] {
          for environment in Model.Environment.allCases {
            if environments.contains(environment) {
              try Credential.bind(
                database, app: app, provider: provider, environment: environment, certificate: nil,
                endpoint: "simulator", now: Date())
            } else if let unused = try Credential.find(
              database, app: app, provider: provider, environment: environment)
            {
              try database.run("DELETE FROM credentials WHERE id = ?", unused.id)
            }
          }
        }
      }
      var phones: [SimulatedPhone] = []
      for environment in Model.Environment.allCases {
        for provider in [ProviderKind.fcm, .jpush] {
          phones += try await world.add([
            NewPhone(
              name: "\(environment) \(provider)", platform: .android, provider: provider, environment: environment,
              topic: DeliveryScene.topic)
          ])
        }
      }
      let iphones = try await world.add(
        Model.Environment.allCases.map {
          NewPhone(name: "\($0)", environment: $0, topic: DeliveryScene.topic)
        })
      let push = try await world.deliver(options: ["any_android": true])
      #expect(push.counts == OutcomeCounts(accepted: 5), "\(push.error ?? "")")
      #expect(world.arrivals(phones) == [1, 1, 1, 1])
      #expect(world.arrivals(iphones).sorted() == [0, 1], "iPhones of the push's environment alone")
      let usual = try await world.deliver(options: [:])
      #expect(usual.target == 3)
    }
  }

  @Test("a request without an answer is repeated with the same cid, and JPush sends nothing twice")
  func unanswered() async throws {
    try await run(faults: "silent=1") { world in
      let phones = try await world.addJPush(1500)
      let push = try await world.scene.push(options: [:])
      let engine = world.engine
      async let end: Void = engine.runOnly(push.id)
      try await eventually("both requests arrive") { world.scene.simulator.counters(.jpush).unanswered >= 2 }
      world.scene.simulator.faults(.jpush).set(Faults())
      await end
      let stored = try await world.store.read { try Push.get($0, id: push.id) }
      #expect(stored.counts == OutcomeCounts(accepted: 1500))
      #expect(world.arrivals(phones).allSatisfy { $0 == 1 }, "the second request was JPush's first one again")
      #expect(try await world.messages(stored).map(\.devices).sorted() == [500, 1000])
    }
  }

  @Test(
    "temporary problems are retried as whole requests", arguments: ["status=500,next=2", "reason=2002,next=1,retry=1"])
  func temporary(faults: String) async throws {
    try await run(faults: faults) { world in
      let phones = try await world.addJPush(1500)
      let push = try await world.deliver(options: [:])
      #expect(push.counts == OutcomeCounts(accepted: 1500))
      #expect(world.arrivals(phones).allSatisfy { $0 == 1 })
      #expect(try await world.messages(push).reduce(0) { $0 + $1.devices } == 1500)
    }
  }

  @Test("what JPush refuses ends with its code: nobody known, and wrong keys, which stop only JPush's devices")
  func refused() async throws {
    try await run { world in
      let iphone = try await world.scene.add(1)
      for phone in try await world.addJPush(4) { try world.book.uninstall(phone.id) }
      let nobody = try await world.deliver(options: [:])
      #expect(nobody.counts == OutcomeCounts(accepted: 1, failed: 4))
      let reasons = try await world.store.read { try Delivery.reasonCounts($0, push: nobody.id) }
      #expect(reasons.first { $0.provider == .jpush }?.reason == "JPush 1011")
      world.scene.simulator.faults(.jpush).set(try Faults(parsing: "reason=1004", for: .jpush))
      let keys = try await world.deliver(options: [:])
      #expect(keys.counts.accepted == 1 && keys.error?.contains("JPush 1004") == true)
      #expect(world.arrivals(iphone) == [2])
    }
  }

  @Test("JPush's own figures are asked for later, and kept beside the push")
  func report() async throws {
    try await run { world in
      let phones = try await world.addJPush(4)
      try world.book.setPower(phones[1].id, .off)
      let push = try await world.deliver()
      let log = Logger(label: "test", sink: MemorySink())
      let early = JPushReportWorker(store: world.store, routes: world.routes, clock: { Date() }, log: log)
      #expect(try await !early.askOnce())
      let later = JPushReportWorker(
        store: world.store, routes: world.routes, clock: { Date() + 130 }, log: log)
      #expect(try await later.askOnce())
      let message = try #require(try await world.messages(push).first)
      #expect(message.result?["ios_apns_sent"] == 2 && message.result?["jpush_received"] == 1)
      #expect(message.resultAt != nil)
      #expect(try await !later.askOnce(), "the next question is due in some minutes")
    }
  }
}
