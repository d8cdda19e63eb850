import HTTP2
import Synchronization
import Testing

@Suite("HTTP/2 client and the server's SETTINGS")
struct SettingsTests {
  /// A server that changes its limit at the `at`-th request, and the most streams it then saw open.
  private static func server(limit: UInt32, at: Int, from later: Int, most: @escaping @Sendable (Int) -> Void)
    -> TestServer
  {
    TestServer { request, responder, number in
      if number == at { request.connection.setMaximumStreams(limit) }
      if number >= later { most(request.connection.openStreams) }
      responder.respond(ServerResponse(status: 200), after: .milliseconds(1))
    }
  }

  @Test("1, and after the first answer 1000: the client opens up")
  func up() async throws {
    var settings = ServerSettings()
    settings.maximumStreams = 1
    let most = Mutex(0)
    let early = Mutex(0)
    let server = TestServer { request, responder, number in
      if number == 5 { request.connection.setMaximumStreams(1000) }
      let open = request.connection.openStreams
      if number <= 5 { early.withLock { $0 = max($0, open) } }
      most.withLock { $0 = max($0, open) }
      responder.respond(ServerResponse(status: 200), after: .milliseconds(1))
    }
    try await withServer(server, settings: settings) { running in
      let client = try TestClient(running)
      #expect(await client.send(2000).statuses == [200: 2000])
      #expect(early.withLock { $0 } == 1)
      #expect(most.withLock { $0 } > 100)
      await client.stop()
    }
  }

  @Test("1000, then 20 with many in flight: no new ones until there are fewer")
  func down() async throws {
    let most = Mutex(0)
    // The change needs a round trip: well after it no more than 20 are open.
    let server = Self.server(limit: 20, at: 500, from: 3000) { open in most.withLock { $0 = max($0, open) } }
    try await withServer(server) { running in
      let client = try TestClient(running)
      #expect(await client.send(5000).statuses == [200: 5000])
      #expect(most.withLock { $0 } <= 20)
      #expect(server.counts.withLock { $0.paths.values.allSatisfy { $0 == 1 } })
      await client.stop()
    }
  }

  @Test("0, and later 1000 again: the client waits and continues")
  func pause() async throws {
    let server = TestServer { request, responder, number in
      if number == 100 {
        request.connection.setMaximumStreams(0)
        responder.respond(ServerResponse(status: 200), after: .milliseconds(30))
      } else {
        responder.respond(ServerResponse(status: 200))
      }
      if request.fields["x-number"] == "number-99" { request.connection.setMaximumStreams(1000) }
    }
    try await withServer(server) { running in
      let client = try TestClient(running)
      #expect(await client.send(3000).statuses == [200: 3000])
      #expect(server.counts.withLock { $0.opened } == 1)
      await client.stop()
    }
  }

  @Test("0 for ever: the connection is replaced")
  func stalled() async throws {
    let server = TestServer { request, responder, number in
      if number == 10 { request.connection.setMaximumStreams(0) }
      responder.respond(ServerResponse(status: 200))
    }
    try await withServer(server) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.stallTimeout = .milliseconds(100)
      configuration.connection.maximumStreams = 5
      let client = try TestClient(running, configuration: configuration)
      #expect(await client.send(200).statuses == [200: 200])
      #expect(server.counts.withLock { $0.opened } == 2)
      await client.stop()
    }
  }

  @Test("a client that has to prove itself sends one request at a time until one is not answered with 403")
  func provesFirst() async throws {
    let most = Mutex(0)
    let early = Mutex(0)
    let server = TestServer { request, responder, number in
      let open = request.connection.openStreams
      if number <= 4 { early.withLock { $0 = max($0, open) } }
      most.withLock { $0 = max($0, open) }
      responder.respond(ServerResponse(status: number < 4 ? 403 : 200), after: .milliseconds(1))
    }
    try await withServer(server) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.connection.provesFirst = true
      let client = try TestClient(running, configuration: configuration)
      #expect(await client.send(1000).statuses == [200: 997, 403: 3])
      #expect(early.withLock { $0 } == 1)
      #expect(most.withLock { $0 } > 100)
      await client.stop()
    }
  }

  @Test("a saturated group grows to its limit, and no further")
  func growth() async throws {
    var settings = ServerSettings()
    settings.maximumStreams = 5
    let server = TestServer { _, responder, _ in
      responder.respond(ServerResponse(status: 200), after: .milliseconds(10))
    }
    try await withServer(server, settings: settings) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.maximumConnections = 3
      let client = try TestClient(running, configuration: configuration)
      let ended = await client.send(1000)
      #expect(ended.statuses == [200: 1000])
      #expect(ended.mostConnections == 3)
      #expect(server.counts.withLock { $0.opened } == 3)
      await client.stop()
    }
  }
}
