import OpenSSL
import Reactor
import Synchronization
import Testing

@testable import HTTP2

/// One rule for every way of ending without an answer: pauses grow, the failure is told, and what waits is sent once
/// the server answers.
@Suite("HTTP/2 client and misdeeds of servers", .timeLimit(.minutes(2)))
struct MisdeedTests {
  private static let requests = 300
  /// In seconds. The pauses grow to 30 s: about 25 fit.
  private static let time: UInt64 = 600

  @Test("a server that never answers gets few connections and requests, and all once it does", arguments: Misdeed.all)
  func bounded(_ misdeed: Misdeed) async throws {
    let (authority, clock) = (try TestAuthority(), LeapingClock())
    let server = try RudeServer(misdeed, authority)
    let loop = try EventLoop(name: "client", clock: clock.now)
    let resolver = BlockingPool(name: "resolver", threads: 1)
    let running = Running(
      address: server.address, authority: authority, serverLoop: loop, clientLoop: loop, resolver: resolver)
    let client = try TestClient(running, configuration: ClientGroupConfiguration())
    var builder = RequestBatchBuilder(template: RequestTemplate(authority: "localhost", fields: []), body: [123, 125])
    for id in 0..<Int64(Self.requests) { builder.append(id: id, path: "/\(id)") }
    client.group.submit(builder.build())

    for _ in 0..<(Self.time / 5) where !Task.isCancelled {
      // What ends at once has the time to end, and what opens the time to open; a time-out waits for the clock.
      while misdeed.opens, await Self.isConnecting(client), !Task.isCancelled { await Task.yield() }
      while !misdeed.takesTime, await Self.isBusy(client), !Task.isCancelled { await Task.yield() }
      await Self.leap(5, clock, loop)
    }
    let counts = server.counts.withLock { $0 }
    #expect(counts.connections <= 60, "\(counts)")
    #expect(counts.requests <= 2 * Self.requests + 60, "\(counts)")
    #expect(await Self.failure(client) != nil, "the failure is told")

    server.misdeed.withLock { $0 = nil }
    // Connections from before are given up.
    for _ in 0..<8 { await Self.leap(11, clock, loop) }
    while await !Self.isOver(client), !Task.isCancelled {
      if await Self.isConnecting(client) { await Task.yield() } else { await Self.leap(5, clock, loop) }
    }
    let ended = await client.wait { $0.total == Self.requests }
    #expect(ended.times.count == Self.requests && ended.times.values.allSatisfy { $0 == 1 })
    await client.stop()
    server.stop()
    loop.stop()
    resolver.stop()
  }

  private static func leap(_ seconds: UInt64, _ clock: LeapingClock, _ loop: EventLoop) async {
    await clock.leap(seconds, on: loop)
    for _ in 0..<10 {
      await loop.turn()
      await Task.yield()
    }
  }

  private static func isConnecting(_ client: TestClient) async -> Bool {
    await onLoop(client) { group in group.connections.contains { $0.state == .connecting } }
  }

  /// Whether a connection is being opened, or requests are on their way.
  private static func isBusy(_ client: TestClient) async -> Bool {
    await onLoop(client) { group in
      group.connections.contains { $0.state == .connecting || $0.inFlight > 0 }
    }
  }

  private static func failure(_ client: TestClient) async -> HTTP2Error? {
    await onLoop(client) { group in if case .failing(let error) = group.state { error } else { nil } }
  }

  private static func isOver(_ client: TestClient) async -> Bool {
    await client.wait { _ in true }.total == requests
  }

  private static func onLoop<Value: Sendable>(
    _ client: TestClient, _ body: @escaping @Sendable (ClientGroup) -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      client.group.onLoop { continuation.resume(returning: body($0)) }
    }
  }
}
