import HTTPServer
import Reactor
import Testing

/// The console on a free port of this machine, asked by one person: streamed answers need a connection.
struct ServedScene: Sendable {
  let address: SocketAddress
  let cookie: String

  /// The whole answer, with its head.
  func get(_ target: String) async throws -> String {
    let request = """
      GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: signalbox_session=\(cookie)\r\n\r\n
      """
    return try await EventClient.read(address, request) {}
  }
}

extension ConsoleScene {
  func served(to browser: SceneBrowser, _ body: @Sendable (ServedScene) async throws -> Void) async throws {
    let cookie = try #require(browser.cookies["signalbox_session"])
    let address = try #require(SocketAddress("127.0.0.1:0"))
    let server = Server(ServerConfiguration(address: address), router)
    let bound = try await server.start()
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(ServedScene(address: bound, cookie: cookie)))
    } catch {
      result = .failure(error)
    }
    await server.stop(within: .seconds(5))
    try result.get()
  }
}
