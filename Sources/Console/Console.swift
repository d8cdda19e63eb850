public import Certificates
public import Delivery
public import Foundation
public import HTTPServer
public import Logging
internal import Mustache
internal import OpenSSL
public import Reactor
public import Reminders
public import Simulator
public import Store

/// The web console and the JSON API over one installation's store.
public struct Console: Sendable {
  /// What a console is made of, beside the store.
  public struct Configuration: Sendable {
    /// The folder of the Mustache templates, with `locales` in it.
    public var templates: String
    /// The folder that is served as it is.
    public var publicFiles: String
    /// Where people reach the console, as `https://push.example.com`; for commands to copy. Nil: as a browser found it.
    public var address: String?
    /// As `0.1.0`.
    public var version: String
    /// How passwords are hashed.
    public var passwordCost = PasswordCost.normal
    /// Proxies whose word about the client is believed.
    public var trustedProxies: [AddressRange] = []
    /// Seconds for which a push that was sent from the browser is held back, as long as nobody has set it otherwise.
    public var undoSeconds = 0
    /// Called when somebody has changed how long things are kept.
    public var retentionChanged: @Sendable () -> Void = {}
    /// Whether a template that names an unknown key is an error; for tests.
    public var isStrict = false
    /// Whether `/metrics` answers everybody; otherwise it wants a token of the API.
    public var isMetricsOpen = false

    /// Creates a configuration.
    public init(templates: String, publicFiles: String, address: String?, version: String) {
      self.templates = templates
      self.publicFiles = publicFiles
      self.address = address
      self.version = version
    }
  }

  /// How much work it is to guess a password.
  public enum PasswordCost: Sendable {
    /// For people.
    case normal
    /// For tests: quick, and worth nothing.
    case quickForTests

    var parameters: PasswordHash.Parameters { self == .normal ? .normal : .quickForTests }
  }

  let store: Store
  let engine: DeliveryEngine
  /// Nil: the Phones page says how to start the simulator.
  let simulator: APNsSimulator?
  let configuration: Configuration
  let locales: Locales
  let renderer: PageRenderer
  let publicFiles: StaticFiles
  /// Sends reminders, and tests of them.
  public let courier: Courier
  /// Looks at watched hosts.
  let hosts: HostWatch
  /// Tells the pages and programs that watch a push.
  let broadcasts: PushBroadcasts
  /// For work that takes a processor's time: passwords, files that are inspected.
  let pool: BlockingPool
  let clock: @Sendable () -> Date
  let log: Logger

  /// Reads templates and texts.
  ///
  /// - Parameters:
  ///   - simulator: the built-in one, if it runs.
  ///   - look: how a watched host is looked at; nil: on the pool, with what the system trusts.
  ///   - pool: where passwords are hashed and files are read; two threads do.
  ///   - mailPool: where mail servers and webhooks are waited for; nil: `pool`.
  /// - Throws: `TemplateError` with file, line and column, `SystemError` for a folder that is not there.
  public init(
    store: Store, engine: DeliveryEngine, simulator: APNsSimulator? = nil, configuration: Configuration,
    pool: BlockingPool, mailPool: BlockingPool? = nil, look: HostWatch.Look? = nil,
    clock: @escaping @Sendable () -> Date = { Date() }, log: Logger
  ) throws {
    self.store = store
    self.engine = engine
    self.simulator = simulator
    self.configuration = configuration
    self.pool = pool
    self.clock = clock
    broadcasts = PushBroadcasts(engine: engine, store: store)
    hosts = HostWatch(store, clock: clock, look: try look ?? HostWatch.look(HostProbe(), on: pool))
    self.log = log.labelled("Console")
    locales = try Locales(folder: configuration.templates + "/locales")
    let templates = try TemplateLibrary(
      directory: configuration.templates, missingKey: configuration.isStrict ? .error : .empty)
    renderer = PageRenderer(templates: templates, locales: locales, version: configuration.version)
    courier = try Courier(
      folder: configuration.templates + "/mail", address: configuration.address, pool: mailPool ?? pool,
      isStrict: configuration.isStrict)
    publicFiles = try StaticFiles(root: configuration.publicFiles, pool: pool)
  }

  /// Everything that the console answers.
  public func router() -> Router {
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
