import Certificates
import Foundation
import HTTP2
import JSON
import OpenSSL
import Model
import Reactor
import TestSupport
import Testing

@testable import Simulator

@Suite("Simulated APNs, over TLS")
struct APNsSimulatorTests {
  @Test("each environment takes its own tokens, and answers as Apple does")
  func environments() async throws {
    try await SimulatorScene.run { scene in
      let development = try scene.client()
      let production = try scene.client(.production)
      let first = try await development.send([scene.phone.token, scene.productionPhone.token])
      let accepted = try #require(first.replies[0])
      let received = try #require(scene.book.phone(scene.phone.id)?.received.first)
      #expect(accepted.status == 200)
      #expect(accepted.apnsID == received.apnsID)
      #expect(UUID(uuidString: accepted.uniqueID ?? "") != nil)
      #expect(accepted.contentType == nil)
      let refused = try #require(first.replies[1])
      #expect(refused.status == 400)
      #expect(refused.reason == "BadDeviceToken")
      #expect(refused.contentType == "application/json")
      #expect(UUID(uuidString: refused.apnsID ?? "") != nil)
      #expect(refused.timestamp == nil)
      let second = try await production.send([scene.productionPhone.token, scene.phone.token])
      #expect(second.replies[0]?.status == 200)
      #expect(second.replies[0]?.uniqueID == nil)
      #expect(second.replies[1]?.reason == "BadDeviceToken")
      let counters = scene.simulator.counters(.development)
      #expect(counters.requests == 2)
      #expect(counters.byStatus == [200: 1, 400: 1])
      #expect(counters.byReason == ["BadDeviceToken": 1])
      #expect(counters.connections == 1)
      #expect(counters.openConnections == 1)
      try await development.stop()
      try await production.stop()
    }
  }

  @Test("an app that was removed: 410 with the time in milliseconds")
  func unregistered() async throws {
    try await SimulatorScene.run { scene in
      try scene.book.uninstall(scene.phone.id, now: Date(timeIntervalSince1970: 1_700_000_000.25))
      let client = try scene.client()
      let reply = try #require(try await client.send([scene.phone.token]).replies[0])
      #expect(reply.status == 410)
      #expect(reply.reason == "Unregistered")
      #expect(reply.timestamp == 1_700_000_000_250)
      try await client.stop()
    }
  }

  @Test("a bad provider token and a bad header are refused by the judge")
  func judged() async throws {
    try await SimulatorScene.run { scene in
      let client = try scene.client(identity: try Self.identity(scene, topic: "com.example.other"))
      #expect(try await client.send([scene.phone.token]).replies[0]?.reason == "TopicDisallowed")
      let good = try scene.client()
      let replies = try await good.send([scene.phone.token], fields: [HeaderField("apns-priority", "7")]).replies
      #expect(replies[0]?.reason == "BadPriority")
      #expect(try await good.send([scene.phone.token], body: "").replies[1]?.reason == "PayloadEmpty")
      let large = String(repeating: "x", count: 70_000)
      #expect(try await good.send([scene.phone.token], body: large).replies[2]?.status == 413)
      try await client.stop()
      try await good.stop()
    }
  }

  private static func identity(_ scene: SimulatorScene, topic: String = SimulatorScene.topic) throws -> TLSIdentity {
    let (certificate, key) = try scene.simulator.authority.issue(
      .applePush(
        topic: topic, team: SimulatorScene.team, notBefore: Date(timeIntervalSinceNow: -3600),
        notAfter: Date(timeIntervalSinceNow: 3600)))
    return TLSIdentity(chain: [certificate], key: key)
  }

  @Test("a key without a team passes for every team; another key passes for none")
  func anyTeam() async throws {
    try await SimulatorScene.run({ configuration in
      configuration.knownKeys = configuration.knownKeys.mapValues { APNsKey(team: nil, publicKey: $0.publicKey) }
    }) { scene in
      let client = try scene.client()
      #expect(try await client.send([scene.phone.token]).replies[0]?.status == 200)
      let stranger = try scene.bearer(try PrivateKey.generateP256())
      let refused = try await client.send([scene.phone.token], authorization: stranger)
      #expect(refused.replies[1]?.reason == "InvalidProviderToken")
      try await client.stop()
    }
  }

