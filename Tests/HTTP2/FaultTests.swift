import Dispatch
import HTTP2
import OpenSSL
import Synchronization
import Testing

/// Nothing is lost and nothing is sent twice silently, whatever the server does (docs/performance.md, "Pitfalls
/// covered").
@Suite("HTTP/2 client under faults")
struct FaultTests {
  @Test("GOAWAY every 50 streams: all are answered, and the server never saw one twice")
  func goAway() async throws {
    let server = TestServer { request, responder, number in
      responder.respond(ServerResponse(status: 200))
      if number % 50 == 0 {
        request.connection.goAway(
          lastStreamID: request.streamID, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
      }
    }
    try await withServer(server) { running in
      let client = try TestClient(running)
      let ended = await client.send(2000)
      #expect(ended.statuses == [200: 2000])
      #expect(ended.times.values.allSatisfy { $0 == 1 })
      #expect(ended.goAways.contains { $0.debugData == Array(#"{"reason":"Shutdown"}"#.utf8) })
      let counts = server.counts.withLock { $0 }
      #expect(counts.paths.values.allSatisfy { $0 == 1 })
      #expect(counts.opened >= 40)
      await client.stop()
    }
  }

  @Test("REFUSED_STREAM every 97th: sent again, all are answered once")
  func refused() async throws {
    let server = TestServer { _, responder, number in
      if number % 97 == 0 { responder.reset(.refusedStream) } else { responder.respond(ServerResponse(status: 200)) }
    }
    try await withServer(server) { running in
      let client = try TestClient(running)
      let ended = await client.send(5000)
      #expect(ended.statuses == [200: 5000])
      #expect(ended.times.values.allSatisfy { $0 == 1 })
      // 5000 answers and one refusal after every 96 of them.
      let requests = server.counts.withLock { $0.requests }
      #expect(requests == 5052)
      #expect(server.counts.withLock { $0.opened } == 1)
      await client.stop()
    }
  }

  @Test("a server that refuses for ever is not asked for ever")
  func refusedForEver() async throws {
    let server = TestServer { _, responder, _ in responder.reset(.refusedStream) }
    try await withServer(server) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.maximumRefusals = 3
      let client = try TestClient(running, configuration: configuration)
      let ended = await client.send(10)
      #expect(ended.notProcessed == 10)
      #expect(server.counts.withLock { $0.requests } == 40)
      await client.stop()
    }
  }

  @Test("another reset leaves the outcome unknown, and is not sent again")
  func reset() async throws {
    let server = TestServer { _, responder, number in
      if number == 3 { responder.reset(.internalError) } else { responder.respond(ServerResponse(status: 200)) }
    }
    try await withServer(server) { running in
      let client = try TestClient(running)
      let ended = await client.send(10)
      #expect(ended.statuses == [200: 9])
      #expect(ended.unknown == [.reset(.internalError)])
      #expect(server.counts.withLock { $0.requests } == 10)
      await client.stop()
    }
  }

  @Test("a connection cut in the middle: unanswered requests are unknown, the rest continues")
  func cut() async throws {
    let server = TestServer { request, responder, number in
      if number == 700 { request.connection.cut() } else { responder.respond(ServerResponse(status: 200)) }
    }
    try await withServer(server) { running in
      let client = try TestClient(running)
      let ended = await client.send(3000)
      #expect(ended.total == 3000)
      #expect(ended.times.count == 3000)
      #expect(ended.times.values.allSatisfy { $0 == 1 })
      #expect(!ended.unknown.isEmpty && ended.unknown.count <= 1000)
      #expect(ended.statuses == [200: 3000 - ended.unknown.count])
      // No request is sent again that the server may have seen.
      #expect(server.counts.withLock { $0.paths.values.allSatisfy { $0 == 1 } })
      await client.stop()
    }
  }

  @Test("an answer that never comes is unknown after the time-out; the others are not held up")
  func neverAnswered() async throws {
    let server = TestServer { request, responder, _ in
      if request.path != "/5" { responder.respond(ServerResponse(status: 200)) }
    }
    try await withServer(server) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.connection.requestTimeout = .milliseconds(300)
      let client = try TestClient(running, configuration: configuration)
      let ended = await client.send(50)
      #expect(ended.statuses == [200: 49])
      #expect(ended.unknown == [.timeout])
      #expect(ended.times[5] == 1)
      await client.stop()
    }
  }

  @Test("a stalled server is detected by PING: a half-open connection does not wait for the time-out")
  func halfOpen() async throws {
    let hold = DispatchSemaphore(value: 0)
    let server = TestServer { _, responder, number in
      // The whole loop stands still: no PING is answered.
      if number == 1 { hold.wait() }
      responder.respond(ServerResponse(status: 200))
    }
    try await withServer(server) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.connection.pingAfter = .milliseconds(50)
      configuration.connection.pingTimeout = .milliseconds(100)
      let client = try TestClient(running, configuration: configuration)
      let ended = await client.send(1)
      hold.signal()
      #expect(ended.unknown == [.connection(HTTP2Error(.unresponsive, ""))])
      await client.stop()
    }
  }

  @Test("stream ids run out: the group continues on the next connection, and no request is lost")
  func exhaustion() async throws {
    let server = TestServer(TestServer.accept)
    try await withServer(server) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.connection.maximumStreamID = 101
      let client = try TestClient(running, configuration: configuration)
      let ended = await client.send(500)
      #expect(ended.statuses == [200: 500])
      #expect(server.counts.withLock { $0.opened } == 10)
      await client.stop()
    }
  }

  @Test("an answer longer than we take is cut off")
  func tooLong() async throws {
    let server = TestServer { _, responder, _ in
      responder.respond(ServerResponse(status: 200, body: [UInt8](repeating: 0, count: 100_000)))
    }
    try await withServer(server) { running in
      let client = try TestClient(running)
      #expect(await client.send(1).unknown == [.tooLong])
      await client.stop()
    }
  }

  @Test("windows of 100 bytes: bodies arrive whole, in many frames")
  func smallWindow() async throws {
    let body = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let wrong = Mutex(0)
    var settings = ServerSettings()
    settings.initialWindow = 100
    let server = TestServer { request, responder, _ in
      if request.body != body { wrong.withLock { $0 += 1 } }
      responder.respond(ServerResponse(status: 200))
    }
    try await withServer(server, settings: settings) { running in
      let client = try TestClient(running)
      #expect(await client.send(200, body: body).statuses == [200: 200])
      #expect(wrong.withLock { $0 } == 0)
      await client.stop()
    }
  }
}
