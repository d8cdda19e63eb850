package import HTTPServer
package import OpenSSL
package import Reactor

/// Our own HTTP server on a free port of this machine, for as long as a test needs it.
package enum WebTestServer {
  package struct NoAddress: Error {}

  /// Runs `body` while the routes are answered, and stops on every path.
  package static func with(
    _ router: Router, tls: TLSContext? = nil, _ body: (SocketAddress) async throws -> Void
  ) async throws {
    guard let local = SocketAddress("127.0.0.1:0") else { throw NoAddress() }
    var configuration = ServerConfiguration(address: local)
    configuration.tls = tls
    let server = Server(configuration, router)
    let address = try await server.start()
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(address))
    } catch {
      result = .failure(error)
    }
    await server.stop(within: .seconds(1))
    try result.get()
  }
}
