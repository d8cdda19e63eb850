import HTTPServer
import Reactor
import Store
import Testing

@testable import Console

/// `--address`: what it means for cookies, links and foreign hosts.
@Suite("The address of the console")
struct PublicAddressTests {
  private static let proxy = "192.0.2.8"

  private func request(_ target: String, _ fields: [(String, String)], from address: String = proxy) throws -> Request {
    try Request(
      .get, target, headers: Headers(fields.map { Headers.Field(name: $0.0, value: $0.1) }),
      remoteAddress: SocketAddress(host: address, port: 1))
  }

  @Test(
    "a request for another host is refused, whatever its port; this machine and what watches it are not",
    arguments: [
      ("push.example.com", "/", true), ("PUSH.example.com.:8443", "/", true), ("evil.example", "/", false),
      ("push.example.com.evil.example", "/", false), ("192.0.2.1:8080", "/", false), ("localhost:8080", "/", true),
      ("127.0.0.1", "/", true), ("[::1]:8080", "/", true), ("127.0.0.1.evil.example", "/", false),
      ("evil.example", "/healthz", true), ("10.0.0.7:8080", "/readyz", true), ("10.0.0.7:8080", "/metrics", true),
      ("evil.example", "/api/v1/apps", false), ("evil.example", "/css/signalbox.css", false),
      ("evil.example", "/nothing", false), ("evil.example", "/metrics/x", false),
    ])
  func hosts(host: String, target: String, isTaken: Bool) async throws {
    try await ConsoleScene.with(address: "https://push.example.com:8443") { scene in
      let answer = await scene.router.respond(to: try request(target, [("Host", host)]))
      #expect((answer.status != .misdirectedRequest) == isTaken, "\(answer.status)")
      let text = String(decoding: answer.body.bytes ?? [], as: UTF8.self)
      if !isTaken { #expect(text.contains("Signalbox is at https://push.example.com:8443")) }
      #expect(answer.headers["Content-Security-Policy"] != nil)
    }
  }

  @Test("without an address every host is taken")
  func withoutAddress() async throws {
    try await ConsoleScene.with(address: nil) { scene in
      let answer = await scene.router.respond(to: try request("/session/new", [("Host", "push.lan")]))
      #expect(answer.status == .ok)
    }
  }

  @Test("a proxy of ours may call us by another name if it tells which host was asked for; nobody else may")
  func forwarded() async throws {
    let range = try #require(AddressRange(Self.proxy))
    try await ConsoleScene.with(proxies: [range], address: "https://push.example.com") { scene in
      for (forwarded, sender, isTaken) in [
        ("push.example.com", Self.proxy, true), ("evil.example", Self.proxy, false),
        ("push.example.com, evil.example", Self.proxy, false), ("push.example.com", "192.0.2.9", false),
      ] {
        let fields = [("Host", "signalbox:8080"), ("X-Forwarded-Host", forwarded)]
        let answer = await scene.router.respond(to: try request("/session/new", fields, from: sender))
        #expect((answer.status == .ok) == isTaken, "\(forwarded) from \(sender)")
      }
    }
  }

  @Test("a form may come from the host that a proxy of ours was asked for, and from no other")
  func forms() async throws {
    let range = try #require(AddressRange(Self.proxy))
    try await ConsoleScene.with(proxies: [range], address: nil) { scene in
      var anna = try await scene.signIn(.admin)
      anna.address = Self.proxy
      var headers = [
        "Host": "signalbox:8080", "X-Forwarded-Host": "push.example.com", "X-Forwarded-For": "198.51.100.7",
      ]
      let page = try await anna.get("/settings/oidc", headers: headers)
      #expect(page.text.contains("http://push.example.com/session/oidc/callback"))
      for (origin, status) in [("http://push.example.com", 303), ("http://evil.example", 403)] {
        headers["Origin"] = origin
        let answer = try await anna.post("/account/sessions/end", [("session", "none")], headers: headers)
        #expect(answer.status == status, "\(origin)")
      }
    }
  }

  @Test("with https cookies are for https only, and browsers told to stay there, though the proxy speaks http with us")
  func secure() async throws {
    try await ConsoleScene.with(address: "https://push.example.com") { scene in
      let page = await scene.router.respond(to: try request("/session/new", [("Host", "push.example.com")]))
      let cookies = page.headers.values(of: "Set-Cookie")
      #expect(!cookies.isEmpty && cookies.allSatisfy { $0.contains("; Secure") })
      #expect(page.headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains")
      let missing = await scene.router.respond(to: try request("/nothing", [("Host", "push.example.com")]))
      #expect(missing.headers["Strict-Transport-Security"] != nil)
    }
    try await ConsoleScene.with { scene in
      let page = await scene.router.respond(to: try request("/session/new", []))
      #expect(page.headers.values(of: "Set-Cookie").allSatisfy { !$0.contains("; Secure") })
      #expect(page.headers["Strict-Transport-Security"] == nil)
    }
  }

  @Test("links begin with the address, never with what a client says")
  func links() async throws {
    try await ConsoleScene.with(address: "https://push.example.com") { scene in
      let app = try await scene.addApp()
      var anna = try await scene.signIn(.admin)
      for host in ["localhost:9999", "push.example.com"] {
        let page = try await anna.get("/apps/\(app.id)", headers: ["Host": host])
        #expect(page.status == 200 && page.text.contains("https://push.example.com"))
        #expect(!page.text.contains("localhost:9999"))
      }
    }
  }
}
