import Foundation
import HTTPServer
import Mail
import OpenSSL
import Reactor
import TestSupport
import Testing

@Suite("Webhooks: against our own server")
struct WebTransportTests {
  /// A server that answers as the last part of the path says.
  private static func with(_ tls: TLSContext? = nil, _ body: (SocketAddress) async throws -> Void) async throws {
    var router = Router()
    router.on(.post, "/echo") { request in
      let bytes = try await request.body.collect(upTo: 1 << 20)
      return Response(.ok, headers: ["X-Type": request.header("Content-Type") ?? ""], body: .bytes(bytes))
    }
    router.on(.post, "/away") { _ in Response.redirect(to: "/echo") }
    router.on(.post, "/busy") { _ in
      Response(.serviceUnavailable, headers: ["Retry-After": "120"], body: .bytes(Array("later".utf8)))
    }
    router.on(.post, "/long") { _ in Response(.ok, body: .bytes([UInt8](repeating: 0x61, count: 500_000))) }
    try await WebTestServer.with(router, tls: tls, body)
  }

  private static func post(_ url: String, trust: String? = nil) async throws -> Result<WebAnswer, MailError> {
    let pool = BlockingPool(name: "test", threads: 1)
    defer { pool.stop() }
    return try await pool.run {
      do throws(MailError) {
        return .success(
          try WebTransport(trustPEM: trust, timeout: 10).post(WebRequest(url: url, body: Array("{\"a\":\"证书\"}".utf8))))
      } catch {
        return .failure(error)
      }
    }
  }

  @Test("a body arrives, an answer comes back, a redirect is not followed, a long answer is cut off")
  func answers() async throws {
    try await Self.with { address in
      let echo = try await Self.post("http://\(address)/echo").get()
      #expect(echo.status == 200 && String(decoding: echo.body, as: UTF8.self) == "{\"a\":\"证书\"}")
      #expect(try await Self.post("http://\(address)/away").get().status == 303)
      let busy = try await Self.post("http://\(address)/busy").get()
      #expect(busy.status == 503 && busy.retryAfter == 120 && busy.words == "503 later")
      let long = try await Self.post("http://\(address)/long").get()
      #expect(long.status == 200 && long.body.count <= WebTransport.bodyLimit && long.body.count > 10_000)
    }
  }

  @Test("https only with a certificate that is trusted")
  func trust() async throws {
    let identity = try OpenSSLCommand()
    try identity.makeIdentity(subject: "/CN=localhost")
    let tls = try TLSContext.server(
      identity: TLSIdentity(
        certificateChainPEM: Array(try identity.data("cert.pem")), privateKeyPEM: Array(try identity.data("key.pem"))),
      alpn: ["http/1.1"])
    let pem = try identity.text("cert.pem")
    try await Self.with(tls) { address in
      #expect(try await Self.post("https://\(address)/echo", trust: pem).get().status == 200)
      guard case .failure(let error) = try await Self.post("https://\(address)/echo") else {
        Issue.record("it was trusted")
        return
      }
      #expect(error.code == .tls)
      // The file of --trust or SSL_CERT_FILE, beside the system's authorities.
      var rules = ProxyRules.none
      rules.trustFile = identity.folder.path + "/cert.pem"
      let pool = BlockingPool(name: "test", threads: 1)
      defer { pool.stop() }
      let answer = try await pool.run { [rules] in
        try WebTransport(timeout: 10, proxies: rules).post(WebRequest(url: "https://\(address)/echo", body: [1]))
      }
      #expect(answer.status == 200)
    }
  }

  @Test("https to a port without TLS is named as that")
  func plainPort() async throws {
    try await Self.with { address in
      guard case .failure(let error) = try await Self.post("https://\(address)/echo") else {
        Issue.record("it was taken")
        return
      }
      #expect(error.code == .speaksPlain)
    }
  }

  @Test("with a list of targets only what is on it is connected to, and the message says so")
  func targets() async throws {
    try await Self.with { address in
      for (entry, url, isTaken) in [
        ("127.0.0.0/8", "http://\(address)/echo", true), ("localhost", "http://localhost:\(address.port)/echo", true),
        ("127.0.0.1", "http://localhost:\(address.port)/echo", true),
        ("10.0.0.0/8", "http://\(address)/echo", false),
        ("hooks.example.com", "http://localhost:\(address.port)/echo", false),
      ] {
        var rules = ProxyRules.none
        rules.targets = try TargetList([entry])
        let transport = WebTransport(timeout: 10, proxies: rules)
        let pool = BlockingPool(name: "test", threads: 1)
        defer { pool.stop() }
        let outcome = try await pool.run { () -> Result<WebAnswer, MailError> in
          do throws(MailError) { return .success(try transport.post(WebRequest(url: url, body: []))) } catch {
            return .failure(error)
          }
        }
        switch outcome {
        case .success(let answer): #expect(isTaken && answer.status == 200, "\(entry) \(url)")
        case .failure(let error):
          #expect(!isTaken && error.words.contains("not an allowed target. Add it with --allow-target"), "\(entry)")
        }
      }
      var proxied = ProxyRules(always: try ProxyServer("http://\(address)"))
      proxied.targets = try TargetList(["hooks.example.com"])
      let transport = WebTransport(timeout: 10, proxies: proxied)
      #expect(throws: MailError.self) {
        try transport.post(WebRequest(url: "https://other.example/", body: []))
      }
    }
  }

  @Test("unreachable and forbidden addresses")
  func unreachable() async throws {
    for (url, code) in [
      ("https://nobody.invalid/", MailError.Code.unreachable), ("http://example.com/", .settings),
      ("https://169.254.169.254/latest", .unreachable), ("https://100.100.100.200/latest", .unreachable),
      ("https://[fd00:ec2::254]/latest", .unreachable), ("file:///etc/passwd", .settings),
    ] {
      guard case .failure(let error) = try await Self.post(url) else {
        Issue.record("\(url) answered")
        continue
      }
      #expect(error.code == code, "\(url)")
    }
  }
}
