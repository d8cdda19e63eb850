package import Certificates
package import Delivery
package import Foundation
package import HTTPServer
package import JSON
package import Logging
internal import Model
internal import Mustache
internal import OpenSSL
package import Reactor
package import Reminders
package import Simulator
package import Store
package import Webhooks

/// The web console and the JSON API over one installation's store.
package struct Console: Sendable {
  /// A console's settings, apart from the store.
  package struct Configuration: Sendable {
    /// The folder of the Mustache templates, with `locales` in it.
    package var templates: String
    /// The folder of static files.
    package var publicFiles: String
    /// The public URL, such as `https://push.example.com`, shown in commands to copy. Nil means the URL the browser
    /// requested.
    package var address: String?
    /// For example `0.1.0`.
    package var version: String
    package var passwordCost = PasswordCost.normal
    /// Proxies whose forwarded client address is trusted.
    package var trustedProxies: [AddressRange] = []
    /// Whether plain http from other machines is refused unless a trusted proxy forwards it.
    package var isClearOnlyForProxies = false
    /// Which webhooks are reached through a proxy.
    package var proxies = ProxyRules.none
    /// The default undo window for pushes from the browser, in seconds; the stored setting takes precedence.
    package var undoSeconds = 0
    /// The longest query that reads most of a large table: the count of what the retention settings delete, a search of
    /// the activity log.
    package var queryPatience = Duration.seconds(5)
    /// Called when the retention settings have changed.
    package var retentionChanged: @Sendable () -> Void = {}
    /// Waits between two checks whether the client of an event stream still has access.
    package var streamPause: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(15)) }
    /// How long `/fcm/send` and the first steps wait for outcomes; pyfcm waits 5 seconds for its answer.
    package var answerPause: @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(3)) }
    /// Whether a mail template that names an unknown key is an error; for tests.
    package var isStrict = false
    /// Whether `/metrics` works without a token; otherwise it needs an API token.
    package var isMetricsOpen = false
    /// The server's connections at this moment.
    package var connections: @Sendable () -> Int = { 0 }
    /// Calls of the API in a minute, for each token and each address that is not of this machine; 0: no limit.
    package var rates = (token: 6000, address: 12_000)
    /// Pages, forms and streams of a signed-in browser in a minute, unless it is on this machine; 0: no limit.
    package var pageRate = 1200
    /// Seconds without use after which a person has to sign in again.
    package var sessionIdle: TimeInterval = 12 * 3600
    /// Passwords that nobody may choose because they became known; nil: no list.
    package var breachedPasswords: BreachedPasswords?
    /// What `signalbox doctor` finds, for the support bundle. Blocks.
    package var diagnose: @Sendable () -> JSONValue = { .null }
    package init(templates: String, publicFiles: String, address: String?, version: String) {
      self.templates = templates
      self.publicFiles = publicFiles
      self.address = address
      self.version = version
    }
  }

  /// The work needed to hash a password.
  package enum PasswordCost: Sendable {
    /// For production.
    case normal
    /// For tests: fast and insecure.
    case quickForTests

    var parameters: PasswordHash.Parameters { self == .normal ? .normal : .quickForTests }
  }

  /// How long receipts are collected before they are written together, so that a broadcast finds the writer free.
  private static let receiptPause = Duration.milliseconds(20)

  /// Threads for blocking work. Each kind has its own pool, so that many sign-ins or a mail server that does not
  /// respond do not delay static files.
  package struct Pools: Sendable {
    /// Password hashes: each takes a processor for half a second, and 128 MiB.
    package let hashes = BlockingPool(name: "hash", threads: 2)
    /// Static files.
    package let files = BlockingPool(name: "file", threads: 2)
    /// Reading certificate files and generating keys.
    let certificates = BlockingPool(name: "certificate", threads: 2)
    /// Mail servers and webhooks.
    let mail = BlockingPool(name: "mail", threads: 2)
    /// Event webhooks, apart from reminders: a slow receiver delays no mail.
    let webhooks = BlockingPool(name: "webhook", threads: 4)
    /// A provider of OpenID Connect.
    let providers = BlockingPool(name: "oidc", threads: 2)
    /// Copies of the database, one after the other.
    let backups = BlockingPool(name: "backup", threads: 1)
    /// Checks of the whole database.
    let checks = BlockingPool(name: "check", threads: 1)

    package init() {}

    /// Ends the threads once their work is done. Does not wait.
    package func stop() {
      for pool in [hashes, files, certificates, mail, webhooks, providers, backups, checks] { pool.stop() }
    }
  }

  let store: Store
  let engine: DeliveryEngine
  /// Accepts every push from forms and the API.
  let intake: PushIntake
  /// Runs smoke tests.
  package let smoke: SmokeRunner
  /// If nil, the Phones page says how to start the simulator.
  let simulator: PushSimulator?
  let configuration: Configuration
  let resources: Resources
  let publicFiles: StaticFiles
  /// Sends reminders and their tests.
  package let courier: Courier
  /// Sends events to webhooks.
  package let webhooks: WebhookSender
  /// Checks watched hosts.
  let hosts: HostWatch
  /// The event streams of pushes.
  let broadcasts: PushBroadcasts
  let pools: Pools
  /// Calls of the API that is compatible with JPush, by app.
  let jpushLimits = JPushLimits()
  /// Calls of apps, by address, device and key.
  let clientLimits = ClientLimits()
  /// Calls of the API, by token and address.
  let rateLimits: RateLimits
  /// Refused requests of known people and tokens.
  let refusals = Refusals()
  /// Writes the registrations of apps.
  let registrations: WriteGroup<AppRegistration, RegistrationCode>
  /// Writes what apps report of pushes.
  let receipts: WriteGroup<ReceiptBatch, ReceiptOutcome>
  /// The check of the database that an admin has started.
  let integrity = IntegrityCheck()
  /// Tells open pages of new receipts.
  let receiptNews = ReceiptNews()
  /// Pages that answer a form under an address of their own.
  let shownPages = Shelf<ShownPage>(limit: 64 << 20, share: 60)
  /// Forms that were not carried out, of known people and of unknown browsers.
  let keptForms = Shelf<KeptForm>(limit: 32 << 20, share: 60)
  let strangersForms = Shelf<KeptForm>(limit: 4 << 20, share: .max)
  /// What sign-in gives out on the way.
  let tickets = Tickets()
  /// Where people sign in instead of here.
  let oidc: OIDCProvider
  /// What a proxy serves the console below.
  let basePath: BasePath
  let clock: @Sendable () -> Date
  let log: Logger

  /// - Parameters:
  ///   - resources: shared with another console; nil: read from the configuration's folders.
  ///   - simulator: the built-in simulator, if it is running.
  ///   - pools: owned by the caller, who stops them.
  ///   - look: how a watched host is checked.
  /// - Throws: `TemplateError` with file, line and column; `SystemError` for a missing folder.
  package init(
    store: Store, engine: DeliveryEngine, simulator: PushSimulator? = nil, configuration: Configuration,
    resources: Resources? = nil, pools: Pools, look: @escaping HostWatch.Look,
    clock: @escaping @Sendable () -> Date = { Date() }, log: Logger
  ) throws {
    self.store = store
    self.engine = engine
    intake = PushIntake(store: store, deliver: engine.enqueue)
    smoke = SmokeRunner(store: store, intake: intake)
    self.simulator = simulator
    self.configuration = configuration
    self.pools = pools
    self.clock = clock
    rateLimits = RateLimits(
      .init(token: configuration.rates.token, address: configuration.rates.address, session: configuration.pageRate))
    registrations = WriteGroup(store, most: 200) { try AppRegistration.register($0, $1, now: clock()) }
    receipts = WriteGroup(store, most: 200, pause: Self.receiptPause) {
      try ReceiptBatch.record($0, $1, now: clock())
    }
    broadcasts = PushBroadcasts(engine: engine, store: store)
    hosts = HostWatch(store, clock: clock, look: look)
    self.log = log.labelled("Console")
    self.resources = try resources ?? Resources(configuration)
    courier = try Courier(
      folder: configuration.templates + "/mail", address: configuration.address, pool: pools.mail,
      proxies: configuration.proxies, isStrict: configuration.isStrict)
    let courier = courier
    oidc = OIDCProvider(pool: pools.providers, proxies: configuration.proxies)
    basePath = BasePath(configuration.address)
    webhooks = WebhookSender(pool: pools.webhooks, proxies: configuration.proxies) { courier.address }
    publicFiles = try StaticFiles(root: configuration.publicFiles, pool: pools.files)
  }

  package func router() -> Router {
    var routes = ConsoleRouter(self)
    HealthRoutes.add(to: &routes)
    MetricsRoute.add(to: &routes)
    SessionPages.add(to: &routes)
    OIDCPages.add(to: &routes)
    OverviewPage.add(to: &routes)
    SendPages.add(to: &routes)
    PushPages.add(to: &routes)
    IncidentPages.add(to: &routes)
    SchedulePages.add(to: &routes)
    SmokeTestPages.add(to: &routes)
    TemplatePages.add(to: &routes)
    DevicePages.add(to: &routes)
    AudiencePages.add(to: &routes)
    AppPages.add(to: &routes)
    EnrollmentPages.add(to: &routes)
    ChannelPages.add(to: &routes)
    TopicPages.add(to: &routes)
    TopicChangePages.add(to: &routes)
    JPushRemotePages.add(to: &routes)
    JPushDevicePage.add(to: &routes)
    CertificatePages.add(to: &routes)
    CalendarPages.add(to: &routes)
    HostPages.add(to: &routes)
    PhonePages.add(to: &routes)
    AccountPages.add(to: &routes)
    SecondStepPages.add(to: &routes)
    PasskeyPages.add(to: &routes)
    ActivityPages.add(to: &routes)
    DocsPage.add(to: &routes)
    StyleguidePage.add(to: &routes)
    SearchPage.add(to: &routes)
    RetentionPage.add(to: &routes)
    AboutPage.add(to: &routes)
    SettingsPages.add(to: &routes)
    API.add(to: &routes)
    JPushAPI.add(to: &routes)
    RegistrationRoutes.add(to: &routes)
    ReceiptRoutes.add(to: &routes)
    LegacyMessagesAPI.add(to: &routes)
    return routes.finished()
  }
}
