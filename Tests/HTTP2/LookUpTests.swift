import HTTP2
import OpenSSL
import Reactor
import Synchronization
import TestSupport
import Testing

/// Names are looked up anew before each connection (Apple: "uncached DNS", docs/protocols.md §1.1).
@Suite("HTTP/2 client looking names up", .timeLimit(.minutes(1)))
struct LookUpTests {
  /// A resolver that answers as a script says, and how often it was asked.
  private final class Resolver: Sendable {
    let asked = Mutex<[String]>([])
    private let script: @Sendable (_ number: Int) throws -> [SocketAddress]

    init(_ script: @escaping @Sendable (_ number: Int) throws -> [SocketAddress]) { self.script = script }

    @Sendable func lookUp(_ host: String, _ port: UInt16) throws -> [SocketAddress] {
      try script(
        asked.withLock { asked in
          asked.append("\(host):\(port)")
          return asked.count
        })
    }

    var configuration: ClientGroupConfiguration {
      var configuration = ClientGroupConfiguration.quick
      configuration.connection.lookUp = lookUp
      return configuration
    }
  }

  private func submit(_ client: TestClient, _ id: Int64) {
    var builder = RequestBatchBuilder(template: RequestTemplate(authority: "localhost", fields: []))
    builder.append(id: id, path: "/\(id)")
    client.group.submit(builder.build())
  }

  @Test("each new connection looks the name up again")
  func anew() async throws {
    let authority = try TestAuthority()
    let first = TestServer { request, responder, _ in
      responder.respond(ServerResponse(status: 200))
      request.connection.goAway(lastStreamID: request.streamID, debugData: [])
    }
    let second = TestServer(TestServer.accept)
    try await withServer(first, authority: authority) { one in
      try await withServer(second, authority: authority) { two in
        let (here, there) = (one.address, two.address)
        let resolver = Resolver { $0 == 1 ? [here] : [there] }
        let client = try TestClient(one, configuration: resolver.configuration)
        submit(client, 0)
        _ = await client.wait { $0.total == 1 && !$0.goAways.isEmpty }
        submit(client, 1)
        submit(client, 2)
        #expect(await client.wait { $0.total == 3 }.statuses == [200: 3])
        #expect(resolver.asked.withLock { $0 } == ["localhost:\(here.port)", "localhost:\(here.port)"])
        #expect(first.counts.withLock { $0.requests } == 1)
        #expect(second.counts.withLock { $0.requests } == 2)
        await client.stop()
      }
    }
  }

  @Test("a look-up that fails is made again; the reason names the host, and what waits is sent in the end")
  func failure() async throws {
    let server = TestServer(TestServer.accept)
    try await withServer(server) { running in
      let address = running.address
      let resolver = Resolver { number in
        guard number > 2 else {
          throw LookupError(host: "localhost", message: "Temporary failure in name resolution")
        }
        return [address]
      }
      let client = try TestClient(running, configuration: resolver.configuration)
      let ended = await client.send(10)
      #expect(ended.statuses == [200: 10])
      #expect(resolver.asked.withLock { $0.count } == 3)
      let errors = ended.states.compactMap { if case .failing(let error) = $0 { error } else { nil } }
      #expect(errors.first?.code == .lookup)
      #expect(
        errors.first?.message == "The name localhost was not found: Temporary failure in name resolution.")
      #expect(await client.wait { $0.states.last == .ready }.states.last == .ready)
      await client.stop()
    }
  }

  @Test("of several addresses the next is tried when one refuses, within one look-up")
  func several() async throws {
    let server = TestServer(TestServer.accept)
    try await withServer(server) { running in
      let refusing = try RefusingPort()
      defer { refusing.close() }
      let closed = refusing.address
      let address = running.address
      let resolver = Resolver { _ in [closed, closed, address] }
      let client = try TestClient(running, configuration: resolver.configuration)
      let ended = await client.send(5)
      #expect(ended.statuses == [200: 5])
      #expect(resolver.asked.withLock { $0.count } == 1)
      #expect(!ended.states.contains { if case .failing = $0 { true } else { false } })
      await client.stop()
    }
  }
}
