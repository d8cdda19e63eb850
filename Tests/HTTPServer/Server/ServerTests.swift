import Foundation
import Reactor
import TestSupport
import Testing

@testable import HTTPServer

/// A router with the handlers that the tests of the server need.
private func testRouter() -> Router {
  var router = Router()
  router.get("/") { _ in .text("hello") }
  router.get("/number/:n") { request in
    let number = try request.parameter("n", as: Int.self)
    // Every third answer takes another turn of the loop.
    if number % 3 == 0 { await Task.yield() }
    return .text("number \(number)\n")
  }
  router.get("/large") { _ in Response(body: .bytes([UInt8](repeating: 0x61, count: 8 << 20))) }
  router.get("/lines") { _ in
    Response(
      body: .stream(length: nil) { writer in for number in 1...3 { try await writer.write("line \(number)\n") } })
  }
  router.get("/known") { _ in
    Response(
      body: .stream(length: 6) { writer in
        try await writer.write("abc")
        try await writer.write("def")
      })
  }
  router.get("/short") { _ in Response(body: .stream(length: 6) { writer in try await writer.write("abc") }) }
  router.get("/broken") { _ in
    Response(
      body: .stream(length: nil) { writer in
        try await writer.write("begun")
        throw HTTPError(.badRequest)
      })
  }
  router.get("/secret") { _ in throw CocoaError(.fileNoSuchFile) }
  router.get("/split") { _ in Response(headers: ["X-Name": "a\r\nSet-Cookie: b=c"]) }
  router.get("/long") { _ in
    var response = Response(headers: ["X-Name": String(repeating: "é", count: 60_000)])
    response.headers.append("X-List", list: ["n1", "n\n2"] + (3...60_000).map { "n\($0)" })
    return response
  }
  router.get("/nothing") { _ in Response(.noContent) }
  router.on(.post, "/echo") { request in .json(try await request.body.collect(upTo: 1 << 20)) }
  router.on(.post, "/deaf") { _ in throw HTTPError(.unauthorized) }
  router.on(.post, "/upper", options: .init(bodyLimit: 1 << 24)) { request in
    Response(
      body: .stream(length: nil) { writer in
        for try await piece in request.body {
          try await writer.write(piece.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 })
        }
      })
  }
  return router
}

private let close = "Host: a\r\nConnection: close\r\n\r\n"

