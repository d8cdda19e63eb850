import Delivery
import Foundation
import Logging
import Model
import OpenSSL
import Providers
import Reactor
import Simulator
import Store
import TestSupport
import Testing

@Suite("Delivery through a proxy", .timeLimit(.minutes(3)))
struct ProxyTests {
  /// The credential's own setting, as the command line makes it.
  private static func set(
    _ scene: DeliveryScene, _ url: String, password: String? = nil, _ service: String = "apns"
  ) async {
    let environment = password.map { ["SIGNALBOX_PROXY_PASSWORD": $0] } ?? [:]
    let result = await scene.box.run(
      "apps", "proxy", DeliveryScene.topic, "development", url, "--provider", service, environment: environment,
      now: Date())
    #expect(result.code == 0, "\(result)")
  }

  @Test(
    "a broadcast of every service arrives through a proxy of others, with the credential's user and password",
    arguments: OtherProxy.installed)
  func others(program: OtherProxy) async throws {
    try await DeliveryScene.run { scene in
      try await program.with(login: ("ann", "s3cret")) { proxy, log in
        try await scene.addServices()
        let phones = try await scene.addThirds(201)
        for service in ["apns", "fcm", "jpush"] {
          await Self.set(scene, "http://ann@127.0.0.1:\(proxy.port)", password: "s3cret", service)
        }
        let push = try await scene.deliver()
        let tally = try await scene.tally(push, phones)
        #expect(tally.isWhole && tally.outcomes == ["accepted": 201], "\(tally)")
        for server in [SimulatedServer.development, .fcm, .jpush] {
          let port = try #require(scene.simulator.endpoint(server)).port
          #expect(log().contains(":\(port)"), "\(server): \(log())")
        }
        // What is asked of the services besides pushes goes the same way.
        let asked = log().requests
        let jpush = try #require(phones.first { $0.provider == .jpush })
        _ = try await scene.engine.jpush.device(try await scene.device(jpush))
        let fcm = try #require(phones.first { $0.provider == .fcm })
        let joined = try await scene.engine.topics.change(
          TopicBatch(topic: "news", joins: true, tokens: [fcm.token]), app: scene.app, .development,
          by: KeeperAuthor("test", now: Date()))
        #expect(joined == [.done] && log().requests > asked + 1)
        let shown = await scene.box.run("apps", "show", DeliveryScene.topic)
        #expect(shown.output.contains("through http://ann@127.0.0.1:\(proxy.port)"), "\(shown)")
        #expect(!shown.output.contains("s3cret"))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: scene.box.data + "/signalbox.sqlite"))
        let wal = (try? Data(contentsOf: URL(fileURLWithPath: scene.box.data + "/signalbox.sqlite-wal"))) ?? Data()
        for file in [bytes, wal] { #expect(file.range(of: Data("s3cret".utf8)) == nil, "the password is sealed") }
        // What was built on the old setting is closed once it is noticed.
        for service in ["apns", "fcm", "jpush"] { await Self.set(scene, "none", service) }
        try await scene.routes.refresh()
        let before = log().requests
        let direct = try await scene.deliver()
        #expect(direct.counts.accepted == 201)
        #expect(log().requests == before, "the second push is not the proxy's business")
      }
    }
  }

  @Test("a proxy that refuses holds the push back, says why, and lets it go when it is corrected")
  func refused() async throws {
    try await DeliveryScene.run { scene in
      try await TestProxy.with(.says("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")) { proxy in
        _ = try await scene.add(3)
        await Self.set(scene, "http://ann@127.0.0.1:\(proxy.port)", password: "s3cret")
        let push = try await scene.push()
        let run = Task { await scene.engine.runOnly(push.id) }
        func logged(_ words: String) -> Bool {
          scene.log.entries.contains { LogFormat.text.line($0).contains(words) }
        }
        try await waitUntil("the reason is logged") { logged("ProxyAuthenticationRequired") }
        #expect(!logged("s3cret"))
        let app = scene.app.id
        let found = try await scene.store.read {
          try Credential.find($0, app: app, provider: .apns, environment: .development)
        }
        let credential = try #require(found)
        try await waitUntil("the circuit is open") {
          guard let health = scene.routes.health(credential: credential.id, at: Date() + 4) else { return false }
          if case .open(let reason, _, _) = health.circuit {
            return Reason.of(reason).remedy == Reason.of(.proxyAuthentication).remedy
          }
          return false
        }
        await Self.set(scene, "default")
        try await scene.routes.refresh()
        await run.value
        let last = try await scene.store.read { try Push.get($0, id: push.id) }
        #expect(last.counts.accepted == 3, "\(last)")
      }
    }
  }

  @Test("a proxy that cannot be read is a wrong usage, and its password is not repeated")
  func usage() async throws {
    try await CommandRunner.with { box in
      let result = await box.run("doctor", environment: ["HTTPS_PROXY": "socks5://ann:s3cret@proxy"])
      #expect(result.code == 64)
      #expect(result.errors.contains("HTTPS_PROXY"))
      #expect(!result.errors.contains("s3cret"))
      let found = await box.run("doctor", environment: ["HTTPS_PROXY": "http://ann:s3cret@proxy.example.com:3128"])
      #expect(found.output.contains("proxy.example.com:3128 (HTTPS_PROXY)"), "\(found.output)")
      #expect(!found.output.contains("s3cret"))
      let none = await box.run("doctor", "--proxy", "none", environment: ["HTTPS_PROXY": "http://proxy.example.com"])
      #expect(!none.output.contains("proxy.example.com"))
    }
  }

  @Test("doctor connects to the servers of every service that a credential sends to")
  func services() async throws {
    try await CommandRunner.with { box in
      #expect(await box.run("apps", "add", "com.example.shop", "--name", "Shop").code == 0)
      let store = try Store.open(path: box.data + "/signalbox.sqlite", sealer: SealingKey(), now: CommandRunner.noon)
      defer { store.close() }
      try await store.write { database in
        let app = try #require(try App.all(database).first).id
        for provider in ProviderKind.allCases {
          try Credential.bind(
            database, app: app, provider: provider, environment: .production, certificate: nil,
            endpoint: provider.serviceWord, now: CommandRunner.noon)
        }
      }
      // Nothing listens at port 1: no connection leaves this machine.
      let found = await box.run("doctor", "--network", environment: ["HTTPS_PROXY": "http://127.0.0.1:1"])
      for host in ["api.push.apple.com", "fcm.googleapis.com", "api.jpush.cn"] {
        #expect(found.output.contains("\(host):443"), "\(found.output)")
      }
    }
  }
}

extension String {
  /// How many tunnels a proxy was asked for.
  fileprivate var requests: Int { ranges(of: "CONNECT ").count }
}
