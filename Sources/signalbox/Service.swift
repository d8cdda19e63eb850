import Certificates
import Console
import Delivery
import Foundation
import HTTPServer
import Logging
import OpenSSL
import Providers
import Model
import Reactor
import Reminders
import SQLite
import Simulator
import Store
import Text
import Webhooks

/// Everything that `serve` runs, from the data folder to the listening port.
final class Service: Sendable {
  struct Options: Sendable {
    var data = DataDirectory("./data")
    var listen = SocketAddress("127.0.0.1:8080")
    /// A socket that listens there already.
    var listener: Int32?
    /// The folder with `Templates` and `Public`.
    var resources = "."
    /// What the console shows, if it was read from there before. For tests.
    var views: Console.Resources?
    var isDemo = false
    /// Certificate and key; nil for plain HTTP.
    var tls: TLSFiles?
    /// The interval at which these files are checked for changes.
    var tlsLook = Duration.seconds(10)
    var maximumConnections = 4096
    var trustedProxies: [AddressRange] = []
    /// See `Console.Configuration`.
    var isClearOnlyForProxies = false
    /// Which outgoing connections go through a proxy, unless a credential says otherwise.
    var proxies = ProxyRules.none
    /// The public URL; nil means the address it listens on.
    var address: String?
    var log = Logger(label: "signalbox", sink: StreamSink.standardError(.text))
    var passwordCost = Console.PasswordCost.normal
    /// The default undo window for pushes from the browser, in seconds; the stored setting takes precedence.
    var undoSeconds = 0
    /// Whether `/metrics` works without a token.
    var isMetricsOpen = false
    /// Seconds without use after which a person has to sign in again.
    var sessionIdle: TimeInterval = 12 * 3600
    /// Passwords that nobody may choose because they became known.
    var breachedPasswords: BreachedPasswords?
    /// Calls of the API in a minute; 0: no limit.
    var rates = (token: 6000, address: 12_000)
    var pageRate = 1200
    /// How watched hosts are checked; nil uses the system's trusted certificates. For tests.
    var look: HostWatch.Look?
    /// Whether a template that names an unknown key is an error; for tests.
    var isStrict = false
    var clock: @Sendable () -> Date = { Date() }
    /// Elapsed seconds, unaffected by clock changes; nil if the clock is never set.
    var steady: (@Sendable () -> TimeInterval)?
  }

  // Workers that `stop()` waits for.
  private static let http = "http"
  private static let delivery = "delivery"
  private static let reminders = "reminders"
  private static let retention = "retention"
  private static let webhooks = "webhooks"
  private static let sweep = "replaced certificates"

  /// Niceness of the delivery threads: during a broadcast, page requests go first.
  private static let standsBack: Int32 = 10

  /// The address it listens on.
  let address: SocketAddress
  /// The URL to open in a browser.
  let url: String
  let console: Console
  let simulator: PushSimulator?
  let store: Store

  private let options: Options
  private let server: Server
  let engine: DeliveryEngine
  private let routes: CredentialRoutes
  private let loop: EventLoop
  /// The event loop of the delivery engine.
  private let engineLoop: EventLoop
  private let pools: Console.Pools
  /// Resolves the host names of push services.
  private let resolver: BlockingPool
  private let probes: BlockingPool
  /// Nil for plain HTTP.
  private let renewal: TLSRenewal?
  /// Ends with ``stop()``.
  private let workers: WorkerGroup

