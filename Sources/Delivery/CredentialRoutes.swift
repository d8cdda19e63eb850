public import Foundation
public import HTTP2
public import Logging
import OpenSSL
public import Providers
public import Push
public import Reactor
public import Store
import Synchronization

/// Routes over the credentials in the store: one APNs provider for each, kept with its connections until the
/// credential changes.
public final class CredentialRoutes: RouteFinder {
  private struct Key: Hashable {
    let credential: Int64
    /// Nil: the simulator, which takes any well-formed key.
    let certificate: Int64?
    let endpoint: String
    let trust: String?

    init(_ credential: Credential) {
      (self.credential, certificate) = (credential.id, credential.certificateID)
      (endpoint, trust) = (credential.endpoint, credential.trustPEM)
    }
  }

  private let store: Store
  let loop: EventLoop
  let resolver: BlockingPool
  private let simulator: @Sendable (Environment) -> APNsEndpoint?
  let connections: ClientGroupConfiguration
  let clock: @Sendable () -> Date
  private let log: Logger?
  private let open = Mutex<[Key: APNsRoute]>([:])
  /// Those that were closed, with their keys: a provider has to be there until what is in flight has its results.
  private let closing = Mutex<[APNsRoute]>([])

  /// - Parameters:
  ///   - simulator: where the built-in simulator listens; nil if it does not run.
  ///   - connections: limits and time-outs of the connections of each credential.
  ///   - log: hears when a provider cannot be reached or refuses a credential, and when it is well again.
  public init(
    store: Store, loop: EventLoop, resolver: BlockingPool,
    simulator: @escaping @Sendable (Environment) -> APNsEndpoint? = { _ in nil },
    connections: ClientGroupConfiguration = ClientGroupConfiguration(),
    clock: @escaping @Sendable () -> Date = { Date() }, log: Logger? = nil
  ) {
    self.store = store
    self.loop = loop
    self.resolver = resolver
    self.simulator = simulator
    self.connections = connections
    self.clock = clock
    self.log = log?.labelled("Delivery")
  }

