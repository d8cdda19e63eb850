import HTTP2
import OpenSSL
import Reactor
import Synchronization

/// A server whose answers a closure decides. It counts what a test wants to know.
final class TestServer: ServerHandler {
  typealias Script = @Sendable (ServerRequest, ServerResponder, _ number: Int) -> Void

  struct Counts {
    var requests = 0
    var opened = 0
    var closed = 0
    var paths: [String: Int] = [:]
    var clientCertificates: [[UInt8]?] = []
  }

  let counts = Mutex(Counts())
  private let script: Script

  init(_ script: @escaping Script) { self.script = script }

  func serve(_ request: ServerRequest, _ responder: ServerResponder) {
    let number = counts.withLock { counts in
      counts.requests += 1
      counts.paths[request.path, default: 0] += 1
      return counts.requests
    }
    script(request, responder, number)
  }

  func opened(_ connection: ServerConnection) {
    counts.withLock {
      $0.opened += 1
      $0.clientCertificates.append(connection.clientCertificate)
    }
  }

  func closed(_ connection: ServerConnection) { counts.withLock { $0.closed += 1 } }

  /// Answers 200 with nothing.
  static let accept: Script = { _, responder, _ in responder.respond(ServerResponse(status: 200)) }
}

/// A running server on a free port, and a loop for its clients.
struct Running {
  let address: SocketAddress
  let authority: TestAuthority
  let serverLoop: EventLoop
  let clientLoop: EventLoop
  let resolver: BlockingPool

  func endpoint(
    host: String = "localhost", trust: [UInt8]? = nil, identity: TLSIdentity? = nil,
    versions: ClosedRange<TLSContext.Version> = .tls12 ... .tls13
  ) throws -> Endpoint {
    let tls = try TLSContext.client(
      trust: .pem(trust ?? authority.pem), identity: identity, alpn: ["h2"], versions: versions)
    return Endpoint(host: host, port: address.port, tls: tls)
  }
}

/// Runs a server for the time of `body`.
func withServer(
  _ handler: TestServer, settings: ServerSettings = .init(), days: Double = 1,
  names: [String] = ["localhost", "127.0.0.1"], alpn: [String] = ["h2"],
  clientCertificate: TLSContext.ClientCertificate = .requestedNotRequired, authority: TestAuthority? = nil,
  clock: LeapingClock = LeapingClock(), _ body: (Running) async throws -> Void
) async throws {
  let authority = try authority ?? TestAuthority()
  let tls = try TLSContext.server(
    identity: authority.identity(names: names, days: days), alpn: alpn, clientCertificate: clientCertificate)
  let (serverLoop, clientLoop) = (try EventLoop(name: "server", clock: clock.now), try EventLoop(name: "client"))
  let resolver = BlockingPool(name: "resolver", threads: 1)
  var settings = settings
  settings.stopTimeout = .milliseconds(200)
  let server = HTTP2Server(loop: serverLoop, tls: tls, settings: settings, handler: handler)
  let bound = try await server.start(on: SocketAddress(host: "127.0.0.1", port: 0).unsafelyUnwrapped)
  let running = Running(
    address: bound, authority: authority, serverLoop: serverLoop, clientLoop: clientLoop, resolver: resolver)
  let result: Result<Void, any Error>
  do { result = .success(try await body(running)) } catch { result = .failure(error) }
  await server.stop()
  serverLoop.stop()
  clientLoop.stop()
  resolver.stop()
  try result.get()
}
