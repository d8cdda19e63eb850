import Glibc
package import OpenSSL
package import Reactor

/// Accepts HTTP/2 over TLS on one event loop, with `h2` agreed by ALPN or with the bare preface of RFC 9113 §3.4, and
/// HTTP/1.1 where ``ServerSettings/speaksHTTP1`` allows it.
package final class HTTP2Server: @unchecked Sendable {
  // @unchecked Sendable because mutable state is touched on the loop's thread only.

  let loop: EventLoop
  let settings: ServerSettings
  let handler: any ServerHandler
  private let tls: TLSContext
  private var acceptor: Acceptor?
  private var connections: [Int: ServerConnection] = [:]
  private var lastID = 0
  private var stopped: [() -> Void] = []

  /// Accepts nothing before ``start(on:)``.
  ///
  /// - Parameter tls: a context for a server that offers `h2`.
  package init(loop: EventLoop, tls: TLSContext, settings: ServerSettings = .init(), handler: any ServerHandler) {
    self.loop = loop
    self.tls = tls
    self.settings = settings
    self.handler = handler
  }

  /// - Parameter address: port 0 takes a free one.
  /// - Returns: the address with the port.
  /// - Throws: `SystemError`, for instance if the port is taken.
  package func start(on address: SocketAddress) async throws -> SocketAddress {
    Socket.ignoreBrokenPipeSignal()
    let listener = try Socket.listen(on: address)
    let bound: SocketAddress
    do {
      bound = try Socket.localAddress(of: listener)
    } catch {
      Glibc.close(listener)
      throw error
    }
    try await onLoop { server in
      let acceptor = Acceptor(listener: listener, server: server)
      do {
        try server.loop.register(listener, for: [.readable], handler: acceptor)
      } catch {
        Glibc.close(listener)
        throw error
      }
      server.acceptor = acceptor
    }
    return bound
  }

  /// Accepts no more, lets clients finish for ``ServerSettings/stopTimeout``, and closes.
  package func stop() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      loop.execute { [self] in
        closeListener()
        guard !connections.isEmpty else { return continuation.resume() }
        stopped.append { continuation.resume() }
        for connection in connections.values {
          if connection.isAnnounced { connection.goAway() } else { connection.fail(nil) }
        }
        loop.schedule(after: settings.stopTimeout) { [self] in connections.values.forEach { $0.fail(nil) } }
      }
    }
  }

  private func onLoop(_ body: @escaping @Sendable (HTTP2Server) throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      loop.execute { [self] in continuation.resume(with: Result { try body(self) }) }
    }
  }

  private func closeListener() {
    guard let acceptor else { return }
    loop.deregister(acceptor.listener)
    Glibc.close(acceptor.listener)
    self.acceptor = nil
  }

  fileprivate func accept(from listener: Int32) {
    while connections.count < settings.maximumConnections {
      do {
        guard let (descriptor, _) = try Socket.accept(listener) else { return }
        lastID += 1
        let connection = ServerConnection(id: lastID, server: self)
        connections[lastID] = connection
        connection.start(descriptor, tls)
      } catch {
        return pauseAccepting()
      }
    }
    pauseAccepting()
  }

  /// Out of descriptors or of room: the waiting client would wake the loop again at once, so pause accepting.
  private func pauseAccepting() {
    guard let acceptor else { return }
    loop.deregister(acceptor.listener)
    loop.schedule(after: .milliseconds(50)) { [weak self] in
      guard let self, let acceptor = self.acceptor else { return }
      guard connections.count < settings.maximumConnections else { return pauseAccepting() }
      // Fails only if the system is out of memory; the next attempt follows.
      do { try loop.register(acceptor.listener, for: [.readable], handler: acceptor) } catch { pauseAccepting() }
    }
  }

  func closed(_ connection: ServerConnection, _ error: HTTP2Error?) {
    connections[connection.id] = nil
    if connection.isAnnounced { handler.closed(connection) }
    if connections.isEmpty {
      let waiting = stopped
      stopped = []
      waiting.forEach { $0() }
    }
  }
}

/// The listening socket of one server.
private final class Acceptor: EventHandler {
  let listener: Int32
  /// The loop holds the server through this: a server lives until it is stopped.
  private let server: HTTP2Server

  init(listener: Int32, server: HTTP2Server) {
    self.listener = listener
    self.server = server
  }

  func ready(_ readiness: Readiness) { server.accept(from: listener) }
}

/// Limits of a server; those that the peer must know are sent as SETTINGS (RFC 9113 §6.5.2).
package struct ServerSettings: Sendable {
  /// Concurrent streams of one client.
  package var maximumStreams: UInt32 = 1000
  /// Bytes that a client may send on one stream before a WINDOW_UPDATE.
  package var initialWindow: UInt32 = 65_535
  /// Bytes of all names and values of one request; more is answered with 431.
  package var maximumHeaderBytes = 16_384
  /// Bytes of a body that are kept; the rest is counted and dropped.
  package var maximumBodyBytes = 65_536
  /// The most connections; more wait in the kernel's queue.
  package var maximumConnections = 1000
  /// For TLS and the client's preface.
  package var handshakeTimeout: Duration = .seconds(10)
  /// How long a client without open requests may send nothing, not even a PING; nil: forever.
  package var idleTimeout: Duration?
  /// Whether clients that do not offer h2 are served over HTTP/1.1; otherwise they are told to offer it. The TLS context
  /// must offer `http/1.1`, too.
  package var speaksHTTP1 = false
  /// How long connections may finish requests in flight when the server stops.
  package var stopTimeout: Duration = .seconds(5)

  package init() {}
}
