import HTTP2
import Synchronization
import Testing

@Suite("HTTP/2 server")
struct ServerTests {
  @Test("a client without ALPN and without :authority is served; fields keep their order and repeats")
  func bareClient() async throws {
    let seen = Mutex<[String]>([])
    let server = TestServer { request, responder, _ in
      seen.withLock { $0 = request.fields.map { "\($0.name)=\($0.value)" } + [request.authority] }
      responder.respond(ServerResponse(status: 200))
    }
    try await withServer(server) { running in
      let client = try RawClient(running, alpn: [])
      try client.begin()
      try client.send(
        RawClient.headers(
          1,
          [
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/00"), ("host", "api.push.example"),
            ("apns-topic", "a"), ("apns-priority", "5"), ("apns-topic", "b"),
          ]))
      let frames = try client.answer(1)
      // HEADERS with END_STREAM, and `:status: 200` from the static table.
      #expect(frames.map(\.type) == [1])
      #expect(frames.first?.payload == [0x88])
      #expect(
        seen.withLock { $0 } == [
          ":method=POST", ":scheme=https", ":path=/3/device/00", "host=api.push.example", "apns-topic=a",
          "apns-priority=5", "apns-topic=b", "api.push.example",
        ])
    }
  }

  @Test("a trailer ends a request, and is no part of its fields")
  func trailer() async throws {
    let seen = Mutex<[String]>([])
    let server = TestServer { request, responder, _ in
      seen.withLock { $0 = request.fields.map(\.name) + [String(decoding: request.body, as: UTF8.self)] }
      responder.respond(ServerResponse(status: 200))
    }
    try await withServer(server) { running in
      let client = try RawClient(running, alpn: ["h2"])
      try client.begin()
      let fields = [(":method", "POST"), (":scheme", "https"), (":path", "/"), (":authority", "x")]
      try client.send(
        RawClient.headers(1, fields, end: false) + RawClient.frame(0, 0, 1, Array("{}".utf8))
          + RawClient.headers(1, [("x-sum", "1")]))
      #expect(try client.answer(1).map(\.type) == [1])
      #expect(seen.withLock { $0 } == fields.map(\.0) + ["{}"])
    }
  }

  @Test("a body is answered in one DATA frame that ends the stream")
  func oneDataFrame() async throws {
    let reason = Array(#"{"reason":"Unregistered","timestamp":1700000000000}"#.utf8)
    let server = TestServer { _, responder, _ in
      responder.respond(
        ServerResponse(status: 410, fields: [HeaderField("content-type", "application/json")], body: reason))
    }
    try await withServer(server) { running in
      let client = try RawClient(running, alpn: ["h2"])
      try client.begin()
      try client.send(
        RawClient.headers(
          1, [(":method", "POST"), (":scheme", "https"), (":path", "/"), (":authority", "x")], end: false)
          + RawClient.frame(0, 0, 1, Array("{}".utf8)) + RawClient.frame(0, 1, 1, []))
      let frames = try client.answer(1)
      #expect(frames.map(\.type) == [1, 0])
      #expect(frames.last?.payload == reason)
      #expect(frames.last?.flags == 1)
    }
  }

  @Test("HEAD gets the fields of the answer alone")
  func head() async throws {
    let server = TestServer { _, responder, _ in
      responder.respond(ServerResponse(status: 200, body: Array("{}".utf8)))
    }
    try await withServer(server) { running in
      let client = try RawClient(running, alpn: ["h2"])
      try client.begin()
      try client.send(
        RawClient.headers(1, [(":method", "HEAD"), (":scheme", "https"), (":path", "/"), (":authority", "x")]))
      let frames = try client.answer(1)
      #expect(frames.map(\.type) == [1])
      #expect(frames.first?.flags == 5, "END_HEADERS and END_STREAM")
    }
  }

  @Test(
    "HTTP/1.1 is told in HTTP/1.1 what is spoken here, be it agreed by ALPN or not",
    arguments: ["GET / ", "POST /3/device/00 "], [[], ["http/1.1"]])
  func http1(line: String, alpn: [String]) async throws {
    let server = TestServer(TestServer.accept)
    try await withServer(server, alpn: ["h2", "http/1.1"]) { running in
      let client = try RawClient(running, alpn: alpn)
      #expect(client.alpn == alpn.first)
      // POST begins as the preface does, and the rest comes later.
      try client.send(Array(line.utf8.prefix(1)))
      try client.send(Array((line.dropFirst() + "HTTP/1.1\r\nHost: localhost\r\n").utf8))
      let text = try client.text(endingWith: "ALPN.\n")
      #expect(text.hasPrefix("HTTP/1.1 505 HTTP Version Not Supported\r\n"), "\(text)")
      #expect(text.contains("Connection: close\r\n") && text.contains("\r\n\r\nThis server supports only HTTP/2"))
      // What it still sends harms nobody.
      try client.send(Array("\r\n".utf8))
      #expect(server.counts.withLock { $0.requests + $0.opened } == 0)
    }
  }

  @Test("HTTP/1.1 after h2 was agreed is refused with a GOAWAY and a close")
  func http1AfterALPN() async throws {
    let server = TestServer(TestServer.accept)
    try await withServer(server) { running in
      let client = try RawClient(running, alpn: ["h2"])
      try client.send(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
      var types: [UInt8] = []
      while let frame = try client.frame() { types.append(frame.type) }
      #expect(types.last == 7)
      #expect(server.counts.withLock { $0.requests } == 0)
    }
  }

  @Test("a client that sends nothing until the idle time-out gets GOAWAY; a PING counts as activity")
  func idle() async throws {
    var settings = ServerSettings()
    settings.idleTimeout = .seconds(60)
    let clock = LeapingClock()
    try await withServer(TestServer(TestServer.accept), settings: settings, clock: clock) { running in
      let client = try RawClient(running, alpn: ["h2"])
      try client.begin()
      func ping() throws -> [UInt8] {
        try client.send(RawClient.frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]))
        var types: [UInt8] = []
        while let frame = try client.frame() {
          types.append(frame.type)
          if frame.type == 6 || frame.type == 7 { break }
        }
        return types
      }
      #expect(try ping().last == 6)
      await clock.leap(59, on: running.serverLoop)
      #expect(try ping() == [6])
      await clock.leap(59, on: running.serverLoop)
      #expect(try ping() == [6])
      await clock.leap(61, on: running.serverLoop)
      #expect(try client.frame()?.type == 7)
      #expect(try client.frame() == nil)
    }
  }

  @Test("more than the kept part of a body is counted; fields beyond the limit are answered with 431")
  func limits() async throws {
    var settings = ServerSettings()
    settings.maximumBodyBytes = 100
    settings.maximumHeaderBytes = 1000
    let seen = Mutex<[Int]>([])
    let server = TestServer { request, responder, _ in
      seen.withLock { $0 = [request.body.count, request.bodyByteCount] }
      responder.respond(ServerResponse(status: 200))
    }
    try await withServer(server, settings: settings) { running in
      let client = try TestClient(running)
      #expect(await client.send(1, body: [UInt8](repeating: 1, count: 70_000)).statuses == [200: 1])
      #expect(seen.withLock { $0 } == [100, 70_000])
      let other = try TestClient(running)
      let big = HeaderField("x-big", String(repeating: "x", count: 1000))
      #expect(await other.send(1, fields: [big]).statuses == [431: 1])
      #expect(server.counts.withLock { $0.requests } == 1)
      await client.stop()
      await other.stop()
    }
  }

  @Test("a large answer is sent completely through the client's window")
  func largeAnswer() async throws {
    let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    let server = TestServer { _, responder, _ in responder.respond(ServerResponse(status: 200, body: body)) }
    try await withServer(server) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.connection.maximumAnswerBytes = 1_000_000
      let client = try TestClient(running, configuration: configuration)
      let ended = await client.send(5)
      #expect(ended.details.count == 5)
      #expect(ended.details.values.allSatisfy { $0.body == body })
      await client.stop()
    }
  }

  @Test("fields and body of a refusal reach the client")
  func refusal() async throws {
    let server = TestServer { request, responder, _ in
      responder.respond(
        ServerResponse(
          status: 429, fields: [HeaderField("retry-after", "7"), HeaderField("apns-id", request.path)],
          body: Array(#"{"reason":"TooManyRequests"}"#.utf8)))
    }
    try await withServer(server) { running in
      let client = try TestClient(running)
      let ended = await client.send(2)
      #expect(ended.statuses == [429: 2])
      #expect(ended.details[1]?.fields["retry-after"] == "7")
      #expect(ended.details[1]?.fields["apns-id"] == "/1")
      #expect(ended.details[0]?.body == Array(#"{"reason":"TooManyRequests"}"#.utf8))
      await client.stop()
    }
  }

  @Test("a stream is answered once: what comes later is dropped")
  func onlyOnce() async throws {
    let server = TestServer { _, responder, _ in
      responder.respond(ServerResponse(status: 200))
      responder.respond(ServerResponse(status: 500))
      responder.reset(.internalError)
    }
    try await withServer(server) { running in
      let client = try TestClient(running)
      #expect(await client.send(100).statuses == [200: 100])
      await client.stop()
    }
  }

  @Test("answers from another thread arrive")
  func otherThread() async throws {
    let server = TestServer { _, responder, _ in Task { responder.respond(ServerResponse(status: 200)) } }
    try await withServer(server) { running in
      let client = try TestClient(running)
      #expect(await client.send(1000).statuses == [200: 1000])
      await client.stop()
    }
  }
}
