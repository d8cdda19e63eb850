package import Foundation
package import HTTP2
package import JSON
package import Logging
import OpenSSL
package import Providers
package import Model
package import Reactor
package import Store
import Synchronization

/// Routes for the stored credentials: one provider per credential, which keeps its connections until the credential
/// changes.
package final class CredentialRoutes: RouteFinder {
  private struct Key: Hashable {
    let credential: Int64
    /// Nil for the simulator, which accepts any well-formed key.
    let certificate: Int64?
    let endpoint: String
    let trust: String?
    let proxy: CredentialProxy?

    init(_ credential: Credential) {
      (self.credential, certificate) = (credential.id, credential.certificateID)
      (endpoint, trust, proxy) = (credential.endpoint, credential.trustPEM, credential.proxy)
    }
  }

  private let store: Store
  private let loop: EventLoop
  private let resolver: BlockingPool
  private let simulator: @Sendable (ProviderKind, Environment) -> ProviderEndpoint?
  private let connections: ClientGroupConfiguration
  private let proxies: ProxyRules
  private let clock: @Sendable () -> Date
  private let log: Logger?
  private let open = Mutex<[Key: Route]>([:])
  /// Closed routes: a provider must stay alive until every request in flight has its result.
  let closing = Mutex<[Route]>([])

  /// - Parameters:
  ///   - simulator: where the built-in simulator listens; nil if it is not running.
  ///   - proxies: which services are reached through a proxy, unless a credential says otherwise.
  ///   - connections: limits and timeouts of each credential's connections.
  ///   - log: receives a line when a provider fails and when it recovers.
  package init(
    store: Store, loop: EventLoop, resolver: BlockingPool,
    simulator: @escaping @Sendable (ProviderKind, Environment) -> ProviderEndpoint? = { _, _ in nil },
    proxies: ProxyRules = .none, connections: ClientGroupConfiguration = ClientGroupConfiguration(),
    clock: @escaping @Sendable () -> Date = { Date() }, log: Logger? = nil
  ) {
    (self.store, self.loop, self.resolver, self.simulator) = (store, loop, resolver, simulator)
    (self.connections, self.proxies) = (connections, proxies)
    self.clock = clock
    self.log = log?.labelled("Delivery")
  }

  /// The route for an app's credential; see ``RouteFinder``.
  package func route(
    app: Int64, environment: Environment, provider kind: ProviderKind, report: @escaping @Sendable (SendReport) -> Void
  ) async throws -> Route {
    let maker = try maker(kind)
    let credential = try await credential(kind, app: app, environment)
    let key = Key(credential)
    if let route = open.withLock({ $0[key] }) { return route }
    let account = try await account(credential)
    let provider = try maker.make(
      account, try tools(credential, report: report, stateChanged: RouteLog(credential, log).note))
    let route = Route(credentialID: credential.id, provider: provider)
    return open.withLock { routes in
      if let first = routes[key] {
        provider.stop()
        return first
      }
      // A changed credential gets new connections; the old ones close once their requests have results.
      for (old, route) in routes where old.credential == key.credential {
        close(route)
        routes[old] = nil
      }
      routes[key] = route
      return route
    }
  }

  /// The credential of an app for a service.
  ///
  /// - Throws: ``NoRoute``.
  func credential(_ kind: ProviderKind, app: Int64, _ environment: Model.Environment) async throws -> Credential {
    let found = try await store.read { try Credential.find($0, app: app, provider: kind, environment: environment) }
    guard let found, found.certificateID != nil || found.place == .simulator else {
      throw Self.noCredential(kind, environment)
    }
    return found
  }

  private static func noCredential(_ kind: ProviderKind, _ environment: Model.Environment) -> NoRoute {
    let wanted =
      switch kind {
      case .apns: "a key or certificate"
      case .fcm: "a service account"
      case .jpush: "the AppKey and master secret of the app"
      }
    return NoRoute(
      "The app has no credential for \(kind.name) in \(environment.rawValue). Assign \(wanted) on the app's page.",
      .noCredential)
  }

  /// Uses a connection of its own; see ``RouteFinder``.
  package func ask(_ request: ChannelRequest, app: App, environment: Model.Environment) async throws -> ChannelReply {
    let credential = try await credential(.apns, app: app.id, environment)
    return try await APNsMaker().ask(
      request, bundleID: app.bundleID, try await account(credential), try tools(credential))
  }

  /// Uses a connection of its own; see ``RouteFinder``.
  package func change(
    _ batches: [TopicBatch], app: Int64, environment: Model.Environment
  ) async throws -> [[TopicResult]] {
    let credential = try await credential(.fcm, app: app, environment)
    return try await FCMMaker().change(batches, try await account(credential), try tools(credential))
  }

  /// Uses a connection of its own; see ``RouteFinder``.
  package func ask(_ operation: JPushOperation, app: Int64, environment: Model.Environment) async throws -> JSONValue {
    let credential = try await credential(.jpush, app: app, environment)
    return try await JPushMaker().ask(operation, try await account(credential), try tools(credential))
  }

  /// What the credential's provider is holding back, and why.
  package func health(credential: Int64, at now: Date) -> ProviderHealth? {
    open.withLock { routes in routes.first { $0.key.credential == credential }?.value }?.provider.health(at: now)
  }

  /// Closes every connection once its requests have results.
  package func stop() {
    let routes = open.withLock { routes in
      defer { routes = [:] }
      return Array(routes.values)
    }
    for route in routes { route.provider.stop() }
    // Breaks the cycle route → report → engine → self.
    closing.withLock { $0 = [] }
  }

  /// Closes the connections of credentials that changed, in this process or another. Active pushes continue over the
  /// new credential's connections.
  package func refresh() async throws {
    release()
    guard open.withLock({ !$0.isEmpty }) else { return }
    let present: Set<Key> = try await store.read(
      keptAs: "routes", bytes: { keys in keys.reduce(0) { $0 + 200 + ($1.trust?.utf8.count ?? 0) } }
    ) { Set(try Credential.all($0).map(Key.init)) }
    let stale = open.withLock { routes in
      let stale = routes.filter { !present.contains($0.key) }
      for key in stale.keys { routes[key] = nil }
      return Array(stale.values)
    }
    for route in stale { close(route) }
  }

  private func close(_ route: Route) {
    closing.withLock { $0.append(route) }
    route.provider.stop()
  }

  /// Releases the closed routes whose requests all have results, and their keys with them.
  private func release() {
    for route in closing.withLock({ $0 }) {
      let provider = route.provider
      provider.ifIdle { [weak self] in
        self?.closing.withLock { $0.removeAll { $0.provider === provider } }
      }
    }
  }

  func tools(
    _ credential: Credential, report: @escaping @Sendable (SendReport) -> Void = { _ in },
    stateChanged: @escaping @Sendable (ProviderState) -> Void = { _ in }
  ) throws -> ProviderTools {
    var connections = connections
    connections.connection.proxies = try rules(credential)
    connections.connection.owner = credential.appID
    return ProviderTools(
      loop: loop, resolver: resolver, connections: connections, clock: clock, report: report,
      stateChanged: stateChanged)
  }

  func maker(_ kind: ProviderKind) throws -> any ProviderMaker {
    guard let maker = ProviderList.all.first(where: { $0.kind == kind }) else {
      throw NoRoute("Signalbox does not send through \(kind.rawValue) yet.", .noProvider)
    }
    return maker
  }

  /// The proxy of a credential's own, or the server's. The built-in simulator listens on this machine.
  private func rules(_ credential: Credential) throws -> ProxyRules {
    guard let proxy = credential.proxy else {
      return credential.place == .simulator ? proxies.through(nil) : proxies
    }
    guard proxy.address != CredentialProxy.direct else { return proxies.through(nil) }
    do {
      let server = try ProxyServer(proxy.address)
      let password = try proxy.opened(store.sealer)
      return proxies.through(
        ProxyServer(host: server.host, port: server.port, user: proxy.user, password: password))
    } catch let error where error is SealingError || error is SealingMismatch {
      throw NoRoute("The password of the credential's proxy cannot be decrypted. Enter it again on the app's page.")
    }
  }

  // MARK: Accounts

  func account(_ credential: Credential) async throws -> ProviderAccount {
    guard let id = credential.certificateID else { return try account(credential, nil, material: nil) }
    let sealer = store.sealer
    let (certificate, material) = try await store.read { database in
      let certificate = try TrackedCertificate.get(database, id: id)
      do {
        return (certificate, try TrackedCertificate.material(database, id: id, sealer: sealer))
      } catch let error where error is SealingError || error is SealingMismatch {
        throw NoRoute(
          "The private key of \(certificate.details.name) cannot be decrypted. See its page for the cause, and upload it "
            + "again there.")
      }
    }
    return try account(credential, certificate.details, material: material)
  }

  /// The settings for a provider, from a certificate or key that may not be saved yet.
  func account(
    _ credential: Credential, _ details: TrackedCertificate.Details?, material: [UInt8]?
  ) throws -> ProviderAccount {
    var account = ProviderAccount(
      name: details?.name ?? "", environment: credential.environment, endpoint: try endpoint(credential))
    account.isSimulator = credential.place == .simulator
    account.secret = material
    account.publicPEM = details?.publicPEM
    (account.keyID, account.teamID) = (details?.keyID, details?.teamID)
    account.topics = details?.topics ?? []
    return account
  }

  private func endpoint(_ credential: Credential) throws -> ProviderEndpoint {
    switch credential.place {
    case .service: return .service
    case .simulator:
      guard let endpoint = simulator(credential.provider, credential.environment) else {
        throw NoRoute("The app sends to the built-in simulator, which runs only inside a server started with --demo.")
      }
      return endpoint
    case .server(let host, let port):
      return .custom(host: host, port: port, trust: credential.trustPEM.map { Array($0.utf8) })
    case nil: throw NoRoute("The endpoint \(credential.endpoint) is neither the service, the simulator, nor host:port.")
    }
  }
}
