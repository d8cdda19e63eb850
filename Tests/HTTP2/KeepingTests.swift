import OpenSSL
import Reactor
import Synchronization
import Testing

@testable import HTTP2

/// Apple: connections are kept for hours and days; PING after an hour without traffic (docs/protocols.md §1.1).
@Suite("HTTP/2 client keeping connections", .timeLimit(.minutes(1)))
struct KeepingTests {
  /// A client of a server that answers as told, with a clock that leaps.
  private struct Scene {
    let server: FrameServer
    let client: TestClient
    let loop: EventLoop
    let clock: LeapingClock

    /// Whether a PING has no answer yet.
    func isAsking() async -> Bool {
      let client = client
      return await withCheckedContinuation { continuation in
        client.group.onLoop { group in
          continuation.resume(returning: group.connections.contains { $0.pingSent != nil })
        }
      }
    }

    /// Lets the clock go on, a step at a time; every PING has the time of an answer.
    func pass(_ seconds: UInt64, step: UInt64) async {
      for _ in 0..<(seconds / step) where !Task.isCancelled {
        await clock.leap(step, on: loop)
        while await isAsking(), !Task.isCancelled { await Task.yield() }
      }
    }

    func submit(_ ids: Range<Int64>) {
      var builder = RequestBatchBuilder(template: RequestTemplate(authority: "localhost", fields: []))
      for id in ids { builder.append(id: id, path: "/\(id)") }
      client.group.submit(builder.build())
    }
  }

  private static func run(
    streams: Int = 1000, _ body: (Scene, inout AsyncStream<FrameServer.Event>.Iterator) async throws -> Void
  ) async throws {
    let (authority, clock) = (try TestAuthority(), LeapingClock())
    let server = try FrameServer(authority)
    let loop = try EventLoop(name: "client", clock: clock.now)
    let resolver = BlockingPool(name: "resolver", threads: 1)
    let running = Running(
      address: server.address, authority: authority, serverLoop: loop, clientLoop: loop, resolver: resolver)
    var configuration = ClientGroupConfiguration.quick
    configuration.connection.maximumStreams = streams
    let client = try TestClient(running, configuration: configuration)
    var events = server.events.makeAsyncIterator()
    let result: Result<Void, any Error>
    do {
      result = .success(
        try await body(Scene(server: server, client: client, loop: loop, clock: clock), &events))
    } catch {
      result = .failure(error)
    }
    await client.stop()
    server.stop()
    loop.stop()
    resolver.stop()
    try result.get()
  }

  @Test("an idle connection is kept for a day with a PING per hour, and serves the next request")
  func day() async throws {
    try await Self.run { scene, events in
      scene.submit(0..<1)
      #expect(await scene.client.wait { $0.total == 1 }.statuses == [200: 1])
      #expect(await events.next() == .opened(1))
      #expect(await events.next() == .request(1))
      // Up to here nothing was said: the next event is not from the first hour.
      await scene.pass(3570, step: 30)
      #expect(await !scene.isAsking())
      let early = await withCheckedContinuation { continuation in
        scene.client.group.onLoop { continuation.resume(returning: $0.connections.map(\.session.pingNumber)) }
      }
      #expect(early == [0])
      await scene.pass(86_400 - 3570, step: 30)
      let sent = await withCheckedContinuation { continuation in
        scene.client.group.onLoop { continuation.resume(returning: $0.connections.map(\.session.pingNumber)) }
      }
      // One an hour and a step, the last of the 24 perhaps not yet.
      #expect(sent == [23] || sent == [24])
      for _ in 0..<(sent.first ?? 0) { #expect(await events.next() == .ping(1)) }
      scene.submit(1..<2)
      #expect(await scene.client.wait { $0.total == 2 }.statuses == [200: 2])
      // Silent for more than a minute: tried before it is used.
      if await events.next() == .ping(1) { #expect(await events.next() == .request(1)) }
    }
  }

  @Test("a PING without an answer closes an idle connection; the next request opens another")
  func idleAndGone() async throws {
    try await Self.run { scene, events in
      scene.submit(0..<1)
      #expect(await scene.client.wait { $0.total == 1 }.statuses == [200: 1])
      #expect(await events.next() == .opened(1))
      #expect(await events.next() == .request(1))
      scene.server.manners.withLock { $0.answersPings = false }
      await scene.clock.leap(3601, on: scene.loop)
      #expect(await events.next() == .ping(1))
      await scene.clock.leap(8, on: scene.loop)
      #expect(await scene.isAsking(), "it has ten seconds")
      await scene.clock.leap(3, on: scene.loop)
      #expect(await events.next() == .closed(1))
      scene.submit(1..<2)
      #expect(await events.next() == .opened(2))
      #expect(await scene.client.wait { $0.total == 2 }.statuses == [200: 2])
    }
  }

  @Test("a PING without an answer while sending: sent requests are unknown, waiting ones use the next connection")
  func busyAndGone() async throws {
    try await Self.run(streams: 2) { scene, events in
      scene.server.manners.withLock { $0 = FrameServer.Manners(answersPings: false, answersRequests: false) }
      scene.submit(0..<5)
      #expect(await events.next() == .opened(1))
      for _ in 0..<2 { #expect(await events.next() == .request(1)) }
      await scene.clock.leap(11, on: scene.loop)
      #expect(await events.next() == .ping(1))
      scene.server.manners.withLock { $0 = FrameServer.Manners() }
      await scene.clock.leap(11, on: scene.loop)
      #expect(await events.next() == .closed(1))
      #expect(await events.next() == .opened(2))
      let ended = await scene.client.wait { $0.total == 5 }
      let gone = Answer.Cause.connection(HTTP2Error(.unresponsive, ""))
      #expect(ended.unknown == [gone, gone])
      #expect(ended.statuses == [200: 3])
      #expect(ended.times == [0: 1, 1: 1, 2: 1, 3: 1, 4: 1])
    }
  }

  @Test("a process that stood still for two minutes takes the answers that came, and those on their way")
  func stoodStill() async throws {
    try await Self.run { scene, events in
      scene.server.manners.withLock { $0.holdsAnswers = true }
      scene.submit(0..<3)
      #expect(await events.next() == .opened(1))
      for _ in 0..<3 { #expect(await events.next() == .request(1)) }
      // The loop has looked at the time when this returns; the answers leave the other side only then.
      await scene.clock.leap(120, on: scene.loop)
      scene.server.manners.withLock { $0.holdsAnswers = false }
      let ended = await scene.client.wait { $0.total == 3 }
      #expect(ended.statuses == [200: 3] && ended.unknown.isEmpty)
    }
  }

  @Test("a PING that is answered keeps a connection whose answers are slow")
  func slow() async throws {
    try await Self.run { scene, events in
      scene.server.manners.withLock { $0.answersRequests = false }
      scene.submit(0..<1)
      #expect(await events.next() == .opened(1))
      #expect(await events.next() == .request(1))
      await scene.pass(25, step: 5)
      for _ in 0..<2 { #expect(await events.next() == .ping(1)) }
      await scene.pass(10, step: 5)
      let ended = await scene.client.wait { $0.total == 1 }
      // Of its own time-out, not of the connection's end.
      #expect(ended.unknown == [.timeout])
    }
  }
}
