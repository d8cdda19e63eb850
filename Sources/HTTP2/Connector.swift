import Glibc
import Reactor

/// Looks a name up, and tries its addresses one after the other until one accepts a connection. Through a proxy, the
/// name and addresses are the proxy's, which then opens a tunnel to the endpoint. Loop thread only.
final class Connector: EventHandler, @unchecked Sendable {
  // @unchecked Sendable because it is used on the loop's thread only; the name look-up gets copies.

  private let loop: EventLoop
  private let endpoint: Endpoint
  private let resolver: BlockingPool
  private let lookUp: ClientConfiguration.LookUp
  private let owner: Int64
  /// Nil: the connection is direct.
  private let proxy: ProxyServer?
  private let targets: TargetList
  private let tunnelTimeout: Duration
  private var tunnel: ConnectTunnel?
  /// Of the tunnel's request, what the socket has not taken yet.
  private var unsent: [UInt8] = []
  private var done: ((Result<Int32, HTTP2Error>) -> Void)?
  private var addresses: [SocketAddress] = []
  private var descriptor: Int32 = -1
  private var attempt: EventLoop.Timer?
  private var lastError = HTTP2Error(.connection, "no address")

  /// Limits each address, so that one that does not answer leaves time for the others.
  private static let patience = Duration.seconds(5)

  init(
    loop: EventLoop, endpoint: Endpoint, configuration: ClientConfiguration, resolver: BlockingPool,
    done: @escaping (Result<Int32, HTTP2Error>) -> Void
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.resolver = resolver
    (lookUp, owner) = (configuration.lookUp, configuration.owner)
    proxy = configuration.proxies.server(for: endpoint.host, port: endpoint.port)
    targets = configuration.targets
    tunnelTimeout = configuration.tunnelTimeout
    self.done = done
  }

  func start() {
    let (host, port) = proxy.map { ($0.host, $0.port) } ?? (endpoint.host, endpoint.port)
    if proxy != nil {
      do throws(RefusedTarget) { try targets.check(endpoint.host) } catch { return refuse(error) }
    }
    if let address = SocketAddress(host: host, port: port) {
      take([address])
      return
    }
    // Not a task: a busy cooperative pool would delay the connection.
    let isAdded = resolver.lookUp(host, port, owner: owner, lookUp) { [self, loop] result in
      loop.execute { [self] in
        switch result {
        case .success(let found):
          take(found)
        case .failure(let error):
          let words = (error as? LookupError)?.message ?? "\(error)"
          finish(
            .failure(
              proxy == nil
                ? HTTP2Error(.lookup, "The name \(host) was not found: \(words).")
                : HTTP2Error(ProxyProblem(.unreachable, "the name of the proxy \(host) was not found: \(words)"))))
        }
      }
    }
    if !isAdded { finish(.failure(HTTP2Error(.lookup, "The resolver was stopped."))) }
  }

  /// Connects to what may be connected to; the name is not looked up again.
  private func take(_ found: [SocketAddress]) {
    do throws(RefusedTarget) {
      addresses = try proxy == nil ? targets.permitted(found, of: endpoint.host) : found
    } catch {
      return refuse(error)
    }
    tryNext()
  }

  private func refuse(_ refused: RefusedTarget) { finish(.failure(HTTP2Error(.connection, "\(refused)."))) }

  /// Why no connection was made in time; nil: the endpoint itself did not answer.
  var overdue: HTTP2Error? {
    proxy.map { HTTP2Error(ProxyProblem(.timedOut, "the proxy \($0.authority) does not answer")) }
  }

  func cancel() {
    done = nil
    abandon()
  }

  private func tryNext() {
    guard done != nil else { return }
    guard !addresses.isEmpty else { return finish(.failure(lastError)) }
    let address = addresses.removeFirst()
    do {
      descriptor = try Socket.connect(to: address)
      try loop.register(descriptor, for: [.writable], handler: self)
    } catch {
      lastError = refusal("\(error)")
      abandon()
      return tryNext()
    }
    attempt = loop.schedule(after: Self.patience) { [weak self] in
      guard let self, !addresses.isEmpty else { return }
      lastError = refusal("connect \(address): no answer")
      abandon()
      tryNext()
    }
  }

  func ready(_ readiness: Readiness) {
    guard descriptor >= 0 else { return }
    guard tunnel == nil else { return continueTunnel() }
    if let error = Socket.pendingError(of: descriptor) {
      lastError = refusal(proxy == nil ? "\(endpoint.authority): \(error)" : "\(error)")
      abandon()
      return tryNext()
    }
    // A late event of an older descriptor with the same number is ignored.
    guard readiness.contains(.writable) else { return }
    attempt?.cancel()
    guard let proxy else { return handOver() }
    let tunnel = ConnectTunnel(to: endpoint.host, port: endpoint.port, through: proxy)
    (self.tunnel, unsent) = (tunnel, tunnel.request)
    attempt = loop.schedule(after: tunnelTimeout) { [weak self] in
      guard let self else { return }
      fail(tunnel.overdue(tunnelTimeout))
    }
    continueTunnel()
  }

  private func refusal(_ words: String) -> HTTP2Error {
    guard let proxy else { return HTTP2Error(.connection, words) }
    return HTTP2Error(ProxyProblem(.unreachable, "the proxy \(proxy.authority) cannot be reached: \(words)"))
  }

  // MARK: Tunnel

  private func continueTunnel() {
    guard descriptor >= 0, tunnel != nil else { return }
    do throws(ProxyProblem) {
      try ask()
      try hear()
    } catch {
      fail(error)
    }
  }

  private func ask() throws(ProxyProblem) {
    while !unsent.isEmpty {
      let count = unsent.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count > 0 {
        unsent.removeFirst(count)
      } else {
        guard errno == EAGAIN || errno == EINTR else { throw gone(SystemError("send")) }
        return
      }
    }
    do { try loop.update(descriptor, for: [.readable]) } catch { throw gone(error) }
  }

  private func hear() throws(ProxyProblem) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while unsent.isEmpty {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      guard count != 0, let tunnel else { throw self.tunnel?.closed ?? gone(SystemError("recv", number: ECONNRESET)) }
      guard count > 0 else { throw gone(SystemError("recv")) }
      var next = tunnel
      let rest = try next.receive(buffer[..<count])
      self.tunnel = next
      guard let rest else { continue }
      // In TLS the client speaks first.
      guard rest.isEmpty else {
        throw ProxyProblem(.badAnswer, "the proxy \(proxy?.authority ?? "") sent bytes before TLS began")
      }
      attempt?.cancel()
      return handOver()
    }
  }

  private func gone(_ error: any Error) -> ProxyProblem {
    ProxyProblem(.badAnswer, "the proxy \(proxy?.authority ?? "") closed the connection: \(error)")
  }

  private func fail(_ problem: ProxyProblem) {
    abandon()
    finish(.failure(HTTP2Error(problem)))
  }

  /// Gives the connection away.
  private func handOver() {
    let connected = descriptor
    descriptor = -1
    loop.deregister(connected)
    finish(.success(connected))
  }

  private func abandon() {
    attempt?.cancel()
    guard descriptor >= 0 else { return }
    loop.deregister(descriptor)
    close(descriptor)
    descriptor = -1
  }

  private func finish(_ result: Result<Int32, HTTP2Error>) {
    let done = done
    self.done = nil
    if let done {
      done(result)
    } else if case .success(let descriptor) = result {
      close(descriptor)
    }
  }
}
