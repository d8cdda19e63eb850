import Certificates
import Delivery
import Foundation
import HTTP2
import JSON
import Logging
import OpenSSL
import Model
import Reactor
import Simulator
import Store
import TestSupport

@testable import signalbox

/// A console's delivery over TLS on loopback to a simulator, all in this process.
final class DeliveryScene: Sendable {
  static let topic = "com.example.shop"

  struct Options: Sendable {
    enum Credentials: Sendable { case key, certificate }

    /// With what both environments send.
    var credentials = Credentials.key
    var connections = DeliveryScene.quick
    var clock: @Sendable () -> Date = { Date() }
    /// Whether the clock is held against the time that passed.
    var hasSteadyTime = false
    var simulatorClock: @Sendable () -> Date = { Date() }
    /// Where the connections go instead of to the simulator: a proxy that is given the simulator's port.
    var detour: (@Sendable (UInt16) async throws -> UInt16)?
  }

  let box: CommandRunner
  let store: Store
  let app: App
  let simulator: PushSimulator
  let routes: CredentialRoutes
  let engine: DeliveryEngine
  let log = MemorySink()
  private let loop: EventLoop
  private let pool: BlockingPool

  /// Short enough for a test, long enough for a busy machine.
  static var quick: ClientGroupConfiguration {
    var configuration = ClientGroupConfiguration()
    configuration.reconnectDelay = .milliseconds(10)
    configuration.maximumReconnectDelay = .milliseconds(100)
    configuration.interval = .milliseconds(20)
    configuration.connection.requestTimeout = .seconds(10)
    configuration.connection.pingAfter = .seconds(2)
    configuration.connection.pingTimeout = .seconds(2)
    return configuration
  }

  /// A quarter of an hour in a quarter of a second.
  static var impatient: RetryPolicy {
    var policy = RetryPolicy()
    policy.pauseScale = 1.0 / 3600
    return policy
  }

  private init(_ box: CommandRunner, _ options: Options, _ simulator: PushSimulator) async throws {
    self.box = box
    self.simulator = simulator
    loop = try EventLoop(name: "delivery")
    pool = BlockingPool(name: "resolver", threads: 1)
    try await Self.keep(options.credentials, box)
    store = try DataDirectory(box.data).open(readers: 2, now: Date())
    let certificate: Int64?
    (app, certificate) = try await store.read { database in
      (try App.named(Self.topic, database), try TrackedCertificate.all(database).first?.id)
    }
    for environment in Model.Environment.allCases {
      guard let server = simulator.endpoint(SimulatedServer(environment)) else { throw PushSimulatorError.isRunning }
      let port = try await options.detour?(server.port) ?? server.port
      _ = try await store.write { [app] database in
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: environment, certificate: certificate,
          endpoint: "127.0.0.1:\(port)", trustPEM: String(decoding: server.trustPEM, as: UTF8.self), now: Date())
      }
    }
    let logger = Logger(label: "test", level: .debug, sink: log)
    routes = CredentialRoutes(
      store: store, loop: loop, resolver: pool, connections: options.connections, clock: options.clock, log: logger)
    engine = DeliveryEngine(
      store: store, routes: routes, clock: options.clock,
      steady: options.hasSteadyTime ? DeliveryEngine.steadyTime : nil,
      pause: { try await Task.sleep(for: .milliseconds(50)) },
      policy: Self.impatient, log: logger)
  }

  /// Carries a push out with an engine and connections of its own, as after a restart.
  func carryOutAnew(_ push: Push) async throws {
    let routes = CredentialRoutes(store: store, loop: loop, resolver: pool, connections: Self.quick)
    let logger = Logger(label: "restarted", level: .debug, sink: log)
    let engine = DeliveryEngine(store: store, routes: routes, policy: Self.impatient, log: logger)
    defer { routes.stop() }
    try await bounded("the push ends") { await engine.runOnly(push.id) }
  }

  /// Sets everything up for the time of `body`.
  static func run<Value>(
    _ options: Options = Options(), faults: Faults = Faults(), _ body: (DeliveryScene) async throws -> Value
  ) async throws -> Value {
    try await CommandRunner.with { box in
      var configuration = PushSimulator.Configuration()
      configuration.stopTimeout = .milliseconds(200)
      configuration.now = options.simulatorClock
      configuration.faults = [.development: faults, .production: faults]
      let simulator = try PushSimulator(configuration: configuration)
      try await simulator.start()
      let result: Result<Value, any Error>
      do {
        let scene = try await DeliveryScene(box, options, simulator)
        do { result = .success(try await body(scene)) } catch { result = .failure(error) }
        scene.routes.stop()
        scene.loop.stop()
        scene.pool.stop()
        scene.store.close()
      } catch { result = .failure(error) }
      await simulator.stop()
      return try result.get()
    }
  }

  /// Uploads a key or a certificate as an operator would.
  private static func keep(_ credentials: Options.Credentials, _ box: CommandRunner) async throws {
    await box.run("apps", "add", topic, "--name", "Shop")
    let result: CommandResult
    switch credentials {
    case .key:
      let file = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      result = await box.run(
        ["certificates", "add", file, "--team-id", "TEAM123456", "--app", topic], now: Date())
    case .certificate:
      let now = Date()
      let authority = try CertificateAuthority(
        subject: [.commonName("Apple stand-in")], notBefore: now - 86_400, notAfter: now + 86_400 * 30)
      let (certificate, key) = try authority.issue(
        .applePush(topic: topic, team: "TEAM123456", notBefore: now - 3600, notAfter: now + 86_400 * 20))
      _ = try box.file("push.pem", certificate.pem + key.pkcs8PEM)
      let arguments = ["pkcs12", "-export", "-in", "push.pem", "-out", "push.p12", "-passout", "pass:secret"]
      try await Child.run("openssl", arguments, in: box.folder)
      result = await box.run(
        ["certificates", "add", box.folder + "/push.p12", "--app", topic],
        environment: ["SIGNALBOX_PASSWORD": "secret"], now: now)
    }
    guard result.code == 0 else { throw SceneError("certificates add: \(result.errors)") }
  }
}

/// Why a scene could not be set up, or did not come to its end.
struct SceneError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
