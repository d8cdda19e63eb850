import Reactor
import Testing

@Suite("Proxies")
struct ProxyTests {
  @Test(
    "a proxy's URL is read, and shown without its password",
    arguments: [
      ("http://proxy.example.com:3128", "http://proxy.example.com:3128"),
      ("proxy.example.com:8080/", "http://proxy.example.com:8080"),
      ("HTTP://10.0.0.1", "http://10.0.0.1:1080"),
      ("http://ann:s3cret@[2001:db8::1]:3128", "http://ann@[2001:db8::1]:3128"),
      ("http://a%40b:p%3Aq%40r@proxy:1", "http://a%40b@proxy:1"),
    ])
  func reads(text: String, shown: String) throws {
    let server = try ProxyServer(text)
    #expect("\(server)" == shown)
    #expect(String(reflecting: server) == shown)
  }

  @Test("user and password are percent-decoded")
  func login() throws {
    let server = try ProxyServer("http://a%40b:p%3Aq%40r:s@proxy:1")
    #expect(server.user == "a@b")
    #expect(server.password == "p:q@r:s")
    #expect(try ProxyServer("http://ann@proxy:1").password == nil)
  }

  @Test(
    "anything else is refused, and not repeated in the message",
    arguments: [
      "", "https://ann:s3cret@proxy:1", "socks5://s3cret", "http://s3cret:0", "http://s3cret:70000", "http://s3 cret",
      "http://pro/xy/s3cret", "http://[::1", "http://[s3cret]:1", "http://:s3cret@proxy:1", "http://a%3Ab:s3cret@proxy",
      "http://ann:s3cret%0@proxy:1", "http://ann:s3cret%0d%0a@proxy:1", "http://прокси:1",
    ])
  func refuses(text: String) {
    let error = #expect(throws: BadProxy.self) { try ProxyServer(text) }
    #expect(error.map { !"\($0)".contains("s3cret") } == true)
  }

  @Test(
    "the option counts before the environment, and lower case before upper case",
    arguments: [
      ([:], nil, nil),
      (["HTTPS_PROXY": "http://b:1"], nil, "b"),
      (["HTTPS_PROXY": "http://b:1", "https_proxy": "http://a:1", "ALL_PROXY": "http://d:1"], nil, "a"),
      (["ALL_PROXY": "http://d:1", "all_proxy": "http://c:1"], nil, "c"),
      (["ALL_PROXY": "http://d:1", "HTTPS_PROXY": ""], nil, "d"),
      (["http_proxy": "http://x:1", "HTTP_PROXY": "http://x:1"], nil, nil),
      (["https_proxy": "http://a:1"], "http://o:1", "o"),
      (["https_proxy": "http://a:1"], "none", nil),
      (["https_proxy": "none", "ALL_PROXY": "http://d:1"], nil, nil),
    ] as [([String: String], String?, String?)])
  func precedence(environment: [String: String], option: String?, host: String?) throws {
    let rules = try ProxyRules(option: option, environment: environment)
    #expect(rules.server?.host == host)
    #expect(rules.server(for: "api.push.apple.com", port: 443)?.host == host)
  }

