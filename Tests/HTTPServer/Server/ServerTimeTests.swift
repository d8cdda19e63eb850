import Foundation
import Reactor
import TestSupport
import Testing

@testable import HTTPServer

private let close = "Host: a\r\nConnection: close\r\n\r\n"

@Suite("Server: time, limits and ends", .timeLimit(.minutes(2)))
struct ServerTimeTests {
  private func router() -> Router {
    var router = Router()
    router.get("/") { _ in .text("hello") }
    router.on(.post, "/echo") { request in .json(try await request.body.collect(upTo: 1 << 20)) }
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
      let client = try PlainSocket(server.address, receiveBuffer: 4096)
      defer { client.close() }
      client.send("GET /large HTTP/1.1\r\n" + close)
      let entry = try #require(await entries.next())
      #expect(entry.target == "/large")
      try await waitUntil("the connection is closed") { server.connections.current <= 0 }
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
      var stuck: [PlainSocket] = []
      defer { for client in stuck { client.close() } }
      for number in 0..<200 {
        let client = try PlainSocket(server.address)
        stuck.append(client)
        client.send(
          number % 2 == 0 ? "GET / HTTP/1.1\r\nHos" : "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab")
      }
      for _ in 0..<50 {
        let answer = try await server.exchange("GET / HTTP/1.1\r\n" + close)
        #expect(answer.statuses == [200])
      }
      #expect(server.connections.current >= 200)
    }
  }

  @Test("a body that drips is answered with 408: by its rate, and in any case after the time for all of it")
  func drippingBody() async throws {
    let rates: [(rate: Int, limit: Duration)] = [(1_000_000_000, .seconds(3600)), (1, .milliseconds(200))]
    for (rate, limit) in rates {
      try await withServer(
        router(),
        configure: {
          // No pause is as long.
          $0.bodyTimeout = .milliseconds(200)
          $0.leastBodyRate = rate
          $0.bodyTimeLimit = limit
        }
      ) { server in
        for head in ["Content-Length: 1000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nF0000\r\n"] {
          let answer = try await server.connected { client in
            client.send("POST /echo HTTP/1.1\r\nHost: a\r\n\(head)")
            // Five seconds, and some for the sending: far more than the time for all of it.
            for _ in 0..<1000 where !client.hasAnswer(within: 5) { client.send("a") }
            client.endWriting()
            return client.receiveAll()
          }
          #expect(answer.statuses == [408] && answer.text.contains("Connection: close"))
        }
      }
    }
  }

  @Test("time in which the handler does not read the body does not count against the client")
  func busyHandler() async throws {
    let release = Signal<Void>()
    var router = router()
    router.on(.post, "/later") { request in
      var body = request.body.makeAsyncIterator()
      var count = try await body.next()?.count ?? 0
      _ = await release.next()
      while let piece = try await body.next() { count += piece.count }
      return .text("\(count) bytes")
    }
    try await withServer(
      router,
      configure: {
        $0.bodyTimeout = .seconds(5)
        $0.bodyTimeLimit = .seconds(1)
      }
    ) { server in
      let answer = try await server.connected { client in
        client.send("POST /later HTTP/1.1\r\nConnection: close\r\nHost: a\r\nContent-Length: 4\r\n\r\nab")
        // More than the time for the whole body.
        #expect(!client.hasAnswer(within: 1300))
        release.send()
        // The handler asks again: long enough for a look at the time, and shorter than what is left of it.
        #expect(!client.hasAnswer(within: 400))
        client.send("cd")
        return client.receiveAll()
      }
      #expect(answer.statuses == [200] && answer.body == "4 bytes")
    }
  }

  @Test("an unread body is read no further than the head's packet, plus a little for an orderly close")
  func unwantedBody() async throws {
    let total = 64 << 20
    var router = router()
    router.on(.post, "/secret", options: .init(bodyLimit: total)) { _ in throw HTTPError(.unauthorized) }
    // No time-out: whoever is not read from waits until the server closes.
    try await withServer(
      router,
      configure: {
        $0.lingerTimeout = .milliseconds(300)
        $0.lingerBytes = 100_000
      }
    ) { server in
      let answers = try await withThrowingTaskGroup(of: (Answer, Int).self) { group in
        for _ in 0..<3 {
          group.addTask {
            try await server.connected { client in
              client.send("POST /secret HTTP/1.1\r\nHost: a\r\nContent-Length: \(total)\r\n\r\n")
              var sent = 0
              let piece = [UInt8](repeating: 0x61, count: 65_536)
              while sent < total, client.send(piece) { sent += piece.count }
              return (client.receiveAll(), sent)
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      for (answer, sent) in answers {
        #expect(answer.statuses == [401] && answer.text.contains("Connection: close"))
        // What the kernel holds on both sides, at most.
        #expect(sent < total / 3, "\(sent) bytes were taken")
      }
    }
  }

  private func connected(_ client: PlainSocket) -> PlainSocket {
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(client.receive(until: "hello").statuses == [200])
    return client
  }

  @Test("a new connection replaces the one waiting longest; if all are busy it gets 503 and a log line")
  func connectionLimit() async throws {
    let begun = Signal<Void>()
    let release = Signal<Void>()
    let warnings = Recorder<ServerWarning>()
    var router = router()
    router.get("/slow") { _ in
      begun.send()
      _ = await release.next()
      return .text("hello")
    }
    try await withServer(
      router,
      configure: {
        $0.maximumConnections = 2
        $0.maximumConnectionsOfAddress = 100
        $0.warningLog = { warnings.add($0) }
      }
    ) { server in
      let first = connected(try PlainSocket(server.address))
      let second = connected(try PlainSocket(server.address))
      second.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(second.receive(until: "hello").statuses == [200])
      let third = connected(try PlainSocket(server.address))
      #expect(first.receiveAll().bytes.isEmpty, "the first has waited longest, and is closed without a word")
      #expect(server.connections.current == 2)
      second.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
      third.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await begun.next()
      _ = await begun.next()
      let refused = try await server.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(refused.statuses == [503] && refused.text.contains("Connection: close"))
      #expect(refused.text.contains("\r\nRetry-After: 5\r\n"))
      release.send()
      release.send()
      for client in [second, third] { #expect(client.receive(until: "hello").statuses == [200]) }
      let told = warnings.all.map { warning in
        if case .full = warning.cause { return warning.gaveWay == 1 && warning.refused == 0 }
        return false
      }
      #expect(told == [true], "once a minute")
      for client in [first, second, third] { client.close() }
    }
  }

  @Test("one address cannot have all connections, a proxy can")
  func addressLimit() async throws {
    let warnings = Recorder<ServerWarning>()
    for isProxy in [false, true] {
      try await withServer(
        router(),
        configure: {
          $0.maximumConnections = 100
          $0.maximumConnectionsOfAddress = 2
          $0.isProxy = { isProxy && $0.host == "127.0.0.1" }
          $0.warningLog = { warnings.add($0) }
        }
      ) { server in
        let other = connected(try PlainSocket(server.address, from: SocketAddress(host: "127.0.0.2", port: 0)))
        var clients: [PlainSocket] = []
        for _ in 0..<3 { clients.append(connected(try PlainSocket(server.address))) }
        #expect(server.connections.current == (isProxy ? 4 : 3))
        if !isProxy { #expect(clients[0].receiveAll().bytes.isEmpty) }
        _ = connected(other)
        _ = connected(clients[1])
        for client in clients + [other] { client.close() }
      }
    }
    let told = warnings.all.map { warning in
      if case .address(let address) = warning.cause { return address.host }
      return ""
    }
    #expect(told == ["127.0.0.1"])
  }

  @Test(
    "an address counts with its network, where one household has many",
    arguments: [
      ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "::ffff:192.0.2.1", true), ("2001:db8::1", "2001:db8::2", true),
      ("2001:db8::1", "2001:db8:0:0:ffff::1", true), ("2001:db8::1", "2001:db8:0:1::1", false),
    ])
  func peers(one: String, other: String, areSame: Bool) throws {
    let key = try #require(PeerKey(one))
    #expect((key == PeerKey(other)) == areSame)
  }

  @Test("a client that disconnects during its body ends the handler's reading")
  func clientGone() async throws {
    let begun = Signal<Void>()
    let errors = Signal<String>()
    var router = router()
    router.on(.post, "/upload") { request in
      do {
        for try await _ in request.body { begun.send() }
      } catch {
        errors.send("\(error)")
        throw error
      }
      return .text("ok")
    }
    try await withServer(router) { server in
      let reset = try PlainSocket(server.address)
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
      try await waitUntil("the connection is closed") { server.connections.current <= 0 }
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

  @Test(
    "costly work is cancelled when its client closes its side, and its end is not logged as a failure",
    .timeLimit(.minutes(1)), arguments: [true, false])
  func costly(hasMiddleware: Bool) async throws {
    let failures = Recorder<String>()
    let begun = Signal<Void>()
    let ended = Signal<Bool>()
    let never = Signal<Void>()
    var router = router()
    if hasMiddleware { router.use(Middleware()) }
    router.on(.post, "/costly", options: .init(endsWithClient: true)) { request in
      _ = try await request.body.collect(upTo: 10)
      begun.send()
      _ = await never.next()
      ended.send(Task.isCancelled)
      try Task.checkCancellation()
      return .text("done")
    }
    try await withServer(router, configure: { $0.errorLog = { failures.add("\($0.error)") } }) { server in
      let client = try PlainSocket(server.address)
      defer { client.close() }
      client.send("POST /costly HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab")
      _ = await begun.next()
      client.endWriting()
      #expect(await ended.next() == true)
    }
    // The server has stopped: nothing is left to run.
    #expect(failures.all == [])
  }

  @Test("a stop finishes requests in progress, closes idle connections at once, and accepts no new ones")
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
      let idle = try PlainSocket(server.address)
      defer { idle.close() }
      idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(idle.receive(until: "hello").statuses == [200])
      async let answer = server.exchange("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await begun.next()
      async let stopped: Void = server.server.stop(within: .seconds(600))
      let rest = try await server.threads.run { idle.receiveAll() }
      #expect(rest.bytes.isEmpty)
      #expect(throws: SystemError.self) { try PlainSocket(server.address) }
      release.send()
      let text = try await answer
      #expect(text.statuses == [200] && text.text.contains("Connection: close") && text.body == "finished")
      await stopped
      #expect(server.connections.current == 0)
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