  /// Opens the store, starts delivery and the simulator, and listens.
  ///
  /// - Throws: `CommandFailure` if another server holds the data folder; any error from opening a resource.
  init(_ options: Options) async throws {
    self.options = options
    let clock = options.clock
    guard let store = try options.data.openAlone(readers: 4, now: clock()) else {
      throw CommandFailure(
        "Another signalbox is using \(options.data.path). Stop it, or choose another folder with --data.")
    }
    self.store = store
    try await store.write { _ = try SmokeRun.interrupt($0, now: clock()) }
    loop = try EventLoop(name: "delivery", niceness: Self.standsBack)
    engineLoop = try EventLoop(name: "engine", niceness: Self.standsBack)
    pools = Console.Pools()
    // Blocked for minutes by a name server that does not answer; `LookUpDesk` shares them.
    resolver = BlockingPool(name: "resolver", threads: 12)
    // A separate pool: each probe may wait ten seconds for a host that does not respond.
    probes = BlockingPool(name: "probe", threads: 8)
    simulator = options.isDemo ? try await Self.simulator(store, loop, options) : nil
    let (simulator, log) = (simulator, options.log)
    routes = CredentialRoutes(
      store: store, loop: loop, resolver: resolver,
      simulator: { provider, environment in
        SimulatedServer(provider, environment).flatMap { simulator?.endpoint($0) }
          .map { .custom(host: $0.host, port: $0.port, trust: $0.trustPEM) }
      }, proxies: options.proxies, clock: clock, log: log)
    engine = DeliveryEngine(store: store, routes: routes, clock: clock, steady: options.steady, log: log)

    let listen = options.listen ?? SocketAddress("127.0.0.1:8080")
    guard let listen else { throw CommandFailure("No listen address was given.") }
    let scheme = options.tls == nil ? "http" : "https"
    var configuration = Self.consoleConfiguration(options)
    let trimmer = Trimmer(store: store, clock: clock, log: log)
    configuration.retentionChanged = { trimmer.nudge() }
    let look = try options.look ?? HostWatch.look(HostProbe(proxies: options.proxies), on: probes)
    var configured = try Self.serverConfiguration(listen, options)
    configuration.connections = { [count = configured.connections] in count.current }
    console = try Console(
      store: store, engine: engine, simulator: simulator, configuration: configuration, resources: options.views,
      pools: pools, look: look, clock: clock, log: log)
    let stamp = options.tls?.stamp
    let router = console.router()
    let base = router.servedPath.text.split(separator: "/").first.map(String.init)
    if let base, router.routes.contains(where: { $0.pattern.hasPrefix("/\(base)/") || $0.pattern == "/\(base)" }) {
      throw CommandFailure.usage(
        "--address: /\(base) is a page of the console itself. Choose another path, e.g. /signalbox.")
    }
    configured.requestEnded = { [times = store.times] route, status, duration in
      times.note(.request(handler: MetricsRoute.handler(of: route), status: status / 100), duration)
    }
    let activity = ActivityCopy(store, log: log)
    try await activity.begin()
    server = Server(configured, router)
    address = try await server.start()
    url = options.address ?? "\(scheme)://\(address)"
    console.courier.link(to: Self.links(scheme, address))
    let local = Self.local("\(scheme)://\(address)")
    // Only `signalbox health` needs it: a disk that cannot be written does not stop the server here.
    try? await store.write { database in
      if try ServerAddress.find(database) != local { try ServerAddress.set(database, local) }
    }
    if let trouble = await store.pool.checkDisk() {
      log.error("nothing can be saved until the disk is fixed", ["error": "\(trouble)"])
    }
    let (server, pool) = (server, pools.files)
    let renewal = options.tls.flatMap { files in
      stamp.map { TLSRenewal(files, stamp: $0, server: server, pool: pool, log: log.labelled("HTTPServer")) }
    }
    self.renewal = renewal
    let (engine, engineLoop, courier, smoke) = (engine, engineLoop, console.courier, console.smoke)
    let webhooks = WebhookWorker(store: store, sender: console.webhooks, clock: clock, log: log)
    let reports = JPushReportWorker(store: store, routes: routes, clock: clock, log: log)
    var all: [WorkerGroup.Worker] = [
      .init(name: Self.http, loss: .endsService, isCancelled: false) { await server.waitForEnd() },
      .init(name: Self.delivery, loss: .endsService, isCancelled: false) {
        try await withTaskExecutorPreference(engineLoop) { try await engine.run() }
      },
      .init(name: Self.reminders, loss: .isRestarted) {
        await ReminderWorker(store: store, courier: courier, source: .serve, log: log).run(clock: clock)
      },
      .init(name: Self.webhooks, loss: .isRestarted) { await webhooks.run() },
      .init(name: "smoke tests", loss: .isRestarted) { try await smoke.run(clock: clock, log: log) },
      .init(name: "jpush reports", loss: .isRestarted) { try await reports.run() },
      .init(name: "activity copy", loss: .isRestarted) { try await activity.run() },
      .init(name: "files", loss: .isRestarted) { try await FileWatch(store.pool, log: log).run() },
      .init(name: "topics", loss: .isRestarted) { try await engine.topics.run(log: log) },
      .init(name: Self.retention, loss: .isRestarted) { await trimmer.run() },
      .init(name: Self.sweep, loss: .isRestarted) {
        try await Self.sweep(store, clock: clock, log: log.labelled("Certificates"))
      },
      .init(name: "hosts", loss: .isRestarted) {
        await HostWatch(store, clock: clock, look: look).run { error in
          log.error("could not check watched hosts", ["error": "\(error)"])
        }
      },
    ]
    if let renewal {
      all.append(.init(name: "tls", loss: .isRestarted) { await renewal.run(every: options.tlsLook) })
    }
    if let simulator {
      let reporter = PhoneReporter(simulator.phones, log: log) { try await Self.report($0, to: router) }
      all.append(.init(name: "phones' reports", loss: .isRestarted) { await reporter.run() })
    }
    workers = WorkerGroup(all, log: log)
    let workers = workers
    // Outlives this initializer: ``stop()`` ends it, and ``wait(for:)`` hears of a worker that is lost.
    Task { await workers.run() }
    log.notice("listening", ["address": url, "listen": address])
  }