  /// The route of an app's credential; see ``RouteFinder``.
  public func route(
    app: Int64, environment: Environment, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> any Route {
    let found = try await store.read { database in
      try Credential.find(database, app: app, provider: .apns, environment: environment)
    }
    guard let credential = found, credential.certificateID != nil || credential.endpoint == "simulator" else {
      throw NoRoute(
        "The app has no key or certificate for \(environment.rawValue). Upload one and choose it on the app's page.",
        .noCredential)
    }
    let key = Key(credential)
    if let route = open.withLock({ $0[key] }) { return route }
    let credentials = try await credentials(credential.certificateID)
    let provider = try APNsProvider(
      credentials, endpoint: try endpoint(credential), loop: loop, resolver: resolver, configuration: connections,
      clock: clock, report: report, stateChanged: RouteLog(credential, log).note)
    let route = APNsRoute(credentialID: credential.id, provider: provider)
    return open.withLock { routes in
      if let first = routes[key] {
        provider.stop()
        return first
      }
      // A changed credential gets new connections; the old ones end when what is in flight has its results.
      for (old, route) in routes where old.credential == key.credential {
        close(route)
        routes[old] = nil
      }
      routes[key] = route
      return route
    }
  }

  /// What the provider of a credential holds back, and why.
  public func health(credential: Int64, at now: Date) -> ProviderHealth? {
    open.withLock { routes in routes.first { $0.key.credential == credential }?.value }?.health(at: now)
  }

  /// Closes every connection once what is in flight has its results.
  public func stop() {
    let routes = open.withLock { routes in
      defer { routes = [:] }
      return Array(routes.values)
    }
    for route in routes { route.provider.stop() }
    // They hold whom they report to, who holds us: nobody would ever be let go.
    closing.withLock { $0 = [] }
  }

  /// Closes the connections of credentials that were changed since, here or by another process. A push that is under
  /// way goes on over those of the successor.
  public func refresh() async throws {
    release()
    guard open.withLock({ !$0.isEmpty }) else { return }
    let present = Set(try await store.read { try Credential.all($0).map(Key.init) })
    let stale = open.withLock { routes in
      let stale = routes.filter { !present.contains($0.key) }
      for key in stale.keys { routes[key] = nil }
      return Array(stale.values)
    }
    for route in stale { close(route) }
  }

  private func close(_ route: APNsRoute) {
    closing.withLock { $0.append(route) }
    route.provider.stop()
  }

  /// How many closed ones still wait for results.
  var closingCount: Int { closing.withLock { $0.count } }

  /// Lets go of the closed ones that have all their results, and with them of their keys.
  private func release() {
    for route in closing.withLock({ $0 }) {
      let provider = route.provider
      provider.ifIdle { [weak self] in
        self?.closing.withLock { $0.removeAll { $0.provider === provider } }
      }
    }
  }

  private func credentials(_ id: Int64?) async throws -> APNsCredentials {
    guard let id else {
      return .token(key: try PrivateKey.generateP256(), keyID: "SIMULATOR1", teamID: "SIMULATOR1")
    }
    let sealer = store.sealer
    let (certificate, material) = try await store.read { database in
      let certificate = try TrackedCertificate.get(database, id: id)
      do {
        return (certificate, try TrackedCertificate.material(database, id: id, sealer: sealer))
      } catch let error where error is SealingError || error is SealingMismatch {
        throw NoRoute(
          "The private key of \(certificate.details.name) does not open. Its page says why, and takes it anew.")
      }
    }
    return try Self.credentials(certificate.details, material: material)
  }

  /// Who we are with a certificate or key, kept or not yet.
  static func credentials(
    _ details: TrackedCertificate.Details, material: [UInt8]
  ) throws -> APNsCredentials {
    if let chain = details.publicPEM {
      let identity = TLSIdentity(certificateChainPEM: Array(chain.utf8), privateKeyPEM: material)
      return .certificate(identity: identity, topics: details.topics)
    }
    guard let keyID = details.keyID, let teamID = details.teamID else {
      throw NoRoute("The key \(details.name) has no key id or no team id. Upload it again with both.")
    }
    return .token(key: try PrivateKey(p8: String(decoding: material, as: UTF8.self)), keyID: keyID, teamID: teamID)
  }

  func endpoint(_ credential: Credential) throws -> APNsEndpoint {
    switch credential.endpoint {
    case "apple": return APNsEndpoint(credential.environment)
    case "simulator":
      guard let endpoint = simulator(credential.environment) else {
        throw NoRoute("The app sends to the built-in simulator, which is not running. Start Signalbox with --demo.")
      }
      return endpoint
    default:
      let parts = credential.endpoint.split(separator: ":")
      guard parts.count == 2, let port = UInt16(parts[1]) else {
        throw NoRoute("The endpoint \(credential.endpoint) is neither apple, simulator, nor host:port.")
      }
      return .custom(host: String(parts[0]), port: port, trust: credential.trustPEM.map { Array($0.utf8) })
    }
  }
}

/// Says once that a provider cannot be used, and once that it can again.
private final class RouteLog: Sendable {
  private let credential: Credential
  private let log: Logger?
  /// What was said last, nil if all is well.
  private let told = Mutex<String?>(nil)

  init(_ credential: Credential, _ log: Logger?) {
    self.credential = credential
    self.log = log
  }

  func note(_ state: ProviderState) {
    switch state {
    case .idle, .connecting: break
    case .ready:
      guard told.withLock({ $0.take() }) != nil else { return }
      log?.notice("the push service can be used again", ["credential": credential.id, "endpoint": credential.endpoint])
    case .failing(let failure):
      let isNew = told.withLock { told in
        defer { told = failure.reason }
        return told != failure.reason
      }
      guard isNew else { return }
      log?.warning(
        failure.kind == .credential ? "the push service refuses the credential" : "the push service is out of reach",
        ["credential": credential.id, "endpoint": credential.endpoint, "reason": failure.reason])
    }
  }
}

/// A provider as a route.
private struct APNsRoute: Route {
  let credentialID: Int64
  let provider: APNsProvider

  func send(_ push: RoutedPush, to members: [AudienceMember]) { send(push, to: members, noting: nil) }

  func send(_ push: RoutedPush, to members: [AudienceMember], noting notes: (any DepartureNotes)?) {
    var builder = APNsBatchBuilder(push: push.id, request: push.request, capacity: members.count, notes: notes)
    for member in members {
      builder.append(device: member.id, token: member.token, id: APNsID(seed: push.seed, device: member.id))
    }
    provider.submit(builder.build())
  }

  func cancel(push: Int64) { provider.cancel(push: push) }

  func reconnect() { provider.reconnect() }

  var state: ProviderState { provider.state }

  func health(at now: Date) -> ProviderHealth { provider.health(at: now) }
}
