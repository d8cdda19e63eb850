package import Foundation
import HTTP2
package import JSON
package import Logging
package import OpenSSL
package import Model
package import Reactor
import Synchronization

/// Simulates Apple's two push servers, with phones behind them.
///
/// Behaves as docs/protocols.md §1 describes: one stream until the first valid provider token, Apple's reasons, tokens
/// that belong to one environment and one app, 410 after an app is removed; and simulates the errors in ``FaultBox``.
package final class APNsSimulator: Sendable {
  package struct Configuration: Sendable {
    /// The development server's address; nil: 127.0.0.1, on a free port.
    package var development: SocketAddress?
    /// The production server's address; nil: 127.0.0.1, on a free port.
    package var production: SocketAddress?
    /// In the servers' certificate.
    package var hostNames = ["localhost", "127.0.0.1", "::1"]
    /// Signs the servers' certificate; nil: a new one. See ``SimulatorAuthority``.
    package var authority: CertificateAuthority?
    package var phones = PhoneBook()
    /// The initial faults.
    package var faults: [Model.Environment: Faults] = [:]
    /// Accepted signing keys by key ID; empty: every well-formed one.
    package var knownKeys: [String: APNsKey] = [:]
    /// Existing bundle IDs; nil: all.
    package var knownTopics: Set<String>?
    /// The servers run on the first and the last of them; empty: on a new one.
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

  /// The state of one environment, running or not.
  private struct Side {
    let faults: FaultBox
    let service: APNsService

    init(_ environment: Model.Environment, _ configuration: Configuration) {
      faults = FaultBox(configuration.faults[environment] ?? Faults())
      service = APNsService(
        validator: APNsValidator(
          environment: environment, knownKeys: configuration.knownKeys, knownTopics: configuration.knownTopics),
        phones: configuration.phones, faults: faults, now: configuration.now, log: configuration.log)
    }
  }

  private struct Running {
    let servers: [HTTP2Server]
    /// Created by the simulator, and stopped with the servers.
    let ownLoop: EventLoop?
    let addresses: [Model.Environment: SocketAddress]
  }

  private enum State {
    case stopped, changing
    case running(Running)
  }

  package let phones: PhoneBook
  /// Signs the servers' certificate; keep its key so that clients' trust stays valid.
  package let authority: CertificateAuthority
  /// The certificate to trust, for `curl --cacert`.
  package var authorityPEM: String { authority.certificate.pem }

  private let configuration: Configuration
  private let development: Side
  private let production: Side
  private let state = Mutex(State.stopped)

  /// Prepares both servers; they listen after ``start()``.
  ///
  /// - Throws: `CertificateError` if no authority can be created.
  package init(configuration: Configuration = Configuration()) throws(CertificateError) {
    self.configuration = configuration
    phones = configuration.phones
    if let given = configuration.authority {
      authority = given
    } else {
      authority = try SimulatorAuthority.make(now: configuration.now())
    }
    development = Side(.development, configuration)
    production = Side(.production, configuration)
  }

  private func side(_ environment: Model.Environment) -> Side {
    switch environment {
    case .development: development
    case .production: production
    }
  }

  /// The faults of an environment, changeable at any time.
  package func faults(_ environment: Model.Environment) -> FaultBox { side(environment).faults }

  package func counters(_ environment: Model.Environment) -> APNsCounters { side(environment).service.counters }

  /// Writes the counters of both servers as members by environment.
  package func writeCounters(to json: inout JSONWriter) {
    for environment in Environment.allCases {
      json.key(dynamic: environment.rawValue)
      counters(environment).write(to: &json)
    }
  }

  package func endpoint(_ environment: Model.Environment) -> Endpoint? {
    state.withLock { state in
      guard case .running(let running) = state, let address = running.addresses[environment] else { return nil }
      let trust = Array(authorityPEM.utf8)
      return Endpoint(
        host: configuration.hostNames.first ?? address.host, port: address.port, trust: .pem(trust), trustPEM: trust)
    }
  }

  /// - Returns: the addresses, with their ports.
  /// - Throws: `SystemError`, for instance if a port is taken, `CertificateError`, `TLSError`, ``APNsSimulatorError``.
  @discardableResult
  package func start() async throws -> (development: SocketAddress, production: SocketAddress) {
    let mayStart = state.withLock { state in
      guard case .stopped = state else { return false }
      state = .changing
      return true
    }
    guard mayStart else { throw APNsSimulatorError.isRunning }
    let ownLoop: EventLoop?
    let servers: [HTTP2Server]
    do {
      ownLoop = configuration.loops.isEmpty ? try EventLoop(name: "simulator") : nil
    } catch {
      state.withLock { $0 = .stopped }
      throw error
    }
    do {
      servers = try makeServers(on: ownLoop.map { [$0] } ?? configuration.loops)
    } catch {
      ownLoop?.stop()
      state.withLock { $0 = .stopped }
      throw error
    }
    do {
      let anyPort = SocketAddress(host: "127.0.0.1", port: 0).unsafelyUnwrapped
      let development = try await servers[0].start(on: configuration.development ?? anyPort)
      let production = try await servers[1].start(on: configuration.production ?? anyPort)
      let running = Running(
        servers: servers, ownLoop: ownLoop, addresses: [.development: development, .production: production])
      state.withLock { $0 = .running(running) }
      configuration.log?.info(
        "Simulated APNs is listening.", ["development": development, "production": production])
      return (development, production)
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
    for server in running.servers { await server.stop() }
    running.ownLoop?.stop()
    do {
      try await phones.flush()
    } catch {
      configuration.log?.error("Could not save the simulated phones on shutdown.", ["error": "\(error)"])
    }
    state.withLock { $0 = .stopped }
  }

  /// Development first.
  private func makeServers(on loops: [EventLoop]) throws -> [HTTP2Server] {
    let now = configuration.now()
    // Longer than any client asks for, and within the authority's lifetime.
    let (certificate, key) = try authority.issueServer(
      names: configuration.hostNames, notBefore: max(now.addingTimeInterval(-86_400), authority.certificate.notBefore),
      notAfter: min(now.addingTimeInterval(397 * 86_400), authority.certificate.notAfter))
    // With http/1.1, so that a client that offers only that gets an explanation in place of a TLS alert.
    let tls = try TLSContext.server(
      identity: TLSIdentity(chain: [certificate, authority.certificate], key: key), alpn: ["h2", "http/1.1"],
      clientCertificate: .requestedNotRequired)
    var settings = ServerSettings()
    settings.maximumStreams = APNsService.streamsBeforeToken
    settings.stopTimeout = configuration.stopTimeout
    settings.idleTimeout = configuration.idleTimeout
    return zip([development, production], [loops.first, loops.last]).compactMap { side, loop in
      loop.map { HTTP2Server(loop: $0, tls: tls, settings: settings, handler: side.service) }
    }
  }
}

package enum APNsSimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
  /// It is running, or stopping.
  case isRunning

  package var description: String { "The simulator is already running." }
}
