import Foundation
import Reactor
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Server: turns of clients", .timeLimit(.minutes(1)))
struct TurnTests {
  private static let (ada, grace) = (1, 2)

  /// Calls `body` on a loop, all within one of its rounds, and returns what the requests noted.
  private func notes(_ body: @escaping @Sendable (Turns, _ note: @escaping @Sendable (String) -> Void) -> Void)
    async throws -> [String]
  {
    let loop = try EventLoop(name: "turns")
    defer { loop.stop() }
    let recorder = Recorder<String>()
    loop.execute { body(Turns(loop: loop, limit: 2)) { recorder.add($0) } }
    // Each line needs at most one round for one of its requests.
    for _ in 0..<20 { await loop.turn() }
    return recorder.all
  }

  /// Occupies the loop for longer than a client's share.
  private static func spin() {
    let end = EventLoop.now() + 3_000_000
    while EventLoop.now() < end {}
  }

  @Test("who has used up a share waits until others were served; the lines then take turns")
  func order() async throws {
    let notes = try await notes { turns, note in
      for number in 1...3 {
        turns.take(Self.ada, isCounted: false, at: EventLoop.now()) {
          note("ada \(number)")
          Self.spin()
        }
      }
      for number in 1...3 {
        turns.take(Self.grace, isCounted: false, at: EventLoop.now()) {
          note("grace \(number)")
          Self.spin()
        }
      }
      turns.take(3, isCounted: false, at: EventLoop.now()) { note("lin") }
    }
    #expect(notes == ["ada 1", "grace 1", "lin", "ada 2", "grace 2", "ada 3", "grace 3"])
  }

  @Test("only a few counted requests of a client are under way; others do not notice")
  func underWay() async throws {
    let notes = try await notes { turns, note in
      for number in 1...4 { turns.take(Self.ada, isCounted: true, at: EventLoop.now()) { note("ada \(number)") } }
      turns.take(Self.grace, isCounted: true, at: EventLoop.now()) { note("grace") }
      turns.take(Self.ada, isCounted: false, at: EventLoop.now()) { note("not counted") }
      note("two answers")
      turns.answered(Self.ada)
      turns.answered(Self.ada)
    }
    #expect(
      notes == ["ada 1", "ada 2", "grace", "not counted", "two answers", "ada 3", "ada 4"])
  }

  /// Answers `/held` when the test lets it, and says that it has begun.
  private func server(
    _ begun: Signal<String>, _ release: Signal<Void>, _ body: (TestServer) async throws -> Void
  ) async throws {
    var router = Router()
    router.get("/held/:name") { request in
      begun.send(request.pathSegments[1])
      _ = await release.next()
      return .text("held")
    }
    var waiting = Route.Options()
    waiting.mayWait = true
    router.on(.get, "/wait", options: waiting) { _ in
      begun.send("wait")
      return .text("waited")
    }
    try await withServer(router, configure: { $0.requestsOfClient = 1 }) { try await body($0) }
  }

  private func request(_ path: String, cookie: String) -> String {
    "GET \(path) HTTP/1.1\r\nHost: a\r\nCookie: session=\(cookie)\r\nConnection: close\r\n\r\n"
  }

  @Test("a client is known by its cookie; what may wait for something else is not counted")
  func clients() async throws {
    let (begun, release) = (Signal<String>(), Signal<Void>())
    try await server(begun, release) { server in
      async let first = server.exchange(request("/held/first", cookie: "ada"))
      #expect(await begun.next() == "first")
      async let second = server.exchange(request("/held/second", cookie: "ada"))
      let waited = try await server.exchange(request("/wait", cookie: "lin"))
      #expect(waited.body == "waited")
      #expect(await begun.next() == "wait")
      async let other = server.exchange(request("/held/other", cookie: "grace"))
      #expect(await begun.next() == "other")
      for _ in 1...2 { release.send() }
      #expect(await begun.next() == "second")
      release.send()
      let answers = try await [first, second, other]
      #expect(answers.map(\.body) == ["held", "held", "held"])
    }
  }

  @Test("a client that leaves while its request waits does not keep its place")
  func left() async throws {
    let (begun, release) = (Signal<String>(), Signal<Void>())
    try await server(begun, release) { server in
      async let first = server.exchange(request("/held/first", cookie: "ada"))
      #expect(await begun.next() == "first")
      let (gone, last) = (request("/held/gone", cookie: "ada"), request("/held/last", cookie: "ada"))
      try await server.connected { client in
        client.send(gone)
        client.reset()
      }
      async let third = server.exchange(last)
      release.send()
      let next = await begun.next()
      // The reset may come after the request has begun: then it is under way, and ends as any other.
      if next == "gone" { release.send() }
      #expect(next == "last" || next == "gone")
      release.send()
      let answers = try await [first, third]
      #expect(answers.map(\.body) == ["held", "held"])
    }
  }
}