@Suite("Server")
struct ServerTests {
  @Test("a connection serves one request after another")
  func keepAlive() async throws {
    try await withServer(testRouter()) { server in
      let texts = try await server.connected { client in
        (0..<5).map { number in
          client.send("GET /number/\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
          return client.receive(until: "number \(number)\n").text
        }
      }
      for (number, text) in texts.enumerated() {
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\nnumber \(number)\n"))
        #expect(text.contains("\r\nContent-Length: 9\r\n") && !text.contains("Connection:"))
        #expect(text.contains("\r\nDate: ") && text.contains("\r\nX-Request-Id: "))
      }
    }
  }

  @Test("a hundred pipelined requests are answered in order")
  func pipelining() async throws {
    try await withServer(testRouter()) { server in
      let requests = (0..<100).map { "GET /number/\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
      let answer = try await server.exchange(requests + "GET / HTTP/1.1\r\n" + close)
      let lines = answer.text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("number ") }
      #expect(lines == (0..<100).map { "number \($0)" })
      #expect(answer.statuses.count == 101)
    }
  }

  @Test("a client that sends much and reads nothing does not make the server hold it all")
  func pipeliningIsBounded() async throws {
    try await withServer(testRouter(), configure: { $0.writeTimeout = .milliseconds(300) }) { server in
      let sent = try await server.connected { client in
        // The server stops reading; sockets hold a few megabytes; then the server gives up on this client.
        let request = Array(String(repeating: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", count: 2000).utf8)
        var sent = 0
        while sent < 100 << 20, client.send(request) { sent += request.count }
        return sent
      }
      #expect(sent < 100 << 20)
    }
  }

  @Test("HEAD is answered as GET, without a body")
  func head() async throws {
    try await withServer(testRouter()) { server in
      for (target, length) in [("/", "Content-Length: 5"), ("/large", "Content-Length: 8388608")] {
        let answer = try await server.exchange("HEAD \(target) HTTP/1.1\r\n" + close)
        #expect(answer.statuses == [200] && answer.body == "" && answer.text.contains(length))
      }
      let stream = try await server.exchange("HEAD /lines HTTP/1.1\r\n" + close)
      #expect(stream.statuses == [200] && stream.body == "")
      let nothing = try await server.exchange("GET /nothing HTTP/1.1\r\n" + close)
      #expect(nothing.statuses == [204] && nothing.body == "" && !nothing.text.contains("Content-Length"))
    }
  }

  @Test("HTTP/1.0 closes unless asked not to, and gets no chunks")
  func oldVersion() async throws {
    try await withServer(testRouter()) { server in
      let plain = try await server.exchange("GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n")
      #expect(plain.statuses == [200] && plain.text.contains("Connection: close"))
      let kept = try await server.exchange("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n")
      #expect(kept.statuses == [200, 200] && kept.text.contains("Connection: keep-alive"))
      let lines = try await server.exchange("GET /lines HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      #expect(lines.body == "line 1\nline 2\nline 3\n" && !lines.text.contains("Transfer-Encoding"))
    }
  }

  @Test("streams are sent in chunks, or to their length; a stream that breaks has no end")
  func streams() async throws {
    let errors = Recorder<String>()
    try await withServer(testRouter(), configure: { $0.errorLog = { errors.add("\($0.error)") } }) { server in
      let lines = try await server.exchange("GET /lines HTTP/1.1\r\n" + close)
      #expect(lines.body == "7\r\nline 1\n\r\n7\r\nline 2\n\r\n7\r\nline 3\n\r\n0\r\n\r\n")
      let known = try await server.exchange("GET /known HTTP/1.1\r\n" + close)
      #expect(known.body == "abcdef" && known.text.contains("Content-Length: 6"))
      let broken = try await server.exchange("GET /broken HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(broken.body == "5\r\nbegun\r\n")
      let short = try await server.exchange("GET /short HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(short.body == "abc")
    }
    #expect(errors.all == ["400 Bad Request", "A streamed body was not as long as it had said."])
  }

  @Test("a body in chunks is read while the answer is written")
  func bothWays() async throws {
    try await withServer(testRouter()) { server in
      let text = try await server.connected { client in
        client.send("POST /upper HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        var text = client.receive(until: "\r\n\r\n").text
        client.send("5\r\nfirst\r\n")
        text += client.receive(until: "FIRST\r\n").text
        client.send("6;x=y\r\nsecond\r\n0\r\nTrailer: 1\r\n\r\n")
        return text + client.receiveAll().text
      }
      #expect(text.hasSuffix("5\r\nFIRST\r\n6\r\nSECOND\r\n0\r\n\r\n"))
    }
  }

  @Test("a large body arrives complete, also at a slow reader")
  func large() async throws {
    try await withServer(testRouter()) { server in
      let answer = try await server.exchange("GET /large HTTP/1.1\r\n" + close)
      #expect(answer.body.utf8.count == 8 << 20 && answer.body.utf8.allSatisfy { $0 == 0x61 })
      let body = String(repeating: "abcdefghij", count: 1 << 19)
      let upper = try await server.connected { client in
        let sending = Thread {
          client.send("POST /upper HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n" + close + body)
        }
        sending.start()
        return client.receiveAll()
      }
      #expect(upper.body.utf8.count { $0 == UInt8(ascii: "J") } == 1 << 19)
    }
  }

  @Test("100 Continue is sent when the body is asked for, and only then")
  func expectContinue() async throws {
    try await withServer(testRouter()) { server in
      let asked = try await server.connected { client in
        client.send("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n" + close)
        let first = client.receive(until: "\r\n\r\n").text
        client.send("hi")
        return (first, client.receiveAll())
      }
      #expect(asked.0 == "HTTP/1.1 100 Continue\r\n\r\n")
      #expect(asked.1.statuses == [200] && asked.1.body == "hi")
      let early = try await server.exchange(
        "POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\(close)hi")
      #expect(early.statuses == [200])
      let large = try await server.exchange(
        "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9999999\r\n\r\n")
      #expect(large.statuses == [413])
      var router = testRouter()
      router.use(Middleware(prepare: { if $0.method == .post { throw HTTPError(.forbidden) } }))
      try await withServer(router) { server in
        let refused = try await server.exchange(
          "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(refused.statuses == [403] && refused.text.contains("Connection: close"))
      }
    }
  }

  @Test("an unread body does not become the next request")
  func unreadBody() async throws {
    var router = testRouter()
    router.on(.post, "/ignores") { _ in .text("ok") }
    try await withServer(router) { server in
      let inner = "GET /number/7 HTTP/1.1\r\nHost: a\r\n\r\n"
      let whole = try await server.exchange(
        "POST /ignores HTTP/1.1\r\nHost: a\r\nContent-Length: \(inner.utf8.count)\r\n\r\n\(inner)GET / HTTP/1.1\r\n"
          + close)
      #expect(whole.statuses == [200, 200] && !whole.text.contains("number 7"))
      let part = try await server.exchange(
        "POST /ignores HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n\(inner)")
      #expect(part.statuses == [200] && part.text.contains("Connection: close"))
    }
  }

  @Test("an error of a handler is a 500 that says nothing, and the log knows more")
  func failures() async throws {
    let failures = Recorder<(String, String)>()
    try await withServer(
      testRouter(), configure: { $0.errorLog = { failures.add((String(reflecting: $0.error), $0.requestID)) } }
    ) { server in
      let secret = try await server.exchange("GET /secret HTTP/1.1\r\nX-Request-Id: my-own.id_1\r\n" + close)
      #expect(secret.statuses == [500] && secret.body == "500 Internal Server Error\n")
      #expect(secret.text.contains("\r\nX-Request-Id: my-own.id_1\r\n"))
      #expect(
        failures.all.count == 1 && failures.all[0].0.contains("NSCocoaError") && failures.all[0].1 == "my-own.id_1")
    }
  }

  @Test("a text of somebody else in a field neither splits the answer nor turns it into a 500")
  func foreignFields() async throws {
    let failures = Recorder<String>()
    try await withServer(testRouter(), configure: { $0.errorLog = { failures.add("\($0.error)") } }) { server in
      let split = try await server.exchange("GET /split HTTP/1.1\r\nX-Request-Id: a b\r\n" + close)
      #expect(split.statuses == [200] && !split.text.contains("a b"))
      #expect(split.text.contains("\r\nX-Name: a  Set-Cookie: b=c\r\n"))
      let long = try await server.exchange("GET /long HTTP/1.1\r\n" + close)
      let lines = long.text.components(separatedBy: "\r\n")
      #expect(long.statuses == [200] && (lines.map(\.utf8.count).max() ?? 0) < 8190)
      #expect(lines.contains { $0.hasPrefix("X-Name: éé") && $0.hasSuffix("é...") })
      #expect(lines.contains { $0.hasPrefix("X-List: n1, n 2, n3, ") && $0.hasSuffix(" more") })
      #expect(failures.all.isEmpty)
    }
  }

  @Test("error pages are the console's own, for handlers, the router and the parser")
  func errorPages() async throws {
    var router = testRouter()
    router.errorPage = { failure in
      Response(
        failure.status, headers: ["X-Content-Type-Options": "nosniff"],
        body: .bytes(Array("page \(failure.status.code) for \(failure.request?.path ?? "nobody")".utf8)))
    }
    router.use(Middleware(finish: { response, _ in response.headers["X-Layer"] = "seen" }))
    try await withServer(router) { server in
      for (request, page, isSeen) in [
        ("GET /secret HTTP/1.1\r\n", "page 500 for /secret", true),
        ("GET /nowhere HTTP/1.1\r\n", "page 404 for /nowhere", true),
        ("DELETE / HTTP/1.1\r\n", "page 405 for /", true),
        ("POST /echo HTTP/1.1\r\nContent-Length: 9999999\r\n", "page 413 for /echo", true),
        ("GET /% HTTP/1.1\r\n", "page 400 for /%", false),
        ("GET / HTTP/3.0\r\n", "page 505 for nobody", false),
      ] {
        let answer = try await server.exchange(request + close)
        #expect(answer.body == page)
        #expect(answer.text.contains("X-Layer: seen") == isSeen)
        #expect(answer.text.contains("nosniff"))
      }
    }
  }

  @Test("the access log lists requests and answers")
  func accessLog() async throws {
    let entries = Recorder<AccessLogEntry>()
    var router = testRouter()
    router.on(.get, "/mine") { _ in
      var response = Response.text("x")
      response.actor = "anna@example.com"
      return response
    }
    try await withServer(router, configure: { $0.accessLog = { entries.add($0) } }) { server in
      _ = try await server.exchange("GET /number/5?a=b HTTP/1.1\r\n" + close)
      _ = try await server.exchange("GARBAGE\r\n\r\n")
      _ = try await server.exchange("GET /mine HTTP/1.1\r\n" + close)
    }
    #expect(entries.all.count == 3 && entries.all.map(\.actor) == [nil, nil, "anna@example.com"])
    #expect(entries.all[0].method == .get && entries.all[0].target == "/number/5?a=b")
    #expect(entries.all[0].route == "/number/:n" && entries.all[0].status == 200 && entries.all[0].bytes == 9)
    #expect(entries.all[0].remoteAddress?.host == "127.0.0.1" && entries.all[0].duration > .zero)
    #expect(entries.all[1].method == nil && entries.all[1].status == 400)
  }

  @Test("the access log has the address that the middleware found, also for errors")
  func restoredAddress() async throws {
    let entries = Recorder<AccessLogEntry>()
    var router = testRouter()
    router.use(
      Middleware(prepare: { request in
        if let host = request.header("X-Forwarded-For") { request.remoteAddress = SocketAddress(host: host, port: 0) }
      }))
    try await withServer(router, configure: { $0.accessLog = { entries.add($0) } }) { server in
      for path in ["/number/5", "/number/x", "/nowhere"] {
        _ = try await server.exchange("GET \(path) HTTP/1.1\r\nX-Forwarded-For: 192.0.2.7\r\n" + close)
      }
      _ = try await server.exchange("GET /number/5 HTTP/1.1\r\n" + close)
    }
    #expect(entries.all.map { $0.remoteAddress?.host } == ["192.0.2.7", "192.0.2.7", "192.0.2.7", "127.0.0.1"])
  }

  @Test("several loops share the connections")
  func loops() async throws {
    let names = Recorder<UInt>()
    var router = Router()
    router.get("/") { _ in
      names.add(UInt(pthread_self()))
      return .text("ok")
    }
    try await withServer(router, configure: { $0.loops = 3 }) { server in
      for _ in 0..<6 {
        let answer = try await server.exchange("GET / HTTP/1.1\r\n" + close)
        #expect(answer.statuses == [200])
      }
    }
    #expect(Set(names.all).count == 3)
  }

  @Test("a thousand connections leave no descriptor behind")
  func descriptors() async throws {
    try await withFolder { folder in
      try Data(repeating: 0x61, count: 100_000).write(to: URL(fileURLWithPath: folder + "/file.bin"))
      let pool = BlockingPool(name: "files", threads: 1)
      defer { pool.stop() }
      let files = try StaticFiles(root: folder, pool: pool)
      var router = testRouter()
      router.serve(files, at: "/files/*path")
      try await withServer(router) { server in
        for number in 0..<1000 {
          let target = number % 10 == 0 ? "/files/file.bin" : "/"
          let answer = try await server.exchange("GET \(target) HTTP/1.1\r\n" + close)
          #expect(answer.statuses == [200])
        }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
          .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        #expect(open.filter { $0.hasPrefix(files.root) }.isEmpty)
        // The last connection may still be on its way out.
        try await waitUntil("the connection is closed") { server.connections.current <= 0 }
        #expect(try Self.socketsOpen(port: server.address.port) <= 1)
      }
    }
  }

  /// Sockets of this machine with that local port, the listening one included, that some process still holds.
  private static func socketsOpen(port: UInt16) throws -> Int {
    let hex = String(port, radix: 16, uppercase: true)
    let suffix = ":" + String(repeating: "0", count: 4 - hex.count) + hex
    return try TCPSockets.all().count { $0[1].hasSuffix(suffix) && $0[9] != "0" }
  }
}
