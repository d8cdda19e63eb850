import HTTP2
import OpenSSL
import Reactor
import Synchronization
import TestSupport
import Testing

@Suite("HTTP/2 client through a proxy", .timeLimit(.minutes(2)))
struct TunnelTests {
  private static func configuration(_ proxy: ProxyServer) -> ClientGroupConfiguration {
    var configuration = ClientGroupConfiguration.quick
    configuration.connection.proxies = ProxyRules(always: proxy)
    return configuration
  }

  private func failure(
    _ running: Running, _ configuration: ClientGroupConfiguration, host: String = "localhost"
  ) async throws -> HTTP2Error? {
    let endpoint = try running.endpoint(host: host)
    return try await TestClient.failure(running, endpoint, configuration)
  }

  @Test("requests go through the tunnel; the host's name is not looked up here, and its certificate is checked")
  func tunnels() async throws {
    let server = TestServer(TestServer.accept)
    try await withServer(server, names: ["push.invalid"]) { running in
      try await TestProxy.with(.connects(to: running.address.port)) { proxy in
        let client = try TestClient(
          running, endpoint: running.endpoint(host: "push.invalid"),
          configuration: Self.configuration(proxy.server(user: "ann", password: "s3cret")))
        #expect(await client.send(100).statuses == [200: 100])
        await client.stop()
        #expect(proxy.requests.count == 1)
        #expect(proxy.requests.first?.hasPrefix("CONNECT push.invalid:\(running.address.port) HTTP/1.1\r\n") == true)
        #expect(proxy.requests.first?.contains("Proxy-Authorization: Basic YW5uOnMzY3JldA==\r\n") == true)
        let wrong = try await failure(running, Self.configuration(proxy.server()), host: "other.invalid")
        #expect(wrong?.code == .tls(.wrongHost))
      }
    }
    #expect(server.counts.withLock { $0.requests } == 100)
  }

  @Test(
    "each way in which a proxy fails has its own reason; the request is not lost",
    arguments: [
      (TestProxy.Conduct.says("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), ProxyProblem.Code.authentication),
      (.says("HTTP/1.1 403 Forbidden\r\n\r\n"), .forbidden),
      (.says("HTTP/1.1 503 ERR_DNS_FAIL\r\n\r\n"), .cannotConnect),
      (.says("220 mail.example.com ESMTP\r\n\r\n"), .badAnswer), (.says("HTTP/1.1 200"), .badAnswer),
      (.says("HTTP/1.1 200 OK\r\n\r\nhello"), .badAnswer), (.closes, .badAnswer), (.keepsSilent, .timedOut),
    ])
  func failures(conduct: TestProxy.Conduct, code: ProxyProblem.Code) async throws {
    try await withServer(TestServer(TestServer.accept)) { running in
      try await TestProxy.with(conduct) { proxy in
        var configuration = Self.configuration(proxy.server(user: "ann", password: "s3cret"))
        if code == .timedOut { configuration.connection.tunnelTimeout = .milliseconds(50) }
        let error = try await failure(running, configuration)
        #expect(error?.code == .proxy(code), "\(error?.message ?? "none")")
        #expect(error?.message.contains("127.0.0.1:\(proxy.port)") == true)
        #expect(error?.message.contains("s3cret") == false)
      }
    }
  }

  @Test("a proxy that is not there, or has no address, is unreachable")
  func unreachable() async throws {
    try await withServer(TestServer(TestServer.accept)) { running in
      let proxy = try TestProxy(.closes)
      let closed = proxy.server()
      proxy.close()
      try await waitUntil("the proxy is closed") {
        guard let address = SocketAddress("127.0.0.1:\(closed.port)") else { return true }
        let socket = try? PlainSocket(address)
        socket?.close()
        return socket == nil
      }
      let refused = try await failure(running, Self.configuration(closed))
      #expect(refused?.code == .proxy(.unreachable))
      #expect(refused?.message.contains("Connection refused") == true)
      let nameless = try await failure(running, Self.configuration(ProxyServer(host: "proxy.invalid", port: 3128)))
      #expect(nameless?.code == .proxy(.unreachable))
      #expect(nameless?.message.contains("proxy.invalid") == true)
    }
  }

  @Test("a global proxy is not asked for this machine")
  func loopback() async throws {
    try await withServer(TestServer(TestServer.accept)) { running in
      var configuration = ClientGroupConfiguration.quick
      configuration.connection.proxies = try ProxyRules(option: "http://proxy.invalid:3128", environment: [:])
      let client = try TestClient(running, configuration: configuration)
      #expect(await client.send(1).statuses == [200: 1])
      await client.stop()
    }
  }

  @Test("a proxy of others opens tunnels, with and without a password", arguments: OtherProxy.installed)
  func others(program: OtherProxy) async throws {
    let server = TestServer(TestServer.accept)
    try await withServer(server) { running in
      try await program.with { proxy, log in
        let client = try TestClient(running, configuration: Self.configuration(proxy))
        #expect(await client.send(200).statuses == [200: 200])
        await client.stop()
        #expect(log().contains("CONNECT localhost:\(running.address.port)"), "\(log())")
      }
      try await program.with(login: ("ann", "s3cret")) { proxy, _ in
        let client = try TestClient(running, configuration: Self.configuration(proxy))
        #expect(await client.send(10).statuses == [200: 10])
        await client.stop()
        let unknown = try await failure(
          running, Self.configuration(ProxyServer(host: proxy.host, port: proxy.port, user: "ann", password: "wrong")))
        #expect(unknown?.code == .proxy(.authentication), "\(unknown?.message ?? "")")
        let nobody = try await failure(running, Self.configuration(ProxyServer(host: proxy.host, port: proxy.port)))
        #expect(nobody?.code == .proxy(.authentication), "\(nobody?.message ?? "")")
      }
    }
  }

  @Test("the refusals of others are understood", arguments: OtherProxy.installed)
  func othersRefuse(program: OtherProxy) async throws {
    try await withServer(TestServer(TestServer.accept)) { running in
      try await program.with(ports: [1]) { proxy, _ in
        let forbidden = try await failure(running, Self.configuration(proxy))
        #expect(forbidden?.code == .proxy(.forbidden), "\(forbidden?.message ?? "")")
      }
      try await program.with { proxy, _ in
        let unknown = try await failure(running, Self.configuration(proxy), host: "nowhere.invalid")
        #expect(unknown?.code == .proxy(.cannotConnect), "\(unknown?.message ?? "")")
      }
    }
  }
}
