package import Certificates
package import Delivery
package import Foundation
package import HTTPServer
package import Logging
internal import Mustache
internal import OpenSSL
package import Reactor
package import Reminders
package import Simulator
package import Store

/// The web console and the JSON API over one installation's store.
package struct Console: Sendable {
  /// What a console is made of, beside the store.
  package struct Configuration: Sendable {
    /// The folder of the Mustache templates, with `locales` in it.
    package var templates: String
    /// The folder that is served as it is.
    package var publicFiles: String
    /// Where people reach the console, as `https://push.example.com`; for commands to copy. Nil: as a browser found it.
    package var address: String?
    /// As `0.1.0`.
    package var version: String
    /// How passwords are hashed.
    package var passwordCost = PasswordCost.normal
    /// Proxies whose word about the client is believed.
    package var trustedProxies: [AddressRange] = []
    /// Seconds for which a push that was sent from the browser is held back, as long as nobody has set it otherwise.
    package var undoSeconds = 0
    /// Called when somebody has changed how long things are kept.
    package var retentionChanged: @Sendable () -> Void = {}
    /// Waits before it is looked again whether who follows a stream of events still may.
    package var streamPause: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(15)) }
    /// Whether a template of mail that names an unknown key is an error; for tests.
    package var isStrict = false
    /// Whether `/metrics` answers everybody; otherwise it wants a token of the API.
    package var isMetricsOpen = false
    package init(templates: String, publicFiles: String, address: String?, version: String) {
      self.templates = templates
      self.publicFiles = publicFiles
      self.address = address
      self.version = version
    }
  }

  /// How much work it is to guess a password.
  package enum PasswordCost: Sendable {
    /// For people.
    case normal
    /// For tests: quick, and worth nothing.
    case quickForTests

    var parameters: PasswordHash.Parameters { self == .normal ? .normal : .quickForTests }
  }

  /// What pages are made of, among the public files.
  static let assetFolders = ["css", "js", "icons"]

  /// Threads for what blocks. Each kind has its own, so that none waits for another: neither a hundred sign-ins nor a mail
  /// server that does not answer keeps a style sheet from anybody.
  package struct Pools: Sendable {
    /// Password hashes: each takes a processor for half a second, and 128 MiB.
    package let hashes = BlockingPool(name: "hash", threads: 2)
    /// Files that are served.
    package let files = BlockingPool(name: "file", threads: 2)
    /// Certificate files that are opened, and keys that are made.
    let certificates = BlockingPool(name: "certificate", threads: 2)
    /// Mail servers and webhooks that are waited for.
    let mail = BlockingPool(name: "mail", threads: 2)

    /// Starts the threads.
    package init() {}

    /// Lets the threads end once their work is done. Does not wait.
    package func stop() { for pool in [hashes, files, certificates, mail] { pool.stop() } }
  }

  let store: Store
  let engine: DeliveryEngine
  /// Takes every push of forms and the API.
  let intake: PushIntake
  /// Nil: the Phones page says how to start the simulator.
  let simulator: APNsSimulator?
  let configuration: Configuration
  let locales: Locales
  let views: PageViews
  let publicFiles: StaticFiles
  /// What pages are made of, under addresses that browsers may keep.
  let assets: AssetFolder
  /// Sends reminders, and tests of them.
  package let courier: Courier
  /// Looks at watched hosts.
  let hosts: HostWatch
  /// Tells the pages and programs that watch a push.
  let broadcasts: PushBroadcasts
  let pools: Pools
  let clock: @Sendable () -> Date
  let log: Logger

  /// Reads templates and texts.
  ///
  /// - Parameters:
  ///   - simulator: the built-in one, if it runs.
  ///   - pools: stay the caller's, who stops them.
  ///   - look: how a watched host is looked at.
  /// - Throws: `TemplateError` with file, line and column, `SystemError` for a folder that is not there.
  package init(
    store: Store, engine: DeliveryEngine, simulator: APNsSimulator? = nil, configuration: Configuration,
    pools: Pools, look: @escaping HostWatch.Look,
    clock: @escaping @Sendable () -> Date = { Date() }, log: Logger
  ) throws {
    self.store = store
    self.engine = engine
    intake = PushIntake(store: store, deliver: engine.enqueue)
    self.simulator = simulator
    self.configuration = configuration
    self.pools = pools
    self.clock = clock
    broadcasts = PushBroadcasts(engine: engine, store: store)
    hosts = HostWatch(store, clock: clock, look: look)
    self.log = log.labelled("Console")
    locales = try Locales(folder: configuration.templates + "/locales")
    assets = try AssetFolder(root: configuration.publicFiles, folders: Self.assetFolders)
    views = try PageViews(
      templates: try TemplateLibrary(directory: configuration.templates), locales: locales,
      version: configuration.version, assets: assets.prefix)
    courier = try Courier(
      folder: configuration.templates + "/mail", address: configuration.address, pool: pools.mail,
      isStrict: configuration.isStrict)
    publicFiles = try StaticFiles(root: configuration.publicFiles, pool: pools.files)
  }

  /// Everything that the console answers.
  package func router() -> Router {
    var routes = ConsoleRouter(self)
    HealthRoutes.add(to: &routes)
    MetricsRoute.add(to: &routes)
    SessionPages.add(to: &routes)
    OverviewPage.add(to: &routes)
    SendPages.add(to: &routes)
    PushPages.add(to: &routes)
    SchedulePages.add(to: &routes)
    DevicePages.add(to: &routes)
    AppPages.add(to: &routes)
    CertificatePages.add(to: &routes)
    CalendarPages.add(to: &routes)
    HostPages.add(to: &routes)
    PhonePages.add(to: &routes)
    AccountPages.add(to: &routes)
    RetentionPage.add(to: &routes)
    SettingsPages.add(to: &routes)
    API.add(to: &routes)
    return routes.finished()
  }
}
