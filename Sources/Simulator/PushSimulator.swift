package import Foundation
package import HTTP2
package import JSON
package import Logging
package import OpenSSL
package import Model
package import Reactor
import Synchronization

/// A server of the simulator: one of Apple's two, Firebase's, or JPush's.
package enum SimulatedServer: String, Sendable, Hashable, CaseIterable {
  /// APNs, development.
  case development
  /// APNs, production.
  case production
  /// FCM has one server for all builds of an app.
  case fcm
  /// JPush, too.
  case jpush

  package init(_ environment: Model.Environment) { self = environment == .development ? .development : .production }

  /// The server of a provider for an environment; nil: not simulated.
  package init?(_ provider: ProviderKind, _ environment: Model.Environment) {
    switch provider {
    case .apns: self.init(environment)
    case .fcm: self = .fcm
    case .jpush: self = .jpush
    }
  }
}

/// Simulates Apple's two push servers, Firebase's and JPush's, with phones behind them.
///
/// Behaves as docs/protocols.md §1, §3 and §4 describe, and simulates the errors in ``FaultBox``. APNs: one stream until the
/// first valid provider token, Apple's reasons, tokens that belong to one environment and one app, 410 after an app is
/// removed. FCM: ``FCMService``. JPush: ``JPushService``.
package final class PushSimulator: Sendable {
  package struct Configuration: Sendable {
    /// The development server's address; nil: 127.0.0.1, on a free port.
    package var development: SocketAddress?
    /// The production server's address; nil: 127.0.0.1, on a free port.
    package var production: SocketAddress?
    /// FCM's address; nil: 127.0.0.1, on a free port.
    package var fcm: SocketAddress?
    /// JPush's address; nil: 127.0.0.1, on a free port.
    package var jpush: SocketAddress?
    /// In the servers' certificate.
    package var hostNames = ["localhost", "127.0.0.1", "::1"]
    /// Signs the servers' certificate; nil: a new one. See ``SimulatorAuthority``.
    package var authority: CertificateAuthority?
    package var phones = PhoneBook()
    /// The initial faults.
    package var faults: [SimulatedServer: Faults] = [:]
    /// Accepted signing keys by key ID; empty: every well-formed one.
    package var knownKeys: [String: APNsKey] = [:]
    /// Existing bundle IDs; nil: all.
    package var knownTopics: Set<String>?
    /// The only service account that gets access tokens from FCM; nil: every well-formed assertion does.
    package var serviceAccount: FCMServiceAccount?
    /// The master secrets by app key that JPush accepts; empty: every pair.
    package var jpushKeys: [String: String] = [:]
    /// The servers are spread over them; empty: on a new one.
    package var loops: [EventLoop] = []
    /// How long a client may be idle before GOAWAY with `IdleTimeout`; nil: forever.
    package var idleTimeout: Duration? = .seconds(3600)
    /// How long clients may finish requests when the simulator stops.
    package var stopTimeout: Duration = .seconds(2)
    package var log: Logger?
    package var now: @Sendable () -> Date = { Date() }

    package init() {}
  }

  /// Everything that a client needs to connect.
  package struct Endpoint: Sendable, Hashable {
    /// A name in the server's certificate.
    package let host: String
    package let port: UInt16
    /// Whom to trust.
    package let trust: TLSTrust
    package let trustPEM: [UInt8]
  }

  private struct Running {
    let servers: [HTTP2Server]
    /// Created by the simulator, and stopped with the servers.
    let ownLoop: EventLoop?
    let addresses: [SimulatedServer: SocketAddress]
  }

  private enum State {
    case stopped, changing
    case running(Running)
  }

  package let phones: PhoneBook
  /// The control API's repeated calls.
  package let answered = AnsweredCalls()
  /// The broadcast channels of APNs.
  package let channels: ChannelBook
  /// What reached the servers.
  package let requests = RequestBook()
  /// Signs the servers' certificate; keep its key so that clients' trust stays valid.
  package let authority: CertificateAuthority
  /// The certificate to trust, for `curl --cacert`.
  package var authorityPEM: String { authority.certificate.pem }

  package let fcm: FCMService
  package let jpush: JPushService
  private let configuration: Configuration
  private let development: APNsService
  private let production: APNsService
  private let state = Mutex(State.stopped)

  /// Prepares the servers; they listen after ``start()``.
  ///
  /// - Throws: `CertificateError` if no authority can be created.
  package init(configuration: Configuration = Configuration()) throws(CertificateError) {
    self.configuration = configuration
    phones = configuration.phones
    channels = ChannelBook(configuration.phones)
    if let given = configuration.authority {
      authority = given
    } else {
      authority = try SimulatorAuthority.make(now: configuration.now())
    }
    let (book, requests) = (self.channels, self.requests)
    func apns(_ environment: Model.Environment) -> APNsService {
      APNsService(
        validator: APNsValidator(
          environment: environment, knownKeys: configuration.knownKeys, knownTopics: configuration.knownTopics),
        phones: configuration.phones, channels: book, requests: requests,
        faults: FaultBox(configuration.faults[SimulatedServer(environment)] ?? Faults()),
        now: configuration.now, log: configuration.log)
    }
    development = apns(.development)
    production = apns(.production)
    fcm = FCMService(
      phones: configuration.phones, requests: requests, faults: FaultBox(configuration.faults[.fcm] ?? Faults()),
      account: configuration.serviceAccount, now: configuration.now, log: configuration.log)
    jpush = JPushService(
      phones: configuration.phones, requests: requests, faults: FaultBox(configuration.faults[.jpush] ?? Faults()),
      keys: configuration.jpushKeys, now: configuration.now, log: configuration.log)
  }

  private func service(_ server: SimulatedServer) -> any SimulatedService {
    switch server {
    case .development: development
    case .production: production
    case .fcm: fcm
    case .jpush: jpush
    }
  }

  /// The faults of a server, changeable at any time.
  package func faults(_ server: SimulatedServer) -> FaultBox { service(server).faults }

  package func counters(_ server: SimulatedServer) -> ServerCounters { service(server).counters }

  /// Writes the counters as members by server.
  package func writeCounters(to json: inout JSONWriter) {
    for server in SimulatedServer.allCases {
      json.key(dynamic: server.rawValue)
      counters(server).write(to: &json)
    }
  }

  /// - Returns: nil if the simulator is not running.
  package func endpoint(_ server: SimulatedServer) -> Endpoint? {
    state.withLock { state in
      guard case .running(let running) = state, let address = running.addresses[server] else { return nil }
      let trust = Array(authorityPEM.utf8)
      return Endpoint(
        host: configuration.hostNames.first ?? address.host, port: address.port, trust: .pem(trust), trustPEM: trust)
    }
  }

  /// - Returns: the addresses, with their ports.
  /// - Throws: `SystemError`, for instance if a port is taken, `CertificateError`, `TLSError`, ``PushSimulatorError``.
  @discardableResult
  package func start() async throws -> (
    development: SocketAddress, production: SocketAddress, fcm: SocketAddress, jpush: SocketAddress
  ) {
    let mayStart = state.withLock { state in
      guard case .stopped = state else { return false }
      state = .changing
      return true
    }
    guard mayStart else { throw PushSimulatorError.isRunning }
    let ownLoop: EventLoop?
    do {
      ownLoop = configuration.loops.isEmpty ? try EventLoop(name: "simulator") : nil
    } catch {
      state.withLock { $0 = .stopped }
      throw error
    }
    var servers: [HTTP2Server] = []
    do {
      let loops = ownLoop.map { [$0] } ?? configuration.loops
      let identity = try makeIdentity()
      func start(_ name: SimulatedServer, _ loop: Int, on address: SocketAddress?) async throws -> SocketAddress {
        let server = HTTP2Server(
          loop: loops[loop % loops.count], tls: try tls(name, identity), settings: settings(name),
          handler: service(name))
        servers.append(server)
        return try await server.start(on: address ?? .anyLocalPort)
      }
      let development = try await start(.development, 0, on: configuration.development)
      let production = try await start(.production, 1, on: configuration.production)
      let fcm = try await start(.fcm, 2, on: configuration.fcm)
      let jpush = try await start(.jpush, 3, on: configuration.jpush)
      let running = Running(
        servers: servers, ownLoop: ownLoop,
        addresses: [.development: development, .production: production, .fcm: fcm, .jpush: jpush])
      state.withLock { $0 = .running(running) }
      self.jpush.run(on: loops[3 % loops.count])
      configuration.log?.info(
        "The simulator is listening.",
        ["development": development, "production": production, "fcm": fcm, "jpush": jpush])
      return (development, production, fcm, jpush)
    } catch {
      for server in servers { await server.stop() }
      ownLoop?.stop()
      state.withLock { $0 = .stopped }
      throw error
    }
  }

  /// Lets clients finish for ``Configuration/stopTimeout``, closes, and saves the phones. Does nothing if the simulator
  /// is not running.
  package func stop() async {
    let running: Running? = state.withLock { state in
      guard case .running(let running) = state else { return nil }
      state = .changing
      return running
    }
    guard let running else { return }
    jpush.run(on: nil)
    for server in running.servers { await server.stop() }
    running.ownLoop?.stop()
    do {
      try await phones.flush()
    } catch {
      configuration.log?.error("Could not save the simulated phones on shutdown.", ["error": "\(error)"])
    }
    state.withLock { $0 = .stopped }
  }

  private func makeIdentity() throws -> TLSIdentity {
    let now = configuration.now()
    // Longer than any client asks for, and within the authority's lifetime.
    let (certificate, key) = try authority.issueServer(
      names: configuration.hostNames, notBefore: max(now.addingTimeInterval(-86_400), authority.certificate.notBefore),
      notAfter: min(now.addingTimeInterval(397 * 86_400), authority.certificate.notAfter))
    return TLSIdentity(chain: [certificate, authority.certificate], key: key)
  }

  private func tls(_ server: SimulatedServer, _ identity: TLSIdentity) throws -> TLSContext {
    let isAPNs = server == .development || server == .production
    // With http/1.1 for APNs, too: a client that offers only that gets an explanation in place of a TLS alert.
    return try TLSContext.server(
      identity: identity, alpn: ["h2", "http/1.1"], clientCertificate: isAPNs ? .requestedNotRequired : .none)
  }

  private func settings(_ server: SimulatedServer) -> ServerSettings {
    var settings = ServerSettings()
    settings.stopTimeout = configuration.stopTimeout
    settings.idleTimeout = configuration.idleTimeout
    switch server {
    case .development, .production: settings.maximumStreams = APNsService.streamsBeforeToken
    case .fcm: (settings.maximumStreams, settings.maximumBodyBytes) = (FCMService.streams, FCMService.bodyLimit)
    case .jpush: (settings.maximumStreams, settings.maximumBodyBytes) = (JPushService.streams, JPushService.bodyLimit)
    }
    // As Google's and JPush's servers do; Apple's do not.
    settings.speaksHTTP1 = server == .fcm || server == .jpush
    return settings
  }
}

/// What answers the requests of one server.
package protocol SimulatedService: ServerHandler {
  var faults: FaultBox { get }
  var counters: ServerCounters { get }
}

package enum PushSimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is running, or stopping.
  case isRunning

  package var description: String { "The simulator is already running." }
}
