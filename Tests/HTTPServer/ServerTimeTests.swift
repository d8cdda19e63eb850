import Foundation
import Reactor
import TestSupport
import Testing

@testable import HTTPServer

private let close = "Host: a\r\nConnection: close\r\n\r\n"

@Suite("Server: time, limits and ends")
struct ServerTimeTests {
  private func router() -> Router {
    var router = Router()
    router.get("/") { _ in .text("hello") }
    router.post("/echo") { request in .json(try await request.body.collect(upTo: 1 << 20)) }
    router.get("/large") { _ in Response(body: .bytes([UInt8](repeating: 0x61, count: 32 << 20))) }
    return router
  }

  @Test("a head that does not come in time is answered with 408, however busily its bytes drip")
  func slowHead() async throws {
    try await withServer(router(), configure: { $0.headerTimeout = .milliseconds(100) }) { server in
      let stuck = try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\n")
      #expect(stuck.statuses == [408] && stuck.text.contains("Connection: close"))
      let dripping = try await server.connected { client in
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX: ")
        while !client.hasAnswer(within: 5) { client.send("a") }
        return client.receiveAll()
      }
      #expect(dripping.statuses == [408])
      let second = try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /")
      #expect(second.statuses == [200, 408])
    }
  }

  @Test("silence is closed without a word: before the first request and between two")
  func silence() async throws {
    try await withServer(
      router(),
      configure: {
        $0.headerTimeout = .milliseconds(80)
        $0.idleTimeout = .milliseconds(80)
      }
    ) { server in
      let nothing = try await server.exchange("")
      #expect(nothing.bytes.isEmpty)
      let one = try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(one.statuses == [200])
    }
  }

  @Test("a body that does not come on is answered with 408")
  func slowBody() async throws {
    try await withServer(router(), configure: { $0.bodyTimeout = .milliseconds(80) }) { server in
      for rest in ["Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"] {
        let answer = try await server.exchange("POST /echo HTTP/1.1\r\nHost: a\r\n\(rest)")
        #expect(answer.statuses == [408] && answer.text.contains("Connection: close"))
      }
    }
  }

  @Test("a client that does not read is given up, and the log says how")
  func slowReader() async throws {
    let entries = Signal<AccessLogEntry>()
    try await withServer(
      router(),
      configure: {
        $0.writeTimeout = .milliseconds(100)
        $0.accessLog = { entries.send($0) }
      }
    ) { server in
      let client = try RawClient(server.address, receiveBuffer: 4096)
      defer { client.close() }
      client.send("GET /large HTTP/1.1\r\n" + close)
      let entry = try #require(await entries.next())
      #expect(entry.target == "/large")
      try await waitUntil("the connection is closed") { server.server.connectionCount <= 0 }
    }
  }

  @Test("two hundred stuck clients do not keep others waiting")
  func stuckClients() async throws {
    // Who waited for one of them would wait for an hour.
    try await withServer(
      router(),
      configure: {
        $0.headerTimeout = .seconds(3600)
        $0.bodyTimeout = .seconds(3600)
      }
    ) { server in
      var stuck: [RawClient] = []
      defer { for client in stuck { client.close() } }
      for number in 0..<200 {
        let client = try RawClient(server.address)
        stuck.append(client)
        client.send(
          number % 2 == 0 ? "GET / HTTP/1.1\r\nHos" : "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab")
      }
      for _ in 0..<50 {
        let answer = try await server.exchange("GET / HTTP/1.1\r\n" + close)
        #expect(answer.statuses == [200])
      }
      #expect(server.server.connectionCount >= 200)
    }
  }

  @Test("a connection too many is answered with 503 and closed; when one goes, the next comes in")
  func connectionLimit() async throws {
    try await withServer(router(), configure: { $0.maximumConnections = 2 }) { server in
      let first = try RawClient(server.address)
      let second = try RawClient(server.address)
      defer { second.close() }
      for client in [first, second] {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(client.receive(until: "hello").statuses == [200])
      }
      let third = try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(third.statuses == [503] && third.text.contains("Connection: close"))
      first.close()
      try await waitUntil("the connection is closed") { server.server.connectionCount <= 1 }
      #expect(try await server.exchange("GET / HTTP/1.1\r\n" + close).statuses == [200])
    }
  }

  @Test("a client that goes in the middle of its body ends the handler's reading")
  func clientGone() async throws {
    let begun = Signal<Void>()
    let errors = Signal<String>()
    var router = router()
    router.post("/upload", options: .init(streamsBody: true)) { request in
      do {
        for try await _ in request.body { begun.send() }
      } catch {
        errors.send("\(error)")
        throw error
      }
      return .text("ok")
    }
    try await withServer(router) { server in
      let reset = try RawClient(server.address)
      reset.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      _ = await begun.next()
      reset.reset()
      #expect(await errors.next() == ClientGone().description)
      let half = try await server.connected { client in
        client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        client.endWriting()
        return client.receiveAll()
      }
      #expect(half.statuses == [400])
      #expect(await errors.next()?.contains("ended before") == true)
      try await waitUntil("the connection is closed") { server.server.connectionCount <= 0 }
    }
  }

  @Test("a client that has ended its own side still gets its answers")
  func halfClose() async throws {
    var router = router()
    router.get("/later") { _ in
      for _ in 0..<10 { await Task.yield() }
      return .text("later")
    }
    try await withServer(router) { server in
      let answer = try await server.connected { client in
        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
        client.endWriting()
        return client.receiveAll()
      }
      #expect(answer.statuses == [200, 200] && answer.text.hasSuffix("hello"))
    }
  }

  @Test("a request in progress is finished by a stop; idle connections close at once, new ones are not taken")
  func gracefulStop() async throws {
    let begun = Signal<Void>()
    let release = Signal<Void>()
    var router = router()
    router.get("/slow") { _ in
      begun.send()
      _ = await release.next()
      return .text("finished")
    }
    try await withServer(router) { server in
      let idle = try RawClient(server.address)
      defer { idle.close() }
      idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(idle.receive(until: "hello").statuses == [200])
      async let answer = server.exchange("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await begun.next()
      async let stopped: Void = server.server.stop(within: .seconds(600))
      let rest = try await server.threads.run { idle.receiveAll() }
      #expect(rest.bytes.isEmpty)
      #expect(throws: SystemError.self) { try RawClient(server.address) }
      release.send()
      let text = try await answer
      #expect(text.statuses == [200] && text.text.contains("Connection: close") && text.body == "finished")
      await stopped
      #expect(server.server.connectionCount == 0)
    }
  }

  @Test("a stop does not wait for ever")
  func boundedStop() async throws {
    let begun = Signal<Void>()
    let cancelled = Signal<Void>()
    var router = router()
    router.get("/never") { _ in
      begun.send()
      await withTaskCancellationHandler {
        for await _ in AsyncStream<Void>.makeStream().stream {}
      } onCancel: {
        cancelled.send()
      }
      return .text("never")
    }
    try await withServer(router) { server in
      async let answer = server.exchange("GET /never HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await begun.next()
      await server.server.stop(within: .milliseconds(50))
      let bytes = try await answer.bytes
      #expect(bytes.isEmpty)
      _ = await cancelled.next()
    }
  }
}