  @Test("a kept authority is taken up again, and another key's certificate is refused")
  func keptAuthority() throws {
    let authority = try SimulatorAuthority.make()
    let again = try SimulatorAuthority.read(SimulatorAuthority.text(authority))
    #expect(again.certificate.pem == authority.certificate.pem)
    let other = try SimulatorAuthority.make()
    #expect(throws: SimulatorAuthorityError.keyDoesNotFit) {
      try SimulatorAuthority.read(authority.certificate.pem + other.key.pkcs8PEM)
    }
  }

  @Test("a client certificate does for a token")
  func certificate() async throws {
    try await SimulatorScene.run { scene in
      let client = try scene.client(identity: try Self.identity(scene))
      let ended = try await client.send(Array(repeating: scene.phone.token, count: 50))
      #expect(ended.count(200) == 50)
      #expect(scene.book.phone(scene.phone.id)?.received.count == 50)
      try await client.stop()
    }
  }

  enum Sender: Sendable, CaseIterable { case goodToken, badToken, certificate }

  @Test("one stream until a provider token is valid; many at once with a certificate", arguments: Sender.allCases)
  func streams(_ sender: Sender) async throws {
    try await SimulatorScene.run { scene in
      scene.simulator.faults(.development).set(try Faults(parsing: "delay=100ms"))
      var configuration = SimulatorClient.configuration()
      configuration.connection.provesFirst = false
      let identity = sender == .certificate ? try Self.identity(scene) : nil
      let client = try scene.client(.development, identity: identity, configuration)
      // Apple signs nothing for others: a key that the simulator does not know.
      let stranger = try PrivateKey.generateP256()
      let authorization = sender == .badToken ? try scene.bearer(stranger) : nil
      let ended = try await client.send(Array(repeating: scene.phone.token, count: 5), authorization: authorization)
      let counters = scene.simulator.counters(.development)
      #expect(ended.count(sender == .badToken ? 403 : 200) == 5)
      switch sender {
      case .badToken: #expect(counters.mostStreams == 1)
      // The first alone; its token is good as soon as it is read, and the rest comes while answers wait.
      case .goodToken: #expect((2...5).contains(counters.mostStreams))
      case .certificate: #expect((2...5).contains(counters.mostStreams))
      }
      try await client.stop()
    }
  }

  @Test("thousands of pushes: all answered, each phone has its newest")
  func many() async throws {
    try await SimulatorScene.run { scene in
      let client = try scene.client()
      let ended = try await client.send(Array(repeating: scene.phone.token, count: 3000))
      #expect(ended.count(200) == 3000)
      #expect(scene.book.phone(scene.phone.id)?.received.count == 200)
      #expect(scene.simulator.counters(.development).byStatus == [200: 3000])
      try await client.stop()
    }
  }

  @Test("a stored authority is trusted after a restart; start and stop are repeatable")
  func restart() async throws {
    let first = try SimulatorAuthority.make()
    let again = try SimulatorAuthority.read(certificatePEM: first.certificate.pem, keyPEM: first.key.pkcs8PEM)
    let stranger = try PrivateKey.generateP256()
    #expect(throws: SimulatorAuthorityError.keyDoesNotFit) {
      try SimulatorAuthority.read(certificatePEM: first.certificate.pem, keyPEM: stranger.pkcs8PEM)
    }
    try await SimulatorScene.run({ $0.authority = again }) { scene in
      #expect(scene.simulator.authorityPEM == first.certificate.pem)
      await #expect(throws: PushSimulatorError.isRunning) { try await scene.simulator.start() }
      let before = try #require(scene.simulator.endpoint(.development))
      #expect(before.host == "localhost")
      #expect(before.trust == .pem(Array(first.certificate.pem.utf8)))
      await scene.simulator.stop()
      #expect(scene.simulator.endpoint(.development) == nil)
      await scene.simulator.stop()
      let addresses = try await scene.simulator.start()
      #expect(addresses.development.isLoopback && addresses.production.isLoopback)
      #expect(scene.simulator.endpoint(.production)?.port == addresses.production.port)
      let client = try scene.client()
      #expect(try await client.send([scene.phone.token]).count(200) == 1)
      try await client.stop()
    }
  }

  @Test("a port that is taken is said, and the simulator can be started elsewhere")
  func takenPort() async throws {
    try await SimulatorScene.run { scene in
      let taken = try #require(scene.simulator.endpoint(.development)?.port)
      var configuration = PushSimulator.Configuration()
      configuration.loops = [scene.clientLoop]
      configuration.production = SocketAddress(host: "127.0.0.1", port: taken)
      let second = try PushSimulator(configuration: configuration)
      await #expect(throws: SystemError.self) { try await second.start() }
      #expect(second.endpoint(.development) == nil)
    }
  }

  @Test("the demo's phones are made once, and get pushes")
  func demo() async throws {
    try await SimulatorScene.run { scene in
      try scene.book.remove(scene.phone.id)
      try scene.book.remove(scene.productionPhone.id)
      let made = try DemoWorld.shop.populate(scene.book)
      #expect(made.count { $0.phone.environment == .development } == 6)
      #expect(made.filter { $0.phone.platform == .android }.map(\.phone.model) == ["Pixel 9", "Xiaomi 15"])
      #expect(made.count { $0.phone.environment == .production } == 2)
      #expect(try DemoWorld.shop.populate(scene.book).isEmpty)
      #expect(scene.book.phones().count == 8)
      #expect(Set(made.map(\.description.alias)).count == 8)
      #expect(made.allSatisfy { AliasRule.jpush.problem(with: $0.description.alias) == nil })
      let client = try scene.client(.production)
      let tokens = made.filter { $0.phone.environment == .production }.map(\.phone.token)
      #expect(try await client.send(tokens, topic: DemoWorld.shop.bundleID).count(200) == 2)
      try await client.stop()
    }
  }
}
