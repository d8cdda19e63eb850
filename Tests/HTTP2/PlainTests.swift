import HTTP2
import Synchronization
import Testing

/// HTTP/1.1 over TLS, for clients that do not offer h2.
@Suite("HTTP/1.1 of the server")
struct PlainTests {
  private static func run(_ body: (Running, TestServer) async throws -> Void) async throws {
    var settings = ServerSettings()
    settings.speaksHTTP1 = true
    settings.maximumBodyBytes = 1000
    let server = TestServer { request, responder, _ in
      let text =
        "\(request.method) \(request.path) \(request.authority) \(request.bodyByteCount) \(request.body.count)\n"
      responder.respond(
        ServerResponse(status: 200, fields: [HeaderField("content-type", "text/plain")], body: Array(text.utf8)))
    }
    try await withServer(server, settings: settings, alpn: ["h2", "http/1.1"]) { try await body($0, server) }
  }

  @Test(
    "requests come one after the other, with a length or in chunks, be http/1.1 agreed or not",
    arguments: [[], ["http/1.1"]])
  func requests(alpn: [String]) async throws {
    try await Self.run { running, server in
      let client = try RawClient(running, alpn: alpn)
      func send(_ text: String) throws { try client.send(Array(text.utf8)) }
      try send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab")
      let first = try client.text(endingWith: "0 0\n")
      #expect(first.hasPrefix("HTTP/1.1 200 \r\ncontent-length: 21\r\ncontent-type: text/plain\r\n\r\n"), "\(first)")
      #expect(first.hasSuffix("GET /a localhost 0 0\n"))
      try send("c")
      #expect(try client.text(endingWith: "POST /b x 3 3\n").hasPrefix("HTTP/1.1 200"))
      try send("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n7D0;x=y\r\n")
      try send(String(repeating: "y", count: 2000) + "\r\n0\r\nTrailer: z\r\n\r\n")
      _ = try client.text(endingWith: "POST /c x 2004 1000\n")
      try send("POST /d HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
      _ = try client.text(endingWith: "HTTP/1.1 100 Continue\r\n\r\n")
      try send("x")
      #expect(try client.text(endingWith: "POST /d x 1 1\n").contains("connection: close") == false)
      try send("GET /e HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      #expect(try client.text(endingWith: "GET /e x 0 0\n").contains("connection: close\r\n"))
      #expect(server.counts.withLock { $0.requests } == 5)
    }
  }

  @Test("a request whose first byte comes alone is not taken for the preface of HTTP/2")
  func firstByte() async throws {
    try await Self.run { running, _ in
      let client = try RawClient(running, alpn: [])
      try client.send(Array("P".utf8))
      try client.send(Array("OST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nz".utf8))
      #expect(try client.text(endingWith: "POST /a x 1 1\n").hasPrefix("HTTP/1.1 200 \r\n"))
    }
  }

  @Test("HEAD gets the fields of the answer alone, and the next answer follows them")
  func head() async throws {
    try await Self.run { running, _ in
      let client = try RawClient(running, alpn: ["http/1.1"])
      try client.send(Array("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
      let text = try client.text(endingWith: "GET /b x 0 0\n")
      let (head, length) = ("HTTP/1.1 200 \r\ncontent-length:", "HEAD /a x 0 0\n".utf8.count)
      #expect(text.hasPrefix("\(head) \(length)\r\ncontent-type: text/plain\r\n\r\n\(head) "), "\(text)")
    }
  }

  @Test(
    "a client closes with `close`, in a list or in a second field too",
    arguments: ["close", "keep-alive, close", "Keep-Alive,\tClose", "keep-alive\r\nConnection: close"])
  func closing(field: String) async throws {
    try await Self.run { running, _ in
      let client = try RawClient(running, alpn: ["http/1.1"])
      try client.send(Array("GET / HTTP/1.1\r\nHost: x\r\nConnection: \(field)\r\n\r\n".utf8))
      #expect(try client.text(endingWith: "GET / x 0 0\n").contains("connection: close\r\n"))
    }
  }

  @Test(
    "what cannot be read is refused, and the connection ends",
    arguments: [
      ("GET\r\n\r\n", 400), ("GET / HTTP/3.0\r\n\r\n", 505), ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nX\t: y\r\n\r\n", 400), ("GET / HTTP/1.1\r\nX: y\r\n\tA: b\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400), ("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
      ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400), ("POST / HTTP/1.1\r\nContent-Length: -0\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\n", 400),
      ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
      ("GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 20_000) + "\r\n\r\n", 431),
    ])
  func refused(text: String, status: Int) async throws {
    try await Self.run { running, server in
      let client = try RawClient(running, alpn: ["http/1.1"])
      try client.send(Array(text.utf8))
      let answer = try client.text(endingWith: "connection: close\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 \(status) \r\ncontent-length: 0\r\n"), "\(answer)")
      #expect(server.counts.withLock { $0.requests } == 0)
    }
  }

  @Test("a client that goes on sending before it has its answer is cut off")
  func ahead() async throws {
    var settings = ServerSettings()
    settings.speaksHTTP1 = true
    let server = TestServer { _, _, _ in }
    try await withServer(server, settings: settings, alpn: ["h2", "http/1.1"]) { running in
      let client = try RawClient(running, alpn: ["http/1.1"])
      try client.send(Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
      let more = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
      // The kernel takes some megabytes that the server does not read.
      #expect(throws: (any Error).self) { for _ in 0..<64 { try client.send(more) } }
      #expect(server.counts.withLock { $0.requests } == 1)
    }
  }
}
