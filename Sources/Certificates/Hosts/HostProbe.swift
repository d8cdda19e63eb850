import Foundation
import Glibc
import Model
package import OpenSSL
import Providers
package import Reactor
package import Store

/// Connects to a host and reads the certificates that it presents. Certificates are not judged: untrusted and expired
/// ones are returned too. Link-local and metadata addresses are refused.
package struct HostProbe: Sendable {
  private let context: TLSContext
  private let timeout: Duration
  private let proxies: ProxyRules

  /// - Parameters:
  ///   - trust: the authorities by which ``HostSighting/trust`` is determined; nil: what every outgoing connection
  ///     trusts.
  ///   - timeout: for everything after the name lookup; the resolver has its own timeouts.
  ///   - proxies: which hosts are reached through a proxy. Their names are looked up there.
  /// - Throws: `TLSError` with code `trust`.
  package init(
    trust: TLSTrust? = nil, timeout: Duration = .seconds(10), proxies: ProxyRules = .none
  ) throws(TLSError) {
    context = try TLSContext.inspecting(trust: trust ?? .system(and: proxies.trustFile))
    (self.timeout, self.proxies) = (timeout, proxies)
  }

  /// Blocks: call on a thread that may block.
  package func look(at address: HostAddress) -> HostOutcome {
    Socket.ignoreBrokenPipeSignal()
    do {
      return .success(try see(address))
    } catch {
      return .failure(error)
    }
  }

  private func see(_ address: HostAddress) throws(HostFailure) -> HostSighting {
    let proxy = proxies.server(for: address.host, port: address.port)
    let places = try places(proxy?.host ?? address.host, proxy?.port ?? address.port, proxy)
    let line = ProbeLine(deadline: ContinuousClock.now + timeout)
    defer { line.close() }
    var early: [UInt8] = []
    let place: String
    if let proxy {
      do { try proxies.targets.check(address.host) } catch { throw HostFailure(error) }
      early = try line.tunnel(to: address, through: proxy, at: places)
      place = "\(address.host):\(address.port) through the proxy \(proxy.authority)"
    } else {
      // Resolve once, so that the checked address is the one that is connected to.
      let allowed: [SocketAddress]
      do { allowed = try proxies.targets.permitted(places, of: address.host) } catch { throw HostFailure(error) }
      place = try line.connect(allowed).description
    }
    try begin(address.startProtocol, line, early)
    let connection: TLSConnection
    do {
      connection = try TLSConnection(context, descriptor: line.descriptor, serverName: address.serverName)
    } catch { throw HostFailure(.noSuchName, detail: error.message) }
    do {
      try shake(hands: connection, line)
    } catch {
      // A server that requires a client certificate hangs up after presenting its own.
      guard !connection.peerChain.isEmpty else { throw error }
    }
    defer { connection.shutdown() }
    return try sighting(connection, address, place)
  }

  private func places(_ host: String, _ port: UInt16, _ proxy: ProxyServer?) throws(HostFailure) -> [SocketAddress] {
    do {
      return try Socket.resolve(host: host, port: port)
    } catch {
      let words = (error as? LookupError)?.message ?? "\(error)"
      guard proxy != nil else { throw HostFailure(.noSuchName, detail: words) }
      throw HostFailure(ProxyProblem(.unreachable, "the name of the proxy \(host) was not found: \(words)"))
    }
  }

  /// - Parameter early: what the host has sent already.
  private func begin(_ start: HostAddress.StartProtocol, _ line: ProbeLine, _ early: [UInt8]) throws(HostFailure) {
    var dialogue = StartTLSDialogue(start)
    var step = dialogue.first
    var early = early
    while step != .ready {
      if case .send(let bytes) = step { try line.send(bytes) }
      let bytes = early.isEmpty ? try line.receive() : early
      early = []
      step = try dialogue.receive(bytes)
    }
    guard early.isEmpty else { throw HostFailure(.notTLS, detail: "it sent bytes before TLS began") }
  }

  private func shake(hands connection: TLSConnection, _ line: ProbeLine) throws(HostFailure) {
    while true {
      do {
        switch try connection.handshake() {
        case .done: return
        case .wantsRead: try line.wait(Int16(POLLIN))
        case .wantsWrite: try line.wait(Int16(POLLOUT))
        }
      } catch let error as TLSError {
        throw HostFailure(Self.code(error), detail: error.message)
      } catch let error as HostFailure {
        throw error
      } catch { throw HostFailure(.handshake, detail: "\(error)") }
    }
  }

  private static func code(_ error: TLSError) -> HostFailure.Code {
    switch error.code {
    case .notTLS: .notTLS
    case .connection: .closed
    default: .handshake
    }
  }

  private func sighting(
    _ connection: TLSConnection, _ address: HostAddress, _ place: String
  ) throws(HostFailure) -> HostSighting {
    let chain = connection.peerChain
    guard let own = chain.first else { throw HostFailure(.noCertificate) }
    let path = connection.path
    let needed = Set((path?.certificates ?? chain).map(\.der))
    return HostSighting(
      address: place, tlsVersion: connection.version, subject: own.subject.description,
      issuer: own.issuer.description, serial: own.serialNumber, sha256: own.sha256Fingerprint,
      // A certificate can have thousands of names; the first ones are enough to recognize it.
      names: Array(own.subjectAlternativeNames.prefix(100)), notBefore: own.notBefore,
      chain: chain.prefix(20).map {
        HostSighting.Link(
          subject: $0.commonName ?? $0.subject.description, sha256: $0.sha256Fingerprint, notAfter: $0.notAfter,
          isSurplus: $0 != own && !needed.contains($0.der))
      }, trust: (path?.trust ?? .invalid).rawValue, nameMatches: own.isFor(host: address.serverName))
  }
}

extension HostFailure {
  /// What went wrong at a proxy, with the code of its reason.
  init(_ problem: ProxyProblem) {
    self.init(.proxy, detail: Reason.combined(OwnReason(problem.code), after: problem.message))
  }

  fileprivate init(_ refused: RefusedTarget) {
    switch refused.reason {
    case .linkLocal: self.init(.forbiddenAddress, detail: refused.address ?? refused.host)
    case .notListed: self.init(.notAllowed, detail: refused.place)
    }
  }
}
