import Glibc
import HTTP2
import OpenSSL
import Reactor
import Synchronization
import Testing

@Suite("HTTP/2 client connecting")
struct ConnectingTests {
  private func failure(_ running: Running, _ endpoint: Endpoint, connectTimeout: Duration = .seconds(20)) async throws
    -> HTTP2Error?
  {
    var configuration = ClientGroupConfiguration.quick
    configuration.connection.connectTimeout = connectTimeout
    return try await TestClient.failure(running, endpoint, configuration)
  }

  @Test("a server from an unknown authority, for another host, or expired is refused; the request is not lost")
  func verification() async throws {
    let server = TestServer(TestServer.accept)
    try await withServer(server) { running in
      let other = try TestAuthority()
      let unknown = try await failure(running, running.endpoint(trust: other.pem))
      #expect(unknown?.code == .tls(.unknownAuthority))
    }
    try await withServer(server, names: ["elsewhere.example"]) { running in
      let wrong = try await failure(running, running.endpoint())
      #expect(wrong?.code == .tls(.wrongHost))
    }
    try await withServer(server, days: -1) { running in
      let expired = try await failure(running, running.endpoint())
      #expect(expired?.code == .tls(.expired))
    }
    #expect(server.counts.withLock { $0.requests } == 0)
  }

  @Test("a server without h2, a closed port, silence, and an unknown name each have their own reason")
  func otherFailures() async throws {
    try await withServer(TestServer(TestServer.accept), alpn: []) { running in
      let withoutALPN = try await failure(running, running.endpoint())
      #expect(withoutALPN?.code == .notHTTP2)

      let listener = try Socket.listen(on: #require(SocketAddress("127.0.0.1:0")))
      let silent = try Socket.localAddress(of: listener)
      let tls = try TLSContext.client(trust: .pem(running.authority.pem), alpn: ["h2"])
      let endpoint = Endpoint(host: "127.0.0.1", port: silent.port, tls: tls)
      let silence = try await failure(running, endpoint, connectTimeout: .milliseconds(50))
      #expect(silence?.code == .connectTimeout)
      close(listener)
      let closed = try await failure(running, endpoint)
      #expect(closed?.code == .connection)

      let nowhere = Endpoint(host: "nowhere.invalid", port: 443, tls: tls)
      let unknown = try await failure(running, nowhere)
      #expect(unknown?.code == .lookup)
    }
  }

  @Test("a client certificate that is wanted reaches the handler", arguments: TLSContext.Version.allCases)
  func certificateAccepted(version: TLSContext.Version) async throws {
    let authority = try TestAuthority()
    let server = TestServer(TestServer.accept)
    try await withServer(server, clientCertificate: .required(.pem(authority.pem)), authority: authority) { running in
      let client = try TestClient(
        running, endpoint: running.endpoint(identity: authority.identity("Client"), versions: version...version))
      #expect(await client.send(10).statuses == [200: 10])
      #expect(server.counts.withLock { $0.clientCertificates.first??.isEmpty } == false)
      await client.stop()
    }
  }

  @Test("a refused client certificate is an authentication error, with TLS 1.2 and 1.3")
  func certificateRefused() async throws {
    let (authority, stranger) = (try TestAuthority(), try TestAuthority())
    let identity = try stranger.identity("Client")
    let server = TestServer(TestServer.accept)
    try await withServer(server, clientCertificate: .required(.pem(authority.pem)), authority: authority) { running in
      for version in TLSContext.Version.allCases {
        let error = try await failure(running, running.endpoint(identity: identity, versions: version...version))
        #expect(error?.isAuthentication == true, "\(version): \(error?.message ?? "none")")
      }
    }
  }

  @Test("a connection that stood idle is tried before it is used: what waits is not lost with it")
  func verifiesIdleConnection() async throws {
    let server = TestServer { request, responder, number in
      responder.respond(ServerResponse(status: 200))
      // The client hears nothing of it before it writes again.
      if number == 1 { request.connection.close() }
    }
    try await withServer(server) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.connection.verifyAfter = .zero
      let client = try TestClient(running, configuration: configuration)
      #expect(await client.send(1).statuses == [200: 1])
      var builder = RequestBatchBuilder(template: RequestTemplate(authority: "localhost", fields: []))
      builder.append(id: 100, path: "/again")
      client.group.submit(builder.build())
      let ended = await client.wait { $0.total == 2 }
      #expect(ended.statuses == [200: 2])
      await client.stop()
    }
  }
}
