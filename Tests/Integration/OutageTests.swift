import Delivery
import Foundation
import HTTP2
import JSON
import Logging
import Model
import Reactor
import Simulator
import Store
import Synchronization
import TestSupport
import Testing

/// The push service goes away in the middle of a push, in the ways in which it can, and comes back.
@Suite("Outage of the push service", .timeLimit(.minutes(3)))
struct OutageTests {
  /// Takes seconds: on a busy machine all could be over before the service goes away.
  private static let slow: JSONValue = ["at_most_once": true, "rate": 500]

  /// Waits until `count` devices have their outcome.
  private func reach(_ count: Int, _ scene: DeliveryScene, _ push: Push) async throws {
    try await eventually("\(count) outcomes", every: .milliseconds(5)) {
      try await scene.progress(push).total >= count
    }
  }

  private func messages(_ scene: DeliveryScene) -> [String] { scene.log.entries.map(\.message) }

  @Test("a service that vanishes and returns at the same address gets the rest; the log says both")
  func vanished() async throws {
    try await DeliveryScene.run(faults: try Faults(parsing: "delay=20ms,streams=20")) { scene in
      let phones = try await scene.add(2000)
      let port = try #require(scene.simulator.endpoint(.development)?.port)
      let push = try await scene.push(options: Self.slow)
      async let carried: Void = scene.carryOut(push)
      try await reach(100, scene, push)
      await scene.simulator.stop()
      try await eventually("the log says so") { messages(scene).contains("push service unreachable") }
      let before = try await scene.progress(push).total
      #expect(before < 2000)

      var configuration = PushSimulator.Configuration()
      configuration.development = SocketAddress("127.0.0.1:\(port)")
      configuration.phones = scene.simulator.phones
      configuration.authority = scene.simulator.authority
      configuration.stopTimeout = .milliseconds(200)
      let second = try PushSimulator(configuration: configuration)
      try await second.start()
      try await carried
      await second.stop()
      let tally = try await scene.tally(push, phones)
      #expect(try await scene.progress(push).state == .finished)
      #expect(tally.isWhole && tally.doubles == 0, "\(tally)")
      #expect(tally.outcomes["accepted", default: 0] >= 1900, "\(tally)")
      #expect(messages(scene).contains("push service available again"))
    }
  }

  @Test("connections that swallow everything are found out and replaced; what was in flight is unknown")
  func halfOpen() async throws {
    var options = DeliveryScene.Options()
    options.connections.connection.pingAfter = .milliseconds(300)
    options.connections.connection.pingTimeout = .milliseconds(700)
    options.connections.connection.connectTimeout = .seconds(1)
    let proxies = Mutex<[Proxy]>.Shared([])
    options.detour = { port in
      let proxy = try Proxy(to: port)
      proxies.value.withLock { $0.append(proxy) }
      return proxy.port
    }
    defer { for proxy in proxies.value.withLock({ $0 }) { proxy.close() } }
    try await DeliveryScene.run(options, faults: try Faults(parsing: "delay=20ms,streams=20")) { scene in
      let phones = try await scene.add(3000)
      let proxy = try #require(proxies.value.withLock { $0.first })
      let push = try await scene.push(options: Self.slow)
      async let carried: Void = scene.carryOut(push)
      try await reach(200, scene, push)
      proxy.isDeaf = true
      try await eventually("the log says so") { messages(scene).contains("push service unreachable") }
      #expect(proxy.swallowed > 0 && proxy.connections > 1)
      proxy.isDeaf = false
      try await carried
      let tally = try await scene.tally(push, phones)
      #expect(try await scene.progress(push).state == .finished)
      #expect(tally.isWhole && tally.doubles == 0, "\(tally)")
      // Four connections of 20 streams are the most that can have been in flight.
      #expect(tally.outcomes["accepted", default: 0] >= 3000 - 80, "\(tally)")
    }
  }
}

extension Mutex where Value: Sendable {
  /// A lock that closures can share.
  final class Shared: Sendable {
    let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
  }
}