  /// Reloads changed files; currently only the server's certificate.
  func reload() async {
    guard let renewal else { return options.log.notice("nothing to reload: no TLS certificate is configured") }
    do {
      try await renewal.reload()
    } catch {
      options.log.notice("not reloaded: the server is stopping")
    }
  }

  private static func simulator(_ store: Store, _ loop: EventLoop, _ options: Options) async throws -> PushSimulator {
    var configuration = PushSimulator.Configuration()
    configuration.phones = try await PhoneBook.open(StoredPhones(store, clock: options.clock), log: options.log)
    configuration.log = options.log.labelled("Simulator")
    configuration.now = options.clock
    let simulator = try PushSimulator(configuration: configuration)
    try await simulator.start()
    try await DemoInstallation.install(store: store, phones: simulator.phones, now: options.clock())
    return simulator
  }

  /// What a simulated phone's app sends to `POST /receipts`, without the way through the network.
  private static func report(_ body: [UInt8], to router: Router) async throws {
    let request = try Request(.post, "/receipts", headers: ["Content-Type": "application/json"], body: body)
    let response = await router.respond(to: request)
    guard response.status == .ok else { throw HTTPError(response.status) }
  }

  /// A warning if the key file is missing, does not match, or cannot decrypt some keys; otherwise nil.
  func keyWarning() async throws -> Message? {
    let store = store
    let (state, closed) = try await store.read { database in
      (try Sealing.state(database, store.sealer), try TrackedCertificate.unreadable(database, sealer: store.sealer))
    }
    guard state != .fits || !closed.isEmpty else { return nil }
    let names = closed.map { singleLine($0.details.name) }.joined(separator: ", ")
    let what: Message =
      switch state {
      case .missing: "\(options.data.keyFile) is missing"
      case .other: "\(options.data.keyFile) does not match this database"
      case .fits: "some private keys cannot be decrypted with \(options.data.keyFile)"
      }
    let way: Message =
      state == .fits
      ? "Upload them again on their pages."
      : "Restore the right file and restart. If it is lost, start over with a new key at \(url)/certificates/key."
    let sealed: Message = closed.isEmpty ? "Nothing is encrypted yet." : "Cannot be decrypted: \(names)."
    options.log.error("stored private keys cannot be decrypted", ["count": closed.count, "reason": what.description])
    return "\(what). \(sealed) \(way)"
  }

  /// Deletes what was kept only for undo and has expired; runs at the start and every hour.
  ///
  /// - Throws: `CancellationError`.
  private static func sweep(_ store: Store, clock: @Sendable () -> Date, log: Logger) async throws {
    while true {
      let now = clock()
      do {
        let gone = try await store.write { database in
          try CertificateCandidate.sweep(database, now: now)
          try LockedFile.sweep(database, now: now)
          return try TrackedCertificate.sweepReplaced(database, now: now)
        }
        for certificate in gone {
          log.notice("deleted a replaced certificate after its undo period", ["certificate": certificate.id])
        }
      } catch {
        log.error("could not delete old replaced certificates", ["error": "\(error)"])
      }
      try await Task.sleep(for: .seconds(3600))
    }
  }

  /// Returns when each event loop has come to the end of what it is doing: a service that hangs does not return.
  func turn() async {
    await server.turn()
    for loop in [loop, engineLoop] { await loop.turn() }
  }

  /// Waits until `stopped` returns or an essential worker fails.
  ///
  /// - Returns: the failure; nil if `stopped` returned.
  func wait(for stopped: @escaping @Sendable () async -> Void) async -> WorkerGroup.Failure? {
    await withTaskGroup(of: WorkerGroup.Failure?.self) { group in
      group.addTask {
        await stopped()
        return nil
      }
      group.addTask { await self.workers.failure() }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
  }

  /// Lets current work finish within 10 s; a push that takes longer continues at the next start.
  func stop() async {
    let limit = Duration.seconds(10)
    workers.stop()
    await server.stop(within: limit)
    engine.stop()
    if await !workers.hasEnded(Self.delivery, within: limit) {
      engine.interrupt()
      // Waits for responses to requests in flight; devices without one are sent to again at the next start.
      await workers.hasEnded(Self.delivery, within: .seconds(3))
    }
    for name in [Self.retention, Self.sweep] { await workers.hasEnded(name) }
    routes.stop()
    await simulator?.stop()
    loop.stop()
    engineLoop.stop()
    pools.stop()
    resolver.stop()
    // A message being sent ends within its own time limit; what it does not record is sent again.
    await workers.hasEnded(Self.reminders)
    // An event that is on its way longer than this is sent again at the next start.
    await workers.hasEnded(Self.webhooks, within: .seconds(3))
    probes.stop()
    // A host check in progress ends within seconds and finds the store closed, which loses nothing.
    store.close()
    options.data.unlock()
  }
}
