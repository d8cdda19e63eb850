import Foundation
import Glibc
package import OpenSSL
import Reactor
package import Store

/// Connects to a host and reads the certificates that it presents. Certificates are not judged: untrusted and expired
/// ones are returned too. Link-local and metadata addresses are refused.
package struct HostProbe: Sendable {
  private let context: TLSContext
  private let timeout: Duration

  /// - Parameters:
  ///   - trust: the authorities by which ``HostSighting/trust`` is determined.
  ///   - timeout: for everything after the name lookup; the resolver has its own timeouts.
  /// - Throws: `TLSError` with code `trust`.
  package init(trust: TLSTrust = .system, timeout: Duration = .seconds(10)) throws(TLSError) {
    context = try TLSContext.inspecting(trust: trust)
    self.timeout = timeout
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
    let places: [SocketAddress]
    do {
      places = try Socket.resolve(host: address.host, port: address.port)
    } catch let error as LookupError {
      throw HostFailure(.noSuchName, detail: error.message)
    } catch { throw HostFailure(.noSuchName, detail: "\(error)") }
    let line = ProbeLine(deadline: ContinuousClock.now + timeout)
    defer { line.close() }
    // Resolve once, so that the checked address is the one that is connected to.
    let allowed = places.filter { !$0.isLinkLocalOrMetadata }
    guard !allowed.isEmpty else { throw HostFailure(.forbiddenAddress, detail: places.first?.host ?? "") }
    let place = try line.connect(allowed)
    try begin(address.startProtocol, line)
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

  private func begin(_ start: HostAddress.StartProtocol, _ line: ProbeLine) throws(HostFailure) {
    var dialogue = StartTLSDialogue(start)
    var step = dialogue.first
    while step != .ready {
      if case .send(let bytes) = step { try line.send(bytes) }
      step = try dialogue.receive(try line.receive())
    }
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
    _ connection: TLSConnection, _ address: HostAddress, _ place: SocketAddress
  ) throws(HostFailure) -> HostSighting {
    let chain = connection.peerChain
    guard let own = chain.first else { throw HostFailure(.noCertificate) }
    return HostSighting(
      address: place.description, tlsVersion: connection.version, subject: own.subject.description,
      issuer: own.issuer.description, serial: own.serialNumber, sha256: own.sha256Fingerprint,
      // A certificate can have thousands of names; the first ones are enough to recognize it.
      names: Array(own.subjectAlternativeNames.prefix(100)), notBefore: own.notBefore,
      chain: chain.prefix(20).map {
        HostSighting.Link(
          subject: $0.commonName ?? $0.subject.description, sha256: $0.sha256Fingerprint, notAfter: $0.notAfter)
      }, trust: connection.chainTrust.rawValue, nameMatches: own.isFor(host: address.serverName))
  }
}
