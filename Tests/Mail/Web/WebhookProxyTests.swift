import Foundation
import HTTPServer
import Mail
import OpenSSL
import Reactor
import TestSupport
import Testing

@Suite("Webhooks through a proxy", .timeLimit(.minutes(2)))
struct WebhookProxyTests {
  private static func post(
    _ url: String, trust: String? = nil, _ proxies: ProxyRules, timeout: Int = 10
  ) async throws -> Result<WebAnswer, MailError> {
    let pool = BlockingPool(name: "test", threads: 1)
    defer { pool.stop() }
    return try await pool.run {
      do throws(MailError) {
        let transport = WebTransport(trustPEM: trust, timeout: timeout, proxies: proxies)
        return .success(try transport.post(WebRequest(url: url, body: Array("{}".utf8))))
      } catch {
        return .failure(error)
      }
    }
  }

  /// A receiver of webhooks under the name `hooks.invalid`; `trust` is its authority as PEM.
  private static func withHooks(
    _ body: (_ address: SocketAddress, _ trust: String) async throws -> Void
  ) async throws {
    let now = Date()
    let authority = try CertificateAuthority(
      subject: [.commonName("Authority")], notBefore: now - 3600, notAfter: now + 86_400)
    let (certificate, key) = try authority.issueServer(
      names: ["hooks.invalid"], notBefore: now - 3600, notAfter: now + 3600)
    let tls = try TLSContext.server(identity: TLSIdentity(chain: [certificate], key: key), alpn: ["http/1.1"])
    var router = Router()
    router.on(.post, "/hook") { _ in Response(.ok, body: .bytes(Array("thanks".utf8))) }
    try await WebTestServer.with(router, tls: tls) { address in
      try await body(address, authority.certificate.pem)
    }
  }

  @Test("a webhook is posted through the tunnel, its certificate is checked, and NO_PROXY holds")
  func tunnel() async throws {
    try await Self.withHooks { address, trust in
      try await TestProxy.with(.connects(to: address.port)) { proxy in
        let rules = ProxyRules(always: proxy.server(user: "ann", password: "s3cret"))
        let answer = try await Self.post("https://hooks.invalid/hook", trust: trust, rules).get()
        #expect(answer.words == "200 thanks")
        #expect(proxy.requests.first?.hasPrefix("CONNECT hooks.invalid:443 HTTP/1.1\r\n") == true)
        #expect(proxy.requests.first?.contains("Proxy-Authorization: Basic YW5uOnMzY3JldA==") == true)
        guard case .failure(let error) = try await Self.post("https://other.invalid/hook", trust: trust, rules) else {
          Issue.record("another host's certificate was taken")
          return
        }
        #expect(error.code == .tls)
        let count = proxy.requests.count
        let direct = try ProxyRules(option: "\(proxy.server())", environment: ["NO_PROXY": ".invalid"])
        guard case .failure(let unknown) = try await Self.post("https://hooks.invalid/hook", trust: trust, direct)
        else {
          Issue.record("it was sent")
          return
        }
        #expect(unknown.code == .unreachable)
        #expect(proxy.requests.count == count, "the proxy was not asked")
      }
    }
  }

  // Webhooks to this machine take no proxy, so that it needs a proxy that finds another name here.
  @Test(
    "a webhook is posted through squid, with the right password alone",
    .enabled(if: OtherProxy.installed.contains(.squid)))
  func squid() async throws {
    try await Self.withHooks { address, trust in
      try await OtherProxy.squid.with(login: ("ann", "s3cret"), hosts: ["hooks.invalid"]) { proxy, log in
        let url = "https://hooks.invalid:\(address.port)/hook"
        let answer = try await Self.post(url, trust: trust, ProxyRules(always: proxy)).get()
        #expect(answer.words == "200 thanks" && log().contains("CONNECT hooks.invalid:\(address.port)"), "\(log())")
        let wrong = ProxyServer(host: proxy.host, port: proxy.port, user: "ann", password: "wrong")
        guard case .failure(let error) = try await Self.post(url, trust: trust, ProxyRules(always: wrong)) else {
          Issue.record("it was sent")
          return
        }
        #expect("\(error)".contains("ProxyAuthenticationRequired"), "\(error)")
      }
    }
  }

  @Test("what libcurl finds in the environment does not count, and this machine is reached directly")
  func environment() async throws {
    var router = Router()
    router.on(.post, "/hook") { _ in Response(.ok, body: .bytes([])) }
    try await WebTestServer.with(router) { address in
      try await TestProxy.with(.closes) { proxy in
        let rules = ProxyRules(always: proxy.server())
        let answer = try await Self.post("http://\(address)/hook", rules).get()
        #expect(answer.status == 200)
        #expect(proxy.requests.isEmpty)
      }
    }
  }

  @Test(
    "each way in which a proxy fails has its own reason",
    arguments: [
      (TestProxy.Conduct.says("HTTP/1.1 407 No\r\n\r\n"), ProxyProblem.Code.authentication),
      (.says("HTTP/1.1 403 No\r\n\r\n"), .forbidden), (.says("HTTP/1.1 502 No\r\n\r\n"), .cannotConnect),
      (.closes, .badAnswer),
    ])
  func failures(conduct: TestProxy.Conduct, code: ProxyProblem.Code) async throws {
    try await TestProxy.with(conduct) { proxy in
      let rules = ProxyRules(always: proxy.server(user: "ann", password: "s3cret"))
      guard case .failure(let error) = try await Self.post("https://hooks.invalid/hook", rules) else {
        Issue.record("it was sent")
        return
      }
      #expect(error.code == .unreachable)
      #expect("\(error)".contains(code.rawValue), "\(error)")
      #expect(!"\(error)".contains("s3cret"))
    }
  }

  @Test("a proxy without an address, or that does not answer, is named")
  func unreachable() async throws {
    let nameless = ProxyRules(always: ProxyServer(host: "proxy.invalid", port: 3128))
    guard case .failure(let error) = try await Self.post("https://hooks.invalid/hook", nameless) else {
      Issue.record("it was sent")
      return
    }
    #expect("\(error)".contains("ProxyUnreachable"), "\(error)")
    try await TestProxy.with(.keepsSilent) { proxy in
      let silent = ProxyRules(always: proxy.server())
      guard case .failure(let error) = try await Self.post("https://hooks.invalid/hook", silent, timeout: 1) else {
        Issue.record("it was sent")
        return
      }
      #expect("\(error)".contains("ProxyTimedOut"), "\(error)")
    }
  }
}
