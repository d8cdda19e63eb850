import Certificates
import Console
import Delivery
import Foundation
import HTTPServer
import JSON
import Logging
import OpenSSL
import Providers
import Model
import Reactor
import SQLite
import Simulator
import Store
import Synchronization
import TestSupport
import Testing

/// A whole console on a database of its own, with an engine that runs and a provider that does as it is told. Requests
/// are answered without sockets.
///
///     try await ConsoleScene.with { scene in
///       try await scene.addApp()
///       let answer = try await scene.call(.get, "/api/v1/apps", as: .viewer)
///       let anna = try await scene.signIn(.operator)
///       let page = try await anna.get("/pushes")
///     }
struct ConsoleScene: Sendable {
  /// The time of every scene.
  static let noon = Date(timeIntervalSince1970: 1_795_176_000)
  static let bundleID = "com.example.shop"
  static let password = "correct horse battery staple"
  /// A push to every iPhone of the app, without a text.
  static var draft: PushDraft {
    PushDraft(
      app: bundleID, environment: .development, platforms: [.ios], audience: .all, notification: PushNotification())
  }
  /// One with a text, as the API takes it.
  static let draftJSON: JSONValue = [
    "app": .string(bundleID), "environment": "development", "platforms": ["ios"], "audience": "all",
    "notification": ["body": "World"],
  ]
  /// The folder of the project.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let configuration = Console.Configuration(
    templates: root.appendingPathComponent("Templates").path, publicFiles: root.appendingPathComponent("Public").path,
    address: nil, version: "0.0.0")
  /// Read once: binding every template in every language is most of a console's start.
  private static let resources = Result { try Console.Resources(configuration) }

  let store: Store
  let engine: DeliveryEngine
  let provider: ScriptedProvider
  let router: Router
  let console: Console
  /// Moves the console's time; the engine's stands still.
  let clock: SceneClock
  /// The phones of the simulator; its servers do not listen.
  let simulator: PushSimulator?
  /// Where the console's work is done.
  let pools: Console.Pools
  /// What was logged: an error here is one that nobody expected.
  let log: MemorySink
  /// Tokens of the API, one for each role.
  private let tokens: [User.Role: String]

  var now: Date { Self.noon }

  /// Builds a scene, and takes it down whatever comes of `body`.
  ///
  /// - Parameters:
  ///   - rates: calls of the API in a minute; 0: no limit.
  ///   - pageRate: pages of a session in a minute; 0: no limit.
  ///   - proxies: whose word about the client the console believes.
  ///   - address: where people reach the console.
  ///   - look: what watched hosts show.
  ///   - queryPatience: how long a query over most of a table may take.
  ///   - streamPause: waits before a stream of events looks whether it may go on, and in `/fcm/send` for outcomes.
  static func with(
    simulator hasSimulator: Bool = false, rates: (token: Int, address: Int) = (0, 0), pageRate: Int = 0,
    proxies: [AddressRange] = [],
    address: String? = "http://localhost:8080",
    look: @escaping HostWatch.Look = { _ in .failure(HostFailure(.unreachable, detail: "there is no network here")) },
    streamPause: (@Sendable () async throws -> Void)? = nil,
    queryPatience: Duration? = nil,
    breached: BreachedPasswords? = nil,
    _ body: @Sendable (ConsoleScene) async throws -> Void
  ) async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    let store = try Store.openNew(path: folder.path + "/test.sqlite", sealer: SealingKey(), now: noon)
    defer { store.close() }
    let pools = Console.Pools()
    defer { pools.stop() }
    let scene = try await ConsoleScene(
      store: store, pools: pools, simulator: hasSimulator ? PushSimulator() : nil, rates: rates, pageRate: pageRate,
      proxies: proxies,
      address: address, look: look, streamPause: streamPause, queryPatience: queryPatience,
      breached: breached)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await scene.engine.run() }
      defer { scene.engine.stop() }
      do {
        try await body(scene)
      } catch {
        // What is still held back would keep the engine from ending.
        scene.provider.answer { _ in .outcome(.accepted) }
        throw error
      }
      scene.provider.answer { _ in .outcome(.accepted) }
      scene.engine.stop()
      try await group.waitForAll()
    }
  }

  private init(
    store: Store, pools: Console.Pools, simulator: PushSimulator?, rates: (token: Int, address: Int), pageRate: Int,
    proxies: [AddressRange], address: String?,
    look: @escaping HostWatch.Look, streamPause: (@Sendable () async throws -> Void)?, queryPatience: Duration?,
    breached: BreachedPasswords?
  ) async throws {
    self.store = store
    self.pools = pools
    self.simulator = simulator
    let clock = SceneClock()
    self.clock = clock
    log = MemorySink()
    provider = ScriptedProvider(store: store)
    let logger = Logger(label: "test", sink: log)
    // The clock stands still: what is to be tried again later ends with its first answer.
    var policy = RetryPolicy()
    policy.patience = 0
    engine = DeliveryEngine(
      store: store, routes: provider, clock: { ConsoleScene.noon }, policy: policy, log: logger)
    var configuration = Self.configuration
    configuration.address = address
    configuration.isStrict = true
    configuration.passwordCost = .quickForTests
    configuration.trustedProxies = proxies
    configuration.rates = rates
    configuration.pageRate = pageRate
    configuration.breachedPasswords = breached
    if let queryPatience { configuration.queryPatience = queryPatience }
    if let streamPause { (configuration.streamPause, configuration.answerPause) = (streamPause, streamPause) }
    console = try Console(
      store: store, engine: engine, simulator: simulator, configuration: configuration,
      resources: try Self.resources.get(), pools: pools, look: look, clock: { clock.now }, log: logger)
    router = console.router()
    tokens = try await store.write { database in
      var tokens: [User.Role: String] = [:]
      for role in User.Role.allCases {
        let text = Random.token(bytes: 24)
        tokens[role] = text
        try APIToken.add(
          database, name: role.rawValue, hash: Digest.sha256(Array(text.utf8)), scopes: [role.rawValue], user: nil,
          now: Self.noon)
      }
      return tokens
    }
  }

  // MARK: Things in it

  /// An app that is sent to through the scripted provider, in both environments.
  @discardableResult
  func addApp(_ bundleID: String = bundleID, name: String = "Shop", aliasRule: String? = nil) async throws -> App {
    try await store.write { database in
      let app = try App.add(database, bundleID: bundleID, name: name, aliasRule: aliasRule, now: Self.noon)
      for environment in Environment.allCases {
        try Credential.bind(
          database, app: app.id, provider: .apns, environment: environment, certificate: nil, endpoint: "simulator",
          now: Self.noon)
      }
      return app
    }
  }

  /// Devices of an app, in the order of their ids; every other one has the tag `odd`, the first the alias `anna`.
  @discardableResult
  func addDevices(
    _ count: Int, of app: App, environment: Environment = .development, tag: String = "odd"
  ) async throws -> [Device] {
    try await store.write { database in
      let first = try Device.lastID(database)
      let registrations = (0..<count).map { number in
        var registration = Registration(
          token: Self.token(Int(first) + number), environment: environment, platform: .ios)
        if number % 2 == 1 { registration.tags = .set([tag]) }
        if number == 0 { registration.alias = .set("anna") }
        return registration
      }
      let results = try Device.register(database, app: app.id, registrations, now: Self.noon)
      return try results.compactMap(\.deviceID).map { try Device.get(database, id: $0) }
    }
  }

  /// A token for APNs that no other number gives.
  static func token(_ number: Int) -> DeviceToken {
    DeviceToken(bytes: [UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)] + Array(1...29))
  }

  /// Gives a push to the API, and gets its ID.
  func send(_ draft: JSONValue) async throws -> String {
    let answer = try await call(.post, "/api/v1/pushes", as: .operator, json: draft)
    return try #require(answer.json?["id"]?.string, "\(answer.text)")
  }

  /// The push once nothing more will happen to it.
  func finished(_ uid: String) async throws -> Push {
    for _ in 0..<2000 {
      let found = try await store.read { try Push.find($0, uid: uid) }
      let push = try #require(found)
      // Results of what is in flight come after the cancelling.
      for await _ in try await engine.progress(push.id) {}
      if PushProgress(push).isFinal {
        return try await store.read { try Push.get($0, id: push.id) }
      }
      await Task.yield()
    }
    throw SceneError.neverFinished(uid)
  }

  /// Every line of the audit, newest first.
  func audit(_ action: String? = nil) async throws -> [NewAuditEntry] {
    try await store.read { try AuditEntry.list($0, .init(action: action), limit: 1000).items.map(\.entry) }
  }

  // MARK: Calls of the API

  /// Calls the API with the token of a role, nil: with none.
  func call(
    _ method: HTTPServer.Method, _ target: String, as role: User.Role?, json: JSONValue? = nil,
    headers: [String: String] = [:], body: [UInt8] = [], from address: String? = nil
  ) async throws -> SceneAnswer {
    var fields = Headers()
    if let role { fields.append("Authorization", "Bearer \(tokens[role] ?? "")") }
    if json != nil { fields.append("Content-Type", "application/json") }
    for (name, value) in headers { fields.append(name, value) }
    let bytes = json.map { Array($0.data()) } ?? body
    let request = try Request(
      method, target, headers: fields, body: bytes,
      remoteAddress: address.flatMap { SocketAddress(host: $0, port: 1) })
    return SceneAnswer(response: await router.respond(to: request))
  }

  /// The header that ``call(_:_:as:json:headers:body:)`` sends for a role; for clients with a socket.
  func authorization(_ role: User.Role) -> String { "Bearer \(tokens[role] ?? "")" }

  // MARK: People

  /// Sets who must have a second step.
  func requireSecondStep(_ reach: SecondStepRule.Reach, trustsProvider: Bool = false) async throws {
    let audit = NewAuditEntry(actor: "test", action: "", subject: "")
    try await store.write {
      try SecondStepRule(reach: reach, trustsProvider: trustsProvider).save($0, audit: audit, now: Self.noon)
    }
  }

  /// A person with a role, in a browser that has signed in through the sign-in page.
  func signIn(_ role: User.Role, name: String? = nil) async throws -> SceneBrowser {
    let name = name ?? "\(role.rawValue)@example.com"
    let hash = try PasswordHash.make(password: Self.password, parameters: .quickForTests).text
    _ = try await store.write {
      try User.add($0, name: name, role: role, passwordHash: hash, language: "en", now: Self.noon)
    }
    var browser = SceneBrowser(router: router)
    let page = try await browser.get("/session/new")
    #expect(page.status == 200)
    browser.csrf = try #require(browser.formToken)
    let answer = try await browser.post("/session", [("email", name), ("password", Self.password)])
    #expect(answer.status == 303, "the sign-in was refused")
    let cookie = try #require(browser.cookies["signalbox_session"] ?? browser.cookies["__Host-signalbox_session"])
    let found = try await store.read {
      try Session.find($0, idHash: Digest.sha256(Array(cookie.utf8)), idle: 1e6, now: Self.noon)
    }
    browser.csrf = try #require(found).session.csrf
    return browser
  }
}

/// A time that tests move.
final class SceneClock: Sendable {
  private let offset = Mutex(0.0)

  var now: Date { ConsoleScene.noon.addingTimeInterval(offset.withLock { $0 }) }

  /// Lets seconds go by.
  func advance(_ seconds: TimeInterval) { offset.withLock { $0 += seconds } }
}

/// Why a scene could not be played.
enum SceneError: Error {
  case noConnection
  case neverFinished(String)
}

/// Something that a test lets happen.
final class SceneFlag: Sendable {
  private let value = Mutex(false)

  var isSet: Bool { value.withLock { $0 } }

  func set() { value.withLock { $0 = true } }
}
