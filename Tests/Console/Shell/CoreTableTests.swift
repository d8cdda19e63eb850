import Foundation
import HTTPServer
import JSON
import Logging
import Providers
import Model
import Reactor
import Store
import TestSupport
import Testing

import Text
@testable import Console

@Suite("Console: tables of the core")
struct CoreTableTests {
  @Test(
    "ranges of addresses",
    arguments: [
      ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.7", "192.0.2.7", true),
      ("192.0.2.7", "192.0.2.8", false), ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false),
      ("192.0.2.128/25", "192.0.2.127", false), ("192.0.2.128/25", "192.0.2.129", true),
      ("10.1.2.3/31", "10.1.2.2", true), ("::1", "::1", true), ("::1", "0:0:0:0:0:0:0:1", true),
      ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
      ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("::ffff:10.0.0.0/8", "10.1.1.1", true), ("fe80::/10", "febf::1", true),
      ("10.0.0.0/8", "nonsense", false), ("10.0.0.0/8", "", false),
    ])
  func range(text: String, host: String, isIn: Bool) throws {
    #expect(try #require(AddressRange(text)).contains(host) == isIn)
  }

  @Test(
    "what is no range",
    arguments: [
      "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "::1/129", "10.0.0/8", "localhost", "10.0.0.0/8/8",
      "10.0.0.0/x",
      " 10.0.0.1", "10.0.0.256",
    ])
  func noRange(text: String) { #expect(AddressRange(text) == nil) }

  @Test(
    "a proxy that is ours is believed; who stands before the last of ours may be made up",
    arguments: [
      // peer, X-Forwarded-For, X-Forwarded-Proto, then who it is, and whether over https
      ("10.0.0.1", ["203.0.113.9"], "https", "203.0.113.9", true),
      ("10.0.0.1", ["203.0.113.9"], "HTTPS", "203.0.113.9", true),
      ("10.0.0.1", ["203.0.113.9"], "http", "203.0.113.9", false),
      ("10.0.0.1", ["6.6.6.6, 203.0.113.9"], "https", "203.0.113.9", true),
      ("10.0.0.1", ["6.6.6.6", "203.0.113.9, 10.0.0.2"], "https", "203.0.113.9", true),
      ("10.0.0.1", ["10.0.0.3 , 10.0.0.2"], "https", "10.0.0.3", true),
      ("10.0.0.1", [], "", "10.0.0.1", false), ("10.0.0.1", ["unknown"], "https", "10.0.0.1", true),
      ("10.0.0.1", ["203.0.113.9:4711"], "https", "203.0.113.9", true),
      ("10.0.0.1", ["[2001:db8::9]:4711"], "https", "2001:db8::9", true),
      ("10.0.0.1", ["[2001:db8::9]"], "https", "2001:db8::9", true),
      ("10.0.0.1", ["6.6.6.6", "203.0.113.9:80, 10.0.0.2:443"], "https", "203.0.113.9", true),
      ("10.0.0.1", ["203.0.113.9, ::ffff:10.0.0.2"], "https", "203.0.113.9", true),
      ("10.0.0.1", ["203.0.113.9:99999"], "https", "10.0.0.1", true),
      ("203.0.113.1", ["127.0.0.1"], "https", "203.0.113.1", false),
      ("2001:db8::7", ["2001:db8:1::9"], "https", "2001:db8::7", false),
    ] as [(String, [String], String, String, Bool)])
  func proxies(peer: String, hops: [String], proto: String, client: String, isSecure: Bool) throws {
    var headers = Headers()
    for hop in hops { headers.append("X-Forwarded-For", hop) }
    if !proto.isEmpty { headers.append("X-Forwarded-Proto", proto) }
    let request = try Request(.get, "/", headers: headers, remoteAddress: SocketAddress(host: peer, port: 1))
    var restored = request
    TrustedProxies(ranges: [try #require(AddressRange("10.0.0.0/8"))]).restore(&restored)
    #expect(restored.remoteAddress?.host == client)
    #expect(restored.isSecure == isSecure)
    var untouched = request
    TrustedProxies(ranges: []).restore(&untouched)
    #expect(untouched.remoteAddress?.host == peer && !untouched.isSecure)
  }

  @Test(
    "behind a TLS proxy, others get no plain http past it",
    arguments: [
      ("10.0.0.1", "/session/new", false), ("203.0.113.7", "/session/new", true), ("203.0.113.7", "/healthz", false),
      ("203.0.113.7", "/metrics", true), ("127.0.0.1", "/session/new", false), ("::1", "/", false),
    ])
  func pastTheProxy(peer: String, path: String, isRefused: Bool) throws {
    let proxies = TrustedProxies(ranges: [try #require(AddressRange("10.0.0.0/8"))])
    let address = try #require(SocketAddress(host: peer, port: 1))
    let clear = try Request(.get, path, remoteAddress: address)
    if isRefused {
      #expect(throws: HTTPError.self) { try proxies.checkClear(clear) }
    } else {
      try proxies.checkClear(clear)
    }
    try proxies.checkClear(try Request(.get, path, remoteAddress: address, isSecure: true))
  }

  @Test("headers of a proxy that nobody declared are ignored, with one warning for each address, and not without end")
  func undeclaredProxies() async throws {
    try await ConsoleScene.with(proxies: [try #require(AddressRange("10.0.0.1"))]) { scene in
      func warnings() -> [LogEntry] {
        scene.log.entries.filter { $0.level == .warning && $0.message.contains("--trusted-proxy") }
      }
      func ask(_ address: String, _ headers: [String: String]) async throws {
        var browser = SceneBrowser(router: scene.router)
        browser.address = address
        _ = try await browser.get("/healthz", headers: headers)
      }
      try await ask("10.0.0.1", ["X-Forwarded-For": "203.0.113.9"])
      try await ask("10.0.0.2", [:])
      #expect(warnings().isEmpty)
      for _ in 0..<3 { try await ask("10.0.0.2", ["X-Forwarded-For": "203.0.113.9"]) }
      #expect(warnings().count == 1 && warnings().first.map { "\($0)" }?.contains("10.0.0.2") == true)
      for number in 1..<100 { try await ask("192.0.2.\(number)", ["Forwarded": "for=203.0.113.9"]) }
      #expect(warnings().count == 16, "anybody may send such headers")
    }
  }

  @Test("an administrator who comes through a proxy that nobody declared sees what to do on the overview, others not")
  func undeclaredProxyIsShown() async throws {
    try await ConsoleScene.with(proxies: [try #require(AddressRange("10.0.0.1"))]) { scene in
      func overview(_ role: User.Role, at address: String, _ headers: [String: String]) async throws -> String {
        // Each visit is by another person: a name may exist once.
        var browser = try await scene.signIn(role, name: "\(UUID().uuidString)@example.com")
        browser.address = address
        return try await browser.get("/", headers: headers).text
      }
      let forwarded = ["X-Forwarded-For": "203.0.113.9"]
      let page = try await overview(.admin, at: "10.0.0.2", forwarded)
      #expect(page.contains("A proxy at 10.0.0.2 forwards requests"))
      #expect(page.contains("start serve with --trusted-proxy 10.0.0.2."))
      for (role, address, headers) in [
        (User.Role.admin, "10.0.0.1", forwarded), (.admin, "10.0.0.2", [:]), (.operator, "10.0.0.2", forwarded),
        (.viewer, "10.0.0.2", forwarded),
      ] {
        let page = try await overview(role, at: address, headers)
        #expect(!page.contains("--trusted-proxy"), "\(role) at \(address)")
      }
    }
  }

  @Test("behind a proxy that is ours, sessions are those of https, and the throttle knows the client")
  func proxiesInUse() async throws {
    let range = try #require(AddressRange("10.0.0.1"))
    try await ConsoleScene.with(proxies: [range]) { scene in
      var browser = SceneBrowser(router: scene.router)
      browser.address = "10.0.0.1"
      let headers = ["X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"]
      let page = try await browser.get("/session/new", headers: headers)
      #expect(page.response.headers["Strict-Transport-Security"] != nil)
      #expect(page.response.headers["Set-Cookie"]?.contains("Secure") == true)
      browser.csrf = try #require(browser.formToken)
      _ = try await browser.post("/session", [("email", "a@b"), ("password", "x")], headers: headers)
      #expect(try await scene.audit("session.refused").first?.address == "203.0.113.9")
    }
  }

  @Test(
    "the language that a browser asks for",
    arguments: [
      (nil, "en"), ("", "en"), ("de", "de"), ("de-AT", "de"), ("fr", "en"), ("fr, de;q=0.5", "de"),
      ("en;q=0.4, de;q=0.8", "de"), ("zh", "zh-Hans"), ("zh-CN", "zh-Hans"), ("zh-Hans-SG", "zh-Hans"),
      ("ZH-cn", "zh-Hans"),
      ("zh-TW", "en"), ("zh-Hant", "en"), ("de;q=0", "en"), ("*", "en"), (";;;,,,q=", "en"), ("de;q=x", "de"),
      ("dee", "en"), ("de; q=0.3, en; q=0.9", "en"),
    ] as [(String?, String)])
  func acceptLanguage(field: String?, expected: String) throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }  // a left-over folder fails no test
    for code in ["en", "de", "zh-Hans"] {
      try Data("{\"name\": \"\(code)\"}".utf8).write(to: folder.appendingPathComponent("\(code).json"))
    }
    let locales = try Locales(folder: folder.path)
    #expect(locales.best(for: field)("name") == expected)
    #expect(locales["xx"].code == "en" && locales[nil].code == "en" && locales["de"].code == "de")
  }

  @Test("texts: plural, arguments in one pass, a key that is not there shows itself")
  func texts() {
    let texts = Texts(
      code: "en",
      table: [
        "a": ["one": "1 {noun}", "other": "{count} {noun}s"], "b": ["other": "{count} only"], "c": "{x} and {y}",
      ])
    #expect(texts("a", count: 1, ["noun": "app"]) == "1 app")
    #expect(texts("a", count: 0, ["noun": "app"]) == "0 apps")
    #expect(texts("a", count: 12_345, ["noun": "app"]) == "12,345 apps")
    #expect(texts("b", count: 1) == "1 only")
    #expect(texts("c", ["x": "{y}", "y": "{x}"]) == "{y} and {x}")
    #expect(texts("c", ["x": "1"]) == "1 and {y}")
    #expect(texts("d.e") == "d.e")
    #expect(texts.known("d.e") == nil && texts.known("c") == "{x} and {y}")
    #expect(texts.keys == ["a.one", "a.other", "b.other", "c"])
  }

  @Test("numbers and times as people read them")
  func formatting() {
    #expect(
      [0, 7, 999, 1000, 1_234_567, -1000].map(\.grouped) == [
        "0", "7", "999", "1,000", "1,234,567", "−1,000",
      ])
    #expect(Int.min.grouped.hasPrefix("−9,223"))
    #expect(ConsoleScene.noon.utcText == "2026-11-20 12:00 UTC" && ConsoleScene.noon.dayText == "2026-11-20")
  }

  @Test(
    "the beginning of a token in any notation",
    arguments: [
      ("77366f0d", [0x77, 0x36, 0x6f, 0x0d]), ("77366F0D", [0x77, 0x36, 0x6f, 0x0d]),
      ("<77366f0d c4", [0x77, 0x36, 0x6f, 0x0d, 0xc4]),
      ("77366f0d…832c0113", [0x77, 0x36, 0x6f, 0x0d]), ("77366", [0x77, 0x36]), ("ab", [0xab]), ("a", nil), ("", nil),
      ("<> ", nil), ("77 36 zz", nil), ("anna", nil), ("…", nil), ("７７", nil), ("-1", nil), ("+1", nil),
    ] as [(String, [UInt8]?)])
  func tokenPrefix(text: String, bytes: [UInt8]?) { #expect(TokenPrefix.bytes(text) == bytes) }

  @Test(
    "a spreadsheet finds no formula in strangers' text, and no row that is not one",
    arguments: [
      ("plain", "plain"), ("", ""), ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("\tx", "'\tx"),
      ("\r=x", "\"'\r=x\""), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""), ("a\r\nb", "\"a\r\nb\""),
      ("\r\n=1+1", "\"'\r\n=1+1\""), ("=\u{301}1", "'=\u{301}1"), ("a,\u{301}b", "\"a,\u{301}b\""),
      ("a\"\u{301}b", "\"a\"\"\u{301}b\""), ("\n=1", "\"'\n=1\""), ("a=1", "a=1"), ("＝1", "'＝1"),
    ])
  func csv(text: String, field: String) { #expect(Array(CSV.line([text, "x"]).utf8) == Array("\(field),x\r\n".utf8)) }

  @Test("pages of a list lead forth and back again, with their filters")
  func pager() throws {
    func pager(_ target: String) throws -> Pager { Pager(try Request(.get, target)) }
    let first = try pager("/pushes?q=a%20b&app=&trail=&cursor=")
    #expect(first.cursor == nil && first.previous == nil && first.next(nil) == nil)
    let second = try #require(first.next("c1"))
    #expect(second == "/pushes?q=a%20b&cursor=c1&trail=-")
    let third = try #require(try pager(second).next("c2"))
    #expect(third == "/pushes?q=a%20b&cursor=c2&trail=-.c1")
    #expect(try pager(third).previous == second)
    #expect(try pager(second).previous == "/pushes?q=a%20b")
    // Somebody shortened the address: back leads to the first page.
    #expect(try pager("/pushes?cursor=c9").previous == "/pushes")
    var target = "/pushes"
    for number in 0..<200 { target = try #require(try pager(target).next("cursor\(number)")) }
    #expect(target.utf8.count < 1000, "the trail does not grow for ever: \(target.utf8.count)")
  }

  @Test("the words of a failure get one full stop, not two", arguments: ["Gone.", "InvalidProviderToken"])
  func oneFullStop(reason: String) async throws {
    try await ConsoleScene.with { scene in
      let now = ConsoleScene.noon
      for circuit in [
        CircuitBreaker.State.open(reason: reason, since: now, until: now), .halfOpen(reason: reason, since: now),
      ] {
        let words = HealthWords(health: ProviderHealth(circuit: circuit), texts: scene.console.locales["en"]).text
        #expect(words.contains("\(reason.withoutFullStop).") && !words.contains(".."), "\(words)")
      }
    }
  }

  @Test(
    "a credential that is refused names the provider's clock if ours differs",
    arguments: [(nil, ""), (2, ""), (-9, ""), (90, "90 s ahead"), (-3600, "3,600 s behind")] as [(Int?, String)])
  func clock(lead: Int?, words: String) async throws {
    try await ConsoleScene.with { scene in
      let now = ConsoleScene.noon
      var health = ProviderHealth(circuit: .open(reason: "BadCertificate", since: now, until: now), clockLead: lead)
      let texts = scene.console.locales["en"]
      let said = HealthWords(health: health, texts: texts).text
      #expect(said.contains("clock") == !words.isEmpty && (words.isEmpty || said.contains(words)), "\(said)")
      health.circuit = .closed
      #expect(HealthWords(health: health, texts: texts).text.isEmpty)
    }
  }

  @Test("what a browser is called in the list of sessions")
  func browsers() {
    let windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    #expect(BrowserName.short(windows + "Chrome/131.0 Safari/537.36 Edg/131.0") == "Edge, Windows")
    #expect(BrowserName.short(windows + "Chrome/131.0 Safari/537.36") == "Chrome, Windows")
    #expect(
      BrowserName.short("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1")
        == "Safari, iPhone")
    #expect(BrowserName.short(windows + "Firefox/131.0", between: "，") == "Firefox，Windows")
    #expect(BrowserName.short("curl/8.5.0") == "curl")
    #expect(BrowserName.short(String(repeating: "x", count: 500))?.count == 40)
    #expect(BrowserName.short("") == nil && BrowserName.short(nil) == nil)
  }
}