  @Test("a setting that cannot be read is an error that names its source, not its text")
  func badSetting() {
    let error = #expect(throws: ProxyRules.BadSetting.self) {
      try ProxyRules(option: nil, environment: ["https_proxy": "socks5://ann:s3cret@proxy"])
    }
    #expect(error?.source == "https_proxy")
    #expect(error.map { !"\($0)".contains("s3cret") } == true)
  }

  @Test(
    "NO_PROXY lists names with their subdomains, addresses, networks, ports, and everything",
    arguments: [
      ("example.com", "example.com", true), ("example.com", "API.Example.com.", true),
      ("example.com", "notexample.com", false), (".example.com", "example.com", true),
      ("*.example.com", "api.example.com", true), ("api.example.com", "example.com", false),
      ("example.com:443", "example.com", true), ("example.com:8443", "example.com", false),
      ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "10.1.2.30", false), ("10.1.0.0/16", "10.1.200.7", true),
      ("10.1.0.0/16", "10.2.0.1", false), ("10.1.0.0/16", "10.1.example", false), ("10.1.2.3:443", "10.1.2.3", true),
      ("10.1.2.3:444", "10.1.2.3", false), ("2001:db8::/32", "2001:db8:1::5", true),
      ("2001:db8::/32", "[2001:db8:1::5]", true), ("2001:db8::1", "2001:db8::2", false),
      ("[2001:db8::1]:443", "2001:db8::1", true), ("0.0.0.0/0", "2001:db8::1", false), ("*", "example.com", true),
      ("a.test, example.com\tb.test", "example.com", true), ("a.test b.test", "b.test", true),
      ("", "example.com", false), ("10.1.0.0/99,/,:,exa mple", "10.1.0.1", false),
    ])
  func exceptions(list: String, host: String, isDirect: Bool) throws {
    let rules = try ProxyRules(option: "http://proxy:1", environment: ["NO_PROXY": list])
    #expect((rules.server(for: host, port: 443) == nil) == isDirect)
    let lower = try ProxyRules(option: "http://proxy:1", environment: ["no_proxy": list, "NO_PROXY": "*"])
    if !list.isEmpty { #expect((lower.server(for: host, port: 443) == nil) == isDirect) }
  }

  @Test(
    "this machine is reached directly, unless a credential's own proxy is asked",
    arguments: ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "app.localhost"])
  func loopback(host: String) throws {
    #expect(try ProxyRules(option: "http://proxy:1", environment: [:]).server(for: host, port: 443) == nil)
    #expect(ProxyRules(always: try ProxyServer("http://proxy:1")).server(for: host, port: 443)?.host == "proxy")
  }

  // MARK: Tunnel

  private static func answer(_ text: String, inPieces: Bool = false) -> Result<[UInt8]?, ProxyProblem> {
    var tunnel = ConnectTunnel(to: "api.push.apple.com", port: 443, through: ProxyServer(host: "proxy", port: 3128))
    do throws(ProxyProblem) {
      guard inPieces else { return .success(try tunnel.receive(Array(text.utf8))) }
      var last: [UInt8]?
      for byte in text.utf8 { last = try tunnel.receive([byte]) }
      return .success(last)
    } catch {
      return .failure(error)
    }
  }

  @Test("CONNECT names the host twice, and carries user and password")
  func request() {
    let plain = ConnectTunnel(to: "2001:db8::1", port: 2197, through: ProxyServer(host: "proxy", port: 3128))
    #expect(
      String(decoding: plain.request, as: UTF8.self)
        == "CONNECT [2001:db8::1]:2197 HTTP/1.1\r\nHost: [2001:db8::1]:2197\r\nUser-Agent: Signalbox\r\n\r\n")
    let known = ConnectTunnel(
      to: "h", port: 1, through: ProxyServer(host: "proxy", port: 1, user: "Aladdin", password: "open sesame"))
    // RFC 7617 §2
    #expect(
      String(decoding: known.request, as: UTF8.self)
        .contains("\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"))
  }

  @Test("an answer of 2xx opens the tunnel, whole or byte by byte, and what follows is kept", arguments: [true, false])
  func opens(inPieces: Bool) throws {
    for head in [
      "HTTP/1.1 200 OK\r\n", "HTTP/1.0 200 Connection established\r\nProxy-agent: tinyproxy/1.11\r\n",
      "HTTP/1.1 204\r\n",
    ] {
      #expect(try Self.answer(head + "\r\n", inPieces: inPieces).get() == [])
    }
    #expect(try Self.answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", inPieces: inPieces).get() == [])
    #expect(try Self.answer("HTTP/1.1 200 OK\r\n\r\n220 ready").get() == Array("220 ready".utf8))
    #expect(try Self.answer("HTTP/1.1 200 OK\r\nVia: x\r\n").get() == nil)
  }

  @Test(
    "a refusal has its cause",
    arguments: [
      ("407 Proxy Authentication Required", ProxyProblem.Code.authentication), ("401 Unauthorized", .authentication),
      ("403 Filtered", .forbidden),
      ("405 Method Not Allowed", .forbidden), ("502 Bad Gateway", .cannotConnect), ("503 DNS failure", .cannotConnect),
      ("404 Not Found", .cannotConnect), ("302 Found", .cannotConnect), ("400 Bad Request", .cannotConnect),
    ])
  func refusals(status: String, code: ProxyProblem.Code) {
    guard case .failure(let problem) = Self.answer("HTTP/1.1 \(status)\r\nContent-Length: 5\r\n\r\nhello") else {
      Issue.record("it was taken")
      return
    }
    #expect(problem.code == code)
    #expect(problem.message.contains(status))
    #expect(problem.message.contains("proxy:3128"))
  }

  @Test(
    "an answer that is not HTTP/1 is refused at once",
    arguments: [
      "SSH-2.0-OpenSSH_9\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
      "HTTP/1.1 700 No\r\n\r\n", "HTTP/1.1200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno field\r\n\r\n",
      "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "HTTP/1.1 200 OK\r\na b: x\r\n\r\n", "HTTP/1.1 200 OK\nA: b\r\n\r\n",
      "HTTP/1.1 200 O\u{0}K\r\n\r\n", "\r\n\r\n",
    ])
  func garbage(text: String) {
    guard case .failure(let problem) = Self.answer(text) else {
      Issue.record("it was taken")
      return
    }
    #expect(problem.code == .badAnswer)
  }

  @Test("an answer without an end is given up")
  func endless() {
    let line = "A: " + String(repeating: "b", count: 1000) + "\r\n"
    guard case .failure(let problem) = Self.answer("HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 20)) else {
      Issue.record("it was taken")
      return
    }
    #expect(problem.code == .badAnswer)
    let interim = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000)
    #expect(throws: ProxyProblem.self) { try Self.answer(interim).get() }
  }
}
