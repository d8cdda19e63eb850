import Reactor
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Server-Sent Events")
struct EventStreamTests {
  @Test(
    "an event is written field by field, data line by line",
    arguments: [
      (ServerSentEvent(data: "one"), "data: one\n\n"),
      (ServerSentEvent(data: ""), "data: \n\n"),
      (ServerSentEvent(data: "one\ntwo\r\nthree\rfour\n"), "data: one\ndata: two\ndata: three\ndata: four\ndata: \n\n"),
      (
        ServerSentEvent(data: "x", event: "progress", id: "7", retry: 500),
        "id: 7\nevent: progress\nretry: 500\ndata: x\n\n"
      ),
      (ServerSentEvent(data: "x", event: "a\ndata: y", id: "1\r\n\0"), "id: 1\nevent: adata: y\ndata: x\n\n"),
    ])
  func encoding(event: ServerSentEvent, text: String) {
    #expect(event.encoded == text)
  }

  @Test("events arrive as they are sent, with comments in the silence, until the stream ends")
  func events() async throws {
    let go = Signal<Void>()
    var router = Router()
    router.get("/events") { request in
      .events { events in
        try await events.send(ServerSentEvent(data: "after \(request.header("Last-Event-ID") ?? "-")", id: "2"))
        _ = await go.next()
        try await events.send(ServerSentEvent(data: "last"))
      }
    }
    try await withServer(router, configure: { $0.heartbeat = .milliseconds(20) }) { server in
      let text = try await server.connected { client in
        client.send("GET /events HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 1\r\n\r\n")
        var text = client.receive(until: "after 1\n\n").text
        text += client.receive(until: ":\n\n\r\n").text
        go.send()
        text += client.receive(until: "0\r\n\r\n").text
        client.send("GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return text + client.receiveAll().text
      }
      #expect(
        text.contains("Content-Type: text/event-stream; charset=utf-8\r\n")
          && text.contains("Cache-Control: no-store\r\n"))
      #expect(text.contains("id: 2\ndata: after 1\n\n") && text.contains("\r\n3\r\n:\n\n\r\n"))
      #expect(text.contains("data: last\n\n\r\n0\r\n\r\nHTTP/1.1 404 "))
    }
  }

  @Test("a disconnected client cancels the stream's task", arguments: [false, true])
  func clientGone(byReset: Bool) async throws {
    let begun = Signal<Void>()
    let ended = Signal<Bool>()
    var router = Router()
    router.get("/events") { _ in
      .events { events in
        try await events.send(ServerSentEvent(data: "hello"))
        begun.send()
        for await _ in AsyncStream<Void>.makeStream().stream {}
        ended.send(Task.isCancelled)
      }
    }
    try await withServer(router) { server in
      let client = try PlainSocket(server.address)
      client.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await begun.next()
      if byReset { client.reset() } else { client.close() }
      #expect(await ended.next() == true)
      try await waitUntil("the connection is closed") { server.connections.current <= 0 }
    }
  }

  @Test("a stop of the server ends the stream in good order")
  func stop() async throws {
    let begun = Signal<Void>()
    var router = Router()
    router.get("/events") { _ in
      .events { events in
        begun.send()
        for await _ in AsyncStream<Void>.makeStream().stream {}
        try await events.send(ServerSentEvent(data: "too late"))
      }
    }
    try await withServer(router) { server in
      async let answer = server.exchange("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await begun.next()
      await server.server.stop(within: .seconds(600))
      let text = try await answer.text
      #expect(text.hasSuffix("\r\n0\r\n\r\n") && !text.contains("too late"))
    }
  }

  @Test("a writer waits for a slow reader instead of filling memory")
  func backPressure() async throws {
    let written = Recorder<Int>()
    let ended = Signal<Void>()
    var router = Router()
    router.get("/endless") { _ in
      Response(
        body: .stream(length: nil) { writer in
          defer { ended.send() }
          for number in 0..<10_000 {
            try await writer.write([UInt8](repeating: 0x61, count: 64 * 1024))
            written.add(number)
          }
        })
    }
    try await withServer(router, configure: { $0.writeTimeout = .milliseconds(200) }) { server in
      let client = try PlainSocket(server.address, receiveBuffer: 4096)
      defer { client.close() }
      client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = await ended.next()
      // Sockets hold a few megabytes, not 640.
      #expect(written.all.count < 1000)
    }
  }
}
