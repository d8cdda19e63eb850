import HTTP2
import Synchronization
import Testing

@Suite("HTTP/2 client and server")
struct ClientServerTests {
  @Test("10 000 requests are answered, none missing, none twice, never more in flight than the server allows")
  func many() async throws {
    let most = Mutex(0)
    var settings = ServerSettings()
    settings.maximumStreams = 100
    let server = TestServer { request, responder, number in
      most.withLock { $0 = max($0, request.connection.openStreams) }
      let field = HeaderField("x-number", request.fields["x-number"] ?? "", indexing: .never)
      // Later, so that requests pile up as far as the client lets them.
      responder.respond(ServerResponse(status: 200, fields: [field]), after: .milliseconds(1))
    }
    try await withServer(server, settings: settings) { running in
      let client = try TestClient(running)
      let ended = await client.send(10_000)
      #expect(ended.statuses == [200: 10_000])
      #expect(ended.times.count == 10_000)
      #expect(ended.times.values.allSatisfy { $0 == 1 })
      let (most, paths) = (most.withLock { $0 }, server.counts.withLock { $0.paths })
      #expect(most <= 100)
      #expect(most > 50)
      #expect(paths.count == 10_000)
      await client.stop()
    }
  }
}
