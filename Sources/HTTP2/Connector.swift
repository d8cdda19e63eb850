import Glibc
import Reactor

/// Looks a name up, and tries its addresses one after the other until one accepts a connection. Loop thread only.
final class Connector: EventHandler, @unchecked Sendable {
  // @unchecked Sendable because it is used on the loop's thread only; the name look-up gets copies.

  private let loop: EventLoop
  private let endpoint: Endpoint
  private let resolver: BlockingPool
  private let lookUp: ClientConfiguration.LookUp
  private var done: ((Result<Int32, HTTP2Error>) -> Void)?
  private var addresses: [SocketAddress] = []
  private var descriptor: Int32 = -1
  private var attempt: EventLoop.Timer?
  private var lastError = HTTP2Error(.connection, "no address")

  /// Limits each address, so that one that does not answer leaves time for the others.
  private static let patience = Duration.seconds(5)

  init(
    loop: EventLoop, endpoint: Endpoint, resolver: BlockingPool, lookUp: @escaping ClientConfiguration.LookUp,
    done: @escaping (Result<Int32, HTTP2Error>) -> Void
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.resolver = resolver
    self.lookUp = lookUp
    self.done = done
  }

  func start() {
    let (host, port) = (endpoint.host, endpoint.port)
    if let address = SocketAddress(host: host, port: port) {
      addresses = [address]
      tryNext()
      return
    }
    // Not a task: a busy cooperative pool would delay the connection.
    let isAdded = resolver.execute { [self, loop, lookUp] in
      let result = Result { try lookUp(host, port) }
      loop.execute { [self] in
        switch result {
        case .success(let found):
          addresses = found
          tryNext()
        case .failure(let error):
          let words = (error as? LookupError)?.message ?? "\(error)"
          finish(.failure(HTTP2Error(.lookup, "The name \(host) was not found: \(words).")))
        }
      }
    }
    if !isAdded { finish(.failure(HTTP2Error(.stopped, "The resolver was stopped."))) }
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
      lastError = HTTP2Error(.connection, "\(error)")
      abandon()
      return tryNext()
    }
    attempt = loop.schedule(after: Self.patience) { [weak self] in
      guard let self, !addresses.isEmpty else { return }
      lastError = HTTP2Error(.connection, "connect \(address): no answer")
      abandon()
      tryNext()
    }
  }

  func ready(_ readiness: Readiness) {
    guard descriptor >= 0 else { return }
    if let error = Socket.pendingError(of: descriptor) {
      lastError = HTTP2Error(.connection, "\(endpoint.authority): \(error)")
      abandon()
      return tryNext()
    }
    // A late event of an older descriptor with the same number is ignored.
    guard readiness.contains(.writable) else { return }
    attempt?.cancel()
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
